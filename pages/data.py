"""Data: what is loaded, is it valid, and how do I import more?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._data import catalogue, reading, sources, telling
from pages._frame import datasets
from pages._frame.visit import Visit
from pages._parts import tables, tabs
from workprof.answers.people import audit_answer
from workprof.core.roles import Role
from workprof.core.words import markdown_text
from workprof.store.reports import Dataset

PAGE = _shell.Page("Data", "What data is loaded, is it valid, and how do I import more?", "", kind="", resets=True)

MOST_DEEDS = 200
VIEWS = {
    "Validation": catalogue.checks,
    "Columns": catalogue.columns,
    "Preview": catalogue.preview,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show whether the chosen dataset is valid and when its runs started, the import, its tabs, and the catalogue."""
    catalogue.headline(visit.workbench, dataset)
    catalogue.warn_of_loss(visit.workbench, dataset)
    catalogue.coverage(visit.workbench, dataset)
    reading.section(visit, expanded=False)
    sources.section(visit)
    telling.section(visit, dataset)
    tabs.show_open("data_tab", VIEWS, visit.workbench, dataset)  # what cannot be read can be removed below
    catalogue.section(visit, dataset)
    _audit(visit)


def _audit(visit: Visit) -> None:
    """Show admins who did what to this home."""
    entries = visit.workbench.audit(MOST_DEEDS) if visit.app_state.settings.role is Role.ADMIN else ()
    if entries:
        with st.expander("Who did what", icon=":material/history:"):
            answer = audit_answer(entries)
            st.markdown(markdown_text(answer.sentence, 200))
            tables.answer(answer.table("audit"), key="data_audit", alt=answer.sentence)


def empty(visit: Visit) -> None:
    """Show the import, and the catalogue where a link named a dataset that is not there."""
    if not visit.workbench.datasets():
        st.info("Nothing is loaded yet. Load the sample, or import a file of your own below.", icon=":material/info:")
        datasets.sample_button(visit)
    reading.section(visit, expanded=True)
    sources.section(visit)


_shell.run(PAGE, body, empty)
