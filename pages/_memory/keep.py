"""Keep what is decided as a scenario under a name."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages._frame.errors import refused
from pages._memory.asking import Asked
from workprof.charts.text import markdown_text
from workprof.errors import WorkprofError
from workprof.memory.scenarios import MOST_NAME, Scenario


def keep(asked: Asked, key: str, draft: Callable[[str], Scenario]) -> None:
    """Show the field for a name and the button that keeps the decision."""
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
            disabled=asked.visit.readonly,
            help=asked.visit.refusal or "To compare it under Scenarios.",
        )
    if pressed and not asked.visit.readonly:
        try:
            kept = asked.workbench.save_scenario(asked.dataset.hash, draft(name.strip()))
        except WorkprofError as error:
            refused(str(error))
        else:
            st.success(f"Kept as {markdown_text(kept.name)}; compare it under Scenarios.", icon=":material/check:")
