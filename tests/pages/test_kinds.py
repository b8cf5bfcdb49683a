"""Pages are about one kind of dataset; another kind is neither shown there nor taken by a question."""

import json

import pytest

from tests.pages.conftest import problems
from workprof.core.errors import WrongKind
from workprof.core.settings import from_environment
from workprof.profiles.settings import ProfileSettings
from workprof.workbench import Workbench

RUN = {
    "node": "a",
    "benchmark": "cpu-sysbench",
    "argv": ["sysbench"],
    "started": 1.0,
    "finished": 2.0,
    "stressed": False,
    "rc": 1,
    "stdout": "",
    "stderr": "x",
    "host": {},
}


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(json.dumps(RUN | {"started": float(i), "finished": i + 1.0}) for i in range(3)))
    return path


def test_a_question_about_jobs_refuses_benchmark_runs(home, runs):
    with Workbench(from_environment()) as workbench:
        report = workbench.ingest([runs])
        assert (report.kind, report.format, report.rows) == ("benchmarks", "benchmarks", 3)
        with pytest.raises(WrongKind, match=r"runs holds benchmark runs.*a job trace.*workprof ingest FILE"):
            workbench.profiles.cached(report.hash, ProfileSettings())


@pytest.fixture
def both(loaded, runs):
    """A home with the sample's jobs and, newer, benchmark runs."""
    with Workbench(from_environment()) as workbench:
        return loaded, workbench.ingest([runs])


def test_a_page_about_jobs_takes_the_newest_job_trace(app, both):
    jobs, newer = both
    test = app("profiles")
    assert problems(test) == []
    assert jobs.hash in test.query_params["ds"]
    assert newer.dataset not in test.sidebar.selectbox(key="shell_dataset").options


def test_a_link_to_another_kind_opens_the_page_on_its_own_kind(app, both):
    jobs, newer = both
    test = app("profiles", ds=newer.hash)
    assert problems(test) == []
    assert jobs.hash in test.query_params["ds"]


def test_the_dataset_of_a_link_is_kept_for_the_pages_of_its_kind(app, both, runs):
    runs.write_text(runs.read_text().replace('"node": "a"', '"node": "b"'))
    with Workbench(from_environment()) as workbench:
        newest = workbench.ingest([runs])
    older = both[1]
    test = app("home", ds=older.hash)
    assert older.hash in test.query_params["ds"]  # Home is about any kind
    test.switch_page("pages/profiles.py").run()
    assert both[0].hash in test.query_params["ds"]
    test.switch_page("pages/nodes.py").run()
    assert older.hash in test.query_params["ds"]
    assert newest.hash not in test.query_params["ds"]


def test_the_data_page_shows_every_kind(app, both):
    jobs, newer = both
    test = app("data")
    assert {jobs.dataset, newer.dataset} <= set(test.sidebar.selectbox(key="shell_dataset").options)
    test.sidebar.selectbox(key="shell_dataset").set_value(newer.hash).run()
    assert problems(test) == []
    assert newer.hash in test.query_params["ds"]


def test_a_home_with_benchmark_runs_alone_offers_the_sample_of_jobs(app, home, runs):
    with Workbench(from_environment()) as workbench:
        workbench.ingest([runs])
    test = app("memory")
    assert problems(test) == []
    assert "No dataset of a job trace is loaded yet." in test.info[0].value
    assert "Load sample" in [button.label for button in test.button]
