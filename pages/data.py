"""Data: what is loaded, is it sound, and how do I bring in more?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._data import catalogue, reading
from pages._frame import datasets
from pages._frame.visit import Visit
from pages._parts import tabs
from workprof.store.reports import Dataset

PAGE = _shell.Page("Data", "What was loaded, is it sound, and how do I bring in more?", "", kind="")

VIEWS = {
    "Preview": catalogue.preview,
    "Columns": catalogue.columns,
    "Time coverage": catalogue.coverage,
    "Checks and rejects": catalogue.checks,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the import, then the chosen dataset in tabs, then the catalogue."""
    reading.section(visit, expanded=False)
    st.header("This dataset")
    catalogue.held(visit.workbench, dataset)
    catalogue.warn_of_loss(visit.workbench, dataset)
    tabs.show_open("data_tab", VIEWS, visit.workbench, dataset)  # what cannot be read can be removed below
    catalogue.section(visit, dataset)


def empty(visit: Visit) -> None:
    """Show the import, and the catalogue where a link named a dataset that is not there."""
    if not visit.workbench.datasets():
        st.info("Nothing is loaded yet. Load the sample, or import a file of your own below.", icon=":material/info:")
        datasets.sample_button(visit)
    reading.section(visit, expanded=True)


_shell.run(PAGE, body, empty)
