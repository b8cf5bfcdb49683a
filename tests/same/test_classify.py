"""Classify: page, library, command, CSV files and report say the same of a job and of the classifier."""

import pytest

from pages._classify.job import SUBMIT_FIELDS, TIMES
from tests.same.reading import bar, same_figures
from workprof.cli.classify import evaluation_answer, forecast_answer
from workprof.profiles.classifier.settings import ClassifierSettings
from workprof.profiles.forecaster import ForecasterSettings
from workprof.records import to_json

pytestmark = pytest.mark.slow

NAMES = {"random": "random", "by job": "by_job", "by group": "by_group", "by time": "by_time"}
SHOWN = {
    "accuracy": "accuracy",
    "macro F1": "macro_f1",
    "weighted F1": "weighted_f1",
    "abstained share": "abstained_share",
}
ROW = 3


@pytest.fixture(scope="module")
def evaluated(jobs):
    jobs.library(lambda bench: bench.forecaster("jobs", ForecasterSettings()))
    return jobs.library(lambda bench: bench.classifier_evaluation("jobs", ClassifierSettings()))


@pytest.fixture(scope="module")
def printed(jobs, evaluated):
    return jobs.report("jobs", "classify")


def test_the_classifier_is_scored_alike_everywhere(jobs, evaluated, printed):
    told = jobs.command("classify", "evaluate", "jobs")
    assert to_json(evaluation_answer(evaluated)) == told
    page = jobs.page("classify", "jobs", classify_tab="Model")
    assert same_figures(page, printed, "classify") == {
        "classifier-splits", "table-v-by-job", "confusion-by-job", "calibration-by-job",
    }  # fmt: skip
    bars = {trace["name"]: bar([trace], "x", "y") for trace in page.figures["classifier-splits"]}
    assert bars == {
        name: {label: told["splits"][split][key] for label, key in SHOWN.items()}
        for name, split in NAMES.items()
        if split in told["splits"]
    }
    by_name = {trace["name"]: trace["x"] for trace in page.figures["table-v-by-job"]}
    for name, key in {"precision": "precision", "recall": "recall", "F1": "f1"}.items():
        assert sorted(by_name[name]) == sorted(one[key] for one in told["classes"])


def test_a_job_gets_the_same_answer_everywhere(jobs, evaluated):
    """The command reads the job from a file, as its fields were exported."""
    exported = jobs.library(lambda bench: bench.past_jobs("jobs", [ROW]))
    fields = [name for name in exported.columns if name in (*SUBMIT_FIELDS, *TIMES)]
    (jobs.folder / "one.csv").write_text(exported[fields].to_csv(index=False))
    (told,) = jobs.command("classify", "predict", "jobs", "--jobs", jobs.folder / "one.csv")
    asked = {name: str(exported[name].iloc[0]) for name in fields if not exported[name].isna().any()}
    (library,) = jobs.library(lambda bench: bench.forecast_job("jobs", asked, ForecasterSettings()))
    assert to_json(forecast_answer(library)) == told
    page = jobs.page("classify", "jobs", classify_tab="One job", classify_job=str(ROW))
    assert list(bar(page.figures["top-profiles"]).values()) == [one["probability"] for one in told["top"]]
    dots = [trace["x"][0] for trace in page.figures["estimates"] if len(trace["x"]) == 1]
    lines = [trace["x"] for trace in page.figures["estimates"] if len(trace["x"]) == 2]
    need = told["estimates"]["duration_s"]
    assert (dots[0], lines[0]) == (need["point"], [need["low"], need["high"]])
    waterfall = page.figures["shap-waterfall"][0]["x"]
    assert (waterfall[0], waterfall[-1]) == (told["shap"]["base"], pytest.approx(told["shap"]["output"], abs=1e-9))
    shown = sorted(value for value in told["shap"]["fields"].values())
    assert set(waterfall[1:4]) <= set(shown)
