"""The selection on the map as one short text: in the address, and in this session while another page is open."""

from __future__ import annotations

import streamlit as st

from pages._frame import link
from pages._profiles.charts import View
from workprof.charts.profiles.jobs import LONGEST, read_selection

PARAMETER = "profiles_selected"
KEPT, ROUND = "profiles_selection_kept", "profiles_map_round"


def current(view: View) -> str:
    """Return the selection's text from the address, else from this session, and keep it in both."""
    text = link.read(PARAMETER, _readable, "") or st.session_state.get(KEPT, ("", ""))[1]
    keep(view, text)
    return text


def _readable(text: str) -> str:
    if read_selection(text) is None:
        raise link.Unreadable(f"{link.quoted(text)} is not a selection")
    return text


def fits(text: str) -> bool:
    """Return whether a selection is short enough for a link."""
    return len(text) <= LONGEST


def keep(view: View, text: str) -> None:
    """Make a text the selection; one that is too long for the address stays in this session alone."""
    st.session_state[KEPT] = (_map_of(view), text)
    if text and fits(text):
        if st.query_params.get(PARAMETER) != text:
            st.query_params[PARAMETER] = text
    elif PARAMETER in st.query_params:
        del st.query_params[PARAMETER]


def clear(view: View) -> None:
    """Drop the selection; the map is drawn anew, as its own state would go on showing it."""
    keep(view, "")
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1


def forget_other_map(view: View) -> None:
    """Drop a selection that was made on another map: its coordinates mean nothing on this one."""
    made_on, _ = st.session_state.get(KEPT, ("", ""))
    if made_on and made_on != _map_of(view):
        clear(view)


def _map_of(view: View) -> str:
    """Return what the map's coordinates depend on."""
    fit = view.fit.settings
    return repr((view.dataset.hash, fit.features, fit.scaler, fit.mode, fit.algorithm, fit.sample_rows, fit.seed))
