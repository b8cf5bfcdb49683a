"""Borg traces as they are published: microseconds, shares of a machine, events, windows of five minutes."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.shares import in_words
from workprof.memory.assessment import AssessmentSettings, assessment_of
from workprof.store.reports import IngestOptions, shares_of

pytestmark = pytest.mark.slow

HEAD = (
    "start_time,end_time,collection_id,instance_index,machine_id,tier,request_cpus,request_memory,"
    "average_usage_memory,maximum_usage_memory,event"
)
HOUR_US = 3_600_000_000
WORDS = ("FINISH", "KILL", "FAIL", "EVICT", "LOST")
FIELDS = ("duration_s", "requested_memory_bytes", "peak_memory_bytes", "mean_memory_bytes")


def runs(n, seed=0):
    """Return a flat table of runs, a part of them going on at its end."""
    rng = np.random.default_rng(seed)
    start = rng.integers(600_000_000, 2_000_000_000_000, n)
    end = start + (rng.lognormal(7, 2, n) * 1e6).astype(np.int64)
    event = rng.choice(WORDS, n, p=[0.6, 0.2, 0.1, 0.05, 0.05]).astype(object)
    going = rng.random(n) < 0.05
    end[going], event[going] = end.max(), "SCHEDULE"
    peak = rng.uniform(0.0002, 0.2, n)
    return pd.DataFrame(
        {
            "start_time": start,
            "end_time": end,
            "collection_id": rng.integers(330_000_000_000, 398_000_000_000, n // 4)[rng.integers(0, n // 4, n)],
            "instance_index": np.arange(n) % 17,
            "machine_id": rng.integers(1e9, 9e10, n),
            "tier": rng.choice(["prod", "beb", "free"], n),
            "request_cpus": rng.uniform(0, 0.05, n).round(5),
            "request_memory": (peak * 2).round(5),
            "average_usage_memory": peak * 0.5,
            "maximum_usage_memory": peak,
            "event": event,
        }
    )


def machine_hours(frame):
    """Return the machine-hours of memory of every field of `FIELDS` but the time, where a machine is 1,000 GB."""
    return [(frame[name] * frame["duration_s"]).sum() / 3600 / 1e12 for name in FIELDS[1:]]


@pytest.mark.parametrize("packed", [False, True])
def test_a_flat_table(store, tmp_path, packed):
    table = runs(5000)
    further = table.assign(user="u1", scheduling_class=2, priority=103, cluster=1, failed=0)
    path = tmp_path / ("borg.csv.gz" if packed else "borg.csv")
    further[np.random.default_rng(1).permutation(further.columns)].to_csv(path, index=False)
    report = store.ingest([path], IngestOptions())
    assert (report.format, report.rows, report.rejected, report.lost) == ("borg", 5000, 0, 0)
    assert report.running == (table["event"] == "SCHEDULE").sum() > 100
    going = store.frame("borg", ["status", "start_time_s", "duration_s"], finished_only=False)
    going = going[going["status"] == "SCHEDULE"]
    last = table["end_time"].max() / 1e6
    np.testing.assert_allclose(going["start_time_s"] + going["duration_s"], last)
    done = table[table["event"] == "FINISH"]
    hours = (done["end_time"] - done["start_time"]) / HOUR_US
    assert store.dataset("borg").finished_rows == len(done)
    frame = store.frame("borg", [*FIELDS, "job_name", "status"])
    wanted = [(done[name] * hours).sum() for name in ("request_memory", "maximum_usage_memory", "average_usage_memory")]
    np.testing.assert_allclose(machine_hours(frame), wanted, rtol=1e-9)
    assert frame["job_name"].nunique() == done["collection_id"].nunique()
    found = assessment_of({"jobs": store.frame("borg", [*FIELDS, "job_name"])}, AssessmentSettings())
    factor = next(one.whole_machine for one in report.machine_shares if one.resource == "memory")
    assert found.requested_gb_h / factor == pytest.approx(wanted[0], rel=1e-9)
    assert found.used_gb_h / factor == pytest.approx(wanted[1], rel=1e-9)


def test_runs_that_were_going_on_have_no_end(store, write):
    late = 2**63 - 1
    lines = [
        HEAD,
        f"600000000,{HOUR_US},1,0,7,prod,0.1,0.02,0.01,0.015,FINISH",
        "700000000,,1,1,7,prod,0.1,0.02,0.01,0.015,SCHEDULE",
        f"800000000,{10 * HOUR_US},1,2,7,prod,0.1,0.02,0.01,0.015,SCHEDULE",
        f"900000000,{late},1,3,7,prod,0.1,0.02,0.01,0.015,ENABLE",
        f"0,{10 * HOUR_US},2,0,7,free,0.1,0.02,0.01,0.015,6",
        f"600000000,{5 * HOUR_US},2,1,7,free,0.1,0.02,0.01,0.015,SCHEDULE",
    ]
    report = store.ingest([write("b.csv", "\n".join(lines) + "\n")], IngestOptions())
    assert (report.rows, report.rejected, report.running) == (6, 0, 4)
    frame = store.frame("b", ["start_time_s", "end_time_s", "duration_s", "status"], finished_only=False)
    assert frame["duration_s"].tolist() == [3000, 35_300, 35_200, 35_100, 36_000, 17_400]
    assert frame["status"].tolist() == ["FINISH", "SCHEDULE", "SCHEDULE", "ENABLE", "FINISH", "SCHEDULE"]
    assert frame["finished"].tolist() == [True, False, False, False, True, False]
    assert frame["start_time_s"].tolist() == [600, 700, 800, 900, 0, 600]
    ended = frame["end_time_s"].where(frame["status"] == "FINISH").tolist()
    assert ended[0] == 3600
    assert ended[4] == 36_000
    done = store.frame("b", ["duration_s"])
    assert done["duration_s"].tolist() == [3000, 36_000]


def windows(n_runs, seed=0):
    """Return (usage windows in any order as published, the same with their own numbers)."""
    rng = np.random.default_rng(seed)
    counts = rng.geometric(0.05, n_runs)
    run = np.repeat(np.arange(n_runs), counts)
    place = np.arange(len(run)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = 600_000_000 + (rng.integers(0, 8000, n_runs)[run] + place) * 300_000_000
    end = start + 300_000_000
    last = place == counts[run] - 1
    end[last] -= rng.integers(0, 299_000_000, last.sum())
    mean = rng.uniform(0, 0.02, len(run))
    own = pd.DataFrame({"run": run, "start": start, "end": end, "mean": mean, "peak": mean * 1.5})
    own["limit"] = (0.03 + run % 7 / 100).round(3)
    table = pd.DataFrame(
        {
            "start_time": start,
            "end_time": end,
            "collection_id": 330_000_000_000 + run // 3,
            "instance_index": run % 3,
            "machine_id": run * 7,
            "average_usage": [f"{{'cpus': {2 * one!r}, 'memory': {one!r}}}" for one in mean.tolist()],
            "maximum_usage": [f"{{'cpus': None, 'memory': {1.5 * one!r}}}" for one in mean.tolist()],
            "assigned_memory": own["limit"],
            "cpu_usage_distribution": "[0.001 0.002\n 0.003]",
        }
    )
    order = rng.permutation(len(table))
    return table.iloc[order], own


def test_windows_of_five_minutes_fold_into_runs(store, tmp_path):
    table, own = windows(2000)
    with gzip.open(tmp_path / "usage.csv.gz", "wt", newline="") as target:
        table.to_csv(target, index=False)
    report = store.ingest([tmp_path / "usage.csv.gz"], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected) == ("borg", len(table), 2000, 0)
    assert {check.name: check.count for check in report.checks}["windows"] == len(table) - 2000
    time = own["end"] - own["start"]
    each = own.assign(weight=own["mean"] * time, time=time).groupby("run")
    hours = (each["end"].max() - each["start"].min()) / HOUR_US
    wanted = [
        (each["limit"].first() * hours).sum(),
        (each["peak"].max() * hours).sum(),
        (each["weight"].sum() / each["time"].sum() * hours).sum(),
    ]
    frame = store.frame("usage", [*FIELDS, "cpu_usage_percent"], finished_only=False)
    np.testing.assert_allclose(machine_hours(frame), wanted, rtol=1e-9)
    np.testing.assert_allclose(frame["cpu_usage_percent"] / 1e4, 2 * frame["mean_memory_bytes"] / 1e12)


def test_a_window_tells_the_state_of_its_run_by_its_last_event(store, write):
    rows = [(0, "SCHEDULE", 0.01), (1, "UPDATE_RUNNING", 0.03), (2, "KILL", 0.02)]
    lines = [HEAD] + [
        f"{at * 300_000_000},{(at + 1) * 300_000_000},5,0,7,prod,0.1,0.02,{m},{m},{e}" for at, e, m in rows
    ]
    store.ingest([write("w.csv", "\n".join(lines) + "\n")], IngestOptions())
    frame = store.frame("w", ["status", "duration_s", "peak_memory_bytes", "mean_memory_bytes"], finished_only=False)
    assert frame["status"].tolist() == ["KILL"]
    assert frame["finished"].tolist() == [False]
    assert frame["duration_s"].tolist() == [900]
    np.testing.assert_allclose(frame[["peak_memory_bytes", "mean_memory_bytes"]], [[0.03e12, 0.02e12]])


def test_long_rows_of_one_instance_are_runs_and_stay(store, write):
    lines = [HEAD, f"0,{HOUR_US},5,0,7,prod,0.1,0.02,0.01,0.01,EVICT"]
    lines += [f"{2 * HOUR_US},{3 * HOUR_US},5,0,8,prod,0.1,0.02,0.01,0.01,FINISH"]
    report = store.ingest([write("r.csv", "\n".join(lines) + "\n")], IngestOptions())
    assert report.rows == 2
    assert store.frame("r", ["status"], finished_only=False)["status"].tolist() == ["EVICT", "FINISH"]


def test_json_lines_of_an_export_without_zeros(store, write):
    """BigQuery writes 64-bit numbers as texts; the published files leave zeros out."""
    first = {
        "start_time": "300000000", "end_time": "7200000000", "collection_id": "9", "machine_id": "4",
        "average_usage": {"cpus": 0.25, "memory": 0.001}, "maximum_usage": {"memory": 0.002}, "assigned_memory": 0.004,
    }  # fmt: skip
    second = first | {"instance_index": "1", "collection_id": "8"}
    text = "\n".join(json.dumps(one) for one in (first, second)) + "\n"
    report = store.ingest([write("usage.jsonl", text)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("borg", 2, 0)
    frame = store.frame("usage", [*FIELDS, "cpu_usage_percent"])
    assert frame["duration_s"].tolist() == [6900, 6900]
    np.testing.assert_allclose(frame[list(FIELDS[1:])] / 1e12, [[0.004, 0.002, 0.001]] * 2)
    np.testing.assert_allclose(frame["cpu_usage_percent"], 2500)


def test_the_size_of_the_machine_makes_amounts_and_another_dataset(store, tmp_path):
    path = tmp_path / "borg.csv"
    runs(200).to_csv(path, index=False)
    plain = store.ingest([path], IngestOptions())
    sized = store.ingest([path], IngestOptions(name="sized", machine_memory_bytes=512e9, machine_cores=96))
    assert plain.hash != sized.hash
    assert store.ingest([path], IngestOptions(machine_memory_bytes=512e9, machine_cores=96)).dataset == "sized"
    names = ["requested_memory_bytes", "requested_cpu_percent"]
    shares, amounts = (store.frame(name, names, finished_only=False)[names] for name in ("borg", "sized"))
    np.testing.assert_allclose(amounts / shares, np.tile([0.512, 0.96], (200, 1)))
    assert [(one.resource, one.whole_machine, one.unit, one.given) for one in plain.machine_shares] == [
        ("memory", 1000.0, "GB", False),
        ("cpu", 100.0, "cores", False),
    ]
    assert [(one.whole_machine, one.given) for one in sized.machine_shares] == [(512.0, True), (96.0, True)]
    assert "a whole machine counts as 1,000 GB and 100 cores (1 GB = 0.1 %, 1 core = 1 % of it)" in in_words(
        plain.machine_shares
    )
    assert "taken to have 512 GB and 96 cores" in in_words(sized.machine_shares)
    half = store.ingest([path], IngestOptions(name="half", machine_memory_bytes=512e9)).machine_shares
    assert "Memory is given as shares of the largest machine in the trace, taken to have 512 GB" in in_words(half)
    assert "a whole machine counts as 100 cores" in in_words(half)


def test_a_sample_and_a_reopened_home_still_tell(store, tmp_path):
    path = tmp_path / "borg.csv"
    runs(400).to_csv(path, index=False)
    told = store.ingest([path], IngestOptions()).machine_shares
    store.sample("borg", "group", 50, "part")
    assert (
        shares_of(store.columns("part"))
        == told
        == store.report("part").machine_shares
        == store.report("borg").machine_shares
    )


def test_the_size_of_a_machine_is_refused_where_there_are_amounts(store, write):
    with pytest.raises(SettingsError, match=r"formats whose numbers are shares of one .*borg.*, not to generic"):
        store.ingest([write("a.csv", "job_name,duration_s\na,1\n")], IngestOptions(machine_cores=96))
    with pytest.raises(SettingsError, match="above 0"):
        IngestOptions(machine_memory_bytes=float("nan"))


def with_one_wrong(write, column, wrong):
    lines = [HEAD] + [f"{at},{at + HOUR_US},5,{at},7,prod,0.1,0.02,0.01,0.01,FINISH" for at in range(5)]
    cells = lines[3].split(",")
    cells[HEAD.split(",").index(column)] = wrong
    lines[3] = ",".join(cells)
    return write("bad.csv", "\n".join(lines) + "\n")


def test_a_time_that_is_no_number_is_a_reject_with_its_line(store, write):
    report = store.ingest([with_one_wrong(write, "start_time", "soon")], IngestOptions())
    assert (report.rows_read, report.rows, report.rejected) == (5, 4, 1)
    reject = store.rejects("bad").iloc[0]
    assert (reject["line"], reject["column"], reject["text"]) == (4, "start_time", "soon")


@pytest.mark.parametrize(
    ("column", "wrong"), [("request_memory", "lots"), ("maximum_usage_memory", "'; DROP TABLE catalogue; --")]
)
def test_a_cell_that_is_no_number_is_missing_and_told_with_its_line(store, write, column, wrong):
    report = store.ingest([with_one_wrong(write, column, wrong)], IngestOptions())
    assert (report.rows_read, report.rows, report.rejected) == (5, 5, 0)
    (told,) = (check for check in report.checks if check.name == "bad cells")
    assert (told.count, told.level) == (1, "warning")
    assert f"{column}: {wrong!r} in line 4" in told.message
    field = {"request_memory": "requested_memory_bytes"}.get(column, "peak_memory_bytes")
    assert store.frame("bad", [field])[field].isna().tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("text", [HEAD + "\n", HEAD[:60], HEAD + "\n" + '"' * 500, HEAD + "\n1,2\n"])
def test_what_is_cut_off_is_refused(store, write, text):
    with pytest.raises(WorkprofError):
        store.ingest([write("cut.csv", text)], IngestOptions())


def test_huge_numbers_and_hostile_names_load_or_reject(store, write):
    lines = [HEAD, f"1,{'9' * 300},5,0,7,prod,1e308,1e308,1e308,1e308,FINISH"]
    lines += [f"0,{HOUR_US},<script>alert(1)</script>,\u202e1,7,p,0.1,0.02,0.01,0.01,FINISH"]
    report = store.ingest([write("huge.csv", "\n".join(lines) + "\n")], IngestOptions())
    assert report.rows + report.rejected == 2
    frame = store.frame("huge", ["job_name", "duration_s"])
    assert frame["duration_s"].tolist()[-1] == 3600
