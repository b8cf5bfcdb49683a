"""Arrow, Feather and Parquet files: every type of column becomes its value, whatever the file is called."""

import datetime as dt
import decimal
import gzip

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from workprof.core.errors import Cancelled, TraceError
from workprof.store.reports import FieldSource, IngestOptions

pytestmark = pytest.mark.slow

START = dt.datetime(2024, 5, 1, 22, 30, 0, 250_000, tzinfo=dt.UTC)
START_S = START.timestamp()


def jobs(rows=3):
    return pa.table(
        {
            "job_name": pa.array([f"job {at}" for at in range(rows)]).dictionary_encode(),
            "duration_s": pa.array(range(rows), pa.uint16()),
            "memory": pa.array([decimal.Decimal("1.50")] * rows, pa.decimal128(10, 2)),
        }
    )


def as_file(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue().to_pybytes()


def as_stream(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue().to_pybytes()


def as_feather(table, **options):
    sink = pa.BufferOutputStream()
    feather.write_feather(table, sink, **options)
    return sink.getvalue().to_pybytes()


def as_parquet(table):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


WRITTEN = {
    "file": as_file,
    "stream": as_stream,
    "lz4": lambda table: as_feather(table, compression="lz4"),
    "zstd": lambda table: as_feather(table, compression="zstd"),
    "gzip": lambda table: gzip.compress(as_file(table)),
    "stream in gzip": lambda table: gzip.compress(as_stream(table)),
    "parquet": as_parquet,
}


@pytest.mark.some(3)
@pytest.mark.parametrize("kind", WRITTEN)
def test_arrow_and_feather_load_as_parquet_does(store, write, kind):
    path = write("jobs.data", WRITTEN[kind](jobs(5)))
    assert store.detect([path]) == "generic"
    assert store.suggest(path, IngestOptions()).sample["job_name"] == tuple(f"job {at}" for at in range(5))
    report = store.ingest([path], IngestOptions())
    assert (report.rows_read, report.rows, report.rejected) == (5, 5, 0)
    frame = store.frame("jobs", ["job_name", "duration_s", "memory"])
    assert frame["job_name"].tolist() == [f"job {at}" for at in range(5)]
    assert frame["duration_s"].tolist() == [0, 1, 2, 3, 4]
    assert frame["memory"].tolist() == [1.5] * 5


def test_feather_of_the_first_version_loads(store, write):
    """Written by a pyarrow of 2019 on; its reader still knows them."""
    with pytest.warns(DeprecationWarning):
        content = as_feather(pa.table({"job_name": ["a", "b"], "duration_s": [1, 2]}), version=1)
    assert store.ingest([write("jobs.feather", content)], IngestOptions()).rows == 2
    assert store.frame("jobs", ["duration_s"])["duration_s"].tolist() == [1, 2]


TIMES = {
    f"{kind} {unit}": pa.array([START], pa.timestamp("ns", "UTC" if zone else None)).cast(
        pa.timestamp(unit, zone), safe=False
    )
    for kind, zone in (("plain", None), ("zoned", "Europe/Berlin"))
    for unit in ("s", "ms", "us", "ns")
}


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize("written", [as_parquet, as_file])
def test_moments_of_any_unit(store, write, kind, written):
    table = pa.table({"job_name": ["a"], "duration_s": [1], "start_time_s": TIMES[kind]})
    store.ingest([write("jobs.x", written(table))], IngestOptions())
    expected = int(START_S) if kind.endswith(" s") else START_S
    assert store.frame("jobs", ["start_time_s"])["start_time_s"].tolist() == [expected]


DURATIONS = {unit: pa.array([dt.timedelta(minutes=90)], pa.duration(unit)) for unit in ("s", "ms", "us", "ns")} | {
    "time32": pa.array([dt.time(1, 30)], pa.time32("s")),
    "time64": pa.array([dt.time(1, 30)], pa.time64("us")),
    "text": pa.array(["01:30:00"]),
    "half": pa.array([5400.0]).cast(pa.float16()),
    "decimal": pa.array([decimal.Decimal("5400.000")]),
    "wide decimal": pa.array([decimal.Decimal("5400.000")], pa.decimal256(40, 3)),
    "uint64": pa.array([5400], pa.uint64()),
    "int8 of minutes": pa.array([90], pa.int8()),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", DURATIONS)
@pytest.mark.parametrize("written", [as_parquet, as_file])
def test_durations_of_any_type(store, write, kind, written):
    table = pa.table({"job_name": ["a", "b"], "took": pa.concat_arrays([DURATIONS[kind], DURATIONS[kind]])})
    source = FieldSource("took", "min" if "minutes" in kind else "s")
    report = store.ingest([write("jobs.x", written(table))], IngestOptions(mapping={"duration_s": source}))
    assert (report.rows, report.rejected) == (2, 0)
    assert store.frame("jobs", ["duration_s"])["duration_s"].tolist() == [5400, 5400]


@pytest.mark.parametrize("kind", [pa.decimal128(18, 9), pa.decimal128(38, 30)])
def test_decimals_become_numbers(store, write, kind):
    sizes = pa.array([decimal.Decimal(2), decimal.Decimal("0.5")], kind)
    columns = {"job": ["a", "b"], "runtime_s": [9.0, 9.0], "peak_mem_gb": sizes, "further": sizes}
    path = write("d.parquet", "")
    pq.write_table(pa.table(columns), path)
    report = store.ingest([path], IngestOptions())
    frame = store.frame(report.dataset, ["peak_memory_bytes", "further"])
    assert (frame["further"].dtype, frame["peak_memory_bytes"].tolist()) == ("float64", [2e9, 5e8])


def test_columns_that_are_no_field_keep_a_value(store, write):
    table = pa.table(
        {
            "job_name": ["a"],
            "duration_s": [1],
            "day": pa.array([dt.date(2024, 5, 1)]),
            "waited": pa.array([dt.timedelta(seconds=90)]),
            "at": pa.array([dt.time(8, 30)]),
            "big": pa.array([2**64 - 1], pa.uint64()),
            "raw": pa.array([b"ab"]),
            "none": pa.nulls(1),
            "flag": pa.array([True]),
            "long": pa.array(["text"], pa.large_string()),
            "view": pa.array(["text"], pa.string_view()),
            "kind": pa.array(["x"]).dictionary_encode(),
        }
    )
    for at, written in enumerate((as_parquet, as_file)):
        report = store.ingest([write(f"t{at}.x", written(table))], IngestOptions())
        assert (report.rows, report.rejected) == (1, 0)
        row = store.frame(f"t{at}", ["day", "waited", "at", "long", "view", "kind", "flag"]).iloc[0, 1:].tolist()
        assert row == [dt.datetime(2024, 5, 1, tzinfo=dt.UTC).timestamp(), 90, 30600, "text", "text", "x", 1]


@pytest.mark.parametrize("written", [as_file, as_stream, as_feather, as_parquet])
def test_nested_columns_and_broken_files_are_refused(store, settings, write, written):
    with pytest.raises(TraceError, match="nested columns tags; flatten or drop them"):
        store.ingest(
            [write("n.x", written(pa.table({"job_name": ["a"], "duration_s": [1], "tags": [["a"]]})))], IngestOptions()
        )
    whole = written(jobs(200))
    for end in (7, 9, len(whole) // 3, len(whole) // 2, len(whole) - 9):
        with pytest.raises(TraceError, match=r"broken|cut off|binary|not UTF-8"):
            store.ingest([write("cut.x", whole[:end])], IngestOptions())
    assert store.datasets() == ()
    assert not list((settings.home / "spool").glob("*"))


@pytest.mark.soak
def test_a_bomb_of_equal_values_is_refused(store, write):
    content = as_feather(
        pa.table({"job_name": ["x" * 2000] * 400_000, "duration_s": [1.0] * 400_000}), compression="zstd"
    )
    assert len(content) < 4_000_000
    with pytest.raises(TraceError, match="compression bomb"):
        store.ingest([write("b.feather", content)], IngestOptions())


def test_reading_arrow_can_be_stopped(store, write):
    def stop(share, message):
        if "spooling: " in message:
            raise Cancelled("enough")

    with pytest.raises(Cancelled, match="enough"):
        store.ingest([write("jobs.arrow", as_file(jobs(10)))], IngestOptions(), stop)
    assert store.datasets() == ()


@pytest.mark.parametrize("form", WRITTEN)
def test_texts_that_mean_no_value_are_none(store, write, form):
    """As in a CSV file: nobody is called '' and no node '-'."""
    table = jobs(4).append_column("user", pa.array(["ann", "", "NULL", None]))
    table = table.append_column("node", pa.array(["-", "n1", "N/A", "n2"]).dictionary_encode())
    store.ingest([write("jobs", WRITTEN[form](table))], IngestOptions())
    frame = store.frame("jobs", ["user", "node"], finished_only=False)
    assert frame["user"].dropna().tolist() == ["ann"] and frame["node"].dropna().tolist() == ["n1", "n2"]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S"])
def test_a_moment_beyond_all_years_is_open(store, tmp_path, kind):
    """Postgres and DuckDB write an end that has not come as infinity."""
    path = tmp_path / "open.parquet"
    end = f"CASE WHEN i = 2 THEN 'infinity'::{kind} ELSE ('2026-10-01 0' || (i + 2) || ':00:00')::{kind} END"
    rows = f"SELECT 'j' || i AS job_name, '2026-10-01 01:00:00'::{kind} AS start, {end} AS \"end\" FROM range(3) r(i)"
    duckdb.sql(f"COPY ({rows}) TO '{path}'")
    report = store.ingest([path], IngestOptions())
    assert (report.rows, report.running) == (3, 1)
    assert store.frame("open", ["duration_s"], finished_only=True)["duration_s"].tolist() == [3600, 7200]


def test_intervals_of_parquet_are_lengths_of_time(store, tmp_path):
    """Arrow takes them for bytes."""
    rows = "SELECT 'j' || i AS job_name, (i + 1) * INTERVAL '1 hour 0.5 seconds' AS duration FROM range(3) r(i)"
    duckdb.sql(f"COPY ({rows}) TO '{tmp_path / 'jobs.parquet'}'")
    store.ingest([tmp_path / "jobs.parquet"], IngestOptions())
    assert store.frame("jobs", ["duration_s"])["duration_s"].tolist() == [3600.5, 7201, 10801.5]
