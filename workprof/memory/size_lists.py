"""Sizes to request, task by task: of a policy of the replay, or as named bins. What their exports write."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workprof.core.arrays import Floats, latest_of
from workprof.core.errors import SettingsError
from workprof.core.progress import Progress, silent
from workprof.core.stats import FEWEST_RUNS, wilson
from workprof.core.units import GB
from workprof.memory.assessment import most_common
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import bins_of, needed_bytes, own_bins
from workprof.memory.charges import charge
from workprof.memory.orders import SIZEY
from workprof.memory.policies import ORACLES, Policy, Sequence, Workprof, policy_named
from workprof.memory.replay import ordered_runs
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import attempt_sizes, lifted_by, only
from workprof.memory.usage import Runs, requesting, runs_of, with_flat_request, with_killed

if TYPE_CHECKING:
    import pandas as pd

MOST_RETRIES = 3
"""Attempts after the first that an export lists."""

N_PARTS = 5
"""Of a history that is tried forward: each part with a size from those before it."""
UNCHANGED = "kept"
"""Instead of a rule: the request of now, where there is no advice."""

_LETTERS = ("XXXS", "XXS", "XS", "S", "M", "L", "XL", "XXL", "XXXL")


@dataclass(frozen=True)
class NeverTask:
    """A task of which some runs can never run."""

    task: str
    n_runs: int  # that use more than the cap; `n_all`: of so many
    n_all: int
    used_gb_h: float  # of these runs
    largest_gb: float  # the most that one uses


@dataclass(frozen=True)
class NeverRun:
    """The runs that use more than the cap: no size that there is lets them end."""

    cap_gb: float  # NaN = no cap, and so no such run
    n_runs: int  # that can never run; `n_all`: of so many
    n_all: int
    used_gb_h: float  # of these runs
    requested_gb_h: float  # of those that have a request
    worst_task: str  # of the run that uses most; '' without any
    largest_gb: float  # what it uses; 0 without any
    tasks: tuple[NeverTask, ...]  # those that lose the most GB·h first


def never_run(runs: Runs, cap_bytes: float | None) -> NeverRun:
    """Which runs can never run under a cap; None = no cap."""
    above = runs.take(runs.used_bytes > (np.inf if cap_bytes is None else cap_bytes))
    used_gb_h = above.used_bytes / GB * above.hours
    tasks = []
    for code in np.unique(above.task).tolist():
        own = above.task == code
        largest = float(above.used_bytes[own].max()) / GB
        n_all = int((runs.task == code).sum())
        tasks.append(NeverTask(runs.tasks[code], int(own.sum()), n_all, float(used_gb_h[own].sum()), largest))
    worst = max(tasks, key=lambda one: one.largest_gb, default=None)
    return NeverRun(
        cap_gb=float("nan") if cap_bytes is None else cap_bytes / GB,
        n_runs=len(above),
        n_all=len(runs),
        used_gb_h=float(used_gb_h.sum()),
        requested_gb_h=float(np.nansum(above.requested_bytes / GB * above.hours)),
        worst_task="" if worst is None else worst.task,
        largest_gb=0.0 if worst is None else worst.largest_gb,
        tasks=tuple(sorted(tasks, key=lambda one: -one.used_gb_h)),
    )


@dataclass(frozen=True)
class NamedSize:
    """One bin."""

    name: str  # 'S', 'M', 'L' and so on
    size_bytes: float  # its limit
    n_runs: int  # that belong to it
    hours: float  # of these
    n_tested: int  # all runs
    n_killed: int  # of these, those that use more: started in this size, they are killed
    kill_probability: float  # n_killed / n_tested
    kill_low: float  # and `kill_high`: 95 % Wilson interval
    kill_high: float


@dataclass(frozen=True)
class ListedSize:
    """What to request for the next run of one task."""

    task: str
    size_name: str  # of the named size; '' where sizes have no names
    size_bytes: float  # of the first attempt
    next_bytes: tuple[float, ...]  # of the attempts after a kill
    requested_bytes: float  # by most runs now; NaN without any
    largest_bytes: float  # the largest use
    n: int  # runs of the task
    rule: str  # that chose the size
    sized_from: str  # what the size rests on, in words
    n_tested: int  # runs that were tried with a size from earlier runs only
    n_killed: int  # of these
    kill_probability: float  # n_killed / n_tested; NaN without a test
    kill_low: float  # and `kill_high`: 95 % Wilson interval
    kill_high: float
    n_above: int | None  # runs of the task's history that used more than the size; None where that was not counted
    too_few: bool  # fewer than `FEWEST_RUNS` runs: the size is a guess


@dataclass(frozen=True)
class SizeList:
    """Sizes of every task, with what they rest on."""

    source: str  # 'bins', or 'policy' and its name
    settings: Any  # that they were made with
    tested: str  # how the kill probability was found, in words
    named: tuple[NamedSize, ...]  # the bins, rising; empty where sizes have no names
    sizes: tuple[ListedSize, ...]  # one per task
    cap_bytes: float | None  # of a node; None = no cap
    never: NeverRun  # the runs that the cap rules out
    left_out: Mapping[str, int]  # reason -> rows
    notes: tuple[str, ...]  # in words


TRIED_FORWARD = "each part of the history was tried with a size chosen from the parts before it"
REPLAYED = "every run was replayed with the size that the policy gave it from the runs known by then"


def _rising(sizes: list[float], cap_bytes: float | None) -> tuple[float, ...]:
    """Sizes up to the cap, without those that are no larger than one before: a retry there would be in vain."""
    capped = [min(size, math.inf if cap_bytes is None else cap_bytes) for size in sizes]
    return tuple(size for at, size in enumerate(capped) if not at or size > max(capped[:at]))


def _doubled(sizes: tuple[float, ...], cap_bytes: float | None) -> tuple[float, ...]:
    """The sizes of the first attempts, doubled where there are too few."""
    doubled = [*sizes, *(2.0**times * max(sizes) for times in range(1, MOST_RETRIES + 1))]
    return _rising(doubled, cap_bytes)[: MOST_RETRIES + 1]


def policy_sizes(frames: Mapping[str, pd.DataFrame], settings: ReplaySettings, progress: Progress = silent) -> SizeList:
    """The sizes that a policy gives the next run of every task.

    The kill probability is that of a replay of the task's runs, those included that start at their request because
    fewer than `cold_runs` of their task are known. A task of so few runs keeps its request.

    Raises:
        SettingsError: for more or fewer than one policy, one that looks at the true use, or the published shuffle.
        ColumnMissing, NotEnoughData: as `replay`.
    """
    if len(settings.policies) != 1 or settings.policies[0] in ORACLES:
        raise SettingsError(f"policy is {','.join(settings.policies)!r}; name one that does not look at the true use")
    if settings.protocol == SIZEY:
        raise SettingsError("protocol is 'sizey', which shuffles the runs; sizes of next runs need submit-time")
    name = settings.policies[0]
    progress(None, f"Replaying {name}")
    policy = Workprof(settings.sizing) if name in ("workprof", Workprof.name) else policy_named(name)
    jobs, earlier = latest_of(frames["jobs"], settings.latest_runs)
    runs, (ordered, *_) = ordered_runs({**frames, "jobs": jobs}, settings)
    charges = charge(policy, ordered, settings.retry)
    sizes = []
    for place, past in enumerate(ordered.sequences):
        failures = charges.failures[charges.task == place]
        tested = _Tested.of(len(failures), int((failures > 0).sum()))
        priced = replace(past, mean_run_byte_h=ordered.mean_run_byte_h)
        sizes.append(_of_policy(policy, priced, tested, settings))
    return SizeList(
        source=f"policy {name}",
        settings=settings,
        tested=REPLAYED,
        named=(),
        sizes=tuple(sizes),
        cap_bytes=settings.retry.cap_bytes,
        never=never_run(runs, settings.retry.cap_bytes),
        left_out=earlier | dict(runs.left_out) | ordered.left_out,
        notes=(),
    )


@dataclass(frozen=True)
class _Tested:
    """How many of the runs that were tried were killed, with Wilson's interval."""

    n_tested: int
    n_killed: int
    probability: float
    low: float
    high: float

    @classmethod
    def of(cls, n_tested: int, n_killed: int) -> _Tested:
        interval = wilson(n_killed, n_tested)
        return cls(n_tested, n_killed, n_killed / n_tested if n_tested else math.nan, interval.low, interval.high)


