import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tests import naive
from tests.profiles.planted import awkward_points, blobs
from workprof.core.records import pack, unpack
from workprof.profiles.tree import SpanningTree, build_spanning_tree, find_neighbours

POINTS = awkward_points()


def tree_of(points, metric="euclidean", min_samples=10):
    return build_spanning_tree(find_neighbours(points, metric, (min_samples,)), min_samples)


@pytest.mark.slow
@pytest.mark.parametrize("min_samples", [1, 4, 60])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("name", POINTS)
def test_weights_equal_the_naive_tree(name, metric, min_samples):
    points = POINTS[name]
    tree = tree_of(points, metric, min_samples)
    expected = naive.spanning_tree_weights(naive.mutual_reachability(points, metric, min_samples))
    assert tree.weight == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert np.all(np.diff(tree.weight) >= 0)
    ends = coo_array((np.ones(len(tree.source)), (tree.source, tree.target)), shape=(len(points), len(points)))
    assert connected_components(ends, directed=False)[0] == 1


def test_edges_weigh_what_they_join():
    points, _ = blobs(400)
    tree = tree_of(points)
    weights = naive.mutual_reachability(points, "euclidean", 10)
    assert weights[tree.source, tree.target] == pytest.approx(tree.weight, rel=1e-12)
    assert tree.core_distance == pytest.approx(naive.core_distances(points, "euclidean", 10), rel=1e-12)


def test_the_order_of_rows_does_not_matter():
    points, _ = blobs(800)
    shuffled = np.random.default_rng(3).permutation(800)
    tree, other = tree_of(points), tree_of(points[shuffled])
    edges = {frozenset(pair) for pair in zip(tree.source.tolist(), tree.target.tolist(), strict=True)}
    again = zip(shuffled[other.source].tolist(), shuffled[other.target].tolist(), strict=True)
    assert edges == {frozenset(pair) for pair in again}


def test_threads_do_not_matter(monkeypatch):
    points = np.round(blobs(1500)[0], 1)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = tree_of(points)
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    shared = tree_of(points)
    assert np.array_equal(alone.source, shared.source)
    assert np.array_equal(alone.target, shared.target)


def test_a_kept_tree_comes_back():
    tree = tree_of(blobs(200)[0])
    again = unpack(SpanningTree, pack(tree))
    assert np.array_equal(tree.weight, again.weight)
    assert (again.metric, again.min_samples) == ("euclidean", 10)


def test_cancelling_from_the_progress_report_stops_the_search():
    class Stopped(Exception):
        pass

    def report(share):
        raise Stopped

    with pytest.raises(Stopped):
        find_neighbours(blobs(2000)[0], "euclidean", (10,), report)
