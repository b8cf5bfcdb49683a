"""Kept scenarios of any page: which of them are compared, and the way to forget one."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages._frame.visit import Visit
from workprof.charts.text import visible


def compared(names: list[str], key: str, most: int) -> list[str]:
    """Show the scenarios by name and return those that stand side by side."""
    return st.multiselect(
        "Compare",
        names,
        format_func=visible,
        default=names[:most],
        max_selections=most,
        key=key,
        bind="query-params",
        help=f"Up to {most} side by side.",
    )


def removal(visit: Visit, names: list[str], keys: tuple[str, str], remove: Callable[[str], None]) -> None:
    """Show the scenarios by name and the button that forgets one.

    Args:
        visit: tells whether this server is read-only.
        names: of the kept scenarios.
        keys: how the page's controls begin, and the key of its choice of scenarios, which then starts anew.
        remove: forgets the scenario of a name.
    """
    prefix, chosen = keys
    with st.container(horizontal=True, vertical_alignment="bottom"):
        doomed = st.selectbox("Remove", names, format_func=visible, key=f"{prefix}_doomed", width=320)
        removed = st.button(
            "Remove scenario",
            icon=":material/delete:",
            key=f"{prefix}_remove",
            disabled=visit.readonly,
            help=visit.refusal,
        )
    if removed and not visit.readonly:
        remove(doomed)
        st.session_state.pop(chosen, None)
        st.rerun()
