"""An autoencoder before clustering: what its middle keeps, what stays the same, and what a fit makes of it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.profiles.planted import job_table
from workprof.core.records import pack, unpack
from workprof.profiles.embedding import fit_encoder
from workprof.profiles.features import apply_transform, prepare, scale_values
from workprof.profiles.fit import ProfileFit, fit_keeping_tree, fit_profiles, recut
from workprof.profiles.settings import SENSORS10, ProfileSettings

pytestmark = pytest.mark.slow
EMBEDDED = ProfileSettings(embedding="autoencoder", min_cluster_size=40)


@pytest.fixture(scope="module")
def jobs():
    return job_table()


@pytest.fixture(scope="module")
def fit(jobs):
    return fit_keeping_tree({"jobs": jobs}, EMBEDDED)


def test_the_code_of_rows_on_a_plane_gives_them_back():
    """Two values a run make its nine features; the code keeps nearly all of their variance, that of noise little."""
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(2000, 2)) @ rng.normal(size=(2, 9)) * 0.5
    noise = rng.normal(size=(2000, 9))
    assert fit_encoder(plane, 0).kept_share > 0.9
    assert fit_encoder(noise, 0).kept_share < 0.5


def test_the_encoder_is_the_network_walked_unit_by_unit():
    rng = np.random.default_rng(1)
    encoder = fit_encoder(rng.normal(size=(300, 5)), 3)
    row = rng.normal(size=5)
    hidden = [np.tanh(sum(row[i] * encoder.weights[i, j] for i in range(5)) + encoder.bias[j]) for j in range(16)]
    code = [
        np.tanh(sum(hidden[j] * encoder.code_weights[j, k] for j in range(16)) + encoder.code_bias[k]) for k in range(3)
    ]
    np.testing.assert_allclose(encoder.encode(row[None])[0], code, rtol=1e-12)


def test_the_same_seed_gives_the_same_and_another_one_another_code():
    points = np.random.default_rng(2).normal(size=(400, 6))
    first, again, other = (fit_encoder(one, seed) for one, seed in ((points, 0), (points.copy(), 0), (points, 1)))
    assert np.array_equal(first.code_weights, again.code_weights)
    assert not np.array_equal(first.code_weights, other.code_weights)


def test_a_fit_finds_planted_kinds_in_the_code_and_tells_features_as_they_are(jobs, fit):
    found = fit.record
    plain = fit_profiles({"jobs": jobs}, replace(EMBEDDED, embedding="none"))
    assert found.scores.truth_adjusted_rand > 0.9
    assert any(note.startswith("Embedding: 3 values a run") for note in found.notes)
    np.testing.assert_allclose(found.transform.centre, plain.transform.centre)
    whole = prepare(jobs, EMBEDDED)
    assert whole.points.shape == (len(jobs), 3)
    largest = int(np.bincount(found.labels[found.labels >= 0]).argmax())
    place = int(np.flatnonzero(found.spread.profiles == largest)[0])
    medians = np.median(whole.scaled_features[found.labels == largest], axis=0)
    np.testing.assert_allclose(found.spread.median[place], medians)


def test_new_rows_go_through_the_same_network_and_come_back_from_the_store(jobs, fit):
    kept = unpack(ProfileFit, pack(fit.record))
    values = jobs[list(SENSORS10)].to_numpy()
    np.testing.assert_array_equal(apply_transform(kept.transform, values), prepare(jobs, EMBEDDED).points)
    assert scale_values(kept.transform, values).shape == values.shape
    labels, _ = kept.assigner(jobs).assign(apply_transform(kept.transform, values))
    inside = kept.labels >= 0
    assert (labels[inside] == kept.labels[inside]).mean() > 0.99


def test_a_cut_of_the_kept_tree_is_a_fit(jobs, fit):
    again = recut({"jobs": jobs}, replace(fit.record.settings, min_cluster_size=60), fit.extras["profiles.tree"])
    whole = fit_profiles({"jobs": jobs}, replace(fit.record.settings, min_cluster_size=60))
    assert np.array_equal(again.labels, whole.labels)
