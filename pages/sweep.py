"""Sweep: which settings suit this trace?"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages import (
    _header,
    _reset,
    _shell,
    _sweep_compare,
    _sweep_form,
    _sweep_progress,
    _sweep_runs,
    _sweep_view,
    _sweep_views,
)
from pages._errors import guard
from workprof.charts.profiles.names import PUBLISHED
from workprof.charts.sweep import best_sentence
from workprof.charts.text import markdown_text
from workprof.profiles.sweep.settings import SweepSettings
from workprof.store.reports import Dataset
from workprof.workbench.sweeps import SweepState

PAGE = _shell.Page(
    "Sweep",
    "Which settings suit this trace?",
    "A sweep clusters the trace with a whole grid of settings. It needs a dataset with at least two numeric columns "
    "and more than 100 finished rows.",
)
VIEWS = {
    "Runs": _sweep_runs.runs,
    "Score map": _sweep_views.score_map,
    "All settings": _sweep_views.coordinates,
    "Summary (Table IV)": _sweep_views.summary,
    "Target": _sweep_views.targets,
    _sweep_compare.TAB: _sweep_compare.compare,
}


def body(visit: _shell.Visit, dataset: Dataset) -> None:
    """Show the settings, how the sweep stands, and what its finished runs say."""
    _reset.reset("sweep")
    settings = _sweep_form.form(visit, dataset, folded=True)
    state = _state(visit, dataset, settings)
    if state is None:
        return
    _sweep_progress.panel(visit, dataset, settings, state)
    if state.runs:
        _results(visit, dataset, settings)


def _state(visit: _shell.Visit, dataset: Dataset, settings: SweepSettings) -> SweepState | None:
    """Return how the sweep stands, or None (and a clear message) for settings that this dataset cannot meet."""
    state: SweepState | None = None
    with guard():
        state = visit.workbench.sweep_state(dataset.hash, settings)
    return state


def _results(visit: _shell.Visit, dataset: Dataset, settings: SweepSettings) -> None:
    """Show the finished runs, scored at the target that the reader chose."""
    target = _sweep_form.target_clusters()
    state = visit.workbench.sweep_state(dataset.hash, replace(settings, target_clusters=target))
    if settings.mode == "faithful":
        _header.published_flag()
        st.caption(PUBLISHED)
    complete = state.done == len(state.groups)
    st.markdown(f"**{markdown_text(best_sentence(state.runs, state.best, complete), 400)}**")
    view = _sweep_view.View(visit, dataset, state)
    tabs = st.tabs(list(VIEWS), key=_sweep_compare.TABS, on_change="rerun", bind="query-params")
    for tab, show in zip(tabs, VIEWS.values(), strict=True):
        if tab.open:
            with tab:
                show(view)


_shell.run(PAGE, body)
