"""The look at one run: at once where it is short, else as a job with progress and Cancel."""

from __future__ import annotations

import streamlit as st

from pages._parts import long_question
from pages._parts.long_question import LongQuestion
from pages._phases import window
from pages._phases.asking import Asked
from workprof.charts.text import counted
from workprof.phases.timeline import Timeline

LONG_RUN = 1_200
LARGE_DATASET = 30_000
"""Samples from which on the search is a job: a run of twenty minutes takes seconds."""


def found_of(asked: Asked) -> Timeline | None:
    """Show window and boundaries, and return the look at the run; None while it is not there."""
    settings = window.settings(asked)
    if asked.line.samples <= LONG_RUN and asked.dataset.rows <= LARGE_DATASET:
        with st.spinner("Finding the phases…", show_time=True):
            return asked.workbench.timeline(asked.dataset.hash, settings)
    return long_question.result(
        asked.visit,
        asked.dataset,
        LongQuestion(
            name="phases_start_timeline",
            settings=settings,
            answer=asked.workbench.timeline_answer,
            start=asked.workbench.start_timeline,
            button="Find the phases",
            before=lambda: (
                f"{counted(asked.line.samples, 'sample')} of {counted(asked.dataset.rows, 'row')}: the search runs "
                "beside the page."
            ),
            what="Finding the phases",
        ),
    )
