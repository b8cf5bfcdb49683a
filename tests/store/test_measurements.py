"""Benchmark runs and counters by the second become datasets of their own kind; nothing is lost on the way."""

import gzip
import json

import numpy as np
import pytest

from tests.shared_data import FOLDER, needs_shared_data
from workprof.core.errors import NoRows, SettingsError, TraceError, UnitUnknown
from workprof.store.reports import FieldSource, IngestOptions

pytestmark = pytest.mark.slow

RUN = {
    "node": "a",
    "benchmark": "cpu-sysbench",
    "argv": ["sysbench", "cpu", "run"],
    "started": 10.0,
    "finished": 12.0,
    "stressed": None,
    "rc": 0,
    "stdout": "events per second: 1.0",
    "stderr": "",
    "host": {"cpu_busy_pct_mean": 3.5},
}
SAMPLES = "workload,run,t,cpu.user%,net.lo.rx_kb/s,mem.Dirty_mb\nx,1,1,2.5,3,4\nx,1,2,,3,4\nx,2,1,1,inf,4\n"


def lines(*runs):
    return "".join(json.dumps(run) + "\n" for run in runs)


def test_benchmark_runs_keep_every_run_and_their_texts(store, write):
    path = write("runs.jsonl", lines(RUN, RUN | {"node": "b", "rc": 124, "stdout": ""}, RUN | {"started": 20.0}))
    report = store.ingest([path], IngestOptions())
    assert (report.kind, report.format, report.rows_read, report.rows) == ("benchmarks", "benchmarks", 3, 3)
    frame = store.frame("runs", ["node", "argv", "stressed", "stdout", "host", "rc"])
    assert frame["node"].tolist() == ["a", "b", "a"]
    assert frame["stressed"].isna().all()
    assert json.loads(frame["host"][0]) == RUN["host"]
    assert json.loads(frame["argv"][0]) == RUN["argv"]
    assert frame["rc"].tolist() == [0, 124, 0]


def test_starts_of_benchmark_runs_make_the_time_coverage(store, write):
    store.ingest([write("runs.jsonl", lines(RUN, RUN | {"started": 20.0, "finished": 22.0}))], IngestOptions())
    coverage = store.time_coverage("runs", bins=2)
    assert coverage.edges_s[[0, -1]].tolist() == [10.0, 20.0]
    assert coverage.rows.tolist() == [1, 1]


def test_an_output_of_any_length_is_kept(store, write):
    long = RUN | {"stdout": "x" * 3_000_000}
    report = store.ingest([write("runs.jsonl", lines(RUN, long))], IngestOptions())
    assert (report.rows, report.rejected) == (2, 0)
    assert store.frame("runs", ["stdout"])["stdout"].str.len().max() == 3_000_000


def test_a_broken_line_is_a_reject_with_its_place(store, write):
    path = write("runs.jsonl", lines(RUN) + '{"node": "a", "bench\n' + lines(RUN | {"started": "soon"}))
    report = store.ingest([path], IngestOptions())
    assert (report.rows_read, report.rows, report.rejected) == (3, 1, 2)
    rejects = store.rejects("runs")
    assert rejects["line"].tolist() == [2, 3]
    assert rejects["reason"].str.len().gt(5).all()
    assert report.rejects_file is not None


def test_counters_become_columns_with_units(store, write):
    report = store.ingest([write("box.csv", SAMPLES)], IngestOptions())
    assert (report.kind, report.format, report.rows) == ("telemetry", "telemetry", 3)
    units = {column.name: column.unit for column in store.columns("box")}
    assert (units["t"], units["cpu.user%"], units["net.lo.rx_kb/s"], units["mem.Dirty_mb"]) == (
        "s",
        "percent",
        "KB/s",
        "MB",
    )
    frame = store.frame("box", ["run", "t", "cpu.user%", "net.lo.rx_kb/s"])
    np.testing.assert_array_equal(frame["cpu.user%"], [2.5, np.nan, 1.0])
    np.testing.assert_array_equal(frame["net.lo.rx_kb/s"], [3.0, 3.0, np.nan])


def test_packed_measurements_are_the_same_dataset(store, write):
    first = store.ingest([write("box.csv", SAMPLES)], IngestOptions())
    again = store.ingest([write("other.csv.gz", gzip.compress(SAMPLES.encode()))], IngestOptions())
    assert again.already_loaded
    assert again.hash == first.hash


def test_counters_that_differ_by_case_alone_are_both_kept(store, write):
    store.ingest([write("box.csv", "workload,run,t,net.TCP,net.tcp,finished\nx,1,1,2,3,4\n")], IngestOptions())
    names = [column.name for column in store.columns("box")]
    assert [name for name in names if name.startswith(("net", "fin"))] == ["net.TCP", "net.tcp_2", "finished_2"]
    assert store.frame("box", ["net.tcp_2"])["net.tcp_2"].tolist() == [3.0]


def test_repeated_rows_are_dropped_when_asked(store, write):
    report = store.ingest([write("runs.jsonl", lines(RUN, RUN))], IngestOptions(duplicates="drop"))
    assert (report.rows_read, report.rows) == (2, 1)
    assert [check.count for check in report.checks if check.name == "duplicates"] == [1]


@pytest.mark.parametrize(("name", "unit", "told"), [("time_ms", "ms", 5e2), ("time [ms]", "", 5e2), ("x", "us", 5e5)])
def test_times_of_a_wide_file_are_read_in_their_unit(store, write, name, unit, told):
    path = write("wide.csv", f"{name},load\n" + "".join(f"{at * told:.0f},{at}\n" for at in range(4)))
    report = store.ingest([path], IngestOptions(format="wide", mapping={"t": FieldSource(name, unit)}))
    assert store.frame(report.dataset, ["t"])["t"].tolist() == [0, 0.5, 1, 1.5]
    with pytest.raises(UnitUnknown, match="unit 'GB' of t does not fit"):
        store.ingest([path], IngestOptions(format="wide", mapping={"t": FieldSource(name, "GB")}))


def test_a_wide_file_needs_its_mapping(store, write):
    path = write("wide.csv", "when,load\n1,0.5\n2,0.7\n")
    mapping = {"t": FieldSource("when")}
    report = store.ingest([path], IngestOptions(format="wide", mapping=mapping))
    assert (report.kind, report.rows) == ("telemetry", 2)
    assert store.frame("wide", ["load"])["load"].tolist() == [0.5, 0.7]
    with pytest.raises(SettingsError, match="formats of jobs"):
        store.ingest([write("box.csv", SAMPLES)], IngestOptions(format="telemetry", mapping=mapping))


@pytest.mark.parametrize("content", ["", "workload,run,t,cpu.user%\n"])
def test_a_file_without_samples_leaves_nothing_behind(store, write, content):
    with pytest.raises((NoRows, TraceError)):
        store.ingest([write("box.csv", content)], IngestOptions(format="telemetry"))
    assert store.datasets() == ()


@needs_shared_data
@pytest.mark.parametrize(
    ("name", "kind", "rows"), [("benchmarks/runs.jsonl", "benchmarks", 432), ("telemetry/runs.csv", "telemetry", 1560)]
)
def test_the_shared_measurements_load_whole(store, name, kind, rows):
    report = store.ingest([FOLDER / name], IngestOptions())
    assert (report.kind, report.rows, report.rejected) == (kind, rows, 0)
