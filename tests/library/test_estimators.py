"""The estimators keep scikit-learn's conventions, do their work in pipelines, and give the profiles of the library."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, adjusted_rand_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import workprof as wp

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning"),
]


@parametrize_with_checks([wp.ProfileClusterer(), wp.ProfileClassifier(), wp.RuntimeRegressor()])
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


def blobs(n=300, seed=0):
    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, n)
    return random.normal(size=(n, 4)) + np.array([[0, 0, 0, 0], [8, 0, 0, 8], [0, 9, 9, 0]])[truth], truth


def test_profiles_are_found_and_rows_far_from_all_are_outliers():
    points, truth = blobs()
    found = make_pipeline(StandardScaler(), wp.ProfileClusterer(scaler="none", min_cluster_size=20)).fit(points)
    inside = found[-1].labels_ >= 0
    assert adjusted_rand_score(truth[inside], found[-1].labels_[inside]) == 1
    new, expected = blobs(seed=1)
    said = found.predict(new)
    assert adjusted_rand_score(expected[said >= 0], said[said >= 0]) == 1
    assert (said >= 0).mean() > 0.8
    assert found.predict(np.full((1, 4), 1e3)).tolist() == [-1]


def test_labels_are_those_of_the_library():
    points, _ = blobs()
    frame = pd.DataFrame(points, columns=list("abcd"))
    settings = wp.ProfileSettings(min_cluster_size=20)
    ours = wp.ProfileClusterer(min_cluster_size=20).fit(frame)
    assert np.array_equal(ours.labels_, wp.profile(frame, list("abcd"), settings=settings).labels)


def test_a_classifier_reads_metadata_and_numbers():
    random = np.random.default_rng(0)
    truth = random.choice(["small", "large"], 400)
    jobs = pd.DataFrame(
        {
            "user": np.where(truth == "small", random.choice(["ada", "bo"], 400), random.choice(["cy", "di"], 400)),
            "requested_cpu_percent": random.uniform(100, 200, 400),
        }
    )
    fitted = wp.ProfileClassifier().fit(jobs.head(300), truth[:300])
    assert accuracy_score(truth[300:], fitted.predict(jobs.tail(100))) > 0.95
    probabilities = fitted.predict_proba(pd.DataFrame({"user": ["nobody"], "requested_cpu_percent": [np.nan]}))
    assert probabilities.sum() == pytest.approx(1)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(jobs), fitted.predict_proba(jobs))


def test_categories_may_have_any_name():
    random = np.random.default_rng(0)
    truth = random.choice(["small", "large"], 400)
    queue = np.where(truth == "small", random.choice(["debug", "short"], 400), random.choice(["long", "night"], 400))
    table = pd.DataFrame({"queue": queue, "city": random.choice(["Graz", "Wien"], 400), "cores": 4.0})
    for kind in ("object", "category", "str"):
        given = table.astype({"queue": kind})
        found = wp.ProfileClassifier().fit(given.head(300), truth[:300])
        assert found.categories_ == ("queue", "city")
        assert (found.predict(given.tail(100)) == truth[300:]).all()
    given["queue"] = "never seen"
    assert found.predict_proba(given.head(2)).shape == (2, 2)
    piped = make_pipeline(wp.ProfileClassifier())
    assert cross_val_score(piped, table, truth, cv=3).min() > 0.95
    with pytest.raises(ValueError, match="'cores' held numbers when this was fitted"):
        found.predict(table.assign(cores="four"))


def test_a_regressor_gives_its_quantiles_in_a_pipeline():
    random = np.random.default_rng(0)
    task = random.choice(["short", "long"], 900)
    seconds = np.where(task == "short", 10.0, 1000.0) * random.lognormal(0, 0.5, 900)
    jobs = pd.DataFrame({"task": task})
    pipeline = make_pipeline(
        OneHotEncoder(sparse_output=False), wp.RuntimeRegressor(quantiles=(0.9, 0.1), random_state=1)
    ).fit(jobs, seconds)
    assert cross_val_score(pipeline, jobs, np.log(seconds)).mean() > 0.8
    high, low = pipeline[-1].predict_quantiles(pipeline[0].transform(jobs)).T
    assert (low <= pipeline.predict(jobs)).all()
    assert (pipeline.predict(jobs) <= high).all()
    assert ((low <= seconds) & (seconds <= high)).mean() == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(
    "estimator",
    [
        wp.ProfileClusterer(scaler="log"),
        wp.ProfileClusterer(min_cluster_size=1),
        wp.ProfileClusterer(min_cluster_size=10.5),
        wp.ProfileClusterer(min_samples=0),
        wp.ProfileClusterer(epsilon=-1.0),
        wp.ProfileClassifier(rare_rows=-1),
        wp.RuntimeRegressor(quantiles=(0.5, 1.5)),
        wp.RuntimeRegressor(quantiles=()),
    ],
)
def test_a_setting_out_of_bounds_is_refused(estimator):
    points, truth = blobs(30)
    with pytest.raises(ValueError, match=r"choose from|give"):
        estimator.fit(points, truth)


def test_a_quantile_that_was_not_learned_is_refused():
    points, _ = blobs(60)
    fitted = wp.RuntimeRegressor(quantiles=(0.1, 0.9)).fit(points, np.arange(60) + 1.0)
    with pytest.raises(ValueError, match=r"0\.3 was not learned"):
        fitted.set_params(quantiles=(0.3,)).predict_quantiles(points)
    assert fitted.set_params(quantiles=(0.9,)).predict_quantiles(points).shape == (60, 1)


def test_lengths_of_time_are_seconds():
    points, _ = blobs(60)
    seconds = np.arange(60) * 7.0 + 1
    for lengths in (pd.to_timedelta(seconds, unit="s"), pd.Series(pd.to_timedelta(seconds, unit="s")).astype("m8[ms]")):
        given = wp.RuntimeRegressor().fit(points, lengths).predict(points)
        assert np.array_equal(given, wp.RuntimeRegressor().fit(points, seconds).predict(points))
    frame = pd.DataFrame({"took": pd.to_timedelta(seconds, unit="s"), "size": points[:, 0]})
    for made in (wp.RuntimeRegressor(), wp.ProfileClusterer(min_cluster_size=5), wp.ProfileClassifier()):
        target = np.where(seconds > 200, "long", "short") if isinstance(made, wp.ProfileClassifier) else seconds
        theirs = made.fit(frame.assign(took=seconds), target).predict(frame.assign(took=seconds))
        assert np.array_equal(made.fit(frame, target).predict(frame), theirs)
        with pytest.raises(ValueError, match="'took' holds moments"):
            made.fit(frame.assign(took=pd.Timestamp("2024-05-06")), target)


def test_a_column_of_objects_with_numbers_alone_is_no_category():
    truth = np.array(["small", "large"] * 100)
    table = pd.DataFrame({"queue": ["q"] * 200, "cores": [2.0, 16.0] * 100})
    given = table.assign(cores=pd.Series([None, *table["cores"][1:]], dtype=object))
    fitted = wp.ProfileClassifier().fit(given, truth)
    assert fitted.categories_ == ("queue",)
    assert (fitted.predict(given)[1:] == truth[1:]).all()


def test_what_every_row_had_is_taken_from_rows_alike():
    truth = np.array(["small", "large"] * 100)
    table = pd.DataFrame({"queue": np.where(truth == "small", "short", "long"), "cores": [2.0, 16.0] * 100})
    found = (
        wp.ProfileClassifier().fit(table, truth).predict_proba(pd.DataFrame({"queue": [None] * 2, "cores": [2, 16]}))
    )
    assert (found.argmax(axis=1) == [1, 0]).all()


def test_nothing_to_learn_or_to_tell_is_refused_in_scikit_learns_words():
    table, truth = pd.DataFrame({"queue": ["a", "b"] * 20}), [0, 1] * 20
    with pytest.raises(ValueError, match="minimum of 1"):
        wp.ProfileClassifier().fit(table.head(0), [])
    with pytest.raises(ValueError, match="minimum of 1"):
        wp.ProfileClassifier().fit(table, truth).predict_proba(table.head(0))


def test_a_generator_is_a_random_state():
    points, truth = blobs(60)
    for made in (wp.ProfileClassifier, wp.RuntimeRegressor):
        one, other = (made(random_state=np.random.RandomState(3)).fit(points, truth).predict(points) for _ in range(2))
        assert np.array_equal(one, other)
