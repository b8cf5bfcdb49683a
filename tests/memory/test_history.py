"""Runs of earlier traces are known from the start, by task and metadata; the peers that learn from finished runs."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from tests.memory.test_known_runs import jobs, ordered_of
from workprof.core.errors import SettingsError
from workprof.memory.charges import charge
from workprof.memory.orders import finished_order
from workprof.memory.policies import ORACLES, POLICIES, REGISTRY, Sequence, policy_named
from workprof.memory.replay import replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import RetrySettings
from workprof.memory.usage import runs_of

RETRY = RetrySettings()
DAY_S = 86_400.0


def trace(task="flow:sort", use=2e9, n=30, **more):
    rng = np.random.default_rng(int(use) % 97)
    given = {
        "task_name": task,
        "peak_memory_bytes": use * rng.uniform(0.8, 1.0, n),
        "requested_memory_bytes": 64e9,
        "duration_s": 3600.0,
        "submit_time_s": np.arange(n) * 100.0,
    }
    return pd.DataFrame(given | more)


def test_a_task_that_an_earlier_trace_knows_starts_at_no_request():
    asked = ReplaySettings(("krr",), prices_runs=())
    fresh = replay({"jobs": trace()}, asked)
    told = replay({"jobs": trace(), "earlier": trace(use=3e9, n=12)}, asked)
    assert fresh.policies["krr"].n_sized_from == {"request": 30}
    assert told.policies["krr"].n_sized_from == {"history": 30}
    assert (told.n_history, told.n_cold, told.n_test, told.n_tasks) == (12, 0, 30, 1)
    largest = trace(use=3e9, n=12)["peak_memory_bytes"].max()
    assert told.policies["krr"].charged_gb_h == pytest.approx(30 * 1.15 * largest / 1e9)
    assert told.used_gb_h == fresh.used_gb_h


@pytest.mark.parametrize(
    ("task", "n_history"), [("other:sort", 12), ("sort", 12), ("flow:sort", 12), ("other:index", 0), ("scan", 0)]
)
def test_history_is_keyed_by_the_name_or_its_last_part_where_that_is_one_task(task, n_history):
    two_scans = pd.concat([trace(), trace("flow:scan"), trace("flow:old:scan")], ignore_index=True)
    found = replay({"jobs": two_scans, "x": trace(task, n=12)}, ReplaySettings(("krr",), prices_runs=()))
    assert found.n_history == n_history


def test_history_comes_first_and_shares_codes_of_metadata():
    """The other clock of an earlier trace says nothing here: all its runs are known before the first of the table."""
    own = trace(user=["ann", "bob"] * 15)
    earlier = trace(n=12, user="bob", submit_time_s=1e9 + np.arange(12.0))
    runs = runs_of(pd.concat([own, earlier], ignore_index=True))
    (sequence,) = finished_order(runs, np.zeros(len(runs)), 10, len(own)).sequences
    assert (sequence.n_history, sequence.known_at[0], len(sequence), sequence.n_sized) == (12, 12, 42, 30)
    assert sequence.sized.min() == 12
    bob = sequence.labels["user"][0]
    assert (sequence.labels["user"][:12] == bob).all()
    assert (sequence.labels["user"][12:] == bob).sum() == 15


def test_the_published_protocol_has_a_history_of_its_own():
    with pytest.raises(SettingsError, match="choose the protocol submit-time"):
        ReplaySettings(protocol="sizey", train=("old",))


def test_every_policy_is_registered_once_under_its_own_name():
    assert len(POLICIES) == len(set(POLICIES)) == sum(map(len, REGISTRY.values()))
    for made in REGISTRY.values():
        for name in made:
            assert policy_named(name).name == name
    assert all(name.startswith("oracle") for name in ORACLES)


def site_rule(jobs, cold_runs):
    """Return task -> sizes in order of start, with loops."""
    from tests.memory import naive_order

    found = {}
    for task, runs in naive_order.in_order_of_start(jobs).items():
        found[task], now = [], -np.inf
        for i, run in enumerate(runs):
            known = naive_order.peers_of(runs, i)
            now = now if np.isnan(run[4]) else run[4]
            late = [j for j in known if not (runs[j][5] < now - 14 * DAY_S)]
            size = 1.2 * max(runs[j][0] for j in late or known) if known else 0
            found[task].append(run[2] if len(known) < cold_runs else size)
    return found


@pytest.mark.parametrize("seed", [0, 1])
def test_the_rule_of_sites_looks_back_fourteen_days(seed):
    table = jobs(seed)
    for name in ("submit_time_s", "start_time_s", "end_time_s", "duration_s"):
        table[name] *= 3000  # 4,000 s become 140 days
    runs, ordered = ordered_of(table)
    found = charge(policy_named("site_rule"), ordered, RETRY)
    slow = site_rule(table, 10)
    for code, name in enumerate(runs.tasks):
        np.testing.assert_allclose(found.first_bytes[runs.task[found.rows] == code], slow[name], rtol=1e-12)


def test_ponder_follows_a_line_where_there_is_one_and_else_the_largest_use():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 100, 60)
    on_line = Sequence("t", 1e9 + 1e8 * x, np.ones(60), np.full(60, 64e9), x, 20, 1e9)
    found = policy_named("ponder").sizes(on_line, RETRY)
    np.testing.assert_allclose(found.first_bytes, on_line.used_bytes[20:], rtol=1e-9)
    free = dataclasses.replace(on_line, used_bytes=rng.uniform(1e9, 2e9, 60))
    used = free.used_bytes
    sizes = policy_named("ponder").sizes(free, RETRY).first_bytes
    np.testing.assert_allclose(sizes[-1], used[:59].max() + used[:59].std(), rtol=0.02)


def test_ponder_falls_short_less_often_than_a_plain_line():
    rng = np.random.default_rng(1)
    x = rng.uniform(1, 100, 400)
    runs = Sequence("t", 1e9 + 1e8 * x * rng.lognormal(0, 0.2, 400), np.ones(400), np.full(400, 64e9), x, 20, 1e9)
    failed = {
        name: (policy_named(name).sizes(runs, RETRY).first_bytes < runs.used_bytes[20:]).mean()
        for name in ("ponder", "witt_lr")
    }
    assert failed["ponder"] < 0.3 * failed["witt_lr"]
