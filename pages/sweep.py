"""Sweep: which settings suit this trace?"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages import _shell
from pages._frame import header, reset
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import tabs
from pages._sweep import compare, context, form, progress, runs, views
from workprof.charts.profiles.overview import PUBLISHED
from workprof.charts.sweep.runs import best_sentence
from workprof.charts.text import markdown_text
from workprof.profiles.sweep import SweepSettings
from workprof.store.reports import Dataset
from workprof.workbench.sweeps import SweepState

PAGE = _shell.Page(
    "Sweep",
    "Which settings suit this trace?",
    "A sweep clusters the trace with a whole grid of settings. It needs a dataset with at least two numeric columns "
    "and more than 100 finished rows.",
)
VIEWS = {
    "Runs": runs.runs,
    "Score map": views.score_map,
    "All settings": views.coordinates,
    "Summary (Table IV)": views.summary,
    "Target": views.targets,
    compare.TAB: compare.compare,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the settings, how the sweep stands, and what its finished runs say."""
    reset.reset("sweep")
    settings = form.form(visit, dataset, folded=True)
    state = _state(visit, dataset, settings)
    if state is None:
        return
    progress.panel(visit, dataset, settings, state)
    if state.runs:
        _results(visit, dataset, settings)


def _state(visit: Visit, dataset: Dataset, settings: SweepSettings) -> SweepState | None:
    """Return how the sweep stands, or None (and a clear message) for settings that this dataset cannot meet."""
    state: SweepState | None = None
    with guard():
        state = visit.workbench.sweep_state(dataset.hash, settings)
    return state


def _results(visit: Visit, dataset: Dataset, settings: SweepSettings) -> None:
    """Show the finished runs, scored at the target that the reader chose."""
    target = form.target_clusters()
    state = visit.workbench.sweep_state(dataset.hash, replace(settings, target_clusters=target))
    if settings.mode == "faithful":
        header.published_flag()
        st.caption(PUBLISHED)
    complete = state.done == len(state.groups)
    st.markdown(f"**{markdown_text(best_sentence(state.runs, state.best, complete), 400)}**")
    view = context.View(visit, dataset, state)
    tabs.show_open(compare.TABS, VIEWS, view)


_shell.run(PAGE, body)
