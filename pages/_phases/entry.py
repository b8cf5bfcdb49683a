"""From a match to the timeline of a run of the library."""

from __future__ import annotations

import streamlit as st

from pages._frame import datasets
from pages._parts.controls import choice
from pages._phases import asking
from pages._phases.alignment import recorded_name
from pages._phases.asking import RUN, TAB, Asked
from workprof.charts.text import markdown_text
from workprof.phases.matching import Match

TIMELINE = "Timeline"


def entry(asked: Asked, found: Match, train_hash: str) -> None:
    """Show the runs of the library, the nearest first, and the way to the chosen one's timeline."""
    names = tuple(recorded_name(line) for line in found.matches)
    if not names:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = choice("Run of the library", "phases_entry", names, "The nearest first.")
        st.button(
            f"Timeline of {markdown_text(name, 60)}",
            key="phases_open_entry",
            type="tertiary",
            icon=":material/timeline:",
            on_click=_open,
            args=(name, train_hash or asked.dataset.hash, asked.dataset.kind),
        )


def _open(name: str, dataset: str, kind: str) -> None:
    """Turn to the whole timeline of a run, in the dataset that it is of (a callback)."""
    datasets.select(dataset, kind)
    asking.fresh()
    st.session_state[RUN], st.query_params[TAB] = name, TIMELINE
