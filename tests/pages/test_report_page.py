"""The Report page: sections, progress, cancel, files; for each kind of dataset its own sections."""

import json
import re
import time

import pytest

from tests.pages.conftest import ROOT, problems, words
from workprof.answers.verdict import sentence
from workprof.core.settings import from_environment
from workprof.workbench import Workbench

PATIENCE_S = 120


def click(test, label):
    next(button for button in test.button if button.label == label).click()
    return test.run()


def ended(test, house):
    end = time.monotonic() + PATIENCE_S
    while any(view.active for view in house().reports.views()) and time.monotonic() < end:
        time.sleep(0.2)
    return test.run()


def test_a_report_is_made_can_be_saved_and_is_told_apart_from_another_note(app, few, house):
    test = app("report", report_sections="data", report_note="For <b>you</b>")
    test = ended(click(test, "Generate report"), house)
    assert problems(test) == []
    assert "the decision and 1 of 1 sections in one file" in words(test)
    built = house().reports.views()[0].result
    assert b"For &lt;b&gt;you&lt;/b&gt;" in built.page
    assert [one["name"] for one in json.loads(built.manifest)["sections"]] == ["data"]
    assert built.bundle.startswith(b"PK")
    assert len(test.get("download_button")) == 3
    test.text_area(key="report_note").set_value("new").run()
    assert "other sections or another note" in test.warning[0].value


def test_a_report_is_cancelled_with_the_job_that_it_waits_for(app, few, house):
    test = app("report", report_sections=["data", "classify"])
    test = click(test, "Generate report")
    end = time.monotonic() + PATIENCE_S
    while not house().workbench.jobs() and time.monotonic() < end:
        time.sleep(0.1)
    assert test.run().status[-1].state == "running"  # the step at hand; those before it are complete
    click(test, "Cancel")
    view = house().reports.wait(house().reports.views()[0].key, PATIENCE_S)
    assert view.state == "cancelled"
    assert not any(job.active for job in house().workbench.jobs())
    test.run()
    assert problems(test) == []
    assert [item.value for item in test.info] == ["Generating the report of few was cancelled: no report was made."]


@pytest.mark.parametrize(
    ("sample", "sections"),
    [
        ("benchmarks.jsonl", ["Nodes", "Degradation", "Data"]),
        ("telemetry.csv", ["Phases", "Known and unknown workloads", "Data"]),
    ],
)
def test_each_kind_of_dataset_has_its_sections(app, home, sample, sections):
    with Workbench(from_environment()) as workbench:
        workbench.ingest([ROOT / "data" / "sample" / sample])
    test = app("report")
    assert problems(test) == []
    assert list(test.multiselect(key="report_sections").options) == sections


def test_another_kind_of_dataset_starts_with_all_its_sections(app, few):
    with Workbench(from_environment()) as workbench:
        other = workbench.ingest([ROOT / "data" / "sample" / "telemetry.csv"])
    test = app("report", report_sections="memory")
    test.sidebar.selectbox(key="shell_dataset").set_value(few).run()
    test.multiselect(key="report_sections").set_value(["memory", "data"]).run()
    test.sidebar.selectbox(key="shell_dataset").set_value(other.hash).run()
    assert problems(test) == []
    assert set(test.multiselect(key="report_sections").value) <= {"data", "phases", "recognition"}


def test_before_the_file_is_there_the_first_page_is_shown_and_what_is_missing_with_its_time(app, few, house):
    test = app("report")
    assert problems(test) == []
    told = words(test)
    assert "the decision on one page, then 9 sections of evidence" in told
    assert re.search(r"Still to compute: Profiles, .*Durations.*, about \d+ (s|min)", told)
    assert "1,500 runs of" in told
    assert [one.label for one in test.metric] == ["Requested", "Never used", "Saved", "Kills"]
    assert sentence(house().workbench.verdict(few))[:40] in told
    test = app("report", report_sections="data")
    assert "All results are ready" in words(test)
