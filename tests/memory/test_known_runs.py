"""A run is known from its end on: equal to a slow replay, on overlaps, ties and missing times."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from tests.memory import naive_order
from tests.memory.traces import trace
from tests.shared_data import needs_shared_data
from workprof.memory.charges import charge
from workprof.memory.orders import finished_order
from workprof.memory.policies import DEFAULT, ORACLES, POLICIES, Sequence, Workprof, policy_named
from workprof.memory.replay import replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import RetrySettings
from workprof.memory.usage import runs_of

pytestmark = pytest.mark.slow

RETRY = RetrySettings()


def jobs(seed=0, n=300):
    """Runs that overlap, start and end together, take no time, and lack an end, a start or both."""
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, 4000, n)) * 1.0
    seconds = rng.choice([0.0, 1.0, 50.0, 400.0], n) * rng.integers(1, 4, n)
    inputs = rng.lognormal(3, 1, n)
    table = pd.DataFrame(
        {
            "task_name": rng.choice(["a", "b", "c"], n, p=[0.6, 0.35, 0.05]),
            "peak_memory_bytes": 1e9 * (0.5 + inputs / 10) * rng.lognormal(0, 0.1, n),
            "requested_memory_bytes": rng.choice([16e9, 64e9], n),
            "duration_s": seconds,
            "submit_time_s": start,
            "start_time_s": start,
            "end_time_s": start + seconds,
            "input_bytes": inputs,
        }
    )
    for column, share in (("end_time_s", 0.1), ("start_time_s", 0.1)):
        table.loc[rng.random(n) < share, column] = np.nan
    table.loc[rng.random(n) < 0.05, ["submit_time_s", "start_time_s"]] = np.nan
    table.loc[rng.random(n) < 0.05, ["submit_time_s", "start_time_s", "end_time_s"]] = np.nan
    return table.sample(frac=1, random_state=seed).reset_index(drop=True)


def ordered_of(table, cold_runs=10, inputs=True):
    runs = runs_of(table)
    x = table["input_bytes"].to_numpy()[runs.rows] if inputs else np.zeros(len(runs))
    return runs, finished_order(runs, x, cold_runs)


def first_by_task(runs, found):
    return {name: found.first_bytes[runs.task[found.rows] == code].tolist() for code, name in enumerate(runs.tasks)}


@pytest.mark.some(7)
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("policy", [*naive_order.RULES, "witt_lr"])
def test_every_size_is_that_of_the_slow_replay(policy, seed):
    table = jobs(seed)
    runs, ordered = ordered_of(table)
    found = first_by_task(runs, charge(policy_named(policy), ordered, RETRY))
    if policy == "witt_lr":
        slow = naive_order.witt_sizes(table, 10)
    else:
        slow = naive_order.first_sizes(table, naive_order.RULES[policy], 10)
    assert {name: len(sizes) for name, sizes in found.items()} == {name: len(sizes) for name, sizes in slow.items()}
    floored = {name: np.maximum(sizes, RETRY.floor_bytes) for name, sizes in slow.items()}
    for name, sizes in found.items():
        np.testing.assert_allclose(sizes, floored[name], rtol=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_known_runs_are_a_rising_prefix_that_never_holds_the_run_itself(seed):
    _, ordered = ordered_of(jobs(seed))
    for runs in ordered.sequences:
        assert sorted(runs.sized.tolist()) == list(range(len(runs)))
        assert (np.diff(runs.known_at) >= 0).all()
        assert (runs.sized >= runs.known_at).all()
        clocked = np.isfinite(runs.started_s[runs.sized])
        for place, n in zip(runs.sized[clocked].tolist(), runs.known_at[clocked].tolist(), strict=True):
            assert (runs.ended_s[:n] <= runs.started_s[place]).all()


@pytest.mark.parametrize("name", [name for name in POLICIES if name not in ORACLES])
def test_what_has_not_ended_changes_no_size(name):
    """The use of a run that ends late is changed: no run that started before its end gets another size."""
    table = jobs(3).assign(task_name="a")
    table["end_time_s"] = np.where(table["start_time_s"] == table["start_time_s"], table["end_time_s"], np.nan)
    runs, ordered = ordered_of(table)
    late = runs.rows[np.nanargmax(np.where(runs.hours > 0, runs.end_s, np.nan))]
    changed = table.copy()
    changed.loc[late, "peak_memory_bytes"] *= 50
    _, other = ordered_of(changed)
    one, two = (charge(policy_named(name), each, RETRY) for each in (ordered, other))
    assert one.rows.tolist() == two.rows.tolist()
    before = ~(runs.start_s[one.rows] >= runs.end_s[runs.rows == late][0]) & np.isfinite(runs.start_s[one.rows])
    assert before.sum() > 200
    assert one.first_bytes[before].tolist() == two.first_bytes[before].tolist()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_failure_is_priced_by_the_mean_of_the_runs_of_all_tasks_that_had_ended(seed):
    table = jobs(seed).dropna(subset=["submit_time_s"])
    _, ordered = ordered_of(table.reset_index(drop=True))
    n = 0
    for runs in ordered.sequences:
        for start, mean in zip(runs.started_s[runs.sized].tolist(), runs.mean_runs.tolist(), strict=True):
            assert mean == pytest.approx(naive_order.mean_run(table, start), rel=1e-12)
            n += 1
    assert n == len(table)
    assert ordered.mean_run_byte_h == pytest.approx(naive_order.mean_run(table, np.inf))


def test_runs_without_a_time_come_last_and_leave_the_others_as_they_are():
    """Their tasks still know each other: sizes of runs with a time are those without the timeless runs."""
    table = jobs(1)
    timeless = table[["submit_time_s", "start_time_s", "end_time_s"]].isna().all(axis=1)
    assert 5 < timeless.sum() < 40
    _, ordered = ordered_of(table)
    _, alone = ordered_of(table[~timeless].reset_index(drop=True))
    assert {len(one) for one in (ordered.clocks, alone.clocks)} == {len(ordered.sequences)}
    for one, other in zip(ordered.sequences, alone.sequences, strict=True):
        n = other.n_sized
        assert one.task == other.task
        with_them, without = (every.outlooks[one.task].sizes_bytes for every in (ordered, alone))
        np.testing.assert_array_equal(with_them[:n], without)
        assert (one.known_at[n:] == np.arange(n, len(one))).all()


@pytest.mark.soak
@pytest.mark.parametrize("seed", [0, 1])
def test_our_tournament_is_the_slow_one(seed):
    """Picks of overlapping runs are judged when the runs end, those of cold runs by what was known before them."""
    table = jobs(seed, 45).assign(task_name="a", requested_memory_bytes=64e9)
    _, ordered = ordered_of(table)
    runs = ordered.sequences[0].after(10)
    assert (np.diff(runs.known_at) > 1).any()
    assert set(range(runs.n_known, int(runs.known_at[-1]))) - set(runs.sized.tolist())  # cold runs end among the others
    slow = naive_order.workprof_sizes(runs, DEFAULT)
    np.testing.assert_allclose(Workprof(DEFAULT).sizes(runs, RETRY).first_bytes, slow, rtol=1e-9)


def test_the_tournament_sizes_a_run_from_what_is_known_when_it_starts():
    """Each run of a crowd that starts together gets the size that it would get as the only one."""
    rng = np.random.default_rng(0)
    x = rng.lognormal(3, 1, 60)
    used, hours, asked = 1e9 * (0.5 + x / 10), rng.lognormal(0, 1, 60), np.full(60, 64e9)
    crowd = Sequence("t", used, hours, asked, x, 20, 1e9, schedule=(np.arange(20, 60), np.full(40, 20)))
    together = Workprof(DEFAULT).sizes(crowd, RETRY).first_bytes
    for place in (20, 35, 59):
        alone = dataclasses.replace(crowd, schedule=(np.array([place]), np.array([20])))
        assert Workprof(DEFAULT).sizes(alone, RETRY).first_bytes[0] == together[place - 20]


def test_a_crowd_that_starts_together_knows_nothing_of_itself():
    """Forty runs at once, then forty more while the first still run: all start at their request."""
    table = pd.DataFrame(
        {
            "task_name": "a",
            "peak_memory_bytes": 1e9,
            "requested_memory_bytes": 64e9,
            "duration_s": 3600.0,
            "submit_time_s": np.repeat([0.0, 10.0, 3610.0], 40),
        }
    )
    asked = ReplaySettings(("workprof", "krr", "preset"), prices_runs=())
    found = replay({"jobs": table}, asked)
    assert (found.known, found.n_cold) == ("finished", 80)
    assert found.policies["krr"].n_sized_from == {"request": 80, "peers": 40}
    assert found.policies["preset"].n_sized_from == {"request": 120}
    assert found.policies["krr"].charged_gb_h == pytest.approx(80 * 64 + 40 * 1.15)
    flattered = replay({"jobs": table}, dataclasses.replace(asked, known="submitted"))
    assert flattered.policies["krr"].n_sized_from == {"request": 10, "peers": 110}
    assert any("savings are overstated" in note for note in flattered.notes)


def test_runs_without_any_time_are_told_and_known_in_the_order_of_the_table():
    table = jobs(0).drop(columns=["submit_time_s", "start_time_s", "end_time_s"])
    found = replay({"jobs": table}, ReplaySettings(("krr",), prices_runs=()))
    submitted = replay({"jobs": table}, ReplaySettings(("krr",), prices_runs=(), known="submitted"))
    assert any(note.startswith("300 runs have neither a start nor an end") for note in found.notes)
    assert found.policies["krr"].wasted_gb_h == pytest.approx(submitted.policies["krr"].wasted_gb_h)


def test_metadata_known_at_submission_come_as_codes_in_the_order_of_the_runs():
    table = jobs(1).assign(user=lambda frame: np.where(frame.index % 3, "ann", None), workload="w")
    runs, ordered = ordered_of(table)
    assert set(runs.labels) == {"user", "workload", "request"}
    assert (runs.labels["user"] == -1).sum() == 100
    for one, rows in zip(ordered.sequences, ordered.rows, strict=True):
        assert one.labels["user"].tolist() == runs.labels["user"][rows].tolist()
        assert len(np.unique(one.labels["request"])) <= 2


@needs_shared_data
def test_a_fresh_workflow_saves_less_than_look_ahead_says():
    """Runs of methylseq come in crowds: what was known by submission, finished or not, flattered by half."""
    found = {
        known: replay({"jobs": trace("methylseq")}, ReplaySettings(("workprof_task",), prices_runs=(), known=known))
        for known in ("finished", "submitted")
    }
    honest, flattered = (found[known].policies["workprof_task"] for known in ("finished", "submitted"))
    assert honest.wasted_gb_h > 1.5 * flattered.wasted_gb_h
    assert honest.n_sized_from["request"] > flattered.n_sized_from["request"]
