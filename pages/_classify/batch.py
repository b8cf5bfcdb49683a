"""Many new jobs at once: a CSV in, a table of answers out."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from pages._classify.training import View, offer_held_out
from pages._frame.errors import guard
from pages._parts import figures, running_work, tables
from workprof.background import TaskView
from workprof.charts.classify.held_out import MOST_SHOWN
from workprof.charts.classify.job import Batch, predictions_table
from workprof.core.arrays import SUBMITTED
from workprof.core.progress import Progress
from workprof.core.units import MIB
from workprof.core.words import counted, markdown_text, title
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.forecasts.estimates import TARGETS
from workprof.formats.new_jobs import read_new_jobs
from workprof.inputs import Spooled, discard, spool_upload
from workprof.workbench.forecasts import LoadedHeldOut

WORK = "work_batch"
LARGEST_MB = 200
PART_ROWS = 2_000
MOST_NAMED = 12


def batch(view: View) -> None:
    """Show the upload, and the answers of the last one."""
    figures.headline("Predict many new jobs at once: upload a CSV with one line per job, get a table of predictions.")
    st.markdown(
        f"Columns: `{'`, `'.join(view.model.encoder.fields)}`, or their names in the trace of this dataset. A size or "
        "time may carry its unit (64G, 1-00:00:00); `requested_memory_gb` is in GB. Empty cells count as not given."
    )
    task = running_work.follow(view.visit.app_state.batches, WORK)
    upload = st.file_uploader("CSV of new jobs", type=["csv"], key="classify_upload", max_upload_size=LARGEST_MB)
    if upload is not None:
        of = (repr((view.dataset.hash, view.settings)), upload.file_id)
        known = task is not None and (task.active or (task.result is not None and task.result.of == of))
        if not known and st.button(
            "Predict these jobs", type="primary", icon=":material/play_arrow:", key="classify_start"
        ):
            with guard():
                _start(view, spool_upload(upload, upload.name, view.visit.app_state.settings.home), of)
    if task is not None:
        _follow(view, task)
    elif view.held_out is not None:
        _example(view, view.held_out)
    else:
        offer_held_out(view.visit, view.dataset, view.settings)


def _example(view: View, held: LoadedHeldOut) -> None:
    """Show the table of answers for runs that training did not see."""
    rows = held.held_out.row_ids[:MOST_SHOWN].tolist()
    past = view.visit.workbench.past_jobs(view.dataset.hash, rows)
    known = past[[name for name in (*SUBMIT_FIELDS, *SUBMITTED) if name in past.columns]]
    table = predictions_table(known, held.forecaster.forecast(known), view.naming)
    st.markdown("**The answers look like this: held-out runs of this dataset.**")
    _answers(table, "held-out-jobs", "classify_example", alt=f"Predictions for {len(table)} held-out runs")


def _follow(view: View, task: TaskView[Batch]) -> None:
    """Show the work on a file, or its answers where they are of this forecaster."""
    if task.result is None:
        running_work.task_panel(view.visit.app_state.batches, task, "Predicting the jobs of")
    elif task.result.of[0] == repr((view.dataset.hash, view.settings)):
        _show(task.result)


def _start(view: View, source: Spooled, of: tuple[str, str]) -> None:
    begun = view.visit.app_state.batches.begin(source.label, partial(_predicted, view, source, of))
    running_work.begun(WORK, begun.key)
    st.rerun()


def _predicted(view: View, source: Spooled, of: tuple[str, str], progress: Progress) -> Batch:
    """Answer a file part by part; a cancel stops it between two parts."""
    try:
        expected, done = _lines(source), 0
        tables: list[pd.DataFrame] = []
        unknown: tuple[str, ...] = ()
        for chunk in read_new_jobs(source.path):
            result = view.visit.workbench.new_jobs(view.dataset.hash, chunk)
            unknown = result.unknown
            for first in range(0, len(result.jobs), PART_ROWS):
                part = result.jobs.iloc[first : first + PART_ROWS]
                tables.append(predictions_table(part, view.loaded.forecast(part), view.naming, done + 1))
                done += len(part)
                progress(min(done / expected, 1.0), f"{done:,} of about {expected:,} jobs predicted")
        return Batch(of, source.label, pd.concat(tables, ignore_index=True), unknown)
    finally:
        discard(source)


def _lines(source: Spooled) -> int:
    """Return about how many jobs a file has, by its line ends."""
    with source.path.open("rb") as file:
        return max(1, sum(part.count(b"\n") for part in iter(lambda: file.read(MIB), b"")) - 1)


def _show(result: Batch) -> None:
    table = result.table
    n_predicted = int((~table["abstained"]).sum())
    st.success(
        f"{counted(len(table), 'job')} read from {markdown_text(result.name)}: {n_predicted:,} with a profile, "
        f"{len(table) - n_predicted:,} without (reason in the table).",
        icon=":material/check_circle:",
    )
    if result.unknown:
        named = ", ".join(result.unknown[:MOST_NAMED])
        more = f" and {len(result.unknown) - MOST_NAMED} more" if len(result.unknown) > MOST_NAMED else ""
        st.warning(
            f"{counted(len(result.unknown), 'column')} not used: {markdown_text(named, 400)}{more}.",
            icon=":material/info:",
        )
    _answers(table, "classified-jobs", "classify_answers", alt=f"Predictions for {len(table):,} jobs")


def _answers(table: pd.DataFrame, name: str, key: str, *, alt: str) -> None:
    """Show the predictions, what is predicted before what the jobs gave; the file keeps its order."""
    names, number = list(map(str, table)), st.column_config.NumberColumn
    first = ["row", "name", "probability", *(["reason"] if table["abstained"].any() else [])]
    first += [target for target in TARGETS if target in names]
    look: dict[str, Any] = {"name": "Profile", "profile": "Profile number"}
    look |= {one: number(title(one, ""), format="bytes") for one in names if one.endswith("_bytes")}
    look |= {one: number(format="%.0f") for one in names if one.startswith("duration_s")}
    look |= {one: number(format="percent") for one in names if one.endswith("probability")}
    order = [*first, *(one for one in names if one not in first)]
    tables.saved_frame(table, name, key=key, alt=alt, column_order=order, column_config=look)
