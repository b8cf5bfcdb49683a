"""A link may call a choice otherwise than its list does; then the control and the address take the list's name."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def take(key: str, name: str) -> None:
    """Make a name of the list the value of a control; to be called before the control is shown.

    Streamlit clears a parameter that is no option from the address, and leaves a value that code gives to a control
    out of it in a first run: a copied link would open something else. So the link itself is put right, as if it had
    been opened with the list's name; there is no public way to say that the page starts from it.
    """
    if key in st.session_state:  # the control was shown before: from then on the address follows
        st.session_state[key] = name
        return
    st.query_params[key] = name
    context = get_script_run_ctx()
    if context is not None:
        context.session_state._state.query_params.set_initial_query_params_from_current()
