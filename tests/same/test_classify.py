"""Classify: page, library, command, CSV files and report say the same of jobs, old and new, and of the classifier."""

import math
import re
import time

import pandas as pd
import pytest

from pages._classify.one_job import SUBMIT_FIELDS, SUBMITTED
from tests.pages.conftest import SAMPLE
from tests.same.reading import bar, same_figures
from workprof.answers.classifier import classifier_answer
from workprof.answers.feedback import drift_table, needs_table
from workprof.answers.forecasts import forecast_document
from workprof.core.answer import to_json as answer_json
from workprof.core.records import to_json
from workprof.core.units import GB, format_share
from workprof.core.words import shortened
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.feedback.loop import FeedbackSettings
from workprof.forecasts.forecaster import ForecasterSettings

pytestmark = pytest.mark.slow

NAMES = {"random": "random", "by job": "by_job", "by group": "by_group", "by time": "by_time"}
SHOWN = {
    "Accuracy": "accuracy",
    "Macro F1": "macro_f1",
    "Weighted F1": "weighted_f1",
    "Abstained": "abstained_share",
}
ROW, ROWS = 3, list(range(0, 240, 8))
TARGETS = {"duration_s": ("duration_s", 1.0), "peak_memory_bytes": ("peak_memory_gb", GB)}


@pytest.fixture(scope="module")
def trained(jobs):
    jobs.library(lambda bench: bench.forecaster("jobs", ForecasterSettings()))


@pytest.fixture(scope="module")
def evaluated(jobs, trained):
    return jobs.library(lambda bench: bench.classifier_evaluation("jobs", ClassifierSettings()))


@pytest.fixture(scope="module")
def printed(jobs, evaluated):
    return jobs.report("jobs", "classify")


@pytest.mark.soak
def test_the_classifier_is_scored_alike_everywhere(jobs, evaluated, printed):
    told = jobs.command("classify", "evaluate", "jobs")
    assert answer_json(classifier_answer(evaluated)) == told
    folds = {"classify_scores": "true", "classify_calibration": "true", "classify_split": "by_job"}
    page = jobs.page("classify", "jobs", classify_tab="Model", **folds)
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


def names(jobs):
    return jobs.library(lambda bench: bench.profile_names("jobs"))


def test_a_job_gets_the_same_answer_everywhere(jobs, trained):
    """The command reads the job from a file, as its fields were exported."""
    exported = jobs.library(lambda bench: bench.past_jobs("jobs", [ROW]))
    fields = [name for name in exported.columns if name in (*SUBMIT_FIELDS, *SUBMITTED)]
    (jobs.folder / "one.csv").write_text(exported[fields].to_csv(index=False))
    (told,) = jobs.command("classify", "predict", "jobs", "--jobs", jobs.folder / "one.csv")
    asked = {name: str(exported[name].iloc[0]) for name in fields if not exported[name].isna().any()}
    (library,) = jobs.library(lambda bench: bench.forecast_job("jobs", asked, ForecasterSettings()))
    assert to_json(forecast_document(library, names(jobs))) == told
    page = jobs.page("classify", "jobs", classify_tab="One job", classify_job=str(ROW))
    assert list(bar(page.figures["top-profiles"]).values()) == [one["probability"] for one in told["top"]]
    dots = [trace["x"][0] for trace in page.figures["estimates"] if len(trace["x"]) == 1]
    lines = [trace["x"] for trace in page.figures["estimates"] if len(trace["x"]) == 2]
    need = told["estimates"]["duration_s"]
    assert (dots[0], lines[0]) == (need["point"], [need["low"], need["high"]])
    assert dots[1] == exported["duration_s"].iloc[0]
    waterfall = page.figures["shap-waterfall"][0]["x"]
    assert (waterfall[0], waterfall[-1]) == (told["shap"]["base"], pytest.approx(told["shap"]["output"], abs=1e-9))
    shown = sorted(value for value in told["shap"]["fields"].values())
    assert set(waterfall[1:4]) <= set(shown)


@pytest.fixture(scope="module")
def file(jobs, trained):
    """A CSV file of new jobs: of some past ones what was known at submission, and a column that nobody knows."""
    exported = jobs.library(lambda bench: bench.past_jobs("jobs", ROWS))
    fields = [name for name in exported.columns if name in (*SUBMIT_FIELDS, *SUBMITTED)]
    path = jobs.folder / "new.csv"
    path.write_text(exported[fields].assign(shoe_size=42).to_csv(index=False))
    return path


def test_many_new_jobs(jobs, file):
    told = jobs.command("classify", "predict", "jobs", "--jobs", file)
    found = jobs.library(lambda bench: bench.forecast_file("jobs", file, ForecasterSettings()))
    assert to_json([forecast_document(one, names(jobs)) for one in found.jobs]) == told
    assert {one["name"] for one in told} - {None} <= set(names(jobs))

    def act(test):
        test.file_uploader(key="classify_upload").upload("new.csv", file.read_bytes(), "text/csv").run()
        test.button(key="classify_start").click().run()
        while any("1 computation running" in item.value for item in test.markdown):  # it goes on beside the page
            time.sleep(0.5)
            test.run()

    page = jobs.page("classify", "jobs", classify_tab="Batch", act=act)
    table = page.csv("classified-jobs.csv")
    shown = next(table for table in page.tables if "top1" in table.columns)
    for lines in (table, shown):
        assert lines["row"].tolist() == list(range(1, len(ROWS) + 1))
        assert lines["profile"].tolist() == [one["profile"] for one in told]
        stated = [None if math.isnan(one) else one for one in lines["probability"]]
        assert stated == [one["probability"] for one in told]
        assert all((one["probability"] is None) == one["abstained"] for one in told)
        assert all(one["most_likely"] in one["top"] for one in told)
        assert lines["abstained"].tolist() == [one["abstained"] for one in told]
        assert [reason or None for reason in lines["reason"].fillna("")] == [one["reason"] for one in told]
        for place in range(3):
            top = [one["top"][place] for one in told]
            assert lines[f"top{place + 1}"].tolist() == [one["profile"] for one in top]
            assert lines[f"top{place + 1}_probability"].tolist() == [one["probability"] for one in top]
        for target, (name, scale) in TARGETS.items():
            for ending, key in (("", "point"), ("_low", "low"), ("_high", "high")):
                needs = [one["estimates"][name][key] * scale for one in told]
                assert lines[f"{target}{ending}"].tolist() == pytest.approx(needs, rel=1e-12)
    answered = sum(not one["abstained"] for one in told)
    assert (
        f"{len(told)} jobs read from new.csv: {answered} with a profile, {len(told) - answered} without" in page.words
    )
    assert "1 column not used: shoe_size" in page.words


