"""Several at once on one home: the same file twice, a removal beside a job, a rename beside an ingest, odd clocks."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.soundness import PATIENCE_S, check_cache, check_store, processes_of, rows_hash, until
from tests.faults.squares import ROOT_STEP, STEP, Roots, Squares
from tests.faults.works import settings_of, start_squares, write_trace
from workprof.background import Ingests
from workprof.core.errors import SettingsError
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore
from workprof.workbench import Workbench

OPTIONS = IngestOptions(format="generic")
TABS = 4


@pytest.mark.slow
def test_tabs_that_import_one_file_at_once_make_one_dataset(tmp_path):
    trace, settings = write_trace(tmp_path / "jobs.csv", 2000), settings_of(tmp_path / "home")
    with TraceStore(settings) as store, ThreadPoolExecutor(TABS) as tabs:
        reports = list(tabs.map(lambda _: store.ingest([trace], OPTIONS), range(TABS)))
        assert sorted(report.already_loaded for report in reports) == [False, *[True] * (TABS - 1)]
        assert len({(report.hash, report.dataset, report.rows) for report in reports}) == 1
        check_store(store, settings.home, {"jobs": rows_hash(store, "jobs")})


@pytest.mark.slow
def test_tabs_that_import_different_files_of_one_name_make_a_dataset_each(tmp_path):
    traces = []
    for at in range(TABS):
        (tmp_path / f"tab{at}").mkdir()
        traces.append(write_trace(tmp_path / f"tab{at}" / "jobs.csv", 500 + at))
    settings = settings_of(tmp_path / "home")
    with TraceStore(settings) as store, ThreadPoolExecutor(TABS) as tabs:
        reports = list(tabs.map(lambda trace: store.ingest([trace], OPTIONS), traces))
        assert {report.dataset for report in reports} == {"jobs", "jobs-2", "jobs-3", "jobs-4"}
        assert [report.rows for report in reports] == [500 + at for at in range(TABS)]
        check_store(store, settings.home, {one.dataset: rows_hash(store, one.hash) for one in reports})


@pytest.mark.slow
def test_a_rename_and_a_removal_beside_an_ingest_wait_their_turn(tmp_path):
    settings = settings_of(tmp_path / "home")
    with TraceStore(settings) as store:
        for name in ("first", "second"):
            store.ingest([write_trace(tmp_path / f"{name}.csv", 300 + len(name))], OPTIONS)
        ingests = Ingests(store.ingest)
        view = ingests.start("large", [write_trace(tmp_path / "large.csv", 60_000)], OPTIONS)
        until(lambda: not ingests.view(view.key).active or ingests.view(view.key).steps)
        assert store.rename("first", "renamed").name == "renamed"
        assert store.remove("second").name == "second"
        assert ingests.wait(view.key, PATIENCE_S).state == "done"
        assert {dataset.name for dataset in store.datasets()} == {"renamed", "large"}
        check_store(store, settings.home, {name: rows_hash(store, name) for name in ("renamed", "large")})


@pytest.mark.slow
def test_a_rename_to_the_name_that_an_ingest_is_about_to_take_is_refused(tmp_path):
    settings = settings_of(tmp_path / "home")
    with TraceStore(settings) as store, ThreadPoolExecutor(1) as tab:
        store.ingest([write_trace(tmp_path / "other.csv", 200)], OPTIONS)
        renames = []

        def rename(_, message):
            if message == "reading rows" and not renames:
                renames.append(tab.submit(store.rename, "other", "jobs"))

        report = store.ingest([write_trace(tmp_path / "jobs.csv", 300)], OPTIONS, rename)
        with pytest.raises(SettingsError, match="a dataset is already called 'jobs'; give another name"):
            renames[0].result(PATIENCE_S)
        assert report.dataset == "jobs"
        assert {dataset.name: dataset.rows for dataset in store.datasets()} == {"jobs": 300, "other": 200}


@pytest.mark.slow
def test_a_removal_stops_the_job_on_the_dataset_and_leaves_no_result_of_it(tmp_path):
    settings = settings_of(tmp_path / "home")
    with Workbench(settings) as workbench:
        for name in ("kept", "stays"):
            workbench.ingest([write_trace(tmp_path / f"{name}.csv", 100 + len(name))], OPTIONS)
        other = start_squares(workbench, "stays", 1).key
        key = start_squares(workbench, "kept", 1, seconds=600).key
        until(lambda: workbench.job(key).message == "squaring")
        hashed = workbench.remove("kept").hash
        assert workbench.wait(key, PATIENCE_S).state == "cancelled"
        assert workbench.wait(other, PATIENCE_S).state == "done"
        assert {about.dataset for about in workbench.runs()} == {"stays"}
        until(lambda: not processes_of(settings.home))
        again = workbench.ingest([tmp_path / "kept.csv"], OPTIONS)
        assert (again.hash, again.already_loaded) == (hashed, False)
        assert workbench.wait(start_squares(workbench, "kept", 1).key, PATIENCE_S).state == "done"
        check_cache(settings.home, {STEP.name: Squares, ROOT_STEP.name: Roots})


@pytest.mark.slow
def test_a_clock_that_is_set_back_makes_no_negative_time_and_loses_nothing(tmp_path, monkeypatch):
    """The wall's clock jumps a day back while work runs, then a day forward."""
    settings, clock, wall = settings_of(tmp_path / "home"), [0.0], time.time
    monkeypatch.setattr(time, "time", lambda: wall() + clock[0])
    with Workbench(settings) as workbench:
        ingests = Ingests(workbench.ingest)
        started = ingests.start("kept", [write_trace(tmp_path / "kept.csv", 2000)], OPTIONS)
        clock[0] = -86_400.0
        ended = ingests.wait(started.key, PATIENCE_S)
        assert ended.state == "done"
        assert 0 <= ended.elapsed_s < PATIENCE_S
        key = start_squares(workbench, "kept", 1).key
        clock[0] = 86_400.0
        assert all(0 <= view.elapsed_s < PATIENCE_S for view in workbench.jobs())
        view = workbench.wait(key, PATIENCE_S)
        assert view.state == "done"
        assert 0 <= view.elapsed_s < PATIENCE_S
        assert {about.dataset for about in workbench.runs()} == {"kept"}
