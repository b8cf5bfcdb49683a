"""Running work: the badge in the sidebar, and the panels that follow a job or an ingest with a Cancel that works."""

from __future__ import annotations

import streamlit as st

from pages._frame.errors import guard, refused
from pages._frame.open_home import House
from workprof.background import TaskView
from workprof.charts.text import counted, markdown_text
from workprof.jobs import JobView
from workprof.store.reports import IngestReport
from workprof.units import format_duration

EVERY_S = 1.0
BADGE_EVERY_S = 3.0


def badge(house: House) -> None:
    """Show in the sidebar how many steps run, whoever started them, and what waits for room on the disk."""
    every = BADGE_EVERY_S if _active(house) or house.workbench.not_kept else None
    with st.sidebar:
        st.fragment(_badge, run_every=every)(house)


def _active(house: House) -> int:
    jobs, ingests, reports = house.workbench.jobs(), house.ingests.views(), house.reports.views()
    return sum(one.active for views in (jobs, ingests, reports) for one in views)


def _badge(house: House) -> None:
    with guard():
        active = _active(house)
        if active:
            st.badge(f"{counted(active, 'job')} running", icon=":material/progress_activity:", color="blue")
        else:
            st.badge("No job running", icon=":material/check:", color="gray")
        if house.workbench.not_kept:
            st.warning(markdown_text(house.workbench.not_kept, 400), icon=":material/hard_drive:")


def job_panel(house: House, job: JobView | None, what: str) -> None:
    """Show how a job stands; while it runs the panel renews itself, and the page once at the end."""
    if job is None:
        return
    if job.active:
        st.fragment(_running_job, run_every=EVERY_S)(house, job.key, what)
    elif job.state == "failed":
        refused(f"{what} failed: {job.message}")
    elif job.state == "cancelled":
        st.info(f"{what} was cancelled after {format_duration(job.elapsed_s)}.", icon=":material/cancel:")


def _running_job(house: House, key: str, what: str) -> None:
    with guard():
        job = house.workbench.job(key)
        if job is None or not job.active:
            st.rerun()
        with st.container(border=True):
            line(f"{what}: {job.message}", job.fraction, job.elapsed_s)
            if st.button("Cancel", key=f"cancel_{key}", icon=":material/stop_circle:"):
                house.workbench.cancel(key)
                st.rerun()


def line(message: str, fraction: float | None, elapsed_s: float) -> None:
    """Show what is being done, how far it is where that can be told, and since when."""
    text = f"{markdown_text(message, 160)} · {format_duration(round(elapsed_s))}"
    if fraction is None:
        st.markdown(f":material/progress_activity: {text} · this step cannot tell how far it is")
    else:
        st.progress(min(max(fraction, 0.0), 1.0), text=text)


def ingest_panel(house: House, key: str) -> TaskView[IngestReport] | None:
    """Show how an ingest stands as a list of steps and return its view."""
    view = house.ingests.view(key)
    if view is None:
        return None
    if view.active:
        st.fragment(_running_ingest, run_every=EVERY_S)(house, key)
    elif view.state == "failed":
        refused(f"{view.label} was not loaded: {view.message}")
    elif view.state == "cancelled":
        st.info(f"Loading {markdown_text(view.label)} was cancelled; nothing was kept.", icon=":material/cancel:")
    return view


def _running_ingest(house: House, key: str) -> None:
    with guard():
        view = house.ingests.view(key)
        if view is None or not view.active:
            st.rerun()
        with st.container(border=True):
            st.markdown(f"**Loading {markdown_text(view.label)}**")
            for step in view.steps[:-1]:
                st.status(markdown_text(step), state="complete", type="step")
            with st.status(markdown_text(view.steps[-1] if view.steps else "waiting"), type="step", expanded=True):
                line(view.message, view.fraction, view.elapsed_s)
            if st.button("Cancel", key=f"cancel_{key}", icon=":material/stop_circle:"):
                house.ingests.cancel(key)
                st.rerun()
