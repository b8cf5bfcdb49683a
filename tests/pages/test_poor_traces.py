"""Every page of a trace that lacks something: it shows what it can, says what is missing, and nothing is red."""

import re

import pytest

from tests import poor_traces
from tests.pages.conftest import problems
from tests.store.test_pods import services
from workprof.answers.verdict import sentence
from workprof.core.settings import from_environment
from workprof.workbench import Workbench

VIEWS = {
    "home": ("",),
    "data": ("Validation", "Columns", "Preview"),
    "profiles": ("",),
    "classify": ("One job", "Batch", "Model", "Drift"),
    "durations": ("Observed", "Prediction error"),
    "sweep": ("",),
    "memory": ("Plan", "Tasks", "Bins", "Models", "Policies", "Ledger", "Scenarios"),
    "nodes": ("",),
    "phases": ("",),
    "report": ("",),
    "runs": ("",),
    "help": ("",),
}


def shown(app, page, tab=""):
    return app(page, **({f"{page}_tab": tab} if tab else {}))


@pytest.fixture
def poor(request, home, tmp_path):
    with Workbench(from_environment()) as workbench:
        return workbench.ingest([poor_traces.write(tmp_path, request.param)])


@pytest.mark.some(1)
@pytest.mark.parametrize("poor", poor_traces.POOR, indirect=True)
def test_no_page_breaks(app, poor):
    wrong = {}
    folded = app("home", **dict.fromkeys(("home_steps", "home_findings", "home_data", "home_cell"), "true"))
    assert not folded.exception
    for page, tabs in VIEWS.items():
        for tab in tabs:
            found = problems(shown(app, page, tab))
            if found:
                wrong[page, tab] = found
    assert wrong == {}


def told(test):
    return " ".join([*(item.value for item in test.info), *(item.value for item in test.markdown)]).replace("\\", "")


@pytest.mark.parametrize("poor", ["running", "failed"], indirect=True)
def test_without_finished_runs_every_page_says_so_and_the_ledger_is_shown(app, poor):
    opened = app("home", home_steps="true")
    assert "home_verdict_link" not in [one.key for one in opened.button]
    assert not any(one.label in ("Show by", "Time bin") for one in opened.selectbox)  # there is no chart to choose for
    assert any("No chart over time" in one.value for one in opened.caption)
    home = told(opened)
    assert "none of them has finished" in home
    assert "not with this dataset · Profiles: dataset" in home
    assert "not with this dataset · Requests: no run has finished" in home
    for page in ("profiles", "classify", "durations", "sweep"):
        assert "has no finished run (60 " in told(shown(app, page)), page
    memory = shown(app, "memory")
    assert "No run has finished" in told(memory)
    assert "memory_verdict" not in [one.key for one in memory.button]
    assert "Ledger" in [one.value for one in memory.header]


@pytest.mark.parametrize("poor", ["no-request"], indirect=True)
def test_requests_of_0_leave_the_rest_of_home_and_the_ledger(app, poor):
    opened = app("home", home_steps="true")
    assert "Wasted cores" in [item.label for item in opened.metric]  # memory cannot be judged, cores can
    assert "Requests: the trace has no requested memory" in told(opened)
    memory = shown(app, "memory")
    assert "No run has a request of memory; give one that stands for all of them (in a shell: --request); " in told(
        memory
    )
    assert "the ledger says what to request of cores" in told(memory)
    assert "of requested cores are never used" in told(memory)


def test_what_home_says_to_do_about_cores_changes_a_request(app, home, tmp_path):
    rows = [("kept", 800, 900 if at % 3 == 0 else 50, at) for at in range(60)]
    rows += [("lowered", 400, 100, at) for at in range(60)]
    lines = [f"{task}-{at},{task},{at * 900},600,{asked},{used}" for task, asked, used, at in rows]
    heading = "job_name,task_name,start_time_s,duration_s,requested_cpu_percent,cpu_usage_percent"
    (tmp_path / "cores.csv").write_text("\n".join([heading, *lines]) + "\n")
    with Workbench(from_environment()) as workbench:
        found = workbench.ledger(workbench.ingest([tmp_path / "cores.csv"]).hash).findings
    assert [one.row.action for one in found[:2]] == ["keep", "lower"]
    opened = app("home")
    assert "Do these things" in [item.value for item in opened.header]
    (listed,) = [item.value for item in opened.markdown if item.value.startswith("1. ")]
    assert "Lower 4 cores" in listed
    assert "Keep" not in listed


def test_services_that_run_on_are_sized_on_home_and_memory(app, home, tmp_path):
    (tmp_path / "pods.json").write_text(services(phase=True))
    with Workbench(from_environment()) as workbench:
        saves = sentence(workbench.verdict(workbench.ingest([tmp_path / "pods.json"]).hash))
    opened = app("home", home_steps="true")
    assert "Do these things" in [item.value for item in opened.header]
    assert f"done · Requests: {saves}"[:100] in told(opened)
    memory = shown(app, "memory")
    assert saves in told(memory)
    assert any("are windows of 12 services. None was seen for more than 1 h" in item.value for item in memory.caption)


@pytest.mark.parametrize("poor", ["two"], indirect=True)
def test_too_few_rows_leave_the_curves_of_all_jobs(app, poor):
    test = shown(app, "durations", "Observed")
    assert "80 % of runs finish within" in told(test)
    profiles = app("durations", durations_tab="Observed", durations_by="profile")
    assert "which this dataset cannot have: 2 rows cannot hold two profiles of 20" in told(profiles)
    assert "Quantiles" in [one.value for one in test.header]
    assert "Find profiles" not in [one.label for one in test.button]
    assert "2 finished runs are too few for the grid" in told(app("sweep"))
    memory = told(app("memory"))
    assert "1 later run" in memory
    assert "1 later runs" not in memory


@pytest.mark.parametrize("poor", ["requests"], indirect=True)
def test_profiles_without_two_features_are_refused_before_a_job(app, poor):
    profiles = app("profiles")
    assert "0 usable features (none), at least 2 are needed" in told(profiles)
    assert re.search(r"needed \(\w+, \w+, \w+ and \d more: not in this table\)", told(profiles))
    assert not profiles.error
    assert "not with this dataset · Profiles: 0 usable features" in told(app("home", home_steps="true"))
    sweep = app("sweep")
    assert "0 usable features (none), at least 2 are needed" in told(sweep)
    assert "Start sweep" not in [one.label for one in sweep.button]
    assert "Sweep" not in told(app("report")).partition("Still to compute: ")[2].partition(".")[0]
