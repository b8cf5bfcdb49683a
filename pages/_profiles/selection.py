"""The map of the rows: a lasso or a list of profiles chooses rows, and a table shows the jobs behind them.

The last thing that was done makes the selection: it is one short text, in the address (see `_selection_link`).
"""

from __future__ import annotations

import functools

import streamlit as st

from pages._frame.errors import guard
from pages._parts import figures
from pages._profiles import selected_jobs, selection_link
from pages._profiles.charts import View
from workprof.charts.profiles.jobs import (
    MOST_POINTS,
    Selection,
    chosen,
    drawn_selection,
    profile_map,
    read_selection,
    stratified,
)
from workprof.charts.text import counted
from workprof.charts.theme import OUTLIERS

PLOT, PICKED = "profiles_map_plot", "profiles_picked"
DRAWN = "profiles_selection_drawn"


@st.fragment
def selection(view: View) -> None:
    """Show the map and, below it, the jobs of the selection. The map itself does not change by a lasso on it."""
    with guard():
        text = selection_link.current(view)
        found = read_selection(text) or Selection()
        more = " Rows inside that are not drawn are listed, too." if view.fit.labels.size > MOST_POINTS else ""
        st.caption(f"Draw a lasso or a box around points, or choose profiles: the jobs behind them are listed.{more}")
        plot = _plot_key(view)
        if plot not in st.session_state:  # it is drawn anew, and would not show what was selected before
            st.session_state[DRAWN] = text
        drawn = read_selection(st.session_state[DRAWN]) if st.session_state[DRAWN] else None
        keep = functools.partial(_keep_drawing, view)
        figures.show(profile_map(view.fit, view.names, selection=drawn), key=plot, on_select=keep)
        _profile_list(view, found)
        rows = view.fit.row_ids[chosen(view.fit, found)]
        if text and not selection_link.fits(text):
            st.caption(
                f"This selection of {counted(len(rows), 'row')} is too detailed for a link: the link is without."
            )
        selected_jobs.jobs(view, tuple(rows.tolist()))


def _plot_key(view: View) -> str:
    """Return the chart's name: another clustering or a cleared selection makes it another chart."""
    clustering = hash((view.dataset.hash, view.fit.settings))
    return f"{PLOT}_{st.session_state.get(selection_link.ROUND, 0)}_{clustering}"


def _keep_drawing(view: View) -> None:
    """Make what was drawn on the map the selection."""
    event = st.session_state[_plot_key(view)]["selection"]
    text = drawn_selection(event, view.fit, stratified(view.fit.labels, MOST_POINTS)).text()
    selection_link.keep(view, text)
    st.session_state[PICKED] = []
    if st.session_state.get(DRAWN):  # the map shows an older selection by itself: let it show this one
        st.session_state[DRAWN] = text


def _profile_list(view: View, found: Selection) -> None:
    labels = sorted(view.names, key=lambda profile: (profile == OUTLIERS, profile))
    st.session_state[PICKED] = [label for label in labels if label in found.profiles]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.multiselect(
            "Profiles (instead of a lasso, also by keyboard)",
            labels,
            format_func=lambda profile: view.names[profile],
            key=PICKED,
            on_change=functools.partial(_keep_picked, view),
        )
        if found != Selection():
            st.button(
                "Clear the selection", icon=":material/close:", on_click=functools.partial(selection_link.clear, view)
            )


def _keep_picked(view: View) -> None:
    text = Selection(profiles=tuple(st.session_state[PICKED])).text()
    selection_link.keep(view, text)
    st.session_state[DRAWN] = text
