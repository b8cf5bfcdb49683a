"""Help: what do the words mean, whose methods are these, and what can be read?"""

from __future__ import annotations

import streamlit as st

from pages import _help_formats, _help_views, _shell
from pages._errors import guard
from workprof.store.reports import Dataset

PAGE = _shell.Page("Help", "What do the words mean, whose methods are these, and what can be read?", "", kind="")
VIEWS = {
    "Glossary": _help_views.glossary,
    "Methods": _help_views.methods,
    "Published or corrected": _help_views.definitions,
    "Formats": _help_formats.formats,
    "Limits and keys": _help_views.limits,
    "Diagnostics": _help_views.diagnostics_view,
}


def everything(visit: _shell.Visit) -> None:
    """Show the chosen view; no dataset is needed."""
    tabs = st.tabs(list(VIEWS), key="help_tab", on_change="rerun", bind="query-params")
    for tab, show in zip(tabs, VIEWS.values(), strict=True):
        if tab.open:
            with tab, guard():
                show(visit)


def body(visit: _shell.Visit, dataset: Dataset) -> None:
    """Show the same whatever the dataset is."""
    del dataset
    everything(visit)


_shell.run(PAGE, body, everything)