def _of_policy(policy: Policy, past: Sequence, tested: _Tested, settings: ReplaySettings) -> ListedSize:
    """The size of the run that comes after all of a task's."""
    n, retry = len(past), settings.retry
    fewest = getattr(policy, "fewest_known", settings.cold_runs)
    if n < fewest:
        asked = [past.requested_bytes[-1], most_common(past.requested_bytes), retry.node_bytes]
        wanted = only(np.array([next(filter(math.isfinite, asked))]))
        rule, words = UNCHANGED, f"{n:,} run(s) are known, the policy needs {fewest:,}"
    else:
        wanted = lifted_by(retry.rule, policy.sizes(_and_one_more(past), retry), np.array([past.used_bytes.max()]))
        rule, words = policy.name, f"{n:,} run(s) of the task"
    tried = attempt_sizes(wanted, retry, 1 + min(retry.max_retries, MOST_RETRIES))[0].tolist()
    first, *later = _rising(tried, None)
    return ListedSize(
        task=past.task,
        size_name="",
        size_bytes=first,
        next_bytes=tuple(later),
        requested_bytes=most_common(past.requested_bytes),
        largest_bytes=float(past.used_bytes.max()),
        n=n,
        rule=rule,
        sized_from=words,
        n_tested=tested.n_tested,
        n_killed=tested.n_killed,
        kill_probability=tested.probability,
        kill_low=tested.low,
        kill_high=tested.high,
        n_above=int((past.used_bytes > first).sum()),
        too_few=n < FEWEST_RUNS,
    )


