"""Unfinished runs as lower bounds: Kaplan-Meier against redistribution by hand, and needs that are known."""

import numpy as np
import pandas as pd
import pytest

from tests.forecasts.test_estimates import planted_jobs
from workprof.core.errors import NotEnoughData
from workprof.core.settings import from_environment
from workprof.forecasts.censored import completed, runs_to_learn, survival_jumps
from workprof.forecasts.estimate_evaluation import evaluate_estimates
from workprof.forecasts.estimates import CENSORED, LEFT_OUT, EstimateSettings, estimate, known_jobs, train_estimator
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.forecasts.history import Past, read_cells
from workprof.synthetic.pai import write_pai_sample
from workprof.workbench import Workbench


def redistributed(values, censored):
    """Return finished value -> weight: each lower bound, the smallest first, leaves its weight to what lies above."""
    order = sorted(range(len(values)), key=lambda i: (values[i], censored[i]))
    weight = dict.fromkeys(order, 1 / len(values))
    for place, i in enumerate(order):
        above = order[place + 1 :]
        if censored[i] and above:
            for j in above:
                weight[j] += weight[i] / len(above)
            weight[i] = 0.0
    result = {}
    for i in order:
        if not censored[i]:
            result[values[i]] = result.get(values[i], 0.0) + weight[i]
    return result


@pytest.mark.parametrize("seed", range(20))
def test_jumps_are_those_of_redistribution_to_the_right(seed):
    draw = np.random.default_rng(seed)
    values, censored = draw.integers(0, 9, 30).astype(float), draw.random(30) < 0.4
    distinct, jumps = survival_jumps(values, censored)
    slow = redistributed(values.tolist(), censored.tolist())
    assert distinct.tolist() == list(slow)
    np.testing.assert_allclose(jumps, list(slow.values()))


def limited_jobs(n, seed):
    """Return planted jobs, a third of them ended by a limit, and the log needs that they had without it."""
    jobs = planted_jobs(n, seed)
    level = 4 + 1.5 * jobs["workload"].str[1:].astype(int)
    limit = np.exp(level + np.random.default_rng(seed + 1).normal(0.5, 1, n))
    need, cut = jobs["duration_s"], limit < jobs["duration_s"]
    status = np.where(cut, "TIMEOUT", "COMPLETED")
    return jobs.assign(duration_s=np.minimum(need, limit), finished=~cut, status=status), np.log(need.to_numpy())


def test_drawn_needs_lie_above_what_was_used_and_are_those_of_the_cell():
    jobs, need = limited_jobs(2_000, 0)
    cut, seen = ~jobs["finished"].to_numpy(), np.log(jobs["duration_s"].to_numpy())
    past = Past(read_cells(jobs, ("user", "task_name", "group", "workload")), seen, np.arange(len(jobs)))
    whole = completed(past, cut, 0).targets
    assert cut.mean() > 0.25
    assert (whole[~cut] == seen[~cut]).all()
    assert (whole >= seen).all()
    for user in ("narrow", "wide"):
        own = (jobs["user"] == user).to_numpy()
        level = 4 + 1.5 * jobs["workload"].str[1:].astype(int).to_numpy()
        np.testing.assert_allclose(*(np.quantile((x - level)[own], [0.5, 0.8]) for x in (whole, need)), atol=0.2)
    first = np.arange(1_000)
    of_first = completed(past, cut, 0, source=first).targets[cut]
    assert set(of_first) <= {*seen[first], *seen[cut]}  # no need of a run that was not to be looked at


def test_what_exceeds_all_runs_keeps_its_bound():
    jobs = planted_jobs(50).assign(finished=[False] + [True] * 49)
    jobs.loc[0, "duration_s"] = 1e9
    past = Past(read_cells(jobs, ("user",)), np.log(jobs["duration_s"].to_numpy()), np.arange(50))
    assert completed(past, ~jobs["finished"].to_numpy(), 0).targets.tolist() == past.targets.tolist()


def test_runs_that_wait_are_not_learned():
    jobs = pd.DataFrame(
        {
            "finished": [True, False, False, False, False],
            "status": ["ok", "PENDING", "TIMEOUT", "odd", "CANCELLED by 7"],
        }
    )
    learned = runs_to_learn(jobs.assign(row=range(5)), cut_short=True, targets=("duration_s",))
    assert learned["row"].tolist() == [0, 2, 4]


