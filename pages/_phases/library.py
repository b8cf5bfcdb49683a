"""The known workloads: which runs they are made of, and how far apart these lie."""

from __future__ import annotations

import streamlit as st

from pages._parts import figures, long_question
from pages._parts.long_question import LongQuestion
from pages._phases import known_workloads, labels
from pages._phases.asking import Asked, measure
from workprof.charts.phases.evaluation import distance_matrix, threshold_note, threshold_table
from workprof.phases.library import LibraryView, LibraryViewSettings


def library(asked: Asked) -> None:
    """Show the runs with what they count as, then distances and thresholds."""
    source = known_workloads.chosen(asked, "Library from")
    runs = asked.workbench.phase_runs(source.hash)
    edits = asked.workbench.library_edits(source.hash)
    labels.labels(asked, source.hash, runs, edits)
    found = long_question.result(
        asked.visit,
        asked.dataset,
        LongQuestion(
            name="phases_start_library",
            settings=LibraryViewSettings(edits, asked.library),
            answer=lambda _, settings: asked.workbench.library_answer(source.hash, settings),
            start=lambda _, settings: asked.workbench.start_library(source.hash, settings),
            button="Compare the runs",
            before=lambda: f"The fingerprints of {len(runs.runs)} runs are not compared with these settings yet.",
            what="Comparing the runs",
        ),
    )
    if found is not None:
        _found(found)


def _found(found: LibraryView) -> None:
    by = measure("Distance", "phases_distance")
    figures.show(distance_matrix(found, by), key=f"phases_matrix_{by}")
    st.header("Thresholds")
    st.caption(threshold_note(found))
    figures.table(
        threshold_table(found), "phases-thresholds", key="phases_thresholds", alt="Thresholds of each workload"
    )
