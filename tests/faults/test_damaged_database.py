"""A damaged database, one of another version, a damaged log: the file is named, and what to do; nothing is guessed."""

import random
import struct

import pytest

from tests.faults.soundness import check_store, rows_hash
from tests.faults.works import settings_of, write_trace
from workprof.core.errors import SettingsError
from workprof.store.home import DATABASE
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow

SEED = 8


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """The bytes of a closed database that holds a dataset."""
    folder = tmp_path_factory.mktemp("database")
    with TraceStore(settings_of(folder / "home")) as store:
        store.ingest([write_trace(folder / "kept.csv", 3000)], IngestOptions())
    return (folder / "home" / DATABASE).read_bytes()


def use(home, content, name=DATABASE):
    """Open a home with these bytes as its database and ask it everything, as a page or a command does."""
    home.mkdir(parents=True, exist_ok=True)
    (home / name).write_bytes(content)
    with TraceStore(settings_of(home)) as store:
        assert [dataset.rows for dataset in store.datasets()] == [3000]
        assert store.preview("kept", 5000)["duration_s"].notna().sum() == 3000
        assert store.column_profiles("kept")
        store.rename("kept", "renamed")
        store.rename("renamed", "kept")


NAMED = r"database .*workprof\.duckdb cannot be read \(.+\); move it and its \.wal away and load the traces again"
NOT_DATABASES = {
    "empty": b"",
    "text": b"job_name,duration_s\na,1\n",
    "noise": random.Random(SEED).randbytes(50_000),
    "SQLite": b"SQLite format 3\0" + bytes(5000),
    "Parquet": b"PAR1" + bytes(5000) + b"PAR1",
    "zeros": bytes(300_000),
}


@pytest.mark.parametrize("content", NOT_DATABASES.values(), ids=NOT_DATABASES)
def test_a_file_that_is_no_database_is_named(tmp_path, content):
    with pytest.raises(SettingsError, match=NAMED):
        use(tmp_path / "home", content)
    assert (tmp_path / "home" / DATABASE).read_bytes() == content


@pytest.mark.slow
def test_a_flipped_byte_or_a_cut_in_the_database_is_named_wherever_it_is_found(tmp_path, database):
    moments, named = random.Random(SEED), 0
    places = [8, 20, 5000, 9000, *(moments.randrange(len(database)) for _ in range(20))]
    for where in places:
        spoiled = bytearray(database)
        spoiled[where] ^= 0xFF
        for content in (bytes(spoiled), database[:where]):
            home = tmp_path / f"home{where}-{len(content)}"
            try:
                use(home, content)
            except SettingsError as error:
                named += 1
                assert "cannot be read" in str(error), error
                assert "move it and its .wal away" in str(error)
    assert named > len(places)


def test_after_moving_it_away_the_same_trace_is_the_same_dataset(tmp_path):
    home, trace = tmp_path / "home", write_trace(tmp_path / "kept.csv", 300)
    with TraceStore(settings_of(home)) as store:
        first = store.ingest([trace], IngestOptions()).hash
    (home / DATABASE).write_bytes(b"damaged")
    with pytest.raises(SettingsError, match=NAMED):
        TraceStore(settings_of(home))
    (home / DATABASE).rename(tmp_path / "damaged")
    with TraceStore(settings_of(home)) as store:
        assert store.ingest([trace], IngestOptions()).hash == first


@pytest.mark.parametrize("version", [30, 1000])
def test_a_database_of_another_version_is_told_as_such(tmp_path, database, version):
    content = bytearray(database)
    content[12:20] = struct.pack("<Q", version)
    content[:8] = struct.pack("<Q", header_checksum(content))
    words = r"was written by another version of DuckDB \(.*version number.*\); open it with the workprof that wrote it"
    with pytest.raises(SettingsError, match=words):
        use(tmp_path / "home", bytes(content))
    assert (tmp_path / "home" / DATABASE).read_bytes() == bytes(content)


def header_checksum(content):
    """Return DuckDB's checksum of its first header: the words, each multiplied, and 5381, all by exclusive or."""
    result = 5381
    for (word,) in struct.iter_unpack("<Q", bytes(content[8:4096])):
        result ^= word * 0xBF58476D1CE4E5B9 % 2**64
    return result


@pytest.mark.parametrize("wal", [b"", b"garbage" * 100, bytes(5000)])
def test_a_log_that_is_none_hurts_no_database(tmp_path, database, wal):
    home = tmp_path / "home"
    home.mkdir()
    (home / f"{DATABASE}.wal").write_bytes(wal)
    try:
        use(home, database)
    except SettingsError as error:
        assert "move it and its .wal away" in str(error)


def test_a_cut_log_gives_what_was_whole(tmp_path):
    """A dataset is in the log of a killed process: cut anywhere, it is whole or absent, or the file is named."""
    home, trace = tmp_path / "home", write_trace(tmp_path / "kept.csv", 3000)
    with TraceStore(settings_of(home)) as store, store.writing():  # the log is there while something is written
        store.ingest([trace], IngestOptions())
        wanted = {"kept": rows_hash(store, "kept")}
        files = {name: (home / name).read_bytes() for name in (DATABASE, f"{DATABASE}.wal")}
    log, moments, states = files[f"{DATABASE}.wal"], random.Random(SEED), set()
    for cut in [len(log), *(moments.randrange(len(log)) for _ in range(12))]:
        copy = tmp_path / f"cut{cut}"
        copy.mkdir()
        (copy / DATABASE).write_bytes(files[DATABASE])
        (copy / f"{DATABASE}.wal").write_bytes(log[:cut])
        try:
            with TraceStore(settings_of(copy)) as store:
                there = {dataset.name for dataset in store.datasets()}
                for name in there:
                    (copy / "rejects" / f"{store.dataset(name).hash}.csv").touch()
                check_store(store, copy, wanted)
                states.add(len(there))
        except SettingsError as error:
            assert "move it and its .wal away" in str(error)
    assert states == {0, 1}
