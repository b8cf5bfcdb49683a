import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tests.profiles.planted import blobs, job_table
from workprof.core.errors import NotEnoughData
from workprof.profiles.assign import make_assigner
from workprof.profiles.features import apply_transform
from workprof.profiles.fit import fit_profiles
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.tree import build_spanning_tree, cut, find_neighbours, to_hdbscan

pytestmark = pytest.mark.slow


def tree_of(points, metric, min_samples):
    return build_spanning_tree(find_neighbours(points, metric, (min_samples,)), min_samples)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize(("size", "min_samples"), [(20, 20), (15, 5), (40, 1), (10, 2)])
def test_equal_to_approximate_predict(metric, method, size, min_samples):
    from hdbscan import approximate_predict

    points, _ = blobs(900, noise_share=0.25)
    new = np.vstack([blobs(700, noise_share=0.4, seed=7)[0], points[:50]])
    tree = tree_of(points, metric, min_samples)
    labels, strength = make_assigner(points, tree, size, method).assign(new)
    theirs, strengths = approximate_predict(to_hdbscan(points, tree, size, method, 0.0), new)
    pairs = set(zip(labels.tolist(), theirs.tolist(), strict=True))
    assert len(pairs) == len(set(labels.tolist())) == len(set(theirs.tolist())) > 2
    assert np.array_equal(labels < 0, theirs < 0)
    assert 0 < (labels < 0).mean() < 1
    assert np.allclose(strength, strengths, rtol=1e-12)


def test_profiles_of_a_sample_are_those_of_all_rows():
    points, _ = blobs(12_000)
    whole = cut(tree_of(points, "euclidean", 36), 36).labels
    sample = np.random.default_rng(0).permutation(len(points))[:3_000]
    labels, strength = make_assigner(points[sample], tree_of(points[sample], "euclidean", 9), 9).assign(points)
    assert adjusted_rand_score(whole, labels) > 0.9
    assert np.array_equal(strength > 0, labels >= 0)


def test_rows_equal_to_fitted_ones_have_their_profile():
    points = np.repeat(np.array([[0.0, 0.0], [9.0, 9.0]]), 30, axis=0)
    labels, strength = make_assigner(points, tree_of(points, "euclidean", 5), 10).assign(points)
    assert np.array_equal(labels, cut(tree_of(points, "euclidean", 5), 10).labels)
    assert (strength == 1).all()


def test_other_columns_and_missing_values_are_refused():
    points, _ = blobs(200)
    assigner = make_assigner(points, tree_of(points, "euclidean", 5), 10)
    with pytest.raises(NotEnoughData, match="the clustering has 4 columns"):
        assigner.assign(points[:, :3])
    with pytest.raises(NotEnoughData, match="missing or infinite"):
        assigner.assign(np.full((2, 4), np.nan))
    assert len(assigner.assign(points[:0])[0]) == 0


def test_a_fit_on_a_sample_assigns_every_run():
    jobs = job_table(3_000)
    fit = fit_profiles({"jobs": jobs}, ProfileSettings(sample_rows=1_000, seed=4))
    numbers = jobs[list(fit.transform.features)].to_numpy()
    labels, _ = fit.assigner(jobs).assign(apply_transform(fit.transform, numbers))
    assert len(fit.labels) == 1_000
    assert len(labels) == 3_000
    assert set(labels) == set(fit.labels)
    within = jobs["truth_profile"].to_numpy() >= 0
    kept = within & (labels >= 0)
    assert kept.sum() > 0.9 * within.sum()
    assert adjusted_rand_score(jobs["truth_profile"][kept], labels[kept]) > 0.98
    seen = np.isin(jobs["row_id"], fit.row_ids)
    assert adjusted_rand_score(fit.labels, labels[seen]) > 0.95
