"""Data: what is loaded, is it sound, and how do I bring in more?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._data import catalogue, inspect, upload
from pages._frame import empty_state
from workprof.store.reports import Dataset

PAGE = _shell.Page("Data", "What was loaded, is it sound, and how do I bring in more?", "", kind="")

TABS = ("Preview", "Columns", "Time coverage", "Checks and rejects")


def body(visit: _shell.Visit, dataset: Dataset) -> None:
    """Show the import, then the chosen dataset in tabs, then the catalogue."""
    upload.section(visit, expanded=False)
    st.header("This dataset")
    tabs = st.tabs(TABS, key="data_tab", on_change="rerun", bind="query-params")
    views = (inspect.preview, inspect.columns, inspect.coverage, inspect.checks)
    for tab, view in zip(tabs, views, strict=True):
        if tab.open:
            with tab:
                view(visit.workbench, dataset)
    catalogue.section(visit, dataset)


def empty(visit: _shell.Visit) -> None:
    """Show the import, and the catalogue where a link named a dataset that is not there."""
    if not visit.workbench.datasets():
        st.info("Nothing is loaded yet. Load the sample, or import a file of your own below.", icon=":material/info:")
        empty_state.sample_button(visit)
    upload.section(visit, expanded=True)


_shell.run(PAGE, body, empty)
