"""The views of a page, as tabs."""

from collections.abc import Callable, Mapping
from typing import TypeVarTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._frame import link
from pages._frame.errors import guard

Shared = TypeVarTuple("Shared")

FORMER: dict[str, dict[str, str]] = {
    "classify_tab": {"Finished jobs": "Drift"},
    "data_tab": {"Checks and rejects": "Validation", "Time coverage": "Validation"},
    "help_tab": {"Published or corrected": "As published", "Limits and keys": "Limits and shortcuts"},
    "sweep_tab": {"Runs": "Ranking", "Summary (Table IV)": "Summary"},
    "profiles_tab": {
        "Cards": "Profile",
        "Is there anything to cluster?": "Cluster tendency",
        "Take away": "Export",
    },
    "nodes_tab": {"For a profile": "Ranking"},
    "memory_tab": dict.fromkeys(("Recommendation", "Roll-up", "What if"), "Plan"),
}
"""Key of a page's tabs -> former name of a view -> its name now: former links open the view."""

INSIDE: dict[str, dict[str, tuple[str, str]]] = {
    "memory_tab": {
        **dict.fromkeys(("Tasks", "Ledger", "Nodes needed", "Demand"), ("Explore", "memory_explore")),
        **dict.fromkeys(("Policies", "Models"), ("Compare", "memory_compare")),
    },
}
"""Key of a page's tabs -> a part of a view -> that view, and the key of its parts: links of parts open them."""

FOLDED: dict[str, dict[str, str]] = {
    "profiles_tab": {
        "Tree": "profiles_tree_fold",
        "Sizes": "profiles_sizes_fold",
        "Cluster tendency": "profiles_tendency_fold",
        "Unusual runs": "profiles_unusual_fold",
        "Export": "profiles_export_fold",
    },
}
"""Key of a page's tabs -> a former view that is a fold below them now -> the fold's key: its links open it."""
FIRST = {"profiles_tab": "Profile"}
"""Key of a page's tabs with folds of former views -> the view that is open above such a fold."""

BEFORE = "before_"
"""Prefix of the key of the view that the address named when another was clicked, until the browser knows of that, and
whether the run of that click is over."""


def renamed(key: str, name: str) -> str:
    """Return what a view that a link names is called now; of a part the view that it is in."""
    now = FORMER.get(key, {}).get(name, name)
    if now in FOLDED.get(key, {}):
        return FIRST[key]
    return INSIDE.get(key, {}).get(now, (now, ""))[0]


def parts(key: str, views: Mapping[str, Callable[[*Shared], None]]) -> Callable[[*Shared], None]:
    """Return a view of several parts, of which the chosen one is computed and stands in the address."""

    def show(*shared: *Shared) -> None:
        chosen = st.segmented_control(
            "Part",
            list(views),
            default=next(iter(views)),
            required=True,
            key=key,
            bind="query-params",
            label_visibility="collapsed",
        )
        views[chosen](*shared)

    return show


def show_open(key: str, views: Mapping[str, Callable[[*Shared], None]], *shared: *Shared) -> None:
    """Show the views with the open one computed; an error in it leaves the others, and what follows, as they are.

    The address says which is open, and every change is an entry of the browser's history, so that Back leads to the
    view before: a control that Streamlit itself binds to the address writes over the entry that is there. What the
    browser sends before it knows of a change still names the view before; only Back leads there.
    """
    first = next(iter(views))
    respell(key)
    opened, clicked = link.read(key, link.one_of(*views), first, "the first view is shown"), st.session_state.get(key)
    before, heard = st.session_state.get(BEFORE + key, (None, True))
    if opened == clicked and heard:
        st.session_state.pop(BEFORE + key, None)
    elif opened == clicked:
        st.session_state[BEFORE + key] = (before, True)  # if the next run names it, the browser does
    elif clicked is not None and opened == before and not _goes_back():
        _write(key, first)
    else:
        st.session_state[key] = opened
    tabs = st.tabs(list(views), key=key, on_change=_to_address, args=(key, first))
    for tab, show in zip(tabs, views.values(), strict=True):
        if tab.open:
            with tab, guard():
                show(*shared)


def respell(key: str) -> None:
    """Have the address name the open view by its name now."""
    name = st.query_params.get(key, "")
    fold = FOLDED.get(key, {}).get(FORMER.get(key, {}).get(name, name), "")
    if fold:
        st.query_params.pop(key)
        link.give(fold, "true", True)
    elif name in INSIDE.get(key, {}):
        view, part = INSIDE[key][name]
        st.query_params[key] = view
        link.give(part, name, name)
    elif renamed(key, name) != name:
        st.query_params[key] = renamed(key, name)


def select(key: str, view: str) -> None:
    """Open another view (in a callback)."""
    st.session_state.pop(BEFORE + key, None)
    st.query_params[key] = view


def _goes_back() -> bool:
    """Return whether the reader went through the browser's history; also where Streamlit does not tell."""
    return bool(getattr(get_script_run_ctx(), "is_history_navigation", True))


def _to_address(key: str, first: str) -> None:
    st.session_state[BEFORE + key] = (st.query_params.get(key, first), False)
    _write(key, first)


def _write(key: str, first: str) -> None:
    """Have the address name the view that is open in the browser."""
    if st.session_state[key] == first:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = st.session_state[key]
