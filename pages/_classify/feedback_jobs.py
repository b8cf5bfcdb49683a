"""Finished jobs in: a file, or another dataset."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages._classify.view import View
from pages._frame.errors import guard
from workprof.charts.feedback import observed_sentence
from workprof.charts.text import markdown_text
from workprof.inputs import discard, spool_upload
from workprof.profiles.feedback.feedback import Observed
from workprof.profiles.feedback.settings import FeedbackSettings

FILE, DATASET = "file", "dataset"
SAID = "feedback_said"
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
        if source == FILE:
            _from_file(view, settings)
        else:
            _from_dataset(view, settings)
        said: tuple[str, Observed] | None = st.session_state.get(SAID)
        if said is not None and said[0] == view.dataset.hash:
            _said(said[1])


def _from_file(view: View, settings: FeedbackSettings) -> None:
    upload = st.file_uploader(
        "A trace of finished jobs, in any format that the Data page reads",
        key="feedback_upload",
        max_upload_size=LARGEST_MB,
    )
    if upload is not None and _pressed("feedback_observe_file"):
        source = spool_upload(upload, upload.name, view.visit.house.settings.home)
        try:
            _fold_in(view, settings, source.path)
        finally:
            discard(source)
        st.rerun()


def _from_dataset(view: View, settings: FeedbackSettings) -> None:
    names = {
        f"{entry.name} ({entry.hash[:8]})": entry.hash
        for entry in view.visit.workbench.datasets()
        if entry.kind == "jobs"
    }
    chosen = st.selectbox(
        "Dataset", list(names), index=None, key="feedback_dataset", bind="query-params", placeholder="choose one"
    )
    if chosen and _pressed("feedback_observe_dataset"):
        _fold_in(view, settings, names[chosen])
        st.rerun()


def _pressed(key: str) -> bool:
    return st.button("Observe", type="primary", icon=":material/play_arrow:", key=key)


def _fold_in(view: View, settings: FeedbackSettings, jobs: Path | str) -> None:
    bar = st.progress(0.0, text="Reading")

    def tell(share: float | None, words: str) -> None:
        bar.progress(share or 0.0, text=markdown_text(words))

    with guard():
        found = view.visit.workbench.observe(view.dataset.hash, jobs, settings, tell)
        st.session_state[SAID] = (view.dataset.hash, found)


def _said(found: Observed) -> None:
    notes = "".join(f"\n- {markdown_text(note, 400)}" for note in found.notes)
    st.success(f"{observed_sentence(found)}{notes}", icon=":material/check_circle:")
