"""Of a longer trace the latest runs alone are learned and tested, and the others are counted in a note."""

import dataclasses

import numpy as np
import pytest

from tests.forecasts.metadata import small_table
from workprof.core.arrays import latest_of
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.classifier_evaluation import evaluate_classifier
from workprof.forecasts.estimate_evaluation import run_evaluation
from workprof.forecasts.estimates import EstimateEvaluationSettings, EstimateSettings
from workprof.forecasts.forecaster import ForecasterSettings, train_forecaster
from workprof.forecasts.held_out import hold_out

pytestmark = pytest.mark.slow

FEW = ClassifierSettings(latest_runs=1_000)
NOTE = "500 runs with a start before the latest 1,000 runs are not learned"


@pytest.fixture(scope="module")
def jobs():
    table = small_table(1_500).assign(row_id=np.arange(1_500))
    return table.sample(frac=1, random_state=1).reset_index(drop=True)


def test_rows_without_a_start_count_by_their_submission_and_without_both_as_the_latest(jobs):
    table = jobs.assign(submit_time_s=jobs["start_time_s"] - 5)
    table.loc[:9, "start_time_s"] = np.nan
    table.loc[:4, "submit_time_s"] = np.nan
    latest, earlier = latest_of(table, 100)
    moments = table["start_time_s"].fillna(table["submit_time_s"]).fillna(np.inf)
    assert set(latest.index) == set(moments.sort_values(kind="stable").index[-100:])
    assert latest.index.is_monotonic_increasing
    assert earlier == {"a start before the latest 100 runs": 1_400}
    assert latest_of(jobs, 1_500)[0] is jobs


@pytest.mark.soak
def test_a_forecaster_learns_the_latest_runs(jobs):
    latest = jobs[jobs["start_time_s"] > jobs["start_time_s"].sort_values().iloc[499]]
    said = []
    told = lambda share, words: said.append((share, words))  # noqa: E731
    trained = train_forecaster({"jobs": jobs}, ForecasterSettings(FEW), told, targets=("duration_s",))
    wanted = train_forecaster({"jobs": latest}, ForecasterSettings(), targets=("duration_s",))
    assert trained.classifier.tuning == wanted.classifier.tuning
    assert np.array_equal(trained.classifier.booster, wanted.classifier.booster)
    assert set(trained.row_ids["duration_s"]) == set(latest["row_id"])
    assert trained.classifier.notes == (*wanted.classifier.notes, f"{NOTE}.")
    assert set(hold_out({"jobs": jobs}, ForecasterSettings(FEW)).row_ids) <= set(latest["row_id"])
    shares = [share for share, _ in said]
    assert shares == sorted(shares)
    within = {share for share, words in said if words == "Learning Duration, 1 of 1 quantities"}
    assert len(within) >= 4, "each training within the quantity is told"


@pytest.mark.soak
def test_a_classifier_is_tested_on_the_latest_runs(jobs):
    latest, _ = latest_of(jobs, 1_000)
    scores, wanted = (
        evaluate_classifier({"jobs": table}, settings)
        for table, settings in ((jobs, FEW), (latest, ClassifierSettings()))
    )
    assert scores.notes == (*wanted.notes, f"{NOTE}.")
    assert {split: one.accuracy for split, one in scores.splits.items()} == {
        split: one.accuracy for split, one in wanted.splits.items()
    }


def test_estimates_are_tested_on_the_latest_runs(jobs):
    latest, _ = latest_of(jobs, 1_000)
    settings = EstimateEvaluationSettings(EstimateSettings(n_folds=2, latest_runs=1_000))
    errors, plain = (
        run_evaluation({"jobs": table}, one)
        for table, one in (
            (jobs, settings),
            (latest, dataclasses.replace(settings, estimates=EstimateSettings(n_folds=2))),
        )
    )
    assert errors.notes == (*plain.notes, NOTE)
    assert errors.best == plain.best
