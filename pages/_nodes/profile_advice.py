"""Which node for a profile of jobs: weights from what the jobs use, and the ranking by them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._frame import empty_state
from pages._nodes.asking import Asked
from pages._nodes.ranking import notes
from pages._parts import figures
from pages._parts.controls import choice, count
from workprof.charts.nodes.groups import advice_sentence, best_price_sentence, weight_bars
from workprof.charts.nodes.ranking import node_table, ranked_bars
from workprof.charts.text import markdown_text
from workprof.nodes.advice import AdviceSettings
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import JOBS

AUTO, OWN = "of the jobs", "own"


def advice(asked: Asked) -> None:
    """Show the choice of jobs and profile, then the nodes for it."""
    traces = {trace_name(one): one for one in asked.workbench.datasets() if one.kind == JOBS}
    if not traces:
        empty_state.empty_state(asked.visit, "Advice needs a job trace beside the benchmark runs.", JOBS)
        return
    with st.grid(min_column_width=200, gap="small"):
        meaning = "A job trace; its default clustering is used."
        jobs = traces[choice("Jobs", "nodes_jobs", tuple(traces), meaning)]
        profile = count("Profile", "nodes_profile", 0, "Number of the profile; 0 is the largest.")
        weights = choice(
            "Weights", "nodes_weights", (AUTO, OWN), "of the jobs: proposed from what they use. own: those at the top."
        )
    if asked.workbench.profiles.cached(jobs.hash, ProfileSettings()).result is None:
        st.info("This trace has no default profiles yet: compute them on the Profiles page.", icon=":material/info:")
        return
    _show(asked, jobs, profile, own=weights == OWN)


def trace_name(trace: Dataset) -> str:
    """Return how the list calls a job trace."""
    return f"{trace.name} ({trace.hash[:8]})"


def _show(asked: Asked, jobs: Dataset, profile: int, *, own: bool) -> None:
    settings = replace(asked.settings, weights=asked.settings.shares if own else {})
    with st.spinner("Weighing what the jobs use…", show_time=True):
        found = asked.workbench.node_advice(asked.dataset.hash, AdviceSettings(jobs.hash, profile, ranking=settings))
    st.markdown(f"**{markdown_text(advice_sentence(found), 600)}**")
    if priced := best_price_sentence(found):
        st.markdown(markdown_text(priced, 300))
    figures.show(weight_bars(found), key="nodes_weights_chart")
    figures.show(ranked_bars(found.ranking), key="nodes_advice_bars")
    table = node_table(found.ranking)
    figures.table(table, f"nodes-for-profile-{profile}", key="nodes_advice_table", alt=f"{len(table)} nodes")
    notes(found.notes)
