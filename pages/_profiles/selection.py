"""The map of the rows: a lasso or a list of profiles chooses rows, and a table shows the jobs behind them.

The last thing that was done makes the selection: it is one short text, in the address, and in this session while
another page is open.
"""

import functools
import math
from collections.abc import Sequence

import streamlit as st

from pages._frame import link
from pages._frame.errors import guard
from pages._parts import figures, tables
from pages._profiles.views import View
from workprof.charts.profiles.jobs import (
    LONGEST,
    MOST_POINTS,
    Selection,
    chosen,
    drawn_selection,
    profile_map,
    read_selection,
    stratified,
)
from workprof.core.question import form_text
from workprof.core.words import counted
from workprof.profiles.names import OUTLIERS
from workprof.profiles.questions import FIT

NAMED = "profiles_named"
PLOT, PICKED = "profiles_map_plot", "profiles_picked"
DRAWN = "profiles_selection_drawn"


@st.fragment
def selection(view: View) -> None:
    """Show the map and, below it, the jobs of the selection. The map itself does not change by a lasso on it."""
    if st.session_state.pop(NAMED, False):
        st.rerun()
    with guard():
        text = current(view)
        result = read_selection(text) or Selection()
        more = " Runs inside that are not drawn are listed, too." if view.fit.labels.size > MOST_POINTS else ""
        st.caption(f"Draw a lasso or a box around points, or select profiles: their runs are listed.{more}")
        plot = _plot_key(view)
        if plot not in st.session_state:  # it is drawn anew, and would not show what was selected before
            st.session_state[DRAWN] = text
        drawn = read_selection(st.session_state[DRAWN]) if st.session_state[DRAWN] else None
        on_select = functools.partial(_select_drawn, view)
        figures.show(profile_map(view.fit, view.names, selection=drawn), key=plot, on_select=on_select)
        _profile_list(view, result)
        rows = view.fit.row_ids[chosen(view.fit, result)]
        if text and not fits(text):
            st.caption(
                f"This selection of {counted(len(rows), 'run')} is too detailed for a link: the link is without."
            )
        _selected_jobs(view, tuple(rows.tolist()))


def _plot_key(view: View) -> str:
    """Return the chart's name: another clustering or a cleared selection makes it another chart."""
    clustering = hash((view.dataset.hash, view.fit.settings))
    return f"{PLOT}_{st.session_state.get(ROUND, 0)}_{clustering}"


def _select_drawn(view: View) -> None:
    """Make what was drawn on the map the selection."""
    event = st.session_state[_plot_key(view)]["selection"]
    text = drawn_selection(event, view.fit, stratified(view.fit.labels, MOST_POINTS)).text()
    set_current(view, text)
    st.session_state[PICKED] = []
    if st.session_state.get(DRAWN):  # the map shows an older selection by itself: let it show this one
        st.session_state[DRAWN] = text


def _profile_list(view: View, result: Selection) -> None:
    labels = sorted(view.names, key=lambda profile: (profile == OUTLIERS, profile))
    st.session_state[PICKED] = [label for label in labels if label in result.profiles]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.multiselect(
            "Or select profiles",
            labels,
            format_func=lambda profile: view.names[profile],
            key=PICKED,
            on_change=functools.partial(_select_picked, view),
        )
        if result != Selection():
            st.button("Clear the selection", icon=":material/close:", on_click=functools.partial(clear, view))


def _select_picked(view: View) -> None:
    text = Selection(profiles=tuple(st.session_state[PICKED])).text()
    set_current(view, text)
    st.session_state[DRAWN] = text


PARAMETER = "profiles_selected"
STORED, ROUND = "profiles_selection_kept", "profiles_map_round"


def current(view: View) -> str:
    """Return the selection's text from the address, else from this session, and keep it in both."""
    text = link.read(PARAMETER, _readable, "") or st.session_state.get(STORED, ("", ""))[1]
    set_current(view, text)
    return text


def _readable(text: str) -> str:
    if read_selection(text) is None:
        raise link.Unreadable(f"{link.quoted(text)} is not a selection")
    return text


def fits(text: str) -> bool:
    """Return whether a selection is short enough for a link."""
    return len(text) <= LONGEST


def set_current(view: View, text: str) -> None:
    """Make a text the selection; one that is too long for the address stays in this session alone."""
    st.session_state[STORED] = (_map_of(view), text)
    if text and fits(text):
        if st.query_params.get(PARAMETER) != text:
            st.query_params[PARAMETER] = text
    elif PARAMETER in st.query_params:
        del st.query_params[PARAMETER]


def clear(view: View) -> None:
    """Drop the selection; the map is drawn anew, as its own state would go on showing it."""
    set_current(view, "")
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1


def forget_other_map(view: View) -> None:
    """Drop a selection that was made on another map: its coordinates mean nothing on this one."""
    made_on, _ = st.session_state.get(STORED, ("", ""))
    if made_on and made_on != _map_of(view):
        clear(view)


def _map_of(view: View) -> str:
    """Return what the map's coordinates depend on."""
    fit = view.fit.settings
    return repr((view.dataset.hash, fit.features, fit.scaler, fit.mode, fit.algorithm, fit.sample_rows, fit.seed))


ROWS_A_PAGE = 50


def _selected_jobs(view: View, row_ids: tuple[int, ...]) -> None:
    """Show how many rows are selected, and the jobs behind them."""
    st.markdown(f"**{len(row_ids):,} runs selected**")
    if not row_ids:
        st.caption("Nothing is selected.")
        return
    pages = math.ceil(len(row_ids) / ROWS_A_PAGE)
    page = st.pagination(pages, key="profiles_jobs_page", bind="query-params") if pages > 1 else 1
    shown = row_ids[(page - 1) * ROWS_A_PAGE : page * ROWS_A_PAGE]
    workbench, dataset = view.visit.workbench, view.dataset.hash
    tables.show(
        workbench.rows(dataset, shown),
        key="profiles_jobs",
        alt=f"{len(shown)} of {len(row_ids)} selected runs, page {page}",
    )
    tables.csv(lambda: workbench.rows(dataset, row_ids), "selected-jobs", "profiles_jobs_csv", "Download CSV")
    _name_pair(view, shown)


def _name_pair(view: View, shown: tuple[int, ...]) -> None:
    """Let two or more of the listed runs be named alike or unlike: the profiles are cut anew by that."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        picked = st.multiselect("Rows of runs to name", shown, key="profiles_pair", placeholder="two or more")
        for field, words in (("must", "Alike"), ("must_not", "Unlike")):
            st.button(
                words,
                key=f"profiles_pair_{field}",
                disabled=len(picked) < 2,
                help=next(leaf.about.help for leaf in FIT.leaves if leaf.path == field),
                on_click=functools.partial(_name, view, field, picked),
            )


def _name(view: View, field: str, picked: Sequence[int]) -> None:
    """Write the pair into the form (a callback)."""
    leaf = next(leaf for leaf in FIT.leaves if leaf.path == field)
    named = (*getattr(view.settings, field), tuple(map(str, picked)))
    st.session_state[leaf.key(FIT.page)], st.session_state[NAMED] = form_text(leaf, named), True
