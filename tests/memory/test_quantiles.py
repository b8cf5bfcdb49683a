"""The quantile ensemble: what it looks at equals a slow version, way and factor are the cheapest, planted sizes."""

import math

import numpy as np
import pandas as pd
import pytest

from workprof.memory.charges import charges_of
from workprof.memory.orders import finished_order
from workprof.memory.policies import DEFAULT
from workprof.memory.quantiles import FACTORS, LATEST, QuantileEnsemble, chosen_way, seen_at_submission
from workprof.memory.replay import ordered_runs
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import RetrySettings
from workprof.memory.usage import runs_of


def overlapping(n=120, seed=0):
    """Runs of three tasks that overlap and start together; some lack a request or a user."""
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, 4000, n)) * 1.0
    seconds = rng.lognormal(5, 1, n).round() + 1
    return pd.DataFrame(
        {
            "task_name": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "user": rng.choice(["ann", "ben", None], n),
            "requested_memory_bytes": rng.choice([16e9, 64e9, np.nan], n),
            "peak_memory_bytes": 1e9 * rng.lognormal(0, 0.5, n),
            "duration_s": seconds,
            "start_time_s": start,
            "end_time_s": start + seconds,
        }
    )


def slow_inputs(runs, place, ended):
    """Return what the runs that had ended tell of a run, with loops."""
    logs = [(math.log(runs.used_bytes[one]), one) for one in ended]
    own = [use for use, one in logs if runs.task[one] == runs.task[place]]
    usual = np.mean(own or [use for use, _ in logs]) if logs else math.nan
    latest = own[-LATEST:]
    traits = [np.mean(own), max(own), own[-1], np.mean(latest), max(latest)] if own else [math.nan] * 5
    labels = []
    for name in sorted(runs.labels):
        codes = runs.labels[name]
        alike = [use for use, one in logs if codes[one] == codes[place]]
        labels.append(np.mean(alike) if codes[place] >= 0 and alike else math.nan)
    return [math.log(runs.requested_bytes[place]), 0.0, len(own), *traits, *labels], usual, len(ended)


@pytest.mark.parametrize("seed", range(3))
def test_what_it_looks_at_is_what_had_ended(seed):
    runs = runs_of(overlapping(seed=seed))
    ordered = finished_order(runs, np.zeros(len(runs)), 10)
    seen = seen_at_submission(ordered.sequences, ordered.clocks)
    places = np.concatenate(ordered.rows)
    by_end = np.lexsort((np.argsort(places), runs.end_s))
    for row, place in enumerate(places.tolist()):
        ended = [one for one in by_end.tolist() if one != place and runs.end_s[one] <= runs.start_s[place]]
        inputs, usual, known = slow_inputs(runs, place, ended)
        np.testing.assert_allclose(seen.inputs[row], inputs, rtol=1e-9)
        np.testing.assert_allclose(seen.usual[row], usual, rtol=1e-9)
        assert seen.known[row] == known


def test_way_and_factor_are_the_cheapest():
    rng = np.random.default_rng(4)
    foreseen, usual, hours = rng.normal(0, 0.2, (2, 40)), rng.normal(1, 0.5, 40), rng.lognormal(0, 1, 40)
    used, costs = np.exp(usual + rng.normal(0, 0.3, 40)), {}
    for way, together in (("mean", np.mean), ("max", np.max)):
        for factor in FACTORS:
            cost = 0.0
            for at in range(40):
                size = factor * together(np.exp(foreseen[:, at] + usual[at]))
                cost += size * hours[at]
                if size < used[at]:
                    cost += max(5.0, 2 * size, used[at]) * hours[at] + 0.7
            costs[way, factor] = cost
    assert chosen_way(foreseen, usual, used, hours, 5.0, 0.7) == min(costs, key=costs.get)


def planted(n=400):
    """Runs whose use follows user and input: the 95th percentile is 1.18 times their product."""
    rng = np.random.default_rng(7)
    user, inputs = rng.choice(["ann", "ben"], n), rng.lognormal(3, 0.7, n)
    start = np.arange(n) * 100.0
    use = 1e8 * inputs * np.where(user == "ann", 1.0, 4.0) * rng.lognormal(0, 0.1, n)
    table = {"task_name": rng.choice(["a", "b"], n), "user": user, "input_bytes": inputs, "peak_memory_bytes": use}
    times = {"duration_s": 60.0, "start_time_s": start, "end_time_s": start + 60}
    return pd.DataFrame({**table, "requested_memory_bytes": 200e9, **times})


@pytest.mark.slow
def test_planted_sizes_are_found_with_less_waste_than_a_percentile():
    asked = ReplaySettings(("quantile_ensemble",), prices_runs=(), input_column="input_bytes")
    runs, orders = ordered_runs({"jobs": planted()}, asked)
    found, plain = (charges_of((orders, asked), name)[0] for name in ("quantile_ensemble", "p95"))
    late = runs.start_s[found.rows] > 20_000
    assert found.wasted_gb_h[late].sum() < 0.5 * plain.wasted_gb_h[late].sum()
    assert (found.failures[late] > 0).mean() < 0.2
    again = charges_of((orders, asked), "quantile_ensemble")[0]
    assert again.first_bytes.tolist() == found.first_bytes.tolist()


def test_few_known_runs_keep_the_largest_use_seen():
    runs = runs_of(overlapping(30))
    for one in finished_order(runs, np.zeros(len(runs)), 2).sequences:
        warm = one.after(2)
        sizes = QuantileEnsemble().sizes(warm, RetrySettings())
        np.testing.assert_array_equal(sizes.first_bytes, warm.max_seen_bytes)
    assert DEFAULT.price_runs > 0
