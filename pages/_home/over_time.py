"""Memory over time on Home: its controls, its chart, and the runs of the cell that is clicked."""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._frame import cross_link
from pages._frame.cross_link import Link
from pages._frame.visit import Visit
from pages._parts import clusterings, figures, forms, long_question, tables
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from workprof.answers.over_time import cell_words, moment, over_time_runs_answer
from workprof.charts.over_time import over_time_chart
from workprof.charts.profiles.jobs import Selection
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.words import counted, markdown_text
from workprof.inputs import safe_name
from workprof.memory.over_time import OverTime, OverTimeRunsSettings, OverTimeSettings
from workprof.memory.questions import OVER_TIME, OVER_TIME_RUNS
from workprof.memory.usage import USAGE_COLUMNS
from workprof.store.reports import Dataset

MOST_RUNS_AT_ONCE = 150_000
"""Up to so many runs memory over time is added up while Home is drawn: it takes about a second, and is cached."""
MAIN = ("by", "bins", "leave_out_bursts")
CHART, CELL = "home_over_time", "home_cell"
ROW, BIN = OVER_TIME_RUNS.leaf("row").key("home"), OVER_TIME_RUNS.leaf("cell").key("home")
ALL_ROWS, ALL_BINS = OVER_TIME_RUNS.leaf("row").about.empty, OVER_TIME_RUNS.leaf("cell").about.empty


def settings(visit: Visit, dataset: Dataset) -> OverTimeSettings | None:
    """Show what a row and a bin are and whether bursts count; None where the trace has no memory to add up."""
    held = {one.column.name for one in visit.workbench.column_profiles(dataset.hash) if one.missing_share < 1}
    if not {"requested_memory_bytes", "duration_s"} <= held or not held & {*USAGE_COLUMNS.values()}:
        return None
    usual = visit.workbench.over_time.resolved(dataset.hash).by
    own = {"by": clusterings.rows_by(visit, dataset, OVER_TIME, usual)}
    return forms.settings(visit, dataset, OVER_TIME, MAIN, own=own)


def result(visit: Visit, dataset: Dataset, chosen: OverTimeSettings, controls: DeltaGenerator) -> OverTime | None:
    """Return memory over time: computed at once where it is quick, else by a job.

    None where there is none: then that stands in the place of its controls, which would choose nothing.
    """
    compute, fit = visit.workbench.over_time, clusterings.everywhere(dataset)
    try:
        if dataset.rows <= MOST_RUNS_AT_ONCE:
            return compute(dataset.hash, chosen, fit=fit)
        words = f"Memory over time of {counted(dataset.rows, 'run')} is not added up yet."
        return long_question.result(
            visit,
            dataset,
            LongQuestion(
                "home_add_up",
                chosen,
                compute,
                "Add up memory over time",
                lambda: words,
                "Adding up memory",
                more={"fit": fit},
            ),
        )
    except (ColumnMissing, NotEnoughData) as error:
        controls.caption(f"No chart over time: {markdown_text(str(error), 300)}.")
        return None


def chart(outcome: OverTime, names: Mapping[str, str]) -> None:
    """Show the chart; a click on a cell opens its runs."""
    figures.show(over_time_chart(outcome, names), key=CHART, on_select=_clicked)


def _clicked() -> None:
    """Make the cell that was clicked the one whose runs are listed (a callback)."""
    points = st.session_state[CHART]["selection"]["points"]
    for point in points:
        cell = point.get("customdata")
        if isinstance(cell, (list, tuple)) and len(cell) == 2:
            st.session_state[ROW] = str(cell[0]) or ALL_ROWS
            st.session_state[BIN] = str(int(cell[1]))
            st.session_state[CELL] = True
            return


def cell(visit: Visit, dataset: Dataset, outcome: OverTime, names: Mapping[str, str]) -> None:
    """Show the runs of a row and a time, folded until a cell is clicked."""
    figures.fold("Runs behind a cell", CELL, _cell, visit, dataset, outcome, names, icon=":material/list:")


def _cell(visit: Visit, dataset: Dataset, outcome: OverTime, names: Mapping[str, str]) -> None:
    bins = tuple(str(place) for place in range(len(outcome.edges_s) - 1))
    moments = {place: moment(outcome, int(place)) for place in bins}
    with st.grid(min_column_width=180, gap="small"):
        row = choice("Row", ROW, (ALL_ROWS, *outcome.rows), shown={**names, ALL_ROWS: "All rows"})
        place = choice("Time", BIN, (ALL_BINS, *bins), shown=moments | {ALL_BINS: "All times"})
        most = forms.control(OVER_TIME_RUNS.leaf("most"), OVER_TIME_RUNS.page)
    request = OverTimeRunsSettings(
        outcome.settings, "" if row == ALL_ROWS else row, None if place == ALL_BINS else int(place), most
    )
    runs = visit.workbench.over_time_runs(dataset.hash, request, fit=clusterings.everywhere(dataset))
    told = over_time_runs_answer(runs, cell_words(outcome, runs, names))
    st.markdown(f"**{markdown_text(told.sentence, 300)}**")
    if not runs.n_runs:
        return
    table = told.table()
    tables.answer(table, key="home_cell_runs", alt=told.sentence)
    rows = runs.row_ids.tolist()
    with st.container(horizontal=True, vertical_alignment="center"):
        tables.csv(table.frame, f"{safe_name(dataset.name)}-over-time-runs", "home_cell_csv", "Download CSV")
        these = {"profiles_tab": "Map", "profiles_selected": Selection(rows=tuple(rows)).text()}
        words = f"These {len(rows):,} runs on the map"
        cross_link.follow(Link(words, "profiles", dataset.hash, these, "bubble_chart"), "home_cell_map")
