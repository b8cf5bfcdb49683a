"""A report being made: the button, its progress with Cancel, and the last one of this session."""

from __future__ import annotations

import streamlit as st

from pages._frame.errors import refused
from pages._frame.open_home import House
from pages._frame.visit import Visit
from pages._parts import running_work
from workprof.charts.text import markdown_text
from workprof.report.built import BuiltReport, build_report
from workprof.store.reports import Dataset

TASK = "report_task"


def built(visit: Visit, dataset: Dataset, chosen: tuple[str, ...], note: str) -> BuiltReport | None:
    """Return the report that this session made last of this dataset."""
    key, asked = st.session_state.get(TASK, ("", None))
    view = visit.house.reports.view(key) if key else None
    active = view is not None and view.active
    st.caption("What is not kept yet is computed with the defaults of its page; a whole trace may take minutes.")
    idle = not chosen or active
    if st.button("Make the report", type="primary", icon=":material/description:", disabled=idle, key="report_make"):
        _start(visit, dataset, chosen, note)
    if view is None:
        return None
    if view.active:
        st.fragment(_running, run_every=running_work.EVERY_S)(visit.house, key)
        return None
    if view.state != "done" or view.result is None:
        refused(f"The report was not made: {view.message}")
        return None
    if view.result.report.dataset.hash != dataset.hash:
        return None
    if asked != (chosen, note):
        st.warning("What follows was made with other sections or another note.", icon=":material/history:")
    return view.result


def _start(visit: Visit, dataset: Dataset, chosen: tuple[str, ...], note: str) -> None:
    workbench, hashed = visit.workbench, dataset.hash
    view = visit.house.reports.begin(
        dataset.name, lambda progress: build_report(workbench, hashed, chosen, note, progress)
    )
    st.session_state[TASK] = (view.key, (chosen, note))
    st.rerun()


def _running(house: House, key: str) -> None:
    view = house.reports.view(key)
    if view is None or not view.active:
        st.rerun()
    with st.container(border=True):
        st.markdown(f"**Making the report of {markdown_text(view.label)}**")
        running_work.line(view.message, view.fraction, view.elapsed_s)
        if st.button("Cancel", key=f"cancel_{key}", icon=":material/stop_circle:"):
            house.reports.cancel(key)
            st.rerun()