def _and_one_more(past: Sequence) -> Sequence:
    """The runs of a task, all known, and one to be sized: of the median input, without a request of its own."""
    return replace(
        past,
        used_bytes=np.append(past.used_bytes, past.used_bytes[-1]),  # of the run to come; nothing reads it
        hours=np.append(past.hours, 0.0),
        requested_bytes=np.append(past.requested_bytes, np.nan),
        inputs=np.append(past.inputs, float(np.median(past.inputs))),
        n_known=len(past),
        schedule=None,
        started_s=np.append(past.started_s, past.ended_s[-1:]),
        ended_s=np.append(past.ended_s, past.ended_s[-1:]),
        labels={name: np.append(codes, -1) for name, codes in past.labels.items()},
    )


SMALLEST_THAT_HOLDS = "smallest size that holds its largest use with the headroom"


def bin_sizes(
    frames: Mapping[str, pd.DataFrame],
    settings: BinSettings,
    cap_bytes: float | None = None,
    progress: Progress = silent,
) -> SizeList:
    """Bins as named sizes, and for every task the smallest that holds its largest use with the headroom.

    Without a task the bins are of all runs together. No size is larger than the cap, and runs that use more can never
    run.

    Raises SettingsError, ColumnMissing and NotEnoughData as `bins_of`.
    """
    result = bins_of(frames, settings, progress)
    every = runs_of(with_killed(frames["jobs"], settings.target), settings.target)
    every = every.of(settings.task) if settings.task else every
    runs = requesting(with_flat_request(every, settings.request_bytes))
    edges = np.unique(np.minimum(result.edges_bytes, math.inf if cap_bytes is None else cap_bytes))
    needed = needed_bytes(runs.used_bytes, settings)
    own, names = own_bins(edges, needed), size_names(len(edges))
    named = []
    for place, (name, edge) in enumerate(zip(names, edges.tolist(), strict=True)):
        tested = _Tested.of(len(runs), int((runs.used_bytes > edge).sum()))
        inside = own == place
        named.append(
            NamedSize(
                name=name,
                size_bytes=edge,
                n_runs=int(inside.sum()),
                hours=float(runs.hours[inside].sum()),
                n_tested=tested.n_tested,
                n_killed=tested.n_killed,
                kill_probability=tested.probability,
                kill_low=tested.low,
                kill_high=tested.high,
            )
        )
    codes = np.unique(runs.task).tolist()
    sizes = tuple(_of_bins(runs.take(runs.task == code), edges, settings, cap_bytes) for code in codes)
    return SizeList(
        source="bins",
        settings=settings,
        tested=f"of a size: all runs of the history started in it; of a task: {TRIED_FORWARD}",
        named=tuple(named),
        sizes=sizes,
        cap_bytes=cap_bytes,
        never=never_run(runs, cap_bytes),
        left_out=dict(runs.left_out),
        notes=result.messages,
    )


def size_names(k: int) -> tuple[str, ...]:
    """Names of k rising sizes: M; S, L; S, M, L; and so on; beyond nine B1, B2, ..."""
    if k > len(_LETTERS):
        return tuple(f"B{place}" for place in range(1, k + 1))
    if k == 2:
        return ("S", "L")
    first = (len(_LETTERS) - k + 1) // 2
    return _LETTERS[first : first + k]


def _of_bins(runs: Runs, edges: Floats, settings: BinSettings, cap_bytes: float | None) -> ListedSize:
    """The size of one task; a retry gets the next larger ones, then twice the largest."""
    names = size_names(len(edges))
    order = np.argsort(np.nan_to_num(runs.submit_s, nan=np.inf), kind="stable")
    used = runs.used_bytes[order]
    most = np.maximum.accumulate(needed_bytes(used, settings))
    own = np.minimum(own_bins(edges, most), len(edges) - 1)
    ends = np.linspace(0, len(runs), N_PARTS + 1).round().astype(np.int64).tolist()
    parts = [(first, last) for first, last in itertools.pairwise(ends) if 0 < first < last]
    killed = sum(int((used[first:last] > edges[own[first - 1]]).sum()) for first, last in parts)
    tested = _Tested.of(sum(last - first for first, last in parts), killed)
    place, n = int(own[-1]), len(runs)
    return ListedSize(
        task=runs.tasks[int(runs.task[0])],
        size_name=names[place],
        size_bytes=float(edges[place]),
        next_bytes=_doubled(tuple(edges[place:].tolist()), cap_bytes)[1:],
        requested_bytes=most_common(runs.requested_bytes),
        largest_bytes=float(used.max()),
        n=n,
        rule=SMALLEST_THAT_HOLDS,
        sized_from=f"{n:,} run(s) of the task; bins of {'it' if settings.task else 'all tasks together'}",
        n_tested=tested.n_tested,
        n_killed=tested.n_killed,
        kill_probability=tested.probability,
        kill_low=tested.low,
        kill_high=tested.high,
        n_above=int((used > edges[place]).sum()),
        too_few=n < FEWEST_RUNS,
    )
