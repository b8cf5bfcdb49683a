"""Jobs held out of training: whole, drawn with the seed, predicted by a forecaster that never saw them."""

import numpy as np
import pytest

from tests.forecasts.metadata import small_table
from workprof.core.causes import LOWER_BOUND
from workprof.core.errors import NotEnoughData
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.forecaster import ForecasterSettings, LoadedForecaster
from workprof.forecasts.held_out import hold_out

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def jobs():
    table = small_table()
    return table.assign(row_id=np.arange(len(table)) + 1000)


@pytest.fixture(scope="module")
def found(jobs):
    return hold_out({"jobs": jobs}, ForecasterSettings())


def test_a_job_is_held_out_with_all_its_runs_and_training_saw_none_of_them(jobs, found):
    held = jobs["row_id"].isin(found.row_ids)
    assert 0 < held.sum() < len(jobs) / 2
    assert set(jobs.loc[held, "job_name"]) & set(jobs.loc[~held, "job_name"]) == set()
    seen = next(one for one in found.forecaster.classifier.encoder.categories if one.field == "job_name")
    assert {*seen.kept, *seen.rare} == set(jobs.loc[~held, "job_name"])
    assert found.n_train == (~held).sum()
    for row_ids in found.forecaster.row_ids.values():
        assert not np.isin(row_ids, found.row_ids).any()


def test_only_duration_and_memory_are_learned(found):
    assert set(found.forecaster.estimators) <= {"duration_s", "peak_memory_bytes"}
    assert "duration_s" in found.forecaster.estimators


def test_the_example_has_the_median_duration_error_of_the_predicted_runs_inside_their_intervals(jobs, found):
    held = jobs[jobs["row_id"].isin(found.row_ids)].reset_index(drop=True)
    said = LoadedForecaster(found.forecaster).forecast(held)
    errors = np.abs(np.log(said.estimates["duration_s"].point / held["duration_s"].to_numpy()))
    predicted = ~said.profiles.abstained
    for target, one in said.estimates.items():
        predicted &= (one.low <= held[target].to_numpy()) & (held[target].to_numpy() <= one.high)
    assert predicted.any()
    of_example = errors[held["row_id"] == found.example][0]
    among = errors[predicted]
    assert of_example == np.sort(among)[(len(among) - 1) // 2]


def test_what_was_predicted_stands_beside_the_fact_of_every_held_out_run(jobs, found):
    held = jobs.set_index("row_id").loc[found.row_ids].reset_index()
    said = LoadedForecaster(found.forecaster).forecast(held)
    for target, one in found.compared.items():
        assert np.array_equal(one.actual, held[target].to_numpy())
        assert np.allclose(one.point, said.estimates[target].point)
        within = [low <= true <= high for low, true, high in zip(one.low, held[target], one.high, strict=True)]
        assert one.hit_rate == np.mean(within)


def test_a_use_that_is_a_lower_bound_is_no_fact(jobs):
    memory = np.exp(np.random.default_rng(0).normal(21, 0.5, len(jobs)))
    bounds = np.arange(len(jobs)) % 2 == 0
    table = jobs.assign(peak_memory_bytes=memory, **{LOWER_BOUND: bounds.astype(float)})
    found = hold_out({"jobs": table}, ForecasterSettings())
    known, took = found.compared["peak_memory_bytes"].actual, found.compared["duration_s"].actual
    assert (np.isnan(known) == bounds[found.row_ids - 1000]).all() and np.isfinite(took).all()
    assert 0 < np.isnan(known).sum() < len(known)


def test_another_seed_holds_out_other_jobs(jobs, found):
    other = hold_out({"jobs": jobs}, ForecasterSettings(ClassifierSettings(seed=1)))
    assert set(other.row_ids.tolist()) != set(found.row_ids.tolist())


def test_held_out_jobs_without_a_profile_are_no_example(jobs, found):
    unlabelled = jobs.assign(profile=jobs["profile"].where(~jobs["row_id"].isin(found.row_ids)))
    with pytest.raises(NotEnoughData, match="held-out jobs"):
        hold_out({"jobs": unlabelled}, ForecasterSettings())
