"""The last stop: the report of the sample, ready to be saved."""

from __future__ import annotations

import streamlit as st

from pages._frame.visit import AppState
from pages._report import files
from pages._tour import preparation, slide
from workprof.charts.tour import TourStop, report_stop
from workprof.report.built import BuiltReport
from workprof.store.reports import Dataset
from workprof.workbench import JOBS


def show(app_state: AppState, samples: dict[str, Dataset]) -> None:
    """Show what the report holds and its files; where this server has not made it yet, it is made now."""
    view = preparation.latest(app_state)
    of_sample = view is not None and view.result is not None and view.result.report.dataset.hash == samples[JOBS].hash
    if view is None or view.result is None or not of_sample:
        st.title("The report is being made", anchor=False)
        preparation.working(app_state, samples)
        return
    slide.show("report", _told(view.result))
    files.files(view.result)


def _told(built: BuiltReport) -> TourStop:
    made = [section.content for section in built.report.sections if section.status == "done"]
    return report_stop(
        len(made),
        sum(len(content.charts) for content in made),
        sum(len(content.tables) for content in made),
        len(built.page),
    )
