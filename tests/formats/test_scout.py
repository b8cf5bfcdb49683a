"""Scout's folders: a record is a row, its counters are plain means, and nothing is lost in silence."""

import csv
import json
import statistics

import pytest

from workprof.core.errors import TraceError
from workprof.core.settings import from_environment
from workprof.formats.scout import COUNTERS, TYPES, read_records, record_files
from workprof.nodes.search import SearchSettings
from workprof.store.detect import detect
from workprof.store.reports import IngestOptions
from workprof.workbench import Workbench

HEADER = ["timestamp", *COUNTERS.values(), "task.proc/s"]


def record(folder, name, seconds=100.0, *, samples=(), completed=True):
    """Write a record with counters of as many machines as there are lists of samples."""
    own = folder / name
    own.mkdir(parents=True)
    told = {"completed": completed, "elapsed_time": seconds, "workload": "sort", "timestamp": "2018-01-06 07:56:13"}
    (own / "report.json").write_text(json.dumps(told))
    for number, rows in enumerate(samples, start=1):
        file = own / (f"sar_node{number}.csv" if name[0].isdigit() else "sar.csv")
        with file.open("w", newline="") as stream:
            csv.writer(stream).writerows([HEADER, *(["2018-01-06 07:56:18", *row, 3] for row in rows)])


def sample(at):
    return [float(at + place) for place in range(len(COUNTERS))]


def test_a_record_is_a_row_with_the_means_of_its_machines(tmp_path):
    machines = ([sample(1), sample(4)], [sample(20)])
    record(tmp_path, "2_m4.xlarge_naive-bayes_spark1.5_bigdata_1", 250.5, samples=machines)
    record(tmp_path, "c3.large_i-0ab1_sort_hadoop_small_3", "119.742", samples=([sample(7)],))
    found = read_records(record_files(tmp_path))
    several, single = found.frame.to_dict("records")
    assert (several["workload"], several["machine"], several["count"]) == (
        "naive-bayes spark1.5 bigdata",
        "m4.xlarge",
        2,
    )
    assert (several["runtime"], several["cores"], several["memory_gib"], several["price_per_h"]) == (250.5, 4, 16, 0.2)
    for place, name in enumerate(COUNTERS):
        slow = statistics.mean([statistics.mean(row[place] for row in rows) for rows in machines])
        assert several[name] == pytest.approx(100 - slow if name == "cpu_percent" else slow)
    assert (single["workload"], single["count"], single["runtime"]) == ("sort hadoop small", 1, 119.742)
    assert "no price is known of c3.large" in " ".join(one.message for one in found.checks)


def test_what_is_no_measurement_is_rejected_and_what_lacks_is_told(tmp_path):
    record(tmp_path, "4_m4.large_sort_spark_big_1", 50.0, samples=([sample(1)], [], [["x"] * len(COUNTERS)]))
    record(tmp_path, "4_r4.large_sort_spark_big_1", 7200.0, completed=False)
    record(tmp_path, "6_r4.large_sort_spark_big_1", -1)
    (tmp_path / "8_r4.large_sort_spark_big_1").mkdir()
    (tmp_path / "8_r4.large_sort_spark_big_1" / "report.json").write_text("{}")
    (tmp_path / "9_r4.large_sort_spark_big_1").mkdir()
    (tmp_path / "9_r4.large_sort_spark_big_1" / "sar_node1.csv").write_text("timestamp\n")
    (tmp_path / "notes.txt").write_text("not a record")
    found = read_records(record_files(tmp_path))
    assert (found.rows_read, len(found.frame)) == (5, 1)
    assert [(one.line, one.text[:10], one.reason) for one in found.rejected] == [
        (2, "4_r4.large", "completed is false"),
        (3, "6_r4.large", "elapsed_time is -1"),
        (4, "8_r4.large", "report.json: 'elapsed_time'"),
        (5, "9_r4.large", "there is no report.json"),
    ]
    assert {one.name: one.count for one in found.checks} == {"counters": 1, "samples": 2, "prices": 1}


def test_prices_are_those_of_the_evaluation():
    published = {"c4": (0.1, 0.199, 0.398), "m4": (0.1, 0.2, 0.4), "r4": (0.133, 0.266, 0.532)}
    for kind, prices in published.items():
        assert tuple(TYPES[f"{kind}.{size}"][2] for size in ("large", "xlarge", "2xlarge")) == prices


def test_a_folder_is_a_dataset_that_a_search_takes_with_prices_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    folder = tmp_path / "runs"
    for machine, speed in (("m4.large", 1.0), ("r4.large", 1.2), ("x9.large", 1.5)):
        for count in (4, 6, 8):
            rows = [sample(count)]
            record(folder, f"{count}_{machine}_sort_spark_big_1", 900 / speed / count + count, samples=[rows] * count)
    with Workbench(from_environment()) as bench:
        report = bench.ingest([folder])
        assert (report.kind, report.format, report.rows, report.dataset) == ("configurations", "scout", 9, "runs")
        assert bench.ingest([folder]).already_loaded
        own = bench.configuration_search("runs", SearchSettings(trials=4, seeds=1))
        assert own.n_configurations == 6
        assert any("no price of x9.large: 3 measurements left out" in one for one in own.notes)
        given = SearchSettings(trials=4, seeds=1, prices_per_h={"x9.large": 0.01, "m4.large": 5.0})
        other = bench.configuration_search("runs", given)
    cost = {count: (900 / 1.5 / count + count) / 3600 * count * 0.01 for count in (4, 6, 8)}
    least = min(cost, key=cost.get)
    assert other.workloads == {"sort spark big": f"x9.large x {least}"}
    assert other.least_costs["sort spark big"] == pytest.approx(cost[least])


def test_a_folder_without_a_report_is_not_taken_for_records(tmp_path):
    (tmp_path / "4_m4.large_sort_spark_big_1").mkdir()
    (tmp_path / "a.csv").write_text("x\n1\n")
    assert record_files(tmp_path) == {}
    with pytest.raises(TraceError, match="no raw PAI tables"):
        detect([tmp_path], IngestOptions())
