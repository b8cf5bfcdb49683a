"""Pages run by Streamlit's own test driver, each test on a home of its own."""

import functools
import shutil
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from pages._frame import visit
from pages._parts import controls
from tests.made_once import made_once
from workprof.core.question import address_of
from workprof.core.settings import from_environment
from workprof.memory.ledger_settings import LedgerSettings
from workprof.workbench import Workbench

ROOT = Path(__file__).parents[2]
APP = ROOT / "app.py"
SAMPLE = ROOT / "data" / "sample" / "pai_sample.parquet"
PATIENCE_S = 60

# For every page that is opened, Streamlit's driver reads the metadata of all installed packages: 0.2 s each time.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith("tests/pages/"):
            item.add_marker(pytest.mark.slow)


def by_options(question, settings):
    """Return the parameters of the address that `workprof runs show` gives, its settings by their options."""
    query = dict(parse_qsl(urlsplit(address_of(question, "", settings)).query, keep_blank_values=True))
    return {name: value for name, value in query.items() if name != "ds"}


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """Controls of closed folds are sent, for tests that set them; `test_folds` is about those that are held back."""
    monkeypatch.setattr(controls, "HOLDS_BACK", False)


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    monkeypatch.setenv("WORKPROF_HOME", str(folder))
    monkeypatch.setenv("WORKPROF_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("WORKPROF_READONLY", raising=False)
    st.cache_resource.clear()
    yield folder
    st.cache_resource.clear()


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A home with the sample and what Home and Profiles add up of it, made once, and the report of its dataset."""
    folder, report = made_once(tmp_path_factory, "prepared", _prepare)
    return folder / "home", report


def _prepare(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            report = workbench.ingest([SAMPLE])
            workbench.profiles(report.hash)
            workbench.ledger(report.hash, LedgerSettings(by="profile"))
            for question in (workbench.over_time, workbench.verdict, workbench.changes):
                question(report.hash)
            return report


@pytest.fixture
def loaded(home, prepared):
    """A home with the bundled sample and its default profiles, a copy for each test."""
    folder, report = prepared
    shutil.copytree(folder, home)
    return report


@pytest.fixture
def few(home, tmp_path_factory):
    """A home with the first rows of the sample as 'few', a copy for each test; its hash."""
    folder, hashed = made_once(tmp_path_factory, "few", _first_rows)
    shutil.copytree(folder / "home", home)
    return hashed


def _first_rows(folder):
    pd.read_parquet(SAMPLE).head(1500).to_parquet(folder / "few.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            return workbench.ingest([folder / "few.parquet"]).hash


@pytest.fixture
def app(home):
    def opened(page="home", **parameters):
        test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
        for name, value in parameters.items():
            test.query_params[name] = value
        if page != "home":  # as from a link: Home is not drawn first
            test.switch_page(f"pages/{page}.py")
        return test.run()

    return opened


@pytest.fixture
def house(home):
    return visit.open_home


def problems(test):
    """Return every exception and error panel of a page."""
    return [item.message for item in test.exception] + [item.value for item in test.error]


def words(test):
    """Return what a page tells, without the marks that keep it from being markup."""
    told = (*test.markdown, *test.caption, *test.info, *test.warning, *test.success)
    return " ".join(str(item.value) for item in told).replace("\\", "")


def labels(test):
    return [button.label for button in test.button]
