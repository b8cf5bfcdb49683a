"""What pages will ask of the open dataset with the default settings, computed one after another while nobody waits."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from pages._frame.visit import Visit
from pages._parts import long_question
from workprof.answers.how_long import earlier_runs, expected_sweep
from workprof.core.errors import ColumnMissing, DatasetUnknown, NotEnoughData
from workprof.core.progress import Progress
from workprof.formats.measured import BENCHMARKS, TELEMETRY
from workprof.profiles.questions import GROUP
from workprof.profiles.sweep import SweepSettings
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench

SWEEP = "sweep"
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
        SWEEP,
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
    """Compute what is expected to be short: the shortest first, what rests on another once that is there.

    Nothing begins while anything else runs: what a visitor waits for is not held up.
    """
    waiting = set(QUESTIONS[dataset.kind])
    while waiting and _is_present(workbench, dataset):
        lasts = {name: _seconds(workbench, dataset, name) for name in waiting}
        for name in sorted(waiting, key=lambda name: (lasts[name], name)):
            if lasts[name] > longest_s:
                return
            _until(lambda: not any(job.active for job in workbench.jobs()), progress)
            with suppress(ColumnMissing, NotEnoughData):  # it cannot be told of this dataset, or not yet
                _compute(workbench, dataset, name, lasts[name], progress)
                waiting.remove(name)
                break
        else:
            return


def _seconds(workbench: Workbench, dataset: Dataset, name: str) -> float:
    if name == SWEEP:
        earlier = earlier_runs(workbench.datasets(), workbench.runs(), GROUP.name)
        return expected_sweep(SweepSettings(), dataset.finished_rows, earlier).seconds
    compute: Any = getattr(workbench, name)
    return long_question.takes(workbench, compute, dataset, compute.resolved(dataset.hash)).seconds


def _compute(workbench: Workbench, dataset: Dataset, name: str, ahead_s: float, progress: Progress) -> None:
    """Compute one of them where nobody began, cancelled or kept it."""
    if name == SWEEP:
        state = workbench.sweep_state(dataset.hash, SweepSettings())
        if not state.standing.complete and all(group.job is None for group in state.groups):
            workbench.start_sweep(dataset.hash, SweepSettings(), ahead_s)
            _until(lambda: not workbench.sweep_state(dataset.hash, SweepSettings()).running, progress)
        return
    compute: Any = getattr(workbench, name)
    outcome = compute.cached(dataset.hash)
    if outcome.result is None and outcome.job is None:
        key = compute.start(dataset.hash, ahead_s=ahead_s).key
        _until(lambda: not getattr(workbench.job(key), "active", False), progress)


def each(visit: Visit, dataset: Dataset, name: str, wanted: Sequence[object]) -> None:
    """Compute a question at every stop of a slider, one after another, once since the start of the server."""
    preparing, label = visit.app_state.preparing, f"{name} {dataset.hash}"
    begun = any(view.label == label for view in preparing.views())
    if visit.app_state.settings.ahead_s and not visit.readonly and not begun:
        preparing.begin(label, partial(_each, visit.workbench, dataset, name, wanted))


def _each(workbench: Workbench, dataset: Dataset, name: str, wanted: Sequence[object], progress: Progress) -> None:
    for settings in wanted:
        _until(lambda: not any(job.active for job in workbench.jobs()), progress)
        if not _is_present(workbench, dataset):
            return
        getattr(workbench, name)(dataset.hash, settings, progress)


def _is_present(workbench: Workbench, dataset: Dataset) -> bool:
    """Return whether these rows are still there: a refresh may have brought others, which visitors see since."""
    with suppress(DatasetUnknown):
        return workbench.dataset(dataset.hash).hash == dataset.hash
    return False


def _until(met: Callable[[], bool], progress: Progress) -> None:
    while not met():
        progress(None, "waiting")  # raises Cancelled where the server ends
        time.sleep(LOOK_EVERY_S)
