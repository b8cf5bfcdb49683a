"""The ledger of a table in parts is that of the whole one, which `test_ledger` proves: rows, findings, runs, words."""

import math
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

from tests.memory.traces import bundled, pai
from tests.shared_data import needs_shared_data
from workprof.core import long_table
from workprof.core.causes import CAUSES, KILLS, LOWER_BOUND
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.long_table import LongTable, frame_of, rows_at
from workprof.core.records import to_json
from workprof.memory.advice import VERDICT, verdict_settings, verdict_table
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.ledger import ledger_of, ledger_run_list
from workprof.memory.ledger_rules import CAUSES_OF
from workprof.memory.ledger_runs import ledger_runs
from workprof.memory.ledger_settings import (
    CORES,
    GPUS,
    LIMIT,
    MEMORY,
    NAMES,
    LedgerPrices,
    LedgerRunsSettings,
    LedgerSettings,
    Thresholds,
)
from workprof.memory.verdict import verdict_of

pytestmark = pytest.mark.slow


def in_parts(jobs, size):
    """Return a table that is read in parts of so many rows, each with texts of its own."""

    def read(names):
        for begin in range(0, len(jobs), size):
            part = jobs.iloc[begin : begin + size][[*names]].reset_index(drop=True)
            texts = [name for name in names if part[name].dtype.kind not in "fib"]
            yield part.astype(dict.fromkeys(texts, "category"))

    return LongTable(len(jobs), tuple(jobs.columns), dict(jobs.attrs), read)


def planted(seed, n=500, *, pods=False):
    """Return runs with every kind of hole: no request, none of a use, negative and zero amounts, odd texts, kills."""
    rng = np.random.default_rng(seed)

    def holes(values, share):
        return np.where(rng.random(n) < share, np.nan, values)

    def texts(values, share):
        return pd.Series(rng.choice(values, n)).where(rng.random(n) >= share, None)

    request = rng.choice([0.0, -1.0, 1e9, 4e9, 8e9, 8e9 + 1e6, 64e9], n)
    cores = rng.choice([0.0, 100.0, 200.0, 1600.0], n)
    start = 1.7e9 + rng.integers(0, 90 * 86_400, n)
    took = rng.choice([0.0, 1.0, 60.0, 3600.0, 90_000.0], n) * rng.random(n)
    ended = rng.choice(["COMPLETED", "FAILED", "OUT_OF_MEMORY", "TIMEOUT", "RUNNING", "PENDING", "odd"], n)
    finished = rng.random(n) < 0.85
    table = pd.DataFrame(
        {
            "row_id": np.arange(n) * 3,
            "user": texts(["ann", "bob", "(no name)", "=cmd()", "Zoë\n"], 0.1),
            "group": texts([f"g{number}" for number in range(40)], 0.3),
            "task_name": texts(["align", "sort:one", "all runs", "", "日本"], 0.1),
            "workload": texts(["w1", "w2"], 0.2),
            "partition": texts(["long", "short"], 0.4),
            "status": pd.Series(np.where(finished, "COMPLETED", ended)),
            "submit_time_s": holes(start - 60.0, 0.2),
            "start_time_s": holes(start, 0.1),
            "end_time_s": holes(start + took, 0.1),
            "duration_s": holes(took, 0.2),
            "requested_memory_bytes": holes(request, 0.1),
            "peak_memory_bytes": holes(np.abs(request) * rng.random(n) * 1.2, 0.2),
            "requested_cpu_percent": holes(cores, 0.1),
            "cpu_usage_percent": holes(cores * rng.random(n) * 1.1, 0.2),
            "requested_gpu_percent": holes(rng.choice([0.0, 100.0, 400.0], n), 0.4),
            "gpu_usage_percent": holes(rng.choice([0.0, 5.0, 90.0], n), 0.3),
            "time_limit_s": holes(rng.choice([3600.0, 86_400.0], n), 0.2),
            "cap_mem": holes(rng.choice([256.0, 512.0], n), 0.1),
            "cap_cpu": holes(rng.choice([32.0, 64.0], n), 0.1),
            "cap_gpu": holes(rng.choice([0.0, 2.0, 8.0], n), 0.1),
            "NNodes": holes(rng.integers(0, 6, n), 0.2),
            LOWER_BOUND: holes((rng.random(n) < 0.1).astype(float), 0.3),
            KILLS: holes((rng.random(n) < 0.03).astype(float), 0.3),
            PROFILE_COLUMN: holes(rng.integers(-1, 12, n), 0.1),
            "finished": finished,
        }
    )
    return table.assign(namespace=texts(["web", "batch"], 0.1), container="c") if pods else table