def test_only_what_grows_has_bounds_and_only_finished_runs_count():
    jobs = planted_jobs(50).assign(finished=[True] * 45 + [False] * 5, cpu_usage_percent=50.0)
    assert known_jobs(jobs, "duration_s").censored.sum() == 5
    percent = known_jobs(jobs, "cpu_usage_percent")
    assert (len(percent.target), percent.n_left_out, percent.censored.any()) == (45, 5, False)
    with pytest.raises(NotEnoughData, match="39 jobs with a known duration_s"):
        known_jobs(planted_jobs(50).assign(finished=[True] * 39 + [False] * 11), "duration_s")


@pytest.mark.slow
def test_estimates_of_a_limited_trace_are_nearer_to_what_jobs_need():
    jobs, _ = limited_jobs(1_500, 3)
    settings = EstimateSettings(unfinished=CENSORED)
    fresh = planted_jobs(400, seed=9)
    wide, need = (fresh["user"] == "wide").to_numpy(), fresh["duration_s"].to_numpy()
    within = {}
    for name, learned in (("finished", jobs[jobs["finished"]]), ("all", jobs)):
        said = estimate(train_estimator(known_jobs(learned, "duration_s"), settings), fresh)
        within[name] = [float(np.mean(need[wide] <= level)) for level in (said.point[wide], said.quantiles[wide, 5])]
    assert within["finished"][0] < 0.42  # of the half that a median promises
    assert abs(within["all"][0] - 0.5) < abs(within["finished"][0] - 0.5)
    assert abs(within["all"][1] - 0.9) < abs(within["finished"][1] - 0.9)


@pytest.mark.soak
@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("split", ["by_job", "by_time"])
def test_an_evaluation_tests_finished_runs_alone(split):
    jobs, _ = limited_jobs(400, 5)
    result = evaluate_estimates({"jobs": jobs}, EstimateSettings(split=split, n_folds=5, unfinished=CENSORED))
    finished = evaluate_estimates({"jobs": jobs[jobs["finished"]]}, EstimateSettings(split=split, n_folds=5))
    assert result.n_test <= int(jobs["finished"].sum())
    assert any("did not finish" in note for note in result.notes)
    if split == "by_job":
        assert result.n_test == finished.n_test
        for name in ("global_median", "backoff_medians"):  # learned of finished runs in both; other folds
            both = result.predictors[name].ratio_error.p50, finished.predictors[name].ratio_error.p50
            assert both[0] == pytest.approx(both[1], rel=0.1)


@pytest.mark.soak
@pytest.mark.slow
def test_runs_that_failed_take_part_where_that_is_chosen(tmp_path):
    """A forecaster learns them as bounds, its classifier does not; finished jobs are compared with finished ones."""
    table = tmp_path / "trace.parquet"
    write_pai_sample(table, 900)
    trace = pd.read_parquet(table)
    failed = np.random.default_rng(0).random(len(trace)) < 0.3
    trace.loc[failed, "end_time"] = (trace["start_time"] + 0.5 * (trace["end_time"] - trace["start_time"]))[failed]
    trace.assign(status=np.where(failed, "Failed", "Terminated")).to_parquet(table)
    with Workbench(from_environment().at(tmp_path / "home")) as bench:
        name = bench.ingest(table).dataset
        both = [bench.forecaster(name, ForecasterSettings(unfinished=each)) for each in (LEFT_OUT, CENSORED)]
        n_jobs = [one.estimators["duration_s"].n_jobs for one in both]
        assert (n_jobs[0], n_jobs[1] - n_jobs[0]) == (int((~failed).sum()), int(failed.sum()))
        assert both[0].estimators["cpu_usage_percent"].n_jobs == both[1].estimators["cpu_usage_percent"].n_jobs
        assert both[0].classifier.classes.tolist() == both[1].classifier.classes.tolist()
        assert any("did not finish" in note for note in both[1].estimators["duration_s"].notes)
        learned = both[1].row_ids["duration_s"]
        assert bench.past_jobs(name, learned[:3].tolist())["row_id"].tolist() == learned[:3].tolist()
        model = bench.feedback_model(name, ForecasterSettings(unfinished=CENSORED))
        assert model.n_rows == bench.feedback_model(name).n_rows
        held = bench.held_out(name, ForecasterSettings(unfinished=CENSORED))
        assert not np.isin(held.row_ids, np.flatnonzero(failed)).any()
