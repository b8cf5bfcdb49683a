"""Profiles without and with an autoencoder: the scores of one space, and forecasts of jobs that nobody saw."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from tests.profiles.planted import job_table
from workprof.answers.embeddings import embeddings_answer
from workprof.core.errors import SettingsError
from workprof.forecasts.embeddings import N_PARTS, EmbeddingSettings, _error, compare_embeddings
from workprof.forecasts.splits import make_folds
from workprof.profiles.features import prepare
from workprof.profiles.fit import fit_profiles
from workprof.profiles.settings import SENSORS10, ProfileSettings

pytestmark = pytest.mark.slow
FIT = ProfileSettings(min_cluster_size=40)


@pytest.fixture(scope="module")
def jobs():
    return job_table()


@pytest.fixture(scope="module")
def found(jobs):
    return compare_embeddings({"jobs": jobs}, EmbeddingSettings(FIT, folds=2))


@pytest.mark.soak
def test_both_are_scored_in_the_space_of_the_features(jobs, found):
    scaled = prepare(jobs, FIT).points
    for one in found.methods:
        fit = fit_profiles({"jobs": jobs}, replace(FIT, embedding=one.embedding))
        inside = fit.labels >= 0
        assert one.n_clusters == fit.scores.n_clusters
        assert one.clustered_share == inside.mean()
        assert one.silhouette == pytest.approx(silhouette_score(scaled[inside], fit.labels[inside]))
        assert one.truth_adjusted_rand == pytest.approx(fit.scores.truth_adjusted_rand)
    plain, embedded = found.methods
    assert (plain.embedding, embedded.embedding) == ("none", "autoencoder")


def test_a_forecast_is_the_median_of_the_profile_that_is_told():
    values, labels = np.array([1.0, 3.0, 5.0, 100.0, np.nan, 8.0, 50.0, 0.0]), np.array([0, 0, 0, 1, 1, -1, -1, -1])
    train, test = np.arange(6), np.array([5, 6, 7])
    told = np.array([0, 1, 7])  # medians 3 and 100; profile 7 has no run: the median of all
    assert _error(values, labels, train, test, told) == pytest.approx(np.sqrt(8 / 3 * 2))
    assert np.isnan(_error(values, labels, train, test[2:], told[2:]))
    of_zero = np.append(values[:5], [0.0, 50.0, 2.0, 3.0])  # profile 2 needed nothing: both runs that needed more count
    labels = np.array([0, 0, 0, 1, 1, 2, -1, -1, -1])
    assert _error(of_zero, labels, train, np.array([6, 7, 8]), np.array([2, 2, 0])) == np.inf


def test_where_no_profile_is_found_the_forecast_is_the_median_of_the_training_runs():
    draw = np.random.default_rng(3)
    alike = job_table().head(150).assign(**{name: draw.normal(20, 0.1, 150) for name in SENSORS10}, task_name="t")
    found = compare_embeddings({"jobs": alike}, EmbeddingSettings(folds=2))
    folds = make_folds(alike, "by_job", N_PARTS)[:2]
    for one in found.methods:
        assert one.n_clusters < 2
        for fold, error in zip(folds, one.errors["duration_s"], strict=True):
            train, test = (alike["duration_s"].iloc[rows] for rows in (fold.train, fold.test))
            away = np.abs(np.log(train.median() / test[test > 0]))
            assert error == pytest.approx(np.exp(away.median()))
    assert embeddings_answer(found).sentence.startswith("Separation unknown with an autoencoder, unknown without;")


def test_the_answer_tells_who_forecasts_better_in_every_fold(found):
    assert all(len(errors) == 2 and (errors >= 1).all() for one in found.methods for errors in one.errors.values())
    plain, embedded = found.methods
    wins = replace(embedded, errors={name: errors / 2 for name, errors in plain.errors.items()})
    mixed = replace(embedded, errors={name: errors * np.array([0.5, 2]) for name, errors in plain.errors.items()})
    assert "uration" in embeddings_answer(replace(found, methods=(plain, wins))).sentence
    assert "no forecast is better" in embeddings_answer(replace(found, methods=(plain, mixed))).sentence


def test_optics_gives_new_runs_no_profile(jobs):
    with pytest.raises(SettingsError, match="new runs have no profile by optics"):
        compare_embeddings({"jobs": jobs}, EmbeddingSettings(replace(FIT, algorithm="optics")))