def sample(jobs):
    """Return a trace with ids, as the store has it."""
    further = {"cap_mem": "cap_mem_machine_spec", "cpu_usage_percent": "cpu_usage", "gpu_usage_percent": "gpu_wrk_util"}
    table = jobs.assign(row_id=np.arange(len(jobs)), **{new: jobs[old] for new, old in further.items() if old in jobs})
    return table[[name for name in table if not str(name).startswith("truth_")]]


def alike(found, expected, path=""):
    """Hold that two documents are the same; sums within what their order makes of them."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for name, value in expected.items():
            alike(found[name], value, f"{path}/{name}")
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), path
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            alike(one, other, f"{path}/{place}")
    elif isinstance(expected, float) and math.isfinite(expected):
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-12), path
    elif isinstance(expected, float):
        assert str(found) == str(expected), path
    else:
        assert found == expected, path


def frames_for(jobs, target="peak_rss"):
    try:
        return {"jobs": jobs, VERDICT: verdict_table(verdict_of({"jobs": jobs}, verdict_settings(target)))}
    except (ColumnMissing, NotEnoughData):
        return {"jobs": jobs}


STRICT = Thresholds(gpu_memory_bytes=9e9, gpu_cores=2.0, node_cores=16.0)
CASES = {
    "planted": lambda: planted(1),
    "pods": lambda: planted(3, pods=True),
    "without memory": lambda: planted(4).drop(columns=["peak_memory_bytes", "user"]),
    "without names": lambda: planted(5).drop(columns=["task_name", "group", "workload", "cap_cpu"]),
    "nobody finished": lambda: planted(6, n=200).assign(finished=False),
    "bundled": lambda: sample(bundled()),
    "real": lambda: sample(pai()),
}


MARKS = {"real": needs_shared_data, "bundled": pytest.mark.soak}
PARAMS = [pytest.param(one, marks=MARKS.get(one, ())) for one in CASES]


@pytest.fixture(scope="module", params=PARAMS)
def frames(request):
    return frames_for(CASES[request.param]())


def settings_for(jobs):
    yield LedgerSettings(by="task", rules=STRICT, prices=LedgerPrices(per_gb_h=0.1, per_gpu_h=2.0))
    yield LedgerSettings(by="user" if "user" in jobs else "week")
    if PROFILE_COLUMN in jobs:
        yield LedgerSettings(by="profile")


def told(record):
    return {**to_json(record), "seconds": 0}


def test_parts_add_up_to_the_whole(frames):
    jobs = frames["jobs"]
    parts = {**frames, "jobs": in_parts(jobs, len(jobs) // 11 + 1)}
    for settings in settings_for(jobs):
        alike(told(ledger_of(parts, settings)), told(ledger_of(frames, settings)))


def test_the_runs_behind_a_number_are_the_same_in_parts(frames):
    jobs = frames["jobs"]
    for settings in list(settings_for(jobs))[:2]:
        findings = {one.rule: one for one in ledger_of(frames, settings).findings if settings.by == "task"}
        chosen = [{"resource": "gpus"}, {"cause": "running", "resource": "cores", "most": 3}]
        chosen += [{"rule": rule, "key": one.key, "most": 7} for rule, one in findings.items()]
        chosen += [
            {"rule": "cores,serial"},
            {"rule": "failed"},
            {"rule": "memory,failed"},
            {"row": "bob", "task": "align"},
        ]
        parts = in_parts(jobs, max(173, len(jobs) // 7))
        for asked in chosen:
            wanted = LedgerRunsSettings(settings, **asked)
            try:
                expected = told(ledger_run_list(frames, wanted))
            except SettingsError as error:
                with pytest.raises(SettingsError) as refused:
                    ledger_run_list({**frames, "jobs": parts}, wanted)
                assert str(refused.value) == str(error)
                continue
            alike(told(ledger_run_list({**frames, "jobs": parts}, wanted)), expected)


OTHERS = Thresholds(memory_share=0.6, limit_share=0.3, cores_share=0.4, gpu_share=0.5, gpu_zero=0.02, serial_cores=1.5)


def broken(jobs, limits):
    """Return rule -> ids of the runs that break it, where no request is lowered; of some rules what those waste."""
    runs, found = ledger_runs(jobs, LedgerSettings(by="user", rules=limits)), defaultdict(list)
    wasted = dict.fromkeys(("gpu_memory", "gpu_cores", "fragmentation"), 0.0)
    judged = {name: runs.judged(name) for name in NAMES}
    for at, row in enumerate(jobs.itertuples()):
        asked, used = ({name: values[name][at] for name in NAMES} for values in (runs.requested, runs.used))
        knows, gpus = {name: judged[name][at] for name in NAMES}, asked[GPUS]
        each_gb, each_cores, node_cores = 9, 2, 16
        if limits is OTHERS:
            of_gpus = row.cap_gpu if row.cap_gpu > 0 else math.nan
            each_gb, each_cores, node_cores = row.cap_mem * 2**30 / 1e9 / of_gpus, row.cap_cpu / of_gpus, row.cap_cpu
        serial = asked[CORES] >= 2 and used[CORES] <= limits.serial_cores
        timed = runs.finished[at] and math.isfinite(runs.hours[at]) and math.isfinite(asked[CORES] / node_cores)
        further = {
            "gpu_memory": asked[MEMORY] / each_gb - gpus,
            "gpu_cores": asked[CORES] / each_cores - gpus,
            "fragmentation": row.NNodes - max(math.ceil(asked[CORES] / node_cores), 1) if timed else 0.0,
        }
        told = {
            "memory": knows[MEMORY] and used[MEMORY] < limits.memory_share * asked[MEMORY],
            "time_limit": knows[LIMIT] and used[LIMIT] < limits.limit_share * asked[LIMIT],
            "gpu_zero": knows[GPUS] and used[GPUS] <= limits.gpu_zero * gpus,
            "gpu_low": knows[GPUS] and limits.gpu_zero * gpus < used[GPUS] < limits.gpu_share * gpus,
            "serial": knows[CORES] and serial,
            "cores": knows[CORES] and not serial and used[CORES] < limits.cores_share * asked[CORES],
            "gpu_memory": knows[MEMORY] and further["gpu_memory"] > 1e-9 and used[MEMORY] <= each_gb * gpus,
            "gpu_cores": knows[CORES] and further["gpu_cores"] > 1e-9 and used[CORES] <= each_cores * gpus,
            "fragmentation": further["fragmentation"] > 0,
        }
        for rule, breaks in told.items():
            found[rule] += [row.row_id] * bool(breaks)
            if breaks and rule in wasted:
                wasted[rule] += further[rule] * runs.hours[at]
    return found, wasted


@pytest.mark.parametrize("limits", [STRICT, OTHERS])
def test_the_runs_of_a_rule_are_those_that_break_it_one_by_one(limits):
    each = [f"run {at}" for at in range(2_000)]  # of one run alone nothing is lowered
    jobs = planted(2, n=2_000).assign(user=each, task_name=each, group=each, workload=each)
    jobs["requested_cpu_percent"] *= np.where(np.arange(len(jobs)) % 3, 1, 3)  # some of more cores than a node has
    found, wasted = broken(jobs, limits)
    for rule, expected in found.items():
        asked = LedgerRunsSettings(LedgerSettings(by="user", rules=limits), rule=rule, most=10_000)
        listed = ledger_run_list({"jobs": jobs}, asked)
        assert sorted(listed.row_ids.tolist()) == expected != [], rule
        assert listed.wasted == pytest.approx(wasted.get(rule, listed.wasted)), rule


@pytest.mark.parametrize("rule", CAUSES_OF)
def test_a_cause_is_of_what_its_runs_held_most_and_goes_with_no_rule_of_another_resource(rule):
    settings, frames = LedgerSettings(by="user"), {"jobs": planted(2)}
    runs = ledger_runs(frames["jobs"], settings)
    ended = np.isin(runs.cause, [CAUSES.index(cause) for cause in CAUSES_OF[rule]])
    held = {name: runs.over_time(name, runs.requested[name]) for name in (MEMORY, CORES, GPUS)}
    shares = {name: np.nansum(each[ended]) / np.nansum(each[runs.finished]) for name, each in held.items()}
    found = ledger_run_list(frames, LedgerRunsSettings(settings, rule=rule))
    assert found.resource == max(shares, key=shares.get)
    other = "memory" if found.resource == CORES else "serial"
    with pytest.raises(SettingsError, match=f"rules {rule}, {other} are of unlike resources"):
        ledger_run_list(frames, LedgerRunsSettings(settings, rule=f"{rule},{other}"))


def test_a_frame_is_added_up_in_parts_too(monkeypatch):
    frames = frames_for(planted(7))
    whole = ledger_of(frames, LedgerSettings(by="week"))
    monkeypatch.setattr(long_table, "AT_ONCE", 101)
    parts = ledger_of(frames, LedgerSettings(by="week"))
    alike(told(parts), told(whole))


def test_rows_of_a_long_table_are_those_of_the_frame():
    jobs = planted(8, n=100)
    places = np.random.default_rng(0).permutation(100)[:31]
    found = rows_at(in_parts(jobs, 7), places)
    assert found["row_id"].tolist() == jobs["row_id"].iloc[places].tolist()
    assert found["task_name"].astype(object).fillna("-").tolist() == jobs["task_name"].iloc[places].fillna("-").tolist()
    assert frame_of(in_parts(jobs, 7))["row_id"].tolist() == jobs["row_id"].tolist()
