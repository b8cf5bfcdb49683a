"""Policies: equal to slow versions run by run, blind to the future, and the order of runs as each protocol says."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from tests.memory import naive_replay as naive
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.memory.orders import sizey_order, submit_order
from workprof.memory.policies import ORACLES, POLICIES, REFIT_EACH, Sequence, pinned_edges, policy_named, refits
from workprof.memory.retry import RetrySettings
from workprof.memory.usage import runs_of

pytestmark = pytest.mark.slow

RETRY = RetrySettings()


def sequence(n=80, n_known=24, seed=0, inputs=True):
    rng = np.random.default_rng(seed)
    x = rng.lognormal(3, 1, n)
    used = 1e9 * (0.5 + x / 10) * rng.lognormal(0, 0.1, n)
    used[rng.random(n) < 0.1] *= 2
    used[: n // 4] = used[: n // 4].round(-8)  # ties
    hours = rng.lognormal(0, 1, n)
    return Sequence("t", used, hours, np.full(n, 64e9), x if inputs else np.zeros(n), n_known, 1e9)


def before(runs):
    """Yield the place of a sized run, and uses, hours, inputs of all runs before it."""
    for t in range(runs.n_known, len(runs)):
        yield t, runs.used_bytes[:t], runs.hours[:t], runs.inputs[:t]


SLOW = {
    "p95": lambda runs, used, hours, x, t: np.quantile(used, 0.95),
    "vpa": lambda runs, used, hours, x, t: 1.15 * np.quantile(used, 0.9),
    "krr": lambda runs, used, hours, x, t: 1.15 * used.max(),
    "tovar": lambda runs, used, hours, x, t: naive.tovar_size(used, hours),
    "min_waste": lambda runs, used, hours, x, t: naive.min_waste_size(used, hours, np.ones(t)),
    "local_min_waste": lambda runs, used, hours, x, t: naive.min_waste_size(
        used, hours, naive.local_weights(x, runs.inputs[t])
    ),
}


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("inputs", [True, False])
def test_equals_the_loop_over_runs(name, inputs):
    runs = sequence(inputs=inputs)
    slow = [SLOW[name](runs, used, hours, x, t) for t, used, hours, x in before(runs)]
    np.testing.assert_allclose(policy_named(name).sizes(runs, RETRY).first_bytes, slow, rtol=1e-12)


def test_witt_lr_equals_the_loop():
    runs, errors, slow = sequence(), [], []
    for t, used, _, x in before(runs):
        predicted, size = naive.line_with_spread(x, used, runs.inputs[t], errors)
        slow.append(size)
        errors.append((runs.used_bytes[t] - predicted) / runs.used_bytes[t])
    np.testing.assert_allclose(policy_named("witt_lr").sizes(runs, RETRY).first_bytes, slow, rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in POLICIES if name not in ORACLES])
def test_no_policy_looks_ahead(name):
    """What runs will use and how long they will take changes no earlier size, nor their own."""
    runs, cut = sequence(), 50
    used, hours = runs.used_bytes.copy(), runs.hours.copy()
    used[cut:], hours[cut:] = used[cut:][::-1] * 3, hours[cut:][::-1] * 7
    other = Sequence("t", used, hours, runs.requested_bytes, runs.inputs, runs.n_known, runs.mean_run_byte_h)
    told, changed = (policy_named(name).sizes(one, RETRY) for one in (runs, other))
    own = slice(0, cut - runs.n_known + 1)
    assert told.first_bytes[own].tolist() == changed.first_bytes[own].tolist()
    np.testing.assert_array_equal(told.steps_bytes[own], changed.steps_bytes[own])


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("n_known", [2, 24])
def test_hard_cases_have_finite_sizes(name, n_known):
    equal = Sequence("t", np.full(30, 2e9), np.zeros(30), np.full(30, np.nan), np.zeros(30), n_known, 0.0)
    found = policy_named(name).sizes(equal, RETRY)
    assert len(found.first_bytes) == 30 - n_known
    assert np.isfinite(found.first_bytes).all()


def test_fits_are_rarer_in_long_tasks():
    points = refits(sequence(n=40))
    assert points.tolist() == list(range(24, 40))
    n = 20_000
    far = refits(Sequence("t", np.ones(n), np.ones(n), np.ones(n), np.ones(n), 10, 1.0))
    assert (np.diff(far)[: REFIT_EACH - 20] == 1).all()
    assert len(far) < 1200
    assert (np.diff(far) <= np.maximum(1, 0.02 * far[:-1] + 1)).all()


def table(n=120):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "task_name": rng.choice(["a", "b", "rare"], n, p=[0.5, 0.42, 0.08]),
            "peak_memory_bytes": rng.lognormal(20, 1, n),
            "requested_memory_bytes": 64e9,
            "duration_s": rng.lognormal(5, 1, n),
            "submit_time_s": rng.permutation(n).astype(float),
        }
    )


def test_submit_order_starts_cold_and_rises():
    runs = runs_of(table())
    found = submit_order(runs, np.zeros(len(runs)), 10)
    assert found.cold_runs == 10
    assert sum(len(one) for one in found.sequences) == len(runs)
    assert all((np.diff(moments) > 0).all() for moments in found.moments)
    assert [len(one) - one.after(10).n_sized for one in found.sequences] == [
        min(10, len(one)) for one in found.sequences
    ]


def test_sizey_order_counts_what_it_leaves_out():
    jobs = table()
    jobs.loc[jobs.index[jobs["task_name"] == "b"][0], "duration_s"] = 0.0
    runs = runs_of(jobs)
    found = sizey_order(runs, np.zeros(len(runs)), 1996)
    assert [one.task for one in found.sequences] == ["a"]
    assert found.left_out == {
        "task with fewer than 34 runs": int((jobs["task_name"] == "rare").sum()),
        "task with a run time of 0": int((jobs["task_name"] == "b").sum()),
    }
    with pytest.raises(NotEnoughData, match="34 runs"):
        few = runs_of(table(20))
        sizey_order(few, np.zeros(len(few)), 1)


def test_missing_inputs_are_counted_and_filled_from_the_first_runs():
    runs = runs_of(table())
    inputs = np.arange(len(runs), dtype=float)
    inputs[5:9] = np.nan
    found = submit_order(runs, inputs, 10)
    assert found.n_without_input == 4
    assert all(np.isfinite(one.inputs).all() for one in found.sequences)


@pytest.mark.parametrize("seed", range(4))
def test_trees_without_an_input_say_the_most_common_class(seed):
    runs = sequence(inputs=False, seed=seed)
    edges = pinned_edges(runs, RETRY, 3)
    known = np.searchsorted(edges, runs.used_bytes[:24]).clip(max=2)
    model = GradientBoostingClassifier(n_estimators=40, max_depth=2, random_state=0).fit(np.zeros((24, 1)), known)
    expected = edges[model.predict(np.zeros((1, 1)))[0]]
    assert set(policy_named("thesis_bins").sizes(runs, RETRY).first_bytes) == {expected}


def test_unknown_policy():
    with pytest.raises(SettingsError, match="local_min_waste"):
        policy_named("guess")
