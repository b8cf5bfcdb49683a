"""Data: what is loaded, is it sound, and how do I bring in more?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._data import catalogue, inspect, upload
from pages._frame import empty_state
from pages._frame.visit import Visit
from pages._parts import tabs
from workprof.store.reports import Dataset

PAGE = _shell.Page("Data", "What was loaded, is it sound, and how do I bring in more?", "", kind="")

VIEWS = {
    "Preview": inspect.preview,
    "Columns": inspect.columns,
    "Time coverage": inspect.coverage,
    "Checks and rejects": inspect.checks,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the import, then the chosen dataset in tabs, then the catalogue."""
    upload.section(visit, expanded=False)
    st.header("This dataset")
    inspect.warn_of_loss(visit.workbench, dataset)
    tabs.show_open("data_tab", VIEWS, visit.workbench, dataset)  # what cannot be read can be removed below
    catalogue.section(visit, dataset)


def empty(visit: Visit) -> None:
    """Show the import, and the catalogue where a link named a dataset that is not there."""
    if not visit.workbench.datasets():
        st.info("Nothing is loaded yet. Load the sample, or import a file of your own below.", icon=":material/info:")
        empty_state.sample_button(visit)
    upload.section(visit, expanded=True)


_shell.run(PAGE, body, empty)
