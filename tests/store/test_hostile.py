"""Hostile files: a clear refusal each, nothing outside the home, and a database that still works."""

import bz2
import gzip
import lzma
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workprof.core.errors import WorkprofError
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

HEADER = "job_name,duration_s\n"
GOOD = HEADER + "".join(f"j{i},{i}\n" for i in range(1000))
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 20

REFUSED = {
    "empty.csv": (b"", "empty"),
    "header.csv": (HEADER, "no rows"),
    "image.csv": (PNG, "binary"),
    "jobs.bz2": (bz2.compress(b"job_name,duration_s\na,1\n"), "packed by bzip2; unpack it"),
    "jobs.xz": (lzma.compress(b"job_name,duration_s\na,1\n"), "packed by xz; unpack it"),
    "tasks.db": (b"SQLite format 3\x00\x10\x00\x01\x01" + b"\x00\x40" * 2000, "SQLite; load one of its tables"),
    "u16le.csv": (GOOD.encode("utf-16-le"), "utf-16-le"),
    "latin.csv": ((HEADER + "jö,1\n").encode("latin-1"), "encoding to latin-1"),
    "latin_late.csv": ((GOOD * 200 + "jö,1\n").encode("latin-1"), "encoding to latin-1"),
    "wide.csv": (",".join(f"c{i}" for i in range(10_000)) + "\n", "10,000 columns"),
    "endless.csv": (b"a" * 3_000_000, "no line ends"),
    "all_bad.csv": (HEADER + "a,x\nb,y\n", "all 2 rows were rejected"),
    "strangers.csv": ("foo,bar\n1,2\n", "Columns found: foo, bar"),
    "cut.csv.gz": (gzip.compress(GOOD.encode())[:500], "broken or cut off"),
    "bomb.csv.gz": (
        lambda: gzip.compress(HEADER.encode() + b"aaaaaaaaaaaaaaa,1\n" * 16_000_000, 1),
        "compression bomb",
    ),
    "fake.parquet": (b"PAR1" + os.urandom(1000) + b"PAR1", "broken Parquet"),
    "nul.csv": (GOOD.encode() * 9 + b"a\x00b,1\n", r"bytes that are 0 \(1 of .*tr -d"),
}


def test_refused_with_a_next_step(store, write, settings, tmp_path):
    for name, (content, message) in REFUSED.items():
        path = write(name, content() if callable(content) else content)
        before = set(tmp_path.rglob("*")) - set(settings.home.rglob("*"))
        with pytest.raises(WorkprofError, match=message):
            store.ingest([path], IngestOptions())
        assert set(tmp_path.rglob("*")) - set(settings.home.rglob("*")) == before, name
        assert store.datasets() == (), name
        assert list((settings.home / "spool").iterdir()) == [], name
    assert store.ingest([write("good.csv", GOOD)], IngestOptions()).rows == 1000


def test_paths_that_are_no_traces(store, tmp_path):
    (tmp_path / "folder").mkdir()
    for path, message in (
        (tmp_path / "folder", "no raw PAI tables.* source add NAME --from files --path .*folder/\\*"),
        (tmp_path / "none.csv", "no such file"),
    ):
        with pytest.raises(WorkprofError, match=message):
            store.ingest([path], IngestOptions())
    with pytest.raises(WorkprofError, match="no file is named"):
        store.ingest([], IngestOptions())


def test_zstd_bomb_and_cut(store, tmp_path):
    with pa.CompressedOutputStream(str(tmp_path / "bomb.csv.zst"), "zstd") as stream:
        stream.write(HEADER.encode())
        for _ in range(60):
            stream.write(b"a,1\n" * 1_200_000)
    with pytest.raises(WorkprofError, match="compression bomb"):
        store.ingest([tmp_path / "bomb.csv.zst"], IngestOptions())
    (tmp_path / "cut.csv.zst").write_bytes((tmp_path / "bomb.csv.zst").read_bytes()[:200])
    with pytest.raises(WorkprofError, match=r"broken or cut off|binary|no line ends"):
        store.ingest([tmp_path / "cut.csv.zst"], IngestOptions())


def test_nested_parquet_names_the_columns(store, tmp_path):
    pq.write_table(pa.table({"job_name": ["a"], "duration_s": [1.0], "n": [{"x": 1}]}), tmp_path / "n.parquet")
    with pytest.raises(WorkprofError, match="nested columns n"):
        store.ingest([tmp_path / "n.parquet"], IngestOptions())


def test_a_huge_field_is_one_reject(store, write):
    report = store.ingest([write("f.csv", GOOD + "x" * 1_000_000 + ",1\nz,1\n")], IngestOptions())
    assert (report.rows, report.rejected) == (1001, 1)
    assert len(store.rejects("f")["text"][0]) <= 500


def test_infinities_become_no_value(store, write):
    report = store.ingest([write("n.csv", HEADER + "a,nan\nb,inf\nc,-Infinity\nd,1\n")], IngestOptions())
    assert {check.name: check.count for check in report.checks}["not finite"] == 3
    assert store.frame("n", ["duration_s"])["duration_s"].notna().sum() == 1


def test_hostile_names_are_only_names(store, tmp_path, settings):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("q'uo\"te*[a]?.csv", "..csv", "-rf;$(x).csv"):
        (folder / name).write_text(GOOD + f"{len(name)},1\n")
        report = store.ingest([folder / name], IngestOptions(format="generic"))
        assert report.rows == 1001
        assert "/" not in report.dataset and not report.dataset.startswith(".")
    crooked = folder / ".." / "in" / "..csv"
    assert store.ingest([crooked], IngestOptions(format="generic")).already_loaded


def test_a_link_is_followed(store, write, tmp_path):
    (tmp_path / "link.csv").symlink_to(write("real.csv", GOOD))
    assert store.ingest([tmp_path / "link.csv"], IngestOptions()).rows == 1000


def test_no_query_reads_outside_the_home(store, write):
    import duckdb

    outside = write("secret.csv", "a\n1\n")
    with store._database.cursor() as cursor:
        for sql in (f"SELECT * FROM read_csv('{outside}')", f"COPY (SELECT 1) TO '{outside}.out'"):
            with pytest.raises(duckdb.PermissionException):
                cursor.execute(sql)
        with pytest.raises(duckdb.Error):
            cursor.execute("SET enable_external_access=true")


def test_where_no_link_is_allowed_the_input_is_copied(store, write, monkeypatch):
    def refused(*_args, **_options):
        raise OSError("another file system")

    monkeypatch.setattr(os, "link", refused)
    assert store.ingest([write("good.csv", GOOD)], IngestOptions()).rows == 1000
