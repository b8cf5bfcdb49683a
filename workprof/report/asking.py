"""A heavy answer for a report: cached, or made by a job that can be watched and stopped."""

from __future__ import annotations

from typing import TypeVar

from workprof.errors import Cancelled, StepFailed
from workprof.progress import Progress
from workprof.workbench.asking import Bound

S = TypeVar("S")
R = TypeVar("R")
LOOK_EVERY_S = 0.5


def through_job(question: Bound[S, R], dataset: str, settings: S, progress: Progress) -> R:
    """Return the cached result, or start the job that makes it (or join the one that runs) and wait.

    Args:
        question: of a workbench.
        dataset: content hash.
        settings: of the question.
        progress: told what the job tells; when it raises `Cancelled`, the job is stopped.

    Raises:
        Cancelled: the job was stopped, here or elsewhere.
        StepFailed: the job says why.
    """
    result = question.cached(dataset, settings).result
    if result is not None:
        return result
    view = question.start(dataset, settings)
    while view.active:
        try:
            progress(view.fraction, view.message)
        except Cancelled:
            question.bench.cancel(view.key)
            raise
        view = question.bench.wait(view.key, LOOK_EVERY_S) or view
    if view.state == "cancelled":
        raise Cancelled(f"{view.step} was cancelled")
    result = question.cached(dataset, settings).result
    if result is None:
        raise StepFailed(view.message)
    return result
