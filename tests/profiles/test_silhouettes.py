import numpy as np
import pytest
from sklearn.metrics import silhouette_samples

from tests import naive
from tests.profiles.planted import blobs
from workprof.core.errors import SettingsError
from workprof.profiles.silhouettes import exact_silhouettes, row_silhouettes, sampled_silhouettes

METRICS = ["euclidean", "manhattan", "cosine"]


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_dims", [2, 4, 7, 10])
def test_equal_to_scikit_learn(metric, n_dims):
    points, labels = blobs(1300, n_dims, n_groups=min(5, n_dims))
    found = exact_silhouettes(points, labels, metric)
    assert found.published == pytest.approx(silhouette_samples(points, labels, metric=metric), abs=1e-4)
    inside = labels >= 0
    proper = silhouette_samples(points[inside], labels[inside], metric=metric)
    assert found.clustered[inside] == pytest.approx(proper, abs=1e-4)
    assert np.isnan(found.clustered[~inside]).all()
    assert found.published_mean == pytest.approx(found.published[inside].mean())
    assert found.clustered_mean == pytest.approx(proper.mean(), abs=1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_close_rows_far_from_the_origin(metric):
    """Groups 1e-3 apart at 1e6: single precision cannot tell them apart, so double is used there."""
    points, labels = blobs(400, noise_share=0.0)
    points = np.concatenate([points * 1e-3 + 1e6, np.zeros((400, 4))])
    labels = np.concatenate([labels, np.full(400, 9)])
    found = exact_silhouettes(points, labels, metric)
    assert found.published == pytest.approx(naive.silhouettes(points, labels, metric), abs=1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_duplicates_and_single_rows(metric):
    points = np.array([[0.0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [5, 5], [0, 0]])
    labels = np.array([0, 0, 0, 1, 1, 2, 1])
    found = exact_silhouettes(points, labels, metric).published
    assert found == pytest.approx(naive.silhouettes(points, labels, metric), abs=1e-6)
    assert found[5] == 0


def test_rows_without_a_direction():
    """The cosine distance of a zero row is 1 to every other row and 0 to itself, as in scikit-learn."""
    points, labels = blobs(120, noise_share=0.0)
    points[:5] = 0
    theirs = silhouette_samples(points, labels, metric="cosine")
    assert exact_silhouettes(points, labels, "cosine").published == pytest.approx(theirs, abs=1e-12)


def test_one_group_has_no_silhouette():
    points, labels = blobs(50)
    assert np.isnan(exact_silhouettes(points, np.zeros(50, dtype=np.int64), "euclidean").published_mean)
    two = exact_silhouettes(points, np.where(labels < 0, -1, 0), "euclidean")
    assert np.isfinite(two.published_mean)
    assert np.isnan(two.clustered_mean)


def test_permuting_rows_permutes_silhouettes():
    points, labels = blobs(600)
    order = np.random.default_rng(0).permutation(600)
    straight, mixed = (
        exact_silhouettes(p, k, "euclidean") for p, k in ((points, labels), (points[order], labels[order]))
    )
    assert straight.published[order] == pytest.approx(mixed.published, abs=1e-6)


def test_the_sample_estimates_the_whole():
    points, labels = blobs(20_000)
    whole = exact_silhouettes(points, labels, "euclidean")
    part = sampled_silhouettes(points, labels, "euclidean", seed=0)
    assert part.method == "sampled"
    assert part.n_computed == np.isfinite(part.published).sum() < 5_010
    assert 0 < part.clustered_se < 0.01
    assert abs(part.clustered_mean - whole.clustered_mean) < 4 * part.clustered_se
    assert abs(part.published_mean - whole.published_mean) < 4 * part.published_se
    drawn = np.isfinite(part.published)
    assert part.published[drawn] == pytest.approx(whole.published[drawn], abs=1e-6)


def test_a_small_table_is_not_sampled():
    points, labels = blobs(300)
    assert sampled_silhouettes(points, labels, "euclidean", seed=0).method == "exact"


def test_only_the_asked_rows():
    points, labels = blobs(200)
    published, _ = row_silhouettes(points, labels, "manhattan", np.array([3, 17]))
    assert np.flatnonzero(np.isfinite(published)).tolist() == [3, 17]


def test_unknown_metric():
    with pytest.raises(SettingsError, match="chebyshev"):
        exact_silhouettes(*blobs(20), "chebyshev")
