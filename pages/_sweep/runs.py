"""The runs of a sweep as a table: sort, select, open, compare, take away."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages._parts import tables, terms
from pages._parts.downloads import csv
from pages._sweep import compare
from pages._sweep.context import View
from pages._sweep.open import open_in_profiles
from workprof.charts.sweep.runs import REFERENCE, SCORES, left_out_table, run_names, runs_table
from workprof.inputs import safe_name

TABLE = "sweep_runs"
HIDDEN = ("n_outliers", "silhouette_method", "silhouette_se", "min_cluster_size", "n_rows", "scores_v3", "ccpm")


def runs(view: View) -> None:
    """Show the runs as a table that sorts by a click on a column; rows can be selected."""
    state, table = view.state, runs_table(view.state.runs, view.state.best)
    st.caption("Highest ACQUIRES first. A click on a column sorts; select one run to open it, or two to compare them.")
    picked = tables.show(
        table,
        hide_index=True,
        key=TABLE,
        alt=f"{len(table)} runs of the sweep with their scores",
        column_order=[name for name in table.columns if name not in HIDDEN],
        column_config=terms.columns(table.columns, _columns()),
        on_select="rerun",
        selection_mode="multi-row",
    )
    _selected(view, [int(table.index[row]) for row in picked["selection"]["rows"] if row < len(table)])
    csv(table, f"{safe_name(view.dataset.name)}-sweep", "sweep_runs_csv", f"CSV, all {len(table):,} runs")
    left_out = left_out_table([(group.settings, group.result) for group in state.groups])
    if len(left_out):
        st.markdown(f"**Left out: {len(left_out)} sizes**")
        tables.show(left_out, hide_index=True, key="sweep_left_out", alt="Sizes that were left out and why")
    st.caption(REFERENCE)


def _selected(view: View, rows: list[int]) -> None:
    """Show what can be done with the selected runs; without a selection, with the best one."""
    names = run_names(view.state.runs)
    if len(rows) == 2:
        first, second = (names[row] for row in rows)
        st.button(
            f"Compare {first} with {second}",
            key="sweep_compare",
            icon=":material/compare_arrows:",
            on_click=compare.choose,
            args=(first, second),
        )
    elif len(rows) == 1:
        open_in_profiles(view.dataset, view.state.runs[rows[0]], "the selected run")
    elif view.state.best >= 0:
        open_in_profiles(view.dataset, view.state.runs[view.state.best], "the best run")


def _columns() -> dict[str, Any]:
    number = st.column_config.NumberColumn
    scores = {
        name: number(score.label, help=f"{score.meaning} {score.better.capitalize()}.", format=f"%.{score.digits}f")
        for name, score in SCORES.items()
    }
    return scores | {
        "verdict": st.column_config.TextColumn("verdict", pinned=True, width=70),
        "size": number("size", help="min_cluster_size of the grid, in rows.", format="%d"),
        "mean_cluster_size": number("mean size", help="Rows per profile.", format="%.0f"),
        "seconds": number("time (s)", format="%.2f", help="Its share of the group's included."),
    }
