"""A heavy answer for a report: kept, or made by a job that can be watched and stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from workprof.errors import Cancelled, StepFailed
from workprof.jobs import JobView
from workprof.progress import Progress
from workprof.workbench import Answer, Workbench

Result = TypeVar("Result")
LOOK_EVERY_S = 0.5


def through_job(
    workbench: Workbench, ask: Callable[[], Answer[Result]], start: Callable[[], JobView], progress: Progress
) -> Result:
    """Return the kept result, or start the job that makes it and wait.

    Args:
        workbench: of the home.
        ask: tells the kept result, without computing.
        start: starts the job, or joins the one that runs.
        progress: told what the job tells; when it raises `Cancelled`, the job is stopped.

    Raises:
        Cancelled: the job was stopped, here or elsewhere.
        StepFailed: the job says why.
    """
    found = ask().result
    if found is not None:
        return found
    view = _waited(workbench, start(), progress)
    if view.state == "cancelled":
        raise Cancelled(f"{view.step} was cancelled")
    found = ask().result
    if found is None:
        raise StepFailed(view.message)
    return found


def _waited(workbench: Workbench, view: JobView, progress: Progress) -> JobView:
    while view.active:
        try:
            progress(view.fraction, view.message)
        except Cancelled:
            workbench.cancel(view.key)
            raise
        view = workbench.wait(view.key, LOOK_EVERY_S) or view
    return view
