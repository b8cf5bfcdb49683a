"""Runs by shape: medoids are the best there are, bounds hold, planted shapes are found where aggregates see none."""

import itertools

import numpy as np
import pandas as pd
import pytest

from workprof.answers.shapes import forecast_words, shapes_answer
from workprof.charts.phases.methods import shapes_chart
from workprof.core.errors import NotEnoughData
from workprof.core.records import pack, unpack
from workprof.phases.kernels import warping_cost
from workprof.phases.shapes import (
    AGGREGATES,
    ALIKE,
    BARYCENTERS,
    DENSITY,
    MEDOIDS,
    Shapes,
    ShapesSettings,
    beginnings,
    distances,
    least_cost,
    medoids_of,
    shapes_of,
)

pytestmark = pytest.mark.slow

KINDS = {
    "rises": lambda share: share,
    "falls": lambda share: 1 - share,
    "peaks": lambda share: np.exp(-(((share - 0.5) / 0.12) ** 2)),
    "pulses": lambda share: np.floor(share * 6) % 2,
}
"""The first two have the same mean and the same maximum, as have the last."""


def planted(n_each=8, seed=0, lifted=0.0):
    """Return recordings of each kind, stretched in time; `lifted` moves each kind up by more."""
    rng, rows = np.random.default_rng(seed), []
    for place, (kind, shape) in enumerate(KINDS.items()):
        for run in range(n_each):
            length = int(rng.integers(40, 80)) * (1 + place % 2)
            level = shape(np.linspace(0, 1, length) ** rng.uniform(0.8, 1.25)) + lifted * place
            memory = 100 + 100 * level + rng.normal(0, 4, length)
            own = {"mem.AnonPages_mb": memory, "cpu.user%": 50 + 10 * level + rng.normal(0, 2, length)}
            rows.append(pd.DataFrame({"workload": kind, "run": str(run), "t": np.arange(length) + 1.0, **own}))
    return pd.concat(rows, ignore_index=True)


@pytest.fixture(scope="module")
def found():
    return shapes_of({"samples": planted()}, ShapesSettings())


def by_method(result):
    return {one.method: one for one in result.groupings}


def test_planted_shapes_are_found_and_aggregates_do_not_see_them(found):
    lines = by_method(found)
    for method in (MEDOIDS, BARYCENTERS, DENSITY):
        assert lines[method].truth >= 0.9 and lines[method].n_groups == 4
    assert lines[AGGREGATES].truth < 0.8
    assert lines[MEDOIDS].silhouette > lines[AGGREGATES].silhouette
    assert lines[MEDOIDS].agreement == 1.0 and np.isnan(lines[ALIKE].truth)


def test_a_begun_run_is_forecast_by_its_shape(found):
    lines = by_method(found)
    assert lines[MEDOIDS].duration_error < lines[ALIKE].duration_error
    assert found.memory_counter == "mem.AnonPages_mb"
    assert "Error of run time: " in forecast_words(found)


@pytest.mark.parametrize(("length", "n_seen"), [(12, 10), (480, 12)])  # of at most 60 samples of the median run
def test_what_is_seen_of_a_run_does_not_tell_how_long_it_will_be(length, n_seen):
    run = np.random.default_rng(0).normal(0, 1, (2, 4 * length))
    seen = beginnings([run[:, :length], run, run], 0.2, 60)
    assert seen[0].shape == (n_seen, 2)
    np.testing.assert_array_equal(seen[0], seen[1])


def test_every_shape_has_its_curve_and_its_runs(found):
    assert sorted(np.bincount(found.labels).tolist()) == [8] * 4
    for place, one in enumerate(found.runs):
        own = {name for name, label in zip(found.names, found.labels, strict=True) if label == place}
        assert set(one.runs) == own and one.nearest in own
        assert len({name.split("/")[0] for name in own}) == 1
        assert one.levels.shape[0] == len(found.counters) == 2
    told = shapes_answer(found)
    assert len(told.sentence.split()) <= 20
    assert [table.name for table in told.tables] == ["groupings", "shapes"]
    assert len(shapes_chart(found).figure.data) == 8
    back = unpack(Shapes, pack(found))
    assert back.labels.tolist() == found.labels.tolist() and back.groupings[0] == found.groupings[0]


def test_runs_that_are_not_compared_join_the_closest_shape_and_bounds_save_comparisons():
    samples = planted(lifted=3.0)
    part = shapes_of({"samples": samples}, ShapesSettings(k=4, most_runs=20))
    assert part.n_compared == 20 and len(part.labels) == 32 and (part.labels >= 0).all()
    groups = {(workload, label) for workload, label in zip(part.workloads, part.labels.tolist(), strict=True)}
    assert len(groups) == 4
    assert part.n_bounded > 0


def test_costs_are_those_of_tslearn_and_bounds_lie_below():
    from tslearn.metrics import dtw_path_from_metric

    rng = np.random.default_rng(1)
    series = [np.cumsum(rng.normal(0, 1, (n, 2)), axis=0) for n in (9, 14, 20, 11)]
    costs = distances(series)
    for i, j in itertools.combinations(range(4), 2):
        longest = max(len(series[i]), len(series[j]))
        _, expected = dtw_path_from_metric(series[i], series[j], metric="cityblock")
        assert costs[i, j] == costs[j, i] == pytest.approx(expected / longest)
        assert 0 <= least_cost(series[i], series[j]) <= costs[i, j] + 1e-12
    far = series[0] + 100
    assert least_cost(series[0], far) > 0.9 * warping_cost(series[0], far) / len(far) * 0.9


@pytest.mark.parametrize("k", [1, 2, 3])
def test_medoids_are_the_best_of_all(k):
    rng = np.random.default_rng(k)
    for _ in range(40):
        costs = distances([rng.normal(0, 1, (int(rng.integers(3, 7)), 1)) for _ in range(10)])
        medoids, labels = medoids_of(costs, k)
        best = min(costs[:, list(one)].min(axis=1).sum() for one in itertools.combinations(range(10), k))
        assert costs[:, medoids].min(axis=1).sum() == pytest.approx(best)
        assert costs[np.arange(10), medoids[labels]].sum() == pytest.approx(best)


def test_density_leaves_odd_runs_out():
    samples = planted()
    odd = samples[(samples["workload"] == "rises") & (samples["run"] == "0")].assign(run="odd")
    odd = odd.assign(**{"mem.AnonPages_mb": 900.0 - 12 * odd["t"], "cpu.user%": 50 + 40 * (odd["t"] % 2)})
    found = shapes_of({"samples": pd.concat([samples, odd])}, ShapesSettings("density"))
    assert found.labels[found.names.index("rises/odd")] == -1
    assert "in no shape" in shapes_answer(found).notes[-1]


def test_few_runs_have_no_shapes():
    with pytest.raises(NotEnoughData, match="shapes need at least 12"):
        shapes_of({"samples": planted(2)}, ShapesSettings(shown=1))
