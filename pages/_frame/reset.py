"""Back to the defaults: every control of a page as it is on a first visit; the dataset and the view stay."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._frame.cross_link import prefixes_of


def reset(page: str) -> None:
    """Show the button that sets every control of a page back."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            "Reset",
            key=f"{page}_reset",
            icon=":material/restart_alt:",
            type="tertiary",
            help="All settings of this page back to their defaults; dataset and view stay.",
            on_click=_back,
            args=(page,),
        )


def _back(page: str) -> None:
    """Set the controls back and drop what the page wrote into the address by hand (a callback)."""
    kept = f"{page}_tab"
    bound = defaults()
    for name, value in bound.items():
        if name.startswith(prefixes_of(page)) and name != kept and st.session_state.get(name) != value:
            st.session_state[name] = value
    for name in [name for name in st.query_params if name.startswith(prefixes_of(page))]:
        if name not in bound and name != kept:
            del st.query_params[name]
    context = get_script_run_ctx()
    if context is not None:  # else a control that is not on the page now would start from the link's value later
        context.session_state._state.query_params.set_initial_query_params_from_current()


def defaults() -> dict[str, Any]:
    """Return name -> default of every control of this session that stands in the address.

    Streamlit keeps them and has no public way to ask: a page would have to repeat the default of every control here.
    """
    context = get_script_run_ctx()
    if context is None:
        return {}
    state = context.session_state._state
    names = state._key_id_mapper.id_key_mapping
    return {
        names[widget]: about.deserializer(None)
        for widget, about in state._new_widget_state.widget_metadata.items()
        if about.bind == "query-params" and widget in names
    }
