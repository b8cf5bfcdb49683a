import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tests.profiles.planted import awkward_points, blobs
from workprof.profiles.names import Labelled, successors
from workprof.profiles.settings import ProfileSettings, default_min_cluster_size
from workprof.profiles.tree import (
    build_spanning_tree,
    cut,
    find_neighbours,
    numbered_cut,
    package_tree,
    run_dbscan,
    run_optics,
)

POINTS = {name: points for name, points in awkward_points().items() if len(points) > 3}


def tree_of(points, metric="euclidean", min_samples=5):
    return build_spanning_tree(find_neighbours(points, metric, (min_samples,)), min_samples)


def hdbscans_cut(tree, size, method, epsilon):
    """Return labels and strengths by hdbscan's own condensing and selection of the same tree."""
    from hdbscan._hdbscan_linkage import label
    from hdbscan._hdbscan_tree import compute_stability, condense_tree, get_clusters

    edges = np.column_stack([tree.source, tree.target, tree.weight]).astype(np.float64)
    with warnings.catch_warnings():  # infinite densities of duplicates meet in a subtraction
        warnings.simplefilter("ignore", RuntimeWarning)
        condensed = condense_tree(label(edges), size)
        labels, strengths, _ = get_clusters(condensed, compute_stability(condensed), method, False, False, epsilon)
    return labels, strengths


def assert_same_up_to_numbering(ours, theirs):
    pairs = set(zip(ours.tolist(), theirs.tolist(), strict=True))
    assert len(pairs) == len(set(ours.tolist())) == len(set(theirs.tolist()))
    assert all((a == -1) == (b == -1) for a, b in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize("name", POINTS)
def test_equal_to_hdbscans_cut_of_the_same_tree(name, method, epsilon):
    tree = tree_of(POINTS[name])
    for size in (2, 5, 40):
        ours = cut(tree, size, method, epsilon)
        theirs, strengths = hdbscans_cut(tree, size, method, epsilon)
        assert_same_up_to_numbering(ours.labels, theirs)
        assert np.array_equal(ours.probabilities, strengths)


def own_fit(points, metric, size, min_samples):
    from hdbscan import HDBSCAN

    settings = {"min_cluster_size": size, "min_samples": min_samples, "metric": metric}
    return HDBSCAN(**settings, approx_min_span_tree=False).fit(points).labels_


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_equal_to_hdbscans_own_fit(metric):
    """But for single rows: its tree breaks ties between equal mutual-reachability distances another way."""
    points, truth = blobs(1500)
    ours = cut(tree_of(points, metric, 10), 30)
    assert adjusted_rand_score(own_fit(points, metric, 30, 10), ours.labels) > 0.995
    inside = ours.labels >= 0
    assert adjusted_rand_score(truth[inside], ours.labels[inside]) > 0.95


@pytest.mark.soak
@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "min_samples"),
    [
        ("euclidean", 10),
        ("manhattan", 100),
        pytest.param("euclidean", 100, marks=pytest.mark.soak),
        pytest.param("manhattan", 10, marks=pytest.mark.soak),
    ],
)
def test_equal_to_hdbscans_own_fit_of_many_rows(metric, min_samples):
    points, _ = blobs(20_000, n_dims=8)
    ours = cut(tree_of(points, metric, min_samples), 100)
    assert adjusted_rand_score(own_fit(points, metric, 100, min_samples), ours.labels) > 0.999


def test_numbered_by_size():
    sizes = np.bincount(cut(tree_of(blobs(900)[0]), 20).labels + 1)[1:]
    assert len(sizes) == 5
    assert np.all(np.diff(sizes) <= 0)


@pytest.mark.parametrize(("size", "method"), [(12, "eom"), (45, "eom"), (90, "leaf"), (150, "eom"), (20, "leaf")])
def test_a_profile_keeps_its_number_from_cut_to_cut(size, method):
    tree = tree_of(blobs(900, noise_share=0.25)[0], "euclidean", 8)
    usual, plain = cut(tree, default_min_cluster_size(900)), cut(tree, size, method)
    labels = numbered_cut(tree, ProfileSettings(min_cluster_size=size, min_samples=8, method=method))[0].labels
    assert_same_up_to_numbering(plain.labels, labels)
    count = labels.max() + 1
    assert set(labels[labels >= 0]) == set(range(count))
    survivors = successors(Labelled(np.arange(900), usual.labels), Labelled(np.arange(900), labels))
    assert survivors
    for old, new in survivors.items():
        most_of_both = 2 * ((usual.labels == old) & (labels == new)).sum() > (usual.labels == old).sum()
        assert new == old or old >= count or not most_of_both


def test_the_usual_cut_is_numbered_by_size_and_the_tree_and_the_fall_follow_another():
    tree = tree_of(blobs(900)[0], "euclidean", 8)
    settings = ProfileSettings(min_cluster_size=default_min_cluster_size(900), min_samples=8)
    assert np.array_equal(numbered_cut(tree, settings)[0].labels, cut(tree, settings.min_cluster_size).labels)
    clusters, fall = numbered_cut(tree, replace(settings, min_cluster_size=9, method="leaf"))
    assert np.array_equal(np.where(clusters.labels >= 0, fall.profile[fall.node], -1), clusters.labels)
    chosen = np.flatnonzero(clusters.tree.selected >= 0)
    sizes = np.bincount(clusters.labels[clusters.labels >= 0])
    assert np.array_equal(clusters.tree.size[chosen], sizes[clusters.tree.selected[chosen]])


