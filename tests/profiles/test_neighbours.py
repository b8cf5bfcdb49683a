import numpy as np
import pytest

from tests import naive
from tests.profiles.planted import awkward_points, blobs
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.profiles.kernels.nearest import partial_sort
from workprof.profiles.tree import find_neighbours, make_blocks

POINTS = awkward_points()


def true_core(found, size):
    core = np.empty(len(found.blocks.order))
    core[found.blocks.order] = found.core_of(size)
    return np.sqrt(core) if found.metric == "euclidean" else core


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("name", POINTS)
def test_core_distances_equal_the_naive_ones(name, metric):
    points = POINTS[name]
    found = find_neighbours(points, metric, (1, 7, 40, 1000))
    for size in (1, 7, 40, 1000):
        assert true_core(found, size) == pytest.approx(naive.core_distances(points, metric, size), rel=1e-12, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", POINTS)
def test_listed_rows_are_the_nearest_others(name):
    points = POINTS[name]
    found = find_neighbours(points, "manhattan", (20,))
    order, gaps = found.blocks.order, naive.distances(points, "manhattan")
    for position in range(len(points)):
        listed = order[found.nearest[position]]
        assert order[position] not in listed
        assert len(set(listed)) == len(listed)
        others = np.sort(np.delete(gaps[order[position]], order[position]))[: len(listed)]
        assert gaps[order[position], listed] == pytest.approx(others, rel=1e-12)


def test_one_search_serves_all_sizes():
    points, _ = blobs(500)
    together = find_neighbours(points, "euclidean", (5, 50, 100))
    for size in (5, 50, 100):
        assert np.array_equal(together.core_of(size), find_neighbours(points, "euclidean", (size,)).core_of(size))
    with pytest.raises(SettingsError, match="was not searched"):
        together.core_of(6)


def test_blocks_hold_every_row_once():
    points, _ = blobs(1001)
    blocks = make_blocks(points)
    assert np.array_equal(np.sort(blocks.order), np.arange(1001))
    assert np.ptp(np.diff(blocks.starts)) <= 1
    assert np.array_equal(blocks.points[:, :4], points[blocks.order])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 6, 9])
def test_any_number_of_columns_is_searched(width, metric):
    points = np.random.default_rng(width).normal(size=(700, width)) * np.logspace(-3, 3, width)
    found = find_neighbours(points, metric, (12,))
    assert true_core(found, 12) == pytest.approx(naive.core_distances(points, metric, 12), rel=1e-12)


@pytest.mark.parametrize("n_values", [1, 2, 5, 1000])
def test_a_partial_sort_parts_at_the_nth_smallest(n_values):
    rng = np.random.default_rng(n_values)
    for n in (1, 2, 3, 10, 300):
        for nth in {0, 1, n // 2, n - 1} & set(range(n)):
            given = rng.integers(0, n_values, n + 4).astype(float)
            values, items = given.copy(), np.arange(n + 4)
            partial_sort(values[2 : n + 2], items[2 : n + 2], nth)
            assert values[2 + nth] == np.sort(given[2 : n + 2])[nth]
            assert values[2 : 2 + nth].max(initial=-1) <= values[2 + nth] <= values[2 + nth : n + 2].min()
            assert np.array_equal(given[items], values)
            assert np.array_equal(items[[0, 1, -2, -1]], [0, 1, n + 2, n + 3])


@pytest.mark.parametrize("order", [1, -1])
def test_a_partial_sort_of_values_that_rise_and_fall_takes_no_longer(order):
    """A pivot that is the smallest each time makes 3,000,000,000 steps of these: minutes."""
    half = np.arange(40_000.0) * order
    for given in (np.concatenate([half, half[::-1]]), np.concatenate([half, half])):
        values, items = given.copy(), np.arange(len(given))
        partial_sort(values, items, 30_000)
        assert values[30_000] == np.sort(given)[30_000]


def test_one_row_has_no_neighbours():
    with pytest.raises(NotEnoughData, match="1 row"):
        find_neighbours(np.zeros((1, 2)), "euclidean", (3,))
