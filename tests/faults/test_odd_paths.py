"""Homes, inputs and names of every kind: used as they are, or refused in words; nothing is written elsewhere."""

import json
import os
import re

import pytest

from tests.faults.works import settings_of, write_trace
from workprof.core.errors import SettingsError, TraceError, WorkprofError
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow

JOBS = "job_name,duration_s\na,1\nb,2\n"
RECORDING = "workload,run,t,cpu%\nw,r,1,2\nw,r,2,3\n"
LONG = "d" * 200
NAME_BYTES = 255
GOOD = (
    "with space ",
    "quotes'\"",
    "ünï 日本",
    "br[a]{b}",
    "st*ar",
    "per%20cent%s",
    "#$~&;=-",
    "...",
    "new\nline",
    LONG,
)
MISREAD = ("mark?s", "back\\slash", os.fsdecode(b"half\xff"))


def used(home, trace):
    """Fill a home, export from it, find it again."""
    with TraceStore(settings_of(home)) as store:
        hashed = store.ingest([trace], IngestOptions(name="kept")).hash
        assert store.export("kept", trace.parent / "out.parquet") == 2
    with TraceStore(settings_of(home)) as store:
        assert store.dataset("kept").hash == hashed
        assert len(store.preview("kept")) == 2
        store.remove("kept")


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(JOBS, encoding="utf-8")
    return path


@pytest.mark.some(3)
@pytest.mark.parametrize("name", GOOD, ids=ascii)
def test_a_home_of_any_name_is_used_as_it_is(tmp_path, trace, name):
    used(tmp_path / name / "home", trace)
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "out.parquet", name}
    assert [path.name for path in (tmp_path / name).iterdir()] == ["home"]


def test_a_home_far_down_and_one_behind_a_link(tmp_path, trace):
    used(tmp_path / LONG / LONG / LONG / "home", trace)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    used(tmp_path / "link", trace)
    with TraceStore(settings_of(tmp_path / "link")) as store:
        store.ingest([trace], IngestOptions())
    with TraceStore(settings_of(tmp_path / "real")) as store:
        assert [dataset.name for dataset in store.datasets()] == ["a"]


@pytest.mark.parametrize("name", MISREAD, ids=ascii)
def test_a_home_whose_path_the_database_misreads_is_refused(tmp_path, trace, name):
    with pytest.raises(SettingsError, match=r"home .* cannot be used: DuckDB misreads .*; give another with --home"):
        used(tmp_path / name / "home", trace)
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv"}


def test_a_home_with_a_name_that_is_too_long_is_refused(tmp_path, trace):
    with pytest.raises(SettingsError, match=r"cannot be used .*too long.*; give another with --home"):
        used(tmp_path / ("d" * (NAME_BYTES + 1)), trace)


@pytest.mark.parametrize("text", [JOBS, RECORDING], ids=["jobs", "recording"])
@pytest.mark.parametrize("stem", ["x" * (NAME_BYTES - 4), "日" * 83 + "xx"], ids=["ascii", "unicode"])
def test_a_file_with_the_longest_name_there_is_can_be_loaded(tmp_path, text, stem):
    path = tmp_path / f"{stem}.csv"
    assert len(os.fsencode(path.name)) == NAME_BYTES
    path.write_text(text, encoding="utf-8")
    with TraceStore(settings_of(tmp_path / "home")) as store:
        report = store.ingest([path], IngestOptions())
        assert report.rows == 2
        assert len(report.dataset) <= 80
        assert store.dataset(report.hash).origin == path.name


@pytest.fixture
def odd_inputs(tmp_path):
    """Things that are no traces and may never end."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "ring").symlink_to("ring")
    tables = tmp_path / "tables"
    tables.mkdir()
    for name in ("job", "task", "instance", "sensor", "group_tag"):
        os.mkfifo(tables / f"pai_{name}_table.csv")
    os.mkfifo(tables / "pai_machine_spec.csv")
    (tmp_path / "folder").mkdir()
    return [tmp_path / name for name in ("pipe", "endless", "ring", "tables", "folder", "absent")]


def test_what_never_ends_is_refused_at_once(tmp_path, odd_inputs):
    with TraceStore(settings_of(tmp_path / "home")) as store:
        for path in odd_inputs:
            for named in ("auto", "generic", "benchmarks", "pai-tables"):
                with pytest.raises(WorkprofError, match=r"; (give|check|add)"):
                    store.ingest([path], IngestOptions(format=named))
        assert store.datasets() == ()
        assert list((tmp_path / "home" / "spool").iterdir()) == []


@pytest.mark.slow
def test_commands_with_odd_names_end_in_words(forks, tmp_path, odd_inputs, trace):
    home, too_long = tmp_path / "home", "y" * 300

    def refused(*arguments, at=home):
        ended = forks.workprof(tmp_path / "io", *arguments, "--home", at)
        assert ended.status == 2, ended.err
        assert ended.out == ""
        (line,) = ended.err.splitlines()
        assert re.match(r"workprof: .*; (give|write|check|add)", line), line
        return line

    assert too_long[:80] in refused("ingest", tmp_path / f"{too_long}.csv")
    assert "too long" in refused("datasets", at=tmp_path / too_long)
    assert "DuckDB misreads '?'" in refused("datasets", at=tmp_path / "a?b")
    for path in odd_inputs:
        refused("ingest", path)
    for path in odd_inputs[:2]:
        refused("ingest", trace, "--map", path)
    assert json.loads(forks.workprof(tmp_path / "io", "datasets", "--json", "--home", home).out) == []


def test_a_file_that_is_replaced_while_it_is_read_is_one_of_the_two_or_refused(tmp_path):
    """An editor saves a new file under the name: what was linked at the start is read to its end."""
    old, new = write_trace(tmp_path / "jobs.csv", 3000), write_trace(tmp_path / "new.csv", 1000)

    def replace(_, message):
        if message == "reading rows" and new.exists():
            new.replace(old)

    with TraceStore(settings_of(tmp_path / "home")) as store:
        before = ()
        try:
            before = (store.ingest([old], IngestOptions(format="generic"), replace),)
        except TraceError as error:  # the hash had not begun by then
            assert "changed while it was read" in str(error)
        assert not new.exists()
        assert [report.rows for report in before] in ([], [3000])
        again = store.ingest([old], IngestOptions(format="generic"))
        assert (again.rows, again.already_loaded) == (1000, False)
        assert again.hash not in [report.hash for report in before]


@pytest.mark.parametrize("more", ["job9,t,1,1,1\n", ""], ids=["grown", "cut"])
def test_a_file_that_changes_while_it_is_read_is_refused_and_nothing_is_kept(tmp_path, more):
    """Whoever writes it is not done: its rows and its hash would be of two contents."""
    path = write_trace(tmp_path / "jobs.csv", 3000)

    def change(_, message):
        if message == "checking rows":
            with path.open("a" if more else "w", encoding="utf-8") as stream:
                stream.write(more or path.name)

    with TraceStore(settings_of(tmp_path / "home")) as store:
        with pytest.raises(TraceError, match=r"jobs\.csv changed while it was read; nothing was kept; load it again"):
            store.ingest([path], IngestOptions(format="generic"), change)
        assert store.datasets() == ()
        assert list((tmp_path / "home" / "spool").iterdir()) == []
        assert list((tmp_path / "home" / "rejects").iterdir()) == []
        write_trace(path, 500)
        assert store.ingest([path], IngestOptions(format="generic")).rows == 500
