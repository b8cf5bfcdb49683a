"""The scores of a sweep from all sides, each view with the few controls that it needs."""

from __future__ import annotations

import streamlit as st

from pages._parts import figures, tables
from pages._parts.downloads import csv
from pages._sweep.context import View
from workprof.charts.sweep.maps import parallel_coordinates, score_heatmap
from workprof.charts.sweep.runs import SCORES, summary_sentence, summary_table, summary_words, target_bars
from workprof.inputs import safe_name


def score_map(view: View) -> None:
    """Show one score over the grid."""
    algorithms = list(dict.fromkeys(run.settings.algorithm for run in view.state.runs))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        score = st.selectbox(
            "Score", list(SCORES), format_func=lambda name: SCORES[name].label, key="sweep_score", bind="query-params"
        )
        algorithm = algorithms[0]
        if len(algorithms) > 1:
            algorithm = st.segmented_control(
                "Algorithm",
                algorithms,
                default=algorithms[0],
                required=True,
                key="sweep_map_algorithm",
                bind="query-params",
            )
    figures.show(score_heatmap(view.state.runs, score, algorithm), key=f"sweep_map_{score}_{algorithm}")


def coordinates(view: View) -> None:
    """Show settings and scores of all runs at once."""
    figures.show(parallel_coordinates(view.state.runs, view.state.best), key="sweep_coordinates")


def summary(view: View) -> None:
    """Show Table IV."""
    table = summary_table(view.state.summary)
    st.markdown(f"**{summary_sentence(view.state.summary)}**")
    tables.show(summary_words(table), hide_index=True, key="sweep_summary", alt="Each score over all runs")
    csv(table, f"{safe_name(view.dataset.name)}-sweep-summary", "sweep_summary_csv", f"CSV, all {len(table)} lines")
    st.caption("Published means: HDBSCAN in the paper's Table IV, of another sample; its runs were not repeated.")


def targets(view: View) -> None:
    """Show how the winner changes with the target."""
    figures.show(target_bars(view.state.winners, view.state.runs), key="sweep_targets")
