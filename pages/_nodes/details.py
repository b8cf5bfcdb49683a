"""What stands behind a ranking: pairs of nodes, metrics that are not in the score."""

from __future__ import annotations

import streamlit as st

from pages._parts import figures
from pages._parts.controls import choice
from workprof.charts.nodes.ranking import OVERALL, dropped_sentence, dropped_table, pair_table
from workprof.nodes.ranking import Ranking


def pairs(found: Ranking) -> None:
    """Show every pair in one aspect, or in all."""
    if not found.pairs:
        return
    aspect = choice(
        "Compare pairs in",
        "nodes_pairs",
        (OVERALL, *found.metrics),
        "Pairs are compared on the metrics that both have; faster is said only where the interval excludes 1.",
    )
    lines = pair_table(found, aspect)
    if lines.empty:
        st.caption("No pair has a metric of this aspect in common.")
        return
    figures.table(lines, f"node-pairs-{aspect}", key=f"nodes_pairs_{aspect}", alt=f"{len(lines)} pairs of nodes")


def dropped(found: Ranking) -> None:
    """Show the metrics that the score leaves out, with the reasons."""
    shown = st.expander(
        "Metrics that are not in the score",
        icon=":material/filter_alt_off:",
        key="nodes_dropped",
        on_change="rerun",
        bind="query-params",
    )
    if shown.open:
        with shown:
            st.markdown(dropped_sentence(found))
            lines = dropped_table(found)
            figures.table(lines, "node-dropped-metrics", key="nodes_dropped_table", alt=f"{len(lines)} metrics")
