"""Why a size is advised: the history of the task, the size over it, the margin, and the odds of a retry."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.memory.plans.plans import GIVEN, KEPT, PlannedTask, PlanSettings, plan_of
from workprof.memory.runs import Runs, runs_of
from workprof.progress import Progress, silent
from workprof.units import GB, format_share

if TYPE_CHECKING:
    import pandas as pd

MOST_DOTS = 2_000
LARGEST_KEPT = 200

RULE_WORDS = {
    "max_seen": "the largest use so far",
    "percentile": "a percentile of the uses so far",
    "least_waste": "the size that wastes least, failed attempts included",
    "class_sizes": "the size of its class",
    GIVEN: "given by hand",
    KEPT: "the request of now, as there are too few runs for advice",
}


@dataclass(frozen=True)
class ReasonSettings:
    """Which task, and under which plan."""

    task: str
    plan: PlanSettings = field(default_factory=PlanSettings)


@dataclass(frozen=True)
class SizeReason:
    """Why one number.

    Attributes:
        settings: as asked.
        planned: size, class, odds.
        order: (n_dots,) place of a run in order of submission, from 0.
        used_gb: (n_dots,) its use; of many runs some are drawn, the largest are all there.
        size_gb: advised.
        requested_gb: of now, NaN without any.
        margin_share: size / largest use - 1; below 0 when the largest runs have to be tried again.
        sentences: the reason in words.
        seconds: of the computation.
    """

    settings: ReasonSettings
    planned: PlannedTask
    order: Ints
    used_gb: Floats
    size_gb: float
    requested_gb: float
    margin_share: float
    sentences: tuple[str, ...]
    seconds: float


def size_reason_of(
    frames: Mapping[str, pd.DataFrame], settings: ReasonSettings, progress: Progress = silent
) -> SizeReason:
    """Return why a task gets its size.

    Raises:
        SettingsError: when there is no such task.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no row has a use of memory and a run time.
    """
    started = time.perf_counter()
    progress(None, "Reading the history of the task")
    runs = runs_of(frames["jobs"], settings.plan.target).of(settings.task)
    own = frames["jobs"].iloc[runs.rows]
    (planned,) = plan_of({"jobs": own}, settings.plan).tasks
    order, used_gb = _dots(runs)
    margin = planned.size_bytes / planned.largest_bytes - 1
    return SizeReason(
        settings=settings,
        planned=planned,
        order=order,
        used_gb=used_gb,
        size_gb=planned.size_bytes / GB,
        requested_gb=planned.requested_bytes / GB,
        margin_share=margin,
        sentences=_sentences(planned, margin),
        seconds=time.perf_counter() - started,
    )


def _dots(runs: Runs) -> tuple[Ints, Floats]:
    in_time = np.argsort(np.nan_to_num(runs.submit_s, nan=np.inf), kind="stable")
    used_gb = runs.used_bytes[in_time] / GB
    places = np.arange(len(used_gb))
    if len(places) > MOST_DOTS:
        evenly = np.linspace(0, len(places) - 1, MOST_DOTS - LARGEST_KEPT).round().astype(np.int64)
        places = np.unique(np.append(evenly, np.argsort(-used_gb, kind="stable")[:LARGEST_KEPT]))
    return places.astype(np.int64), used_gb[places]


def _sentences(planned: PlannedTask, margin: float) -> tuple[str, ...]:
    risk = planned.risk
    words = RULE_WORDS[planned.rule]
    if planned.size_bytes == planned.requested_bytes and planned.rule not in (GIVEN, KEPT):
        words = "the request of now, which has always been enough and is less than the rule would give"
    told = [f"{planned.size_bytes / GB:.3g} GB is {words}, from {planned.n:,} runs."]
    if margin >= 0:
        told.append(f"The largest run used {planned.largest_bytes / GB:.3g} GB; {format_share(margin)} lies above it.")
    else:
        told.append(
            f"The largest run used {planned.largest_bytes / GB:.3g} GB, more than the size: "
            f"{risk.n_above_in_history:,} of {planned.n:,} runs would have been tried again."
        )
    if risk.n_tested:
        told.append(
            f"Odds of a retry: {format_share(risk.odds)} (95 % interval {format_share(risk.low)} to "
            f"{format_share(risk.high)}; {risk.n_failed:,} of {risk.n_tested:,} tested runs)."
        )
    else:
        told.append("No run could be tested, so the odds of a retry are not known.")
    return tuple(told)
