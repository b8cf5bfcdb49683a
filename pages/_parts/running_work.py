"""Running work: the badge in the sidebar, and the panels that follow a job or a task with a Cancel that works.

A job is found again by its settings, which the address holds; a task by its key, which the address holds as well. So
both outlive a reload of the page.
"""

import os
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._frame import link
from pages._frame.errors import LONGEST_MESSAGE, guard, refused
from pages._frame.visit import AppState
from workprof.background import Tasks, TaskView
from workprof.core.units import format_duration
from workprof.core.words import counted, markdown_text
from workprof.jobs import JobView

Result = TypeVar("Result")

EVERY_S = 1.0
BADGE_EVERY_S = 3.0


def badge(app_state: AppState, place: DeltaGenerator, drawn: bool | None = None) -> bool:
    """Show how many steps run and wait, whoever started them, and what waits for room on the disk.

    Returns whether it renews itself. `drawn`: whether the one that stands there does; it stays unless work has begun.
    """
    renews = any(_active(app_state)) or bool(app_state.workbench.not_saved)
    if drawn is None or (renews and not drawn):
        with place.container():
            st.fragment(_badge, run_every=BADGE_EVERY_S if renews else None)(app_state)
    return renews


def _active(app_state: AppState) -> tuple[int, int]:
    """Return how much runs, and how much waits for it."""
    tasks = (app_state.ingests, app_state.reports, app_state.batches, app_state.observed, app_state.refreshing)
    views = (app_state.workbench.jobs(), *(kind.views() for kind in tasks))
    active = [one.state == "waiting" for kind in views for one in kind if one.active]
    return len(active) - sum(active), sum(active)


def _badge(app_state: AppState) -> None:
    with guard():
        running, waiting = _active(app_state)
        if running or waiting:
            words = f"{counted(running, 'computation')} running" + (f", {waiting:,} waiting" if waiting else "")
            st.badge(words, icon=":material/progress_activity:", color="blue")
        else:
            st.badge("Idle", icon=":material/check:", color="gray")
        if app_state.workbench.not_saved:
            st.warning(markdown_text(app_state.workbench.not_saved, 400), icon=":material/hard_drive:")


def job_panel(app_state: AppState, job: JobView | None, what: str) -> None:
    """Show how a job stands; while it runs the panel renews itself, the page where more is found and at the end."""
    if job is None:
        return
    if job.active:
        st.fragment(_running_job, run_every=EVERY_S)(app_state, job.key, what, job.found)
    elif job.state == "failed":
        refused(f"{what} failed: {job.message}")
    elif job.state == "cancelled":
        st.info(f"{what} was cancelled after {format_duration(job.elapsed_s)}.", icon=":material/cancel:")


def _running_job(app_state: AppState, key: str, what: str, found: int) -> None:
    with guard():
        job = app_state.workbench.watched(key)
        if job is None or not job.active or job.found > found:
            st.rerun()
        with st.container(border=True):
            line(f"{what}: {job.message}", job.fraction, job.elapsed_s)
            if st.button("Cancel", key=f"cancel_{key}", icon=":material/stop_circle:"):
                app_state.workbench.cancel(key)
                st.rerun()


def line(message: str, fraction: float | None, elapsed_s: float) -> None:
    """Show what is being done, how far it is where that is known, and since when."""
    text = f"{markdown_text(message, 160)} · {format_duration(round(elapsed_s))}"
    if fraction is None:
        st.markdown(f":material/progress_activity: {text}")
    else:
        st.progress(min(max(fraction, 0.0), 1.0), text=text)


def follow(tasks: Tasks[Result], name: str) -> TaskView[Result] | None:
    """Return the work that this visitor began last, as it stands; None without any.

    The session forgets at a reload of the page, the address does not.

    Args:
        tasks: of one kind.
        name: of the parameter that holds the work's key.
    """
    key = str(st.session_state.get(name, ""))
    if tasks.view(key) is None:
        key = link.read(name, partial(_known, tasks), "", "start it again, or look for its result")
    if not key:
        return None
    begun(name, key)
    return tasks.view(key)


def begun(name: str, key: str) -> None:
    """Remember work that was begun, in the session and in the address."""
    st.session_state[name] = key
    if st.query_params.get(name) != key:
        st.query_params[name] = key


def _known(tasks: Tasks[Any], key: str) -> str:
    if tasks.view(key) is None:
        raise link.Unreadable("this server no longer has that computation (it was restarted, or has done many since)")
    return key


def task_panel(tasks: Tasks[Any], view: TaskView[Any], words: str) -> None:
    """Show work that runs, with its steps and a Cancel, or why it ended without a result.

    `words` are what is done, such as 'Loading'; the label of the work follows.
    """
    what = f"{words} {markdown_text(view.label)}"
    if view.active:
        st.fragment(_running_task, run_every=EVERY_S)(tasks, view.key, what)
    elif view.state == "failed":
        st.error(f"{what} failed: {markdown_text(view.message, LONGEST_MESSAGE)}", icon=":material/error:")
    elif view.state == "cancelled":
        lost = markdown_text(view.message.removeprefix("cancelled; "), LONGEST_MESSAGE)
        st.info(f"{what} was cancelled: {lost}.", icon=":material/cancel:")


def _running_task(tasks: Tasks[Any], key: str, what: str) -> None:
    with guard():
        view = tasks.view(key)
        if view is None or not view.active:
            st.rerun()
        with st.container(border=True):
            st.markdown(f"**{what}**")
            for step in view.steps[:-1]:
                st.status(markdown_text(step), state="complete", type="step")
            now = st.status(markdown_text(view.steps[-1] if view.steps else "waiting"), type="step", expanded=True)
            with now.container():  # the status itself would be complete at the end of `with`
                line(view.message, view.fraction, view.elapsed_s)
            st.caption("It continues when this page is closed or reloaded.")
            if st.button("Cancel", key=f"cancel_{key}", icon=":material/stop_circle:"):
                tasks.cancel(key)
                st.rerun()


def busy() -> float:
    """Return how many processes want each core of this machine, at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) if hasattr(os, "getloadavg") else 1.0
