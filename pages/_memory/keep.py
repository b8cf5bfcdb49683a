"""Keep what is decided as a scenario under a name."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages._frame.errors import refused
from pages._memory.asking import Asked
from workprof.charts.text import markdown_text
from workprof.errors import WorkprofError
from workprof.memory.scenarios import MOST_NAME, Scenario

OF_BEFORE = (
    "What is shown is of the settings before, so it cannot be kept with those above: save it once their own result is "
    "here, or set them back."
)


def keep(asked: Asked, key: str, draft: Callable[[str], Scenario], *, current: bool = True) -> None:
    """Show the field for a name and the button that keeps the decision.

    Args:
        asked: what the page is about.
        key: of the form.
        draft: makes the scenario of a name.
        current: whether what is shown is of the settings above; a result before it is not kept under a new name.
    """
    closed = asked.visit.refusal or ("" if current else OF_BEFORE)
    with st.form(key, border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Keep as scenario",
            key=f"{key}_name",
            max_chars=MOST_NAME,
            placeholder="a name; one that exists is replaced",
            width=320,
        )
        pressed = st.form_submit_button(
            "Save scenario",
            icon=":material/bookmark_add:",
            disabled=bool(closed),
            help=closed or "To compare it under Scenarios.",
        )
    if not current:
        st.caption(OF_BEFORE)
    if pressed and not closed:
        try:
            kept = asked.workbench.save_scenario(asked.dataset.hash, draft(name.strip()))
        except WorkprofError as error:
            refused(str(error))
        else:
            st.success(f"Kept as {markdown_text(kept.name)}; compare it under Scenarios.", icon=":material/check:")
