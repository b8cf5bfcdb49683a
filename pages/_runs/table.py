"""The saved results: filtered by dataset and type, one of them chosen."""

from typing import Any

import streamlit as st

from pages._parts import figures, tables
from pages._parts.controls import choice
from workprof.answers.saved_runs import run_label, run_table, run_words, stored_sentence
from workprof.core.runs import StoredRun
from workprof.core.words import markdown_text
from workprof.workbench.declared import STORED

RUN, TABLE, ORDER = "runs_run", "runs_table", "runs_order"
MOST_SHOWN = 1000
MOST_LINES, HEIGHT = 8, 330
"""Lines that the table shows at once, and its height in pixels where there are more."""
FILE_ONLY = ("hash", "seed", "version", "step")
"""Columns that only the file has; the chosen result shows them below."""
EVERY_DATASET, EVERY_STEP = "all datasets", "all steps"


def choose(runs: tuple[StoredRun, ...]) -> StoredRun | None:
    """Show the filters and the table, and return the chosen run; None where the filters leave none."""
    place = st.container()
    shown = _filtered(runs)
    with place:
        figures.headline(markdown_text(stored_sentence(shown, runs), 200))
    if not shown:
        st.info("No saved result of this dataset and type; choose others above.", icon=":material/info:")
        return None
    if len(shown) > MOST_SHOWN:
        st.caption(f"The newest {MOST_SHOWN:,} of {len(shown):,}; choose a dataset or a type to see older ones.")
        shown = shown[:MOST_SHOWN]
    table = run_table(shown, {step: question.settings for step, question in STORED.items()})
    st.session_state[ORDER] = [run_label(run) for run in shown]
    tables.show(
        table,
        key=TABLE,
        alt=f"{len(table)} computed results",
        column_config=_columns() | dict.fromkeys(FILE_ONLY),
        height=HEIGHT if len(table) > MOST_LINES else "content",
        on_select=_picked,
        selection_mode="single-row",
    )
    tables.csv(table, "runs", "runs_csv", "Download CSV")
    return _chosen(shown)


def _filtered(runs: tuple[StoredRun, ...]) -> tuple[StoredRun, ...]:
    datasets = tuple(dict.fromkeys(run.dataset for run in runs))
    steps = tuple(sorted({run.step for run in runs}))
    with st.grid(min_column_width=220, gap="small"):
        dataset = choice("Dataset of the result", "runs_dataset", (EVERY_DATASET, *datasets))
        words = {run.step: f"{run.finds[:1].upper()}{run.finds[1:]}" for run in runs} | {EVERY_STEP: "all types"}
        step = choice("Type", "runs_step", (EVERY_STEP, *steps), "What was computed.", shown=words)
        pinned = st.toggle("Pinned only", key="runs_pinned", bind="query-params")
    return tuple(
        run
        for run in runs
        if dataset in (EVERY_DATASET, run.dataset) and step in (EVERY_STEP, run.step) and (run.pinned or not pinned)
    )


def _chosen(shown: tuple[StoredRun, ...]) -> StoredRun:
    labels = {run_label(run): run for run in shown}
    words = {label: run_words(run) for label, run in labels.items()}
    return labels[choice("Result", RUN, tuple(labels), "Or click a row of the table.", shown=words)]


def _picked() -> None:
    """Make the clicked line's run the chosen one (a callback)."""
    state: Any = st.session_state.get(TABLE) or {}
    rows = state.get("selection", {}).get("rows", [])
    order = st.session_state.get(ORDER, [])
    if rows and rows[0] < len(order):
        st.session_state[RUN] = order[rows[0]]


def _columns() -> dict[str, Any]:
    return {
        "what": st.column_config.Column("Result", width="medium"),
        "settings": st.column_config.Column("Changed settings", width="medium"),
        "seconds": st.column_config.NumberColumn("Took", format="%.3g s"),
        "MB": st.column_config.NumberColumn(format="%.1f"),
        "pinned": st.column_config.CheckboxColumn(),
    }
