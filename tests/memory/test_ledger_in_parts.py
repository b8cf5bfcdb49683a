"""The ledger, added up part by part, against the slow one that holds every run: same rows, findings, runs, words."""

import math

import numpy as np
import pandas as pd
import pytest

from tests.memory import naive_ledger
from tests.memory.traces import bundled, pai
from tests.shared_data import needs_shared_data
from workprof.core import long_table
from workprof.core.causes import KILLS, LOWER_BOUND
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.long_table import LongTable, frame_of, rows_at
from workprof.core.records import to_json
from workprof.memory.advice import VERDICT, advised_in, verdict_settings, verdict_table
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.ledger import ledger_of, ledger_run_list
from workprof.memory.ledger_runs import ledger_runs
from workprof.memory.ledger_settings import LedgerPrices, LedgerRunsSettings, LedgerSettings, Thresholds
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


@pytest.mark.parametrize("most", [11, 1])
def test_rows_and_findings_are_those_of_the_ledger_that_holds_every_run(frames, most):
    jobs = frames["jobs"]
    for settings in settings_for(jobs):
        runs = ledger_runs(jobs, settings)
        expected = naive_ledger.findings_of(jobs, runs, settings, advised_in(frames, settings.target))
        rows = {row.name: row for row in naive_ledger.rows_of(runs, runs.who, runs.whose, settings.prices)}
        whole = naive_ledger.rows_of(runs, np.zeros(len(runs), dtype=np.int64), ("total",), settings.prices)[0]
        found = ledger_of({**frames, "jobs": in_parts(jobs, len(jobs) // most + 1)}, settings)
        alike(to_json(found.findings), to_json(expected.findings))
        alike(to_json(found.unjudged), to_json(expected.unjudged))
        alike(to_json(found.totals), to_json(whole))
        alike({row.name: to_json(row) for row in found.rows}, {name: to_json(row) for name, row in rows.items()})
        assert found.n_small == expected.n_small
        alike(found.small_share, expected.small_share)


def test_the_runs_behind_a_number_are_those_of_the_ledger_that_holds_every_run(frames):
    jobs = frames["jobs"]
    for settings in list(settings_for(jobs))[:2]:
        findings = {one.rule: one for one in ledger_of(frames, settings).findings}
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
                expected = to_json(naive_ledger.ledger_run_list(frames, wanted))
            except SettingsError as error:
                with pytest.raises(SettingsError) as told:
                    ledger_run_list({**frames, "jobs": parts}, wanted)
                assert str(told.value) == str(error)
                continue
            alike(to_json(ledger_run_list({**frames, "jobs": parts}, wanted)), expected)


def test_a_frame_is_added_up_in_parts_too(monkeypatch):
    frames = frames_for(planted(7))
    whole = ledger_of(frames, LedgerSettings(by="week"))
    monkeypatch.setattr(long_table, "AT_ONCE", 101)
    parts = ledger_of(frames, LedgerSettings(by="week"))
    alike({**to_json(parts), "seconds": 0}, {**to_json(whole), "seconds": 0})


def test_rows_of_a_long_table_are_those_of_the_frame():
    jobs = planted(8, n=100)
    places = np.random.default_rng(0).permutation(100)[:31]
    found = rows_at(in_parts(jobs, 7), places)
    assert found["row_id"].tolist() == jobs["row_id"].iloc[places].tolist()
    assert found["task_name"].astype(object).fillna("-").tolist() == jobs["task_name"].iloc[places].fillna("-").tolist()
    assert frame_of(in_parts(jobs, 7))["row_id"].tolist() == jobs["row_id"].tolist()
