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
        wp.RuntimeRegressor(quantiles=(0.5, 1.5)),
        wp.RuntimeRegressor(quantiles=()),
    ],
)
def test_a_setting_out_of_bounds_is_refused(estimator):
    points, truth = blobs(30)
    with pytest.raises(ValueError, match=r"choose from|give"):
        estimator.fit(points, truth)
