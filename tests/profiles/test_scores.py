import numpy as np
import pandas as pd
import pytest
from hdbscan.validity import validity_index
from sklearn.metrics import adjusted_rand_score, davies_bouldin_score

from tests.profiles.planted import blobs
from tests.shared_data import FOLDER, needs_shared_data
from workprof.profiles.scores import (
    MOST_VALIDITY_ROWS,
    acquires,
    adjusted_rand,
    ccpm,
    davies_bouldin,
    density_validity,
    relative_validity,
    scores_v3,
    size_term,
)
from workprof.profiles.tree import build_spanning_tree, cut, find_neighbours

N_ROWS = 100_001
GRIDS = {"hdbscan": 26, "optics": 26}


def grid(name):
    return pd.read_csv(FOLDER / "pai" / f"{name}_grid.csv", index_col=0)


def row_scores(row, target):
    ingredients = (row.avg_silhouette, row.n_clusters, row.n_outliers, N_ROWS, target)
    return acquires(*ingredients), scores_v3(*ingredients), ccpm(row.avg_silhouette, row.davies_bouldin_score)


@needs_shared_data
@pytest.mark.parametrize("name", GRIDS)
def test_every_published_row(name):
    published = grid(name)
    assert len(published) == 56
    for row in published.itertuples():
        assert row_scores(row, 26) == pytest.approx((row.scores_v1, row.scores_v3, row.CCPM), abs=1e-9)
        assert (N_ROWS - row.n_outliers) / row.n_clusters == pytest.approx(row.mean_cluster_size, abs=1e-9)


@needs_shared_data
@pytest.mark.parametrize(
    ("name", "target", "which", "best", "value", "digits"),
    [
        ("hdbscan", 26, 0, 48, 0.717785, 6),
        ("hdbscan", 26, 1, 48, 0.636739, 6),
        ("hdbscan", 26, 2, 45, 1.274962, 6),
        ("optics", 26, 0, 35, 0.625958, 6),
        ("optics", 26, 1, 20, 0.487297, 6),
        ("optics", 26, 2, 25, 1.782349, 6),
        ("hdbscan", 10, 0, 55, 0.6767, 4),
        ("hdbscan", 20, 0, 51, 0.7231, 4),
        ("hdbscan", 50, 0, 47, 0.7096, 4),
        ("hdbscan", 100, 0, 30, 0.6846, 4),
        ("optics", 10, 0, 27, 0.6705, 4),
        ("optics", 20, 0, 24, 0.6066, 4),
        ("optics", 50, 0, 20, 0.6202, 4),
        ("optics", 100, 0, 31, 0.6284, 4),
    ],
)
def test_published_maxima_follow_the_target(name, target, which, best, value, digits):
    found = {row.Index: row_scores(row, target)[which] for row in grid(name).itertuples()}
    top = max(found, key=found.get)
    assert (top, found[top]) == (best, pytest.approx(value, abs=0.5 * 10**-digits))


def test_the_packages_defect():
    """The published package passes the mean cluster size where the notebook passes the number of clusters (7b.1)."""
    assert size_term(2899.92, 26) == pytest.approx(0.009, abs=5e-4)
    assert acquires(0.40, 2899.92, 24_603, N_ROWS, 26) == pytest.approx(0.387, abs=1e-3)
    assert acquires(0.0, 2899.92, 24_603, N_ROWS, 26) == pytest.approx(0.254, abs=1e-3)
    assert acquires(0.399, 26, 24_603, N_ROWS, 26) == pytest.approx(0.7178, abs=5e-4)


def test_undefined_scores_are_nan():
    assert np.isnan(ccpm(0.5, 0.0))
    assert np.isnan(acquires(float("nan"), 0, 10, 10, 26))
    assert np.isnan(davies_bouldin(np.ones((4, 2)), np.zeros(4, dtype=np.int64)))
    assert np.isnan(adjusted_rand(np.full(4, -1), np.arange(4)))
    assert davies_bouldin(np.ones((4, 2)), np.array([0, 0, 1, 1])) == 0.0


def test_davies_bouldin_equals_scikit_learn():
    points, labels = blobs(500)
    assert davies_bouldin(points, labels) == pytest.approx(davies_bouldin_score(points, labels), rel=1e-12)


def test_adjusted_rand_leaves_outliers_out():
    truth, found = np.array([0, 0, 1, 1, -1]), np.array([5, 5, 3, -1, 3])
    assert adjusted_rand(found, truth) == adjusted_rand_score([0, 0, 1, -1], [5, 5, 3, 3])


def test_validity_equals_hdbscans():
    from hdbscan import HDBSCAN

    points, _ = blobs(600)
    theirs = HDBSCAN(min_cluster_size=30, min_samples=10, approx_min_span_tree=False, gen_min_span_tree=True)
    theirs.fit(points)
    tree = build_spanning_tree(find_neighbours(points, "euclidean", (10,)), 10)
    ours = relative_validity(tree, cut(tree, 30).labels)
    assert ours == pytest.approx(theirs.relative_validity_, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "theirs"), [("euclidean", "euclidean"), ("manhattan", "cityblock")])
def test_dbcv_is_the_librarys_index_on_the_drawn_rows(metric, theirs):
    points, labels = blobs_with_noise(MOST_VALIDITY_ROWS + 500)
    drawn = np.sort(np.random.default_rng(7).choice(len(labels), MOST_VALIDITY_ROWS, replace=False))
    expected = validity_index(points[drawn], labels[drawn], metric=theirs)
    assert density_validity(points, labels, metric, 7) == pytest.approx(expected, abs=1e-6)
    few = slice(0, 800)
    expected = validity_index(points[few], labels[few], metric=theirs)
    assert density_validity(points[few], labels[few], metric, 7) == pytest.approx(expected, abs=1e-6)


def test_dbcv_is_not_defined_for_fewer_than_two_profiles_and_a_single_run_counts_as_an_outlier():
    points, labels = blobs_with_noise(300)
    assert np.isnan(density_validity(points, np.zeros(300, dtype=np.int64), "euclidean", 0))
    assert np.isnan(density_validity(points, np.full(300, -1), "euclidean", 0))
    alone = labels.copy()
    alone[np.flatnonzero(labels == 2)[1:]] = -1
    outlier = np.where(alone == 2, -1, alone)
    assert density_validity(points, alone, "euclidean", 0) == density_validity(points, outlier, "euclidean", 0)


def blobs_with_noise(rows):
    """Return three blobs of unlike density with a tenth of the rows around them, and their labels."""
    rng = np.random.default_rng(3)
    labels = rng.choice([-1, 0, 1, 2], rows, p=[0.1, 0.4, 0.3, 0.2])
    centres = np.array([[0.0, 0, 0], [6, 0, 0], [0, 7, 1]])
    points = rng.normal(size=(rows, 3)) * np.array([0.5, 1.0, 0.3, 4.0])[labels][:, None] + centres[labels]
    return points, labels
