"""One prepared home per kind of data; the page, the command, the library and the report are asked of it in turn."""

# ruff: noqa: TID251  the pages' test driver

import contextlib
import io
import json
from dataclasses import dataclass, field

import pandas as pd
import pytest
import streamlit as st
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.testing.v1 import AppTest

from tests.charts import records_for_memory, records_for_nodes, records_for_phases
from tests.made_once import keep
from tests.nodes.planted_nodes import runs_of
from tests.pages import all_views, toured_home
from tests.pages.conftest import APP, SAMPLE, problems
from tests.pages.test_nodes_page import SPEEDS, write
from tests.same.reading import Printed, seen, unexplained
from workprof.cli.main import app
from workprof.core.progress import silent
from workprof.core.settings import from_environment
from workprof.nodes.detection import DegradationSettings
from workprof.phases.evaluation import EvaluationSettings
from workprof.report.bundle import build_report
from workprof.workbench import Workbench

PATIENCE_S = 300
ROWS, MANY_ROWS = 300, 900


@dataclass
class Home:
    """A home folder that is asked in four ways, one after the other: only one of them may hold it at a time.

    Attributes:
        folder: of the home.
        hashes: name -> content hash of its datasets.
    """

    folder: object
    hashes: dict = field(default_factory=dict)

    def library(self, ask):
        """Return what a question to the workbench gives."""
        st.cache_resource.clear()
        with Workbench(from_environment()) as workbench:
            return ask(workbench)

    def keep(self, dataset, question, settings, record):
        """Keep a result of the workbench's question of a name, made by hand."""
        self.library(lambda bench: keep(bench, getattr(bench, question), self.hashes[dataset], settings, record))

    def command(self, *words):
        """Return the JSON that a command prints."""
        st.cache_resource.clear()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            app(args=[*map(str, words), "--json"], standalone_mode=False)
        return json.loads(printed.getvalue())

    def report(self, dataset, *sections):
        """Return a report's file and bundle, the very bytes that the page and the command write."""
        built = self.library(lambda bench: build_report(bench, self.hashes[dataset], sections, "", silent))
        missing = [one.reason for one in built.report.sections if one.status != "done"]
        assert missing == []
        return Printed(built.page.decode(), built.bundle)

    def page(self, name, dataset, *, act=None, unfolded=(), **parameters):
        """Return what a page shows of a dataset, and what its buttons save.

        Args:
            name: of the page.
            dataset: in the address.
            act: what a visitor does there before anything is read; given Streamlit's test driver.
            unfolded: keys of charts whose table is looked at, too.
            parameters: further ones of the address.
        """
        st.cache_resource.clear()
        files = {}
        with pytest.MonkeyPatch.context() as patch:
            _keep_files(patch, files)
            test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
            test.query_params["ds"] = self.hashes[dataset]
            for parameter, value in (all_views.unfolded(name) | parameters).items():
                test.query_params[parameter] = value
            for key in unfolded:
                test.session_state[f"{key}_shown"] = True
            if name != "home":  # as from a link: Home is not drawn first
                test.switch_page(f"pages/{name}.py")
            test.run()
            if act is not None:
                act(test)
            assert problems(test) == []
            assert unexplained(test) == []
            return seen(test, files)


def _keep_files(patch, files):
    """Make what every button saves known by its name: name -> function that makes the file."""
    deferred, ready = MediaFileManager.add_deferred, MediaFileManager.add

    def kept(self, data_callable, mimetype, coordinates, file_name=None, **more):
        files[file_name] = data_callable
        return deferred(self, data_callable, mimetype, coordinates, file_name, **more)

    def kept_ready(self, path_or_data, mimetype, coordinates, file_name=None, **more):
        files[file_name] = lambda: path_or_data
        return ready(self, path_or_data, mimetype, coordinates, file_name, **more)

    patch.setattr(MediaFileManager, "add_deferred", kept)
    patch.setattr(MediaFileManager, "add", kept_ready)


@pytest.fixture(scope="module")
def _empty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("same")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        patch.setenv("WORKPROF_DATA", str(folder / "data"))
        patch.delenv("WORKPROF_READONLY", raising=False)
        st.cache_resource.clear()
        yield Home(folder)
        st.cache_resource.clear()


@pytest.fixture(scope="module")
def jobs(_empty):
    """A home with a part of the bundled sample as 'jobs'."""
    return _loaded(_empty, jobs=_part(_empty.folder / "jobs.parquet", ROWS))


@pytest.fixture(scope="module")
def many_jobs(_empty):
    """The same with rows enough for the sizes of a sweep."""
    return _loaded(_empty, jobs=_part(_empty.folder / "jobs.parquet", MANY_ROWS))


def _part(path, rows):
    pd.read_parquet(SAMPLE).sample(rows, random_state=0).reset_index(drop=True).to_parquet(path)
    return path


@pytest.fixture(scope="module")
def tasks(_empty):
    """A home with runs of three tasks, requests and peaks, as 'tasks'."""
    records_for_memory.jobs().to_parquet(_empty.folder / "tasks.parquet")
    return _loaded(_empty, tasks=_empty.folder / "tasks.parquet")


@pytest.fixture(scope="module")
def nodes(_empty):
    """A home with benchmark runs as 'runs', a detection made by hand, and a few jobs as 'jobs'."""
    written = write(_empty.folder / "runs.jsonl", runs_of(SPEEDS, n_runs=6))
    home = _loaded(_empty, runs=written, jobs=_part(_empty.folder / "jobs.parquet", ROWS))
    found = records_for_nodes.detection(("calm", "small"))
    home.keep("runs", "degradation", DegradationSettings(), found)
    return home


@pytest.fixture(scope="module")
def phases(_empty):
    """A home with counters of three workloads as 'counters', and an evaluation made by hand."""
    records_for_phases.samples().to_csv(_empty.folder / "counters.csv", index=False)
    home = _loaded(_empty, counters=_empty.folder / "counters.csv")
    found = records_for_phases.evaluation()
    home.keep("counters", "evaluate_phases", EvaluationSettings(), found)
    return home


@pytest.fixture(scope="module")
def samples(_empty, tmp_path_factory):
    """A home with the bundled samples by their kind, and what the tour shows of them."""
    st.cache_resource.clear()
    _empty.hashes |= toured_home.make(_empty.folder / "home", tmp_path_factory)
    return _empty


def _loaded(home, **files):
    for name, path in files.items():
        home.hashes[name] = home.library(lambda bench, path=path: bench.ingest([path]).hash)
    return home
