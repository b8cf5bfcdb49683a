"""Counters of the run over time with their phases; a window of it is a click or a drag away."""

from __future__ import annotations

import streamlit as st

from pages._parts import figures
from pages._parts.downloads import csv
from pages._phases import window
from pages._phases.asking import SHOWN, Asked
from pages._phases.look import found_of
from workprof.charts.phases.timeline import most_moving, phase_table, timeline_chart
from workprof.charts.text import markdown_text
from workprof.inputs import safe_name
from workprof.phases.timeline import Timeline


def timeline(asked: Asked) -> None:
    """Show the stacked counters, what was done to them, and the phases as a table."""
    found = found_of(asked)
    if found is None:
        return
    figures.show(timeline_chart(found, shown_counters(asked, found)), key=window.CHART, on_select=window.dragged)
    for note in found.notes:
        st.caption(f":material/info: {markdown_text(note[:1].upper() + note[1:], 500)}")
    csv(
        phase_table(found),
        f"{safe_name(asked.dataset.name)}-phases",
        "phases_csv",
        f"Phases of all {len(found.counters)} counters, CSV",
    )


def shown_counters(asked: Asked, found: Timeline) -> tuple[str, ...]:
    """Return the counters to draw: the chosen ones as far as they are searched, else those that move most."""
    chosen = tuple(name for name in asked.counters if name in found.counters)
    left_out = [name for name in asked.counters if name not in found.counters]
    if left_out:
        st.info(
            f"Not searched for phases, so not drawn: {markdown_text(', '.join(left_out), 300)}. The counter set of the "
            "settings lacks them, or they miss too many samples.",
            icon=":material/info:",
        )
    return chosen or most_moving(found, SHOWN)