def test_the_tree_on_show():
    clusters = cut(tree_of(blobs(900)[0]), 20)
    tree = clusters.tree
    assert tree.parent[0] == -1
    assert tree.size[0] == 900
    assert np.all(tree.parent[1:] < tree.cluster[1:])
    assert np.all(tree.lambda_death >= tree.lambda_birth)
    assert sorted(tree.selected[tree.selected >= 0]) == list(range(clusters.labels.max() + 1))
    for node in np.flatnonzero(tree.selected >= 0):
        assert (clusters.labels == tree.selected[node]).sum() == tree.size[node]


def test_strengths():
    clusters = cut(tree_of(blobs(900)[0]), 20)
    assert np.all(clusters.probabilities[clusters.labels < 0] == 0)
    assert np.all((clusters.probabilities >= 0) & (clusters.probabilities <= 1))
    assert clusters.probabilities.max() == 1


def test_permuting_rows_permutes_the_labels():
    points, _ = blobs(900)
    shuffled = np.random.default_rng(0).permutation(900)
    straight, mixed = cut(tree_of(points), 20), cut(tree_of(points[shuffled]), 20)
    assert np.array_equal(straight.labels[shuffled], mixed.labels)
    assert np.array_equal(straight.probabilities[shuffled], mixed.probabilities)


def test_scaling_and_moving_changes_nothing():
    points, _ = blobs(900)
    assert np.array_equal(cut(tree_of(points), 20).labels, cut(tree_of(points * 1024.0), 20).labels)


def test_no_structure_gives_outliers_only():
    equal = cut(tree_of(np.ones((60, 2))), 40)
    assert np.all(equal.labels == -1)
    assert np.all(cut(tree_of(np.array([[0.0, 1.0], [2.0, 3.0]])), 2).labels == -1)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_packages_tree_is_its_own_fit_and_ours_but_for_ties(metric):
    points, _ = blobs(1500)
    theirs = package_tree(points, 30, 10, metric)
    found = cut(theirs, 30)
    assert_same_up_to_numbering(found.labels, own_fit(points, metric, 30, 10))
    ours = tree_of(points, metric, 10)
    assert np.allclose(np.sort(theirs.weight), np.sort(ours.weight), rtol=1e-9)
    assert np.allclose(theirs.core_distance, ours.core_distance, rtol=1e-9)
    labels = cut(ours, 30).labels
    apart = np.flatnonzero(found.labels != labels)
    assert len(apart) <= 0.005 * len(points)
    for row in apart:  # each hangs on a distance that another edge has, too
        edges = (ours.source == row) | (ours.target == row)
        assert max(np.isclose(ours.weight, weight, rtol=1e-12).sum() for weight in ours.weight[edges]) > 1


@pytest.mark.parametrize(("epsilon", "min_samples"), [(0.9, 5), (0.5, 12), (3.0, 2), (1e-6, 4), (0.05, 1)])
def test_dbscan_is_that_of_scikit_learn(epsilon, min_samples):
    """Dense runs in the same groups, the same outliers; a run at a border in a group that it reaches."""
    from sklearn.cluster import DBSCAN

    points, _ = blobs(900)
    theirs = DBSCAN(eps=epsilon, min_samples=min_samples).fit(points)
    ours, _ = run_dbscan(points, "euclidean", min_samples, epsilon)
    dense = theirs.core_sample_indices_
    assert_same_up_to_numbering(ours.labels[dense], theirs.labels_[dense])
    assert np.array_equal(ours.labels < 0, theirs.labels_ < 0)
    border = np.setdiff1d(np.flatnonzero(ours.labels >= 0), dense)
    for row in border:
        reached = dense[np.linalg.norm(points[dense] - points[row], axis=1) <= epsilon]
        assert ours.labels[row] in ours.labels[reached]


@pytest.mark.parametrize("run", [run_optics, lambda *given: run_dbscan(*given, 1.0)[0]])
def test_what_is_found_without_a_tree_does_not_hang_on_the_order_of_the_rows(run):
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.normal(size=(60, 2)) * 0.4 + centre for centre in ((0, 0), (4, 0), (0, 4), (4, 4))])
    labels = run(points, "euclidean", 10).labels
    for _ in range(3):
        order = rng.permutation(len(points))
        assert np.array_equal(run(points[order], "euclidean", 10).labels, labels[order])


def test_the_radius_of_dbscan_is_at_the_knee_of_the_distances():
    points, truth = blobs(1200)
    found, (note,) = run_dbscan(points, "euclidean", 10, 0.0)
    assert adjusted_rand_score(truth[found.labels >= 0], found.labels[found.labels >= 0]) > 0.95
    rising = np.sort(np.partition(np.linalg.norm(points[:, None] - points[None], axis=2), 9, axis=1)[:, 9])
    below = [rising[0] + (rising[-1] - rising[0]) * at / (len(rising) - 1) - rising[at] for at in range(len(rising))]
    assert note == f"DBSCAN: 10 runs within {rising[int(np.argmax(below))]:.4g} make a dense place."
