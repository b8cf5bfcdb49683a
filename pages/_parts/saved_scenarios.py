"""Kept scenarios of any page: a name to keep one under, which of them are compared, and the way to forget one."""

from collections.abc import Callable

import streamlit as st

from pages._frame.errors import refused
from pages._frame.visit import Visit
from workprof.core.errors import WorkprofError
from workprof.core.text import visible
from workprof.core.words import markdown_text
from workprof.memory.scenarios import MOST_NAME


def save_form(visit: Visit, key: str, save: Callable[[str], str], meaning: str, closed: str = "") -> None:
    """Show the field for a name and the button that keeps what was computed.

    `save` returns the name under which it is kept; `closed` is why nothing can be kept now, '' = it can.
    """
    reason = visit.refusal or closed
    with st.form(key, border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Scenario name",
            key=f"{key}_name",
            max_chars=MOST_NAME,
            placeholder="Saving under an existing name overwrites it",
            width=320,
        )
        pressed = st.form_submit_button(
            "Save scenario", icon=":material/bookmark_add:", disabled=bool(reason), help=reason or meaning
        )
    if closed:
        st.caption(closed)
    if pressed and not reason:
        try:
            saved_name = save(name.strip())
        except WorkprofError as error:
            refused(str(error))
        else:
            st.success(f"Saved as {markdown_text(saved_name)}; compare it under Scenarios.", icon=":material/check:")


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

    `keys`: how the page's controls begin, and the key of its choice of scenarios, which then starts anew.
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
