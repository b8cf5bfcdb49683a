"""What pages will ask of the open dataset with the default settings, computed one after another while nobody waits."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

from pages._frame.visit import Visit
from pages._parts import long_question
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.progress import Progress
from workprof.formats.measured import BENCHMARKS, TELEMETRY
from workprof.jobs import JobView
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench

QUESTIONS = {
    JOBS: (
        "profiles",
        "verdict",
        "forecaster",
        "held_out",
        "classifier_evaluation",
        "feedback_model",
        "estimate_evaluation",
        "replay",
    ),
    BENCHMARKS: ("node_ranking", "degradation"),
    TELEMETRY: ("evaluate_phases",),
}
"""Kind of dataset -> questions of the workbench whose default answers its pages show."""
LOOK_EVERY_S = 0.5


def begin(visit: Visit, dataset: Dataset) -> None:
    """Begin with a dataset, once since the start of the server."""
    preparing, longest = visit.app_state.preparing, visit.app_state.settings.ahead_s
    begun = any(view.label == dataset.hash for view in preparing.views())
    if longest and dataset.kind in QUESTIONS and not visit.readonly and not begun:
        preparing.begin(dataset.hash, partial(_prepare, visit.workbench, dataset, longest))


def _prepare(workbench: Workbench, dataset: Dataset, longest_s: float, progress: Progress) -> None:
    """Compute what is expected to be short: the shortest first, what rests on another once that is there."""
    waiting = {name: getattr(workbench, name) for name in QUESTIONS[dataset.kind]}
    while waiting:
        lasts = {
            name: long_question.takes(workbench, compute, dataset, compute.resolved(dataset.hash)).seconds
            for name, compute in waiting.items()
        }
        for name in sorted(waiting, key=lambda name: lasts[name]):
            if lasts[name] > longest_s:
                return
            with suppress(ColumnMissing, NotEnoughData):  # it cannot be told of this dataset, or not yet
                _wait(workbench, _started(waiting[name], dataset, lasts[name]), progress)
                del waiting[name]
                break
        else:
            return


def _started(compute: Any, dataset: Dataset, seconds: float) -> JobView | None:
    outcome = compute.cached(dataset.hash)
    if outcome.result is not None or outcome.job is not None:
        return None
    job: JobView = compute.start(dataset.hash, ahead_s=seconds)
    return job


def _wait(workbench: Workbench, job: JobView | None, progress: Progress) -> None:
    while job is not None and job.active:
        progress(None, job.step)  # raises Cancelled where the server ends
        job = workbench.wait(job.key, LOOK_EVERY_S)