@pytest.fixture(scope="module")
def observed(jobs, trained):
    """What the command tells of jobs that finished since: other rows of the sample, which took three times as long."""
    rows = pd.read_parquet(SAMPLE).sample(frac=1, random_state=0).iloc[300:900].reset_index(drop=True)
    longer = rows.assign(end_time=rows["start_time"] + 3 * (rows["end_time"] - rows["start_time"]))
    longer.to_parquet(jobs.folder / "finished.parquet")
    return jobs.command("estimate", "observe", "jobs", "--jobs", jobs.folder / "finished.parquet")


@pytest.fixture(scope="module")
def feedback(jobs, observed):
    return jobs.library(lambda bench: bench.feedback("jobs", FeedbackSettings()))


@pytest.fixture(scope="module")
def finished(jobs, observed):
    folds = {f"feedback_{name}": "true" for name in ("quality", "all", "now")}
    return jobs.page("classify", "jobs", classify_tab="Drift", **folds)


@pytest.mark.soak
def test_finished_jobs_in_figures(finished, observed, feedback):
    assert f"{observed['observed']:,} finished jobs compared" in finished.words
    assert finished.metric("As predicted") == [format_share(observed["agreed_share"])]
    assert finished.metric("Far from every profile") == [format_share(observed["outlier_share"])]
    (at_fit,) = (detail for label, _, detail in finished.metrics if label == "Far from every profile")
    assert at_fit == f"{format_share(observed['outlier_share_at_fit'])} at the fit"
    tallies = [one.tally for one in feedback.state.profiles.values()]
    known = sum(tally.known.sum() for tally in tallies)
    for label, name in (("Needed more", "under"), ("Needed less", "over")):
        counted = sum(getattr(tally, name).sum() for tally in tallies)
        assert finished.metric(label) == [format_share(counted / known)]
        assert _violations(observed, name) == counted
    advice = "; ".join(observed["reasons"]) or "No drift that calls for another clustering"
    assert advice in re.sub(r"[\w.-]+ · [\w.-]+ \((P\d+)\)", r"\1", finished.words)  # the page has the names, too


def _violations(observed, name):
    return sum(one[name] for one in observed["violations"].values())


@pytest.mark.soak
def test_the_score_over_time_is_the_commands(finished, observed):
    marks = {trace["name"]: trace for trace in finished.figures["acquires-history"] if trace.get("name")}
    shown = sorted(
        (jobs, value) for trace in marks.values() for jobs, value in zip(trace["x"], trace["y"], strict=True)
    )
    history = observed["acquires_history"]
    assert shown == [(one["jobs"], one["acquires"]) for one in history]
    assert marks["fit"]["y"] == [pytest.approx(observed["acquires_at_fit"])]
    assert history[-1]["acquires"] == observed["acquires"]


def test_drift_and_needs_are_the_commands(jobs, finished, observed, feedback):
    names = dict(enumerate(jobs.library(lambda bench: bench.profile_names("jobs"))[:-1]))
    assert finished.files["drift.csv"] == drift_table(feedback.assessment.drift, names).csv()
    table = finished.csv("drift.csv").set_index(["profile", "target"])
    told = {(one["profile"], one["target"]): one for one in observed["drift"]}
    assert set(table.index) == set(told)
    for place, one in told.items():
        assert table.loc[place, "jobs"] == one["jobs"]
        assert table.loc[place, "errors"] == one["error"]["word"]
        assert table.loc[place, "needs"] == one["distribution"]["word"]
        assert _same(table.loc[place, "error_factor"], one["error"]["factor"])
    drawn = [x for trace in finished.figures["drift-duration_s"] for x in trace["x"]]
    judged = [one["error"] for one in observed["drift"] if one["target"] == "duration_s"]
    assert sorted(drawn) == sorted(one["factor"] for one in judged if one["factor"] is not None)
    assert "drift" in {one["word"] for one in judged}
    needs = finished.csv("needs-duration_s.csv").set_index("profile")
    assert finished.files["needs-duration_s.csv"] == needs_table(feedback, "duration_s", names).csv()
    for name, targets in observed["quantiles"].items():
        own = targets["duration_s"]
        line = needs.loc["Unclustered" if name == "-1" else shortened(names[int(name)])]
        for level, now, before in zip(own["levels"], own["now"], own["at_fit"], strict=True):
            assert _same(line[f"p{level * 100:g}_now"], now)
            assert _same(line[f"p{level * 100:g}_at_fit"], before)


def _same(shown, told):
    return shown == told or (math.isnan(shown) and told is None)
