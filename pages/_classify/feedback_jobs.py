"""Finished jobs in: a file, or another dataset."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages._classify.view import View
from pages._frame.errors import guard
from pages._parts import running_work
from workprof.charts.feedback import observed_sentence
from workprof.charts.text import markdown_text, visible
from workprof.forecasts.feedback.loop import FeedbackSettings, Observed
from workprof.inputs import spool_upload
from workprof.progress import Progress

FILE, DATASET = "file", "dataset"
WORK = "work_feedback"
LARGEST_MB = 500


def observe(view: View, settings: FeedbackSettings) -> None:
    """Show how to give finished jobs, fold them in when asked, and say what became of them."""
    with st.container(border=True):
        source = st.segmented_control(
            "Finished jobs from a",
            (FILE, DATASET),
            default=FILE,
            required=True,
            key="feedback_from",
            bind="query-params",
        )
        observed = running_work.follow(view.visit.house.observed, WORK)
        busy = observed is not None and observed.active
        if source == FILE:
            _from_file(view, settings, busy=busy)
        else:
            _from_dataset(view, settings, busy=busy)
        if observed is not None and observed.result is None:
            running_work.task_panel(view.visit.house.observed, observed, "Observing the jobs of")
        elif observed is not None and observed.result is not None and observed.result[0] == view.dataset.hash:
            _said(observed.label, observed.result[1])


def _from_file(view: View, settings: FeedbackSettings, *, busy: bool) -> None:
    upload = st.file_uploader(
        "A trace of finished jobs, in any format that the Data page reads",
        key="feedback_upload",
        max_upload_size=LARGEST_MB,
    )
    if upload is not None and _pressed("feedback_observe_file", busy=busy):
        with guard():
            source = spool_upload(upload, upload.name, view.visit.house.settings.home)
            _fold_in(view, settings, source.label, source.path, source.folder)


def _from_dataset(view: View, settings: FeedbackSettings, *, busy: bool) -> None:
    names = {
        f"{entry.name} ({entry.hash[:8]})": entry.hash
        for entry in view.visit.workbench.datasets()
        if entry.kind == "jobs"
    }
    chosen = st.selectbox(
        "Dataset",
        list(names),
        index=None,
        format_func=visible,
        key="feedback_dataset",
        bind="query-params",
        placeholder="choose one",
    )
    if chosen and _pressed("feedback_observe_dataset", busy=busy):
        _fold_in(view, settings, chosen, names[chosen])


def _pressed(key: str, *, busy: bool) -> bool:
    return st.button("Observe", type="primary", icon=":material/play_arrow:", key=key, disabled=busy)


def _fold_in(view: View, settings: FeedbackSettings, label: str, jobs: Path | str, discard: Path | None = None) -> None:
    """Observe in the background; `discard` is a folder of ours, removed once it has ended."""
    workbench, dataset = view.visit.workbench, view.dataset.hash

    def observe(progress: Progress) -> tuple[str, Observed]:
        return dataset, workbench.observe(dataset, jobs, settings, progress)

    running_work.begun(WORK, view.visit.house.observed.begin(label, observe, discard=discard).key)
    st.rerun()


def _said(label: str, found: Observed) -> None:
    notes = "".join(f"\n- {markdown_text(note, 400)}" for note in found.notes)
    st.success(f"{markdown_text(label)}: {observed_sentence(found)}{notes}", icon=":material/check_circle:")
