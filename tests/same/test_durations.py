"""Durations: page, library, command, CSV files and report say the same of curves, errors and the interval."""

import pytest

from tests.charts.test_duration_charts import evaluation
from tests.same.reading import same_figures, same_metrics
from workprof.answers.estimates import estimate_answer
from workprof.core.answer import to_json
from workprof.core.units import format_share
from workprof.forecasts.durations import DurationSettings
from workprof.forecasts.estimates import EstimateEvaluationSettings
from workprof.profiles.settings import ProfileSettings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def evaluated(jobs):
    jobs.library(lambda bench: bench.profiles("jobs", ProfileSettings()))
    asked = EstimateEvaluationSettings()
    jobs.keep("jobs", "estimate_evaluation", asked, evaluation())
    return jobs.library(lambda bench: bench.estimate_evaluation("jobs", asked))


@pytest.fixture(scope="module")
def printed(jobs, evaluated):
    return jobs.report("jobs", "durations")


def test_observed_curves_are_the_reports_and_the_rows(jobs, printed):
    page = jobs.page("durations", "jobs", durations_tab="Observed", durations_layout="together")
    assert same_figures(page, printed, "durations") == {"observed-duration_s-by-profile"}
    quantiles = page.csv("jobs-observed-duration_s-by-profile-quantiles.csv")
    assert page.files["jobs-observed-duration_s-by-profile-quantiles.csv"] == printed.csv("durations")["quantiles"]
    fit = jobs.library(lambda bench: bench.profiles("jobs", ProfileSettings()))
    jobs.library(lambda bench: bench.observed_durations("jobs", DurationSettings(by="profile"), fit=ProfileSettings()))
    rows = jobs.library(lambda bench: bench.past_jobs("jobs", fit.row_ids.tolist()))
    durations = rows.set_index("row_id")["duration_s"].loc[fit.row_ids].to_numpy()
    names = jobs.library(lambda bench: bench.profile_names("jobs"))
    largest = {names[profile]: durations[fit.labels == profile].max() for profile in set(fit.labels.tolist()) - {-1}}
    shown = quantiles.set_index("group")["max"].to_dict()
    assert {name: shown[name] for name in largest} == largest
    told = jobs.command("durations", "jobs", "--by", "profile", "--quantile", "0.5,0.95")
    for one in told["groups"]:
        line = quantiles.set_index("group").loc[names[int(one["group"])]]
        assert line[["p50", "p95", "max"]].tolist() == [one["quantiles"]["p50"], one["quantiles"]["p95"], one["max"]]
    lines = {trace["name"]: trace for trace in page.figures["observed-duration_s-by-profile"] if trace.get("name")}
    whole = {name: max(lines[name]["x"]) for name in largest if name in lines}  # few rows are said in the name
    assert whole
    assert {name: largest[name] for name in whole} == whole


def test_errors_are_the_commands(jobs, evaluated, printed):
    told = jobs.command("estimate", "evaluate", "--train", "jobs")
    assert told["interval_by_split"] == {"by_job": told["interval"]}
    assert to_json(estimate_answer(evaluated, {"by_job": evaluated})) == told
    page = jobs.page("durations", "jobs", durations_tab="Prediction error")
    assert same_figures(page, printed, "durations") >= {"errors-duration_s-ratio"}
    same_metrics(page, printed, "durations")
    (file,) = (name for name in page.files if name.endswith("predictors.csv"))
    assert page.files[file] == printed.csv("durations")["predictors"]
    shown = " ".join([page.words, *(" ".join(metric) for metric in page.metrics)])
    assert format_share(told["interval"]["coverage"]) in shown
