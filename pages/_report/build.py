"""A report being made: the button, its progress with Cancel, and the last one of this visitor."""

from __future__ import annotations

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import running_work
from workprof.report.built import BuiltReport, build_report
from workprof.store.reports import Dataset

TASK = "work_report"


def built(visit: Visit, dataset: Dataset, chosen: tuple[str, ...], note: str) -> BuiltReport | None:
    """Return the report that this visitor made last of this dataset."""
    view = running_work.follow(visit.app_state.reports, TASK)
    active = view is not None and view.active
    st.caption("What is not kept yet is computed with the defaults of its page; a whole trace may take minutes.")
    idle = not chosen or active
    if st.button("Make the report", type="primary", icon=":material/description:", disabled=idle, key="report_make"):
        _start(visit, dataset, chosen, note)
    if view is None:
        return None
    if view.result is None:
        running_work.task_panel(visit.app_state.reports, view, "Making the report of")
        return None
    report = view.result.report
    if report.dataset.hash != dataset.hash:
        return None
    if ({section.kind.name for section in report.sections}, report.note) != (set(chosen), note):
        st.warning("What follows was made with other sections or another note.", icon=":material/history:")
    return view.result


def _start(visit: Visit, dataset: Dataset, chosen: tuple[str, ...], note: str) -> None:
    workbench, hashed = visit.workbench, dataset.hash
    view = visit.app_state.reports.begin(
        dataset.name, lambda progress: build_report(workbench, hashed, chosen, note, progress)
    )
    running_work.begun(TASK, view.key)
    st.rerun()
