"""Why our policy gives the next run of a task its size."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import Interval, too_few, wilson
from workprof.core.words import counted
from workprof.memory.orders import submit_order
from workprof.memory.policies import Sequence, SizingSettings, Workprof
from workprof.memory.retry import Demand, RetrySettings, Sizes, attempt_sizes, lifted_by, try_sizes
from workprof.memory.usage import NO_INPUT, Target, Task, inputs_of, runs_of, with_killed

if TYPE_CHECKING:
    import pandas as pd


MOST_CANDIDATES = 200
FEWEST_KNOWN = 3


@settings
class WhySettings:
    """Which size is to be explained."""

    task: Task
    input_column: Annotated[
        str, Setting("Column that the size goes by.", columns="numeric", flag="--input", key="memory_input")
    ] = NO_INPUT
    input_value: Annotated[
        float | None,
        Setting("Input of the run to come.", least=0, flag="--value", key="memory_input_value", empty="the median"),
    ] = None
    target: Target = "peak_rss"
    sizing: SizingSettings = field(default_factory=SizingSettings)
    retry: RetrySettings = field(default_factory=RetrySettings)


@dataclass(frozen=True, repr=False)
class Why(Shown):
    """One size and what it rests on."""

    settings: WhySettings
    n_known: int  # past runs of the task
    too_few: bool  # whether they are too few to advise on
    n_bounds: int  # of them, those whose use is only known to be at least so large: killed for memory, say
    used_bytes: Floats  # (n_known,) what they used, in order of submission
    hours: Floats  # (n_known,) their run times
    inputs: Floats  # (n_known,) their inputs, 0 where none is looked at
    input_value: float  # that the size is for
    size_bytes: float  # the first allocation
    next_bytes: float  # after a failure; NaN where no larger attempt follows
    last_bytes: float  # after another one, likewise
    margin_share: float  # size over the largest past use at or below it, minus 1: the headroom; NaN where none is below
    n_above: int  # past runs that used more than the size
    candidate_bytes: Floats  # (n_candidates,) past uses, rising, and the chosen size
    candidate_cost_gb_h: Floats  # (n_candidates,) mean charge of the past runs at that size, retries included
    chosen: Bools  # (n_candidates,) which of them is the chosen size
    retried: int  # past runs after the first three that were sized by the same policy in turn and failed
    n_tried: int  # past runs that were so sized
    odds_of_retry: Interval  # `retried` of `n_tried`, Wilson's interval
    requested_bytes: float  # most recent request, NaN where there is none
    seconds: float


def why(frames: Mapping[str, pd.DataFrame], settings: WhySettings, progress: Progress = silent) -> Why:
    """The size of a task's next run and its reasons.

    Raises SettingsError when there is no such task; ColumnMissing: no such input; NotEnoughData: fewer than three runs.
    """
    started = time.perf_counter()
    progress(None, "Asking the task's past")
    past, n_bounds = _past(frames["jobs"], settings)
    value = float(np.median(past.inputs)) if settings.input_value is None else settings.input_value
    coming = _next_sizes(past, value, settings)
    first, second, last = _attempts(coming, settings.retry)
    failed = _failed_forward(past, settings)
    sizes, costs = _candidates(past, first, coming, settings.retry)
    return Why(
        settings=settings,
        n_known=len(past),
        too_few=too_few(len(past)),
        n_bounds=n_bounds,
        used_bytes=past.used_bytes,
        hours=past.hours,
        inputs=past.inputs,
        input_value=value,
        size_bytes=first,
        next_bytes=second,
        last_bytes=last,
        margin_share=_margin(first, past.used_bytes),
        n_above=int((past.used_bytes > first).sum()),
        candidate_bytes=sizes,
        candidate_cost_gb_h=costs,
        chosen=sizes == first,
        retried=int(failed.sum()),
        n_tried=len(failed),
        odds_of_retry=wilson(float(failed.sum()), len(failed)),
        requested_bytes=float(past.requested_bytes[-1]),
        seconds=time.perf_counter() - started,
    )


def _past(jobs: pd.DataFrame, settings: WhySettings) -> tuple[Sequence, int]:
    """The task's runs in order of submission, and how many are bounds; prices are in mean runs of the whole table."""
    jobs = with_killed(jobs, settings.target)
    every = runs_of(jobs, settings.target)
    runs = every.of(settings.task)
    if len(runs) < FEWEST_KNOWN:
        raise NotEnoughData(f"{settings.task!r} has {counted(len(runs), 'run')}; a size needs {FEWEST_KNOWN} or more")
    past = submit_order(runs, inputs_of(jobs, runs, settings.input_column), FEWEST_KNOWN).sequences[0]
    priced = replace(past, mean_run_byte_h=float((every.used_bytes * every.hours).mean()))
    return priced, int(runs.lower_bound.sum())


def _next_sizes(past: Sequence, value: float, settings: WhySettings) -> Sizes:
    """The size of a run that comes after all past ones of its task, and the steps after a failure."""
    coming = Sequence(
        task=past.task,
        used_bytes=np.append(past.used_bytes, past.used_bytes[-1]),  # of the run to come; nothing reads it
        hours=np.append(past.hours, 0.0),
        requested_bytes=np.append(past.requested_bytes, np.nan),
        inputs=np.append(past.inputs, value),
        n_known=len(past),
        mean_run_byte_h=past.mean_run_byte_h,
    )
    own = Workprof(settings.sizing).sizes(coming, settings.retry)
    return lifted_by(settings.retry.rule, own, np.array([past.used_bytes.max()]))


def _attempts(sizes: Sizes, retry: RetrySettings) -> tuple[float, ...]:
    """Sizes of the first three attempts, no more than there are retries; NaN where the one before is as large."""
    tried = attempt_sizes(sizes, retry, 1 + min(retry.max_retries, 2))[0]
    rising = np.where(np.diff(tried, prepend=0.0) > 0, tried, np.nan).tolist()
    return (*rising, math.nan, math.nan)[:3]


def _margin(size: float, used: Floats) -> float:
    below = used[used <= size]
    return float(size / below.max() - 1) if len(below) else float("nan")


def _failed_forward(past: Sequence, settings: WhySettings) -> Bools:
    """Which runs after the first three fail when each is sized from those before it."""
    tried = past.after(FEWEST_KNOWN)
    if not tried.n_sized:
        return np.zeros(0, dtype=bool)
    first = attempt_sizes(Workprof(settings.sizing).sizes(tried, settings.retry), settings.retry, 1)[:, 0]
    failed: Bools = first < tried.used_bytes[tried.sized]
    return failed


def _candidates(past: Sequence, first: float, coming: Sizes, retry: RetrySettings) -> tuple[Floats, Floats]:
    """Past uses (thinned) with the chosen size, and the mean charge of all past runs at each, with retries."""
    uses = np.unique(np.clip(past.used_bytes, retry.floor_bytes, retry.cap_bytes))
    places = np.unique(np.linspace(0, len(uses) - 1, min(MOST_CANDIDATES, len(uses))).round().astype(np.int64))
    sizes = np.unique(np.append(uses[places], first))
    steps = np.tile(coming.steps_bytes, (len(past), 1))
    demand = Demand(past.used_bytes, past.hours)
    costs = [
        try_sizes(demand, Sizes(np.full(len(past), size), steps, coming.beyond), retry).charged_gb_h.mean()
        for size in sizes
    ]
    return sizes, np.array(costs)
