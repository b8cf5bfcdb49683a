"""Bins of a task or a profile: what limits save, what they break, and what more bins would bring."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_of
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import FEWEST_RUNS
from workprof.core.units import GB
from workprof.memory.assessment import wasted_gb_h
from workprof.memory.bin_search import (
    COST,
    COUNT,
    EXACT,
    MOST_BINS,
    PINNED,
    STRIDE,
    BinSettings,
    EdgeChoice,
    best_edges,
    exhaustive_trials,
    needs_of,
    stride_edges,
    usual_stride_bytes,
)
from workprof.memory.usage import (
    NO_TASK,
    Runs,
    UsageCurve,
    requesting,
    runs_of,
    usage_curve,
    with_flat_request,
    with_killed,
)
from workprof.memory.what_if import held_at_once

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SizedRuns:
    """The runs of one task that have a request."""

    used_bytes: Floats  # (n,) above 0
    requested_bytes: Floats  # (n,) above 0
    hours: Floats  # (n,) 0 or more

    @property
    def static_bytes(self) -> float:
        """The one request that stands for the task: the largest, or the largest use where that is more."""
        return float(max(self.requested_bytes.max(), self.used_bytes.max()))


@dataclass(frozen=True)
class BinEffect:
    """What edges would do.

    A run belongs to the smallest edge that holds its use with its headroom. Where none does, the run is above the top
    edge and counts as if it kept its request (or got what it used, where that is more).
    """

    edges_bytes: tuple[float, ...]  # increasing
    optimal_improvement: float  # 1 - sum of edges / (runs x largest request)
    time_based_optimal_improvement: float  # the same with every run weighted by its hours; NaN when no run took time
    saved_share: float  # 1 - sum of edges / sum of requests
    time_based_saved_share: float  # the same weighted by hours
    weighted_saved_share: float  # the same by the weights of the search, which makes just this as large as it can
    saved_gb_h: float  # requested less allotted, GB·h
    bin_runs: Ints  # (k,) runs of each bin; all of them keep their headroom
    bin_hours: Floats  # (k,) hours of each bin
    bin_used_share: Floats  # (k,) sum of use / sum of the edge, NaN for an empty bin
    # (k,) what the run that uses most keeps free, as a share of its use; NaN for an empty bin
    bin_least_headroom: Floats
    n_runs: int  # all runs
    n_above: int  # runs above the top edge; none where the edges were searched
    n_used_above: int  # those of them whose use alone is above it: in the top bin they would be killed
    above_share: float  # the same as a share of the runs
    above_hours_share: float  # and of the hours, 0 when no run took time
    n_over_request: int  # runs that used more than they requested
    messages: tuple[str, ...]  # what was put right in the edges


READ_AGAIN = 1 + 1e-12
"""An edge that was written in GB and read again may have lost its last digit; the run that it was made for stays."""


def own_bins(edges_bytes: Floats, needed_bytes: Floats) -> Ints:
    """(n_runs,) the smallest of (k,) rising edges that holds what each run needs; k where none does."""
    return np.searchsorted(edges_bytes * READ_AGAIN, needed_bytes).astype(np.int64)


def effect_of_edges(
    runs: SizedRuns,
    edges_bytes: tuple[float, ...],
    needed_bytes: Floats | None = None,
    weights: Floats | None = None,
) -> BinEffect:
    """What edges would do to runs: each gets the smallest edge that holds what it needs.

    Edges are put right with a message where they repeat or do not rise. `needed_bytes` (n,) are uses with their
    headroom, without them the uses; `weights` (n,) are of the search, without them the hours.

    Raises SettingsError when there is no edge, or one is not a size above 0.

    Source: The load-aware provisioning thesis, section 6, for the two optimal improvements; the shares of what is
    requested are ours.
    """
    edges, messages = _ordered(edges_bytes)
    places = own_bins(edges, runs.used_bytes if needed_bytes is None else needed_bytes)
    above = places == len(edges)
    allotted = _allotted(runs, edges, places)
    static = np.where(above, runs.static_bytes, allotted)
    ones, hours = np.ones(len(places)), runs.hours
    everyone = np.full(len(places), runs.static_bytes)
    counts, bin_hours, shares, headroom = _per_bin(runs, edges, places)
    return BinEffect(
        edges_bytes=tuple(float(edge) for edge in edges),
        optimal_improvement=saved_share(static, everyone, ones),
        time_based_optimal_improvement=saved_share(static, everyone, hours),
        saved_share=saved_share(allotted, runs.requested_bytes, ones),
        time_based_saved_share=saved_share(allotted, runs.requested_bytes, hours),
        weighted_saved_share=saved_share(allotted, runs.requested_bytes, hours if weights is None else weights),
        saved_gb_h=float(((runs.requested_bytes - allotted) / GB * hours).sum()),
        bin_runs=counts,
        bin_hours=bin_hours,
        bin_used_share=shares,
        bin_least_headroom=headroom,
        n_runs=len(places),
        n_above=int(above.sum()),
        n_used_above=int((runs.used_bytes[above] > edges[-1]).sum()),
        above_share=float(above.mean()),
        above_hours_share=_hours_share(above, hours),
        n_over_request=int((runs.used_bytes > runs.requested_bytes).sum()),
        messages=messages,
    )


def _allotted(runs: SizedRuns, edges: Floats, places: Ints) -> Floats:
    """(n,) the edge that a run gets; above the top one its request, or what it used where that is more."""
    kept = np.maximum(runs.requested_bytes, runs.used_bytes)
    return np.where(places == len(edges), kept, edges[np.minimum(places, len(edges) - 1)])


def _per_bin(runs: SizedRuns, edges: Floats, places: Ints) -> tuple[Ints, Floats, Floats, Floats]:
    """(k,) runs, hours, used share and least headroom of each bin; `places` beyond the last edge are in none."""
    k, inside = len(edges), places < len(edges)
    counts = np.bincount(places[inside], minlength=k).astype(np.int64)
    hours = np.bincount(places[inside], weights=runs.hours[inside], minlength=k).astype(np.float64)
    used = np.bincount(places[inside], weights=runs.used_bytes[inside], minlength=k)
    shares = np.divide(used, counts * edges, out=np.full(k, np.nan), where=counts > 0)
    most = np.zeros(k)
    np.maximum.at(most, places[inside], runs.used_bytes[inside])
    headroom = np.divide(edges, most, out=np.full(k, np.nan), where=counts > 0) - 1.0
    return counts, hours, shares, headroom


def _ordered(edges_bytes: tuple[float, ...]) -> tuple[Floats, tuple[str, ...]]:
    given = np.asarray(edges_bytes, dtype=np.float64)
    if not len(given):
        raise SettingsError("there is no bin edge; give one or more sizes")
    if not (np.isfinite(given) & (given > 0)).all():
        wrong = given[~(np.isfinite(given) & (given > 0))][0]
        raise SettingsError(f"a bin edge is {wrong}; give sizes above 0")
    edges, messages = np.unique(given), []
    if (np.diff(given) < 0).any():
        messages.append("the edges were put in increasing order")
    if len(edges) < len(given):
        messages.append(f"{len(given) - len(edges)} repeated limit(s) were dropped")
    return edges, tuple(messages)


def saved_share(allotted: Floats, requested: Floats, weights: Floats) -> float:
    """1 - weighted sum of what is allotted / weighted sum of what was requested; NaN without any weight."""
    before = float((requested * weights).sum())
    return 1.0 - float((allotted * weights).sum()) / before if before > 0 else float("nan")


def _hours_share(above: Bools, hours: Floats) -> float:
    total = float(hours.sum())
    return float(hours[above].sum()) / total if total > 0 else 0.0


GIVEN = "given"
"""Name of the search when the edges were given."""


@dataclass(frozen=True)
class AtOnce:
    """GB that the runs hold at once, as requested and in the bins; NaN where the table has no times."""

    requested_peak: float
    requested_p95: float  # not exceeded in 95 % of the time with any run
    peak: float
    p95: float


@dataclass(frozen=True, repr=False)
class Bins(Shown):
    """Bin edges of a task."""

    settings: BinSettings  # as asked
    edges_bytes: tuple[float, ...]  # increasing, the headroom in them; fewer than k where more would save nothing
    optimal_improvement: float  # see `BinEffect`
    time_based_optimal_improvement: float  # see `BinEffect`
    search: str  # 'exact' (no k edges make `effect.weighted_saved_share` larger), 'stride' or 'given'
    stride_bytes: float  # of the stride search, else 0
    n_trials: float  # choices that the thesis' exhaustive stride search would try; 0 for the other searches
    static_bytes: float  # the one request that the optimal improvements compare with
    effect: BinEffect  # all figures
    usage: UsageCurve  # the ECDF of what the runs used
    at_once: AtOnce  # behind a count of nodes
    left_out: dict[str, int]  # reason -> rows
    messages: tuple[str, ...]  # what was done otherwise than asked
    seconds: float  # of the computation


@dataclass(frozen=True)
class BinRuns:
    """The runs of a task, ready for a search."""

    runs: SizedRuns  # those that have a request
    weights: Floats  # (n,) by which the search counts them
    start_s: Floats  # (n,) NaN where it is not known
    end_s: Floats  # (n,) the same
    left_out: dict[str, int]  # reason -> rows
    messages: tuple[str, ...]  # what was done otherwise than asked


def bins_of(frames: Mapping[str, pd.DataFrame], settings: BinSettings, progress: Progress = silent) -> Bins:
    """Bins of a task, of a table as `runs_of` takes it, with `price_column` where the settings name one.

    Raises:
        SettingsError: for a task that is not there, or edges that are no sizes.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no run of the task has a request.
    """
    started = time.perf_counter()
    progress(None, "Looking for the best bins")
    result = bin_runs(frames["jobs"], settings)
    runs, given = result.runs, bool(settings.edges_bytes)
    edges = settings.edges_bytes if given else tuple(edge_choices(result, settings)[-1].edges_bytes.tolist())
    needed = needed_bytes(runs.used_bytes, settings)
    effect = effect_of_edges(runs, edges, needed, result.weights)
    limits = np.array(effect.edges_bytes)
    stride = _stride(runs, settings) if settings.search == STRIDE and not given else 0.0
    return Bins(
        settings=settings,
        edges_bytes=effect.edges_bytes,
        optimal_improvement=effect.optimal_improvement,
        time_based_optimal_improvement=effect.time_based_optimal_improvement,
        search=GIVEN if given else settings.search,
        stride_bytes=stride,
        n_trials=exhaustive_trials(stride, runs.static_bytes, settings.k) if stride else 0.0,
        static_bytes=runs.static_bytes,
        effect=effect,
        usage=usage_curve(runs.used_bytes, runs.hours),
        at_once=_at_once(result, _allotted(runs, limits, own_bins(limits, needed))),
        left_out=result.left_out,
        messages=(*result.messages, *effect.messages, *_raised_top(runs, settings, effect)),
        seconds=time.perf_counter() - started,
    )


def _at_once(result: BinRuns, allotted: Floats) -> AtOnce:
    known = np.isfinite(result.start_s) & np.isfinite(result.end_s)
    if not known.any():
        return AtOnce(*[float("nan")] * 4)
    start_s, end_s = result.start_s[known], result.end_s[known]
    ends = (held_at_once(start_s, end_s, one[known] / GB) for one in (result.runs.requested_bytes, allotted))
    return AtOnce(*next(ends), *next(ends))


def _raised_top(runs: SizedRuns, settings: BinSettings, effect: BinEffect) -> tuple[str, ...]:
    top = effect.edges_bytes[-1]
    if settings.top != PINNED or settings.edges_bytes or top <= runs.static_bytes:
        return ()
    return (
        f"the largest bin is {top / GB:.4g} GB in place of the {runs.static_bytes / GB:.4g} GB of the largest request: "
        "the largest use needs it with its headroom",
    )


NO_GAIN = 1e-12
"""Costs nearer to each other than this share differ by rounding alone."""


def edge_choices(result: BinRuns, settings: BinSettings) -> tuple[EdgeChoice, ...]:
    """The best edges for 1 .. k bins; every run has its headroom in the bin that it comes into.

    A pinned top is the largest request, or what the largest run needs where that is more. Of the exact search, a number
    of bins that saves no more than one bin less has the edges of that one.
    """
    runs = result.runs
    needed = needed_bytes(runs.used_bytes, settings)
    top = max(runs.static_bytes, float(needed.max())) if settings.top == PINNED else None
    if settings.search == EXACT:
        choices: list[EdgeChoice] = []
        for choice in best_edges(needs_of(needed, result.weights, top), settings.k):
            gains = not choices or choice.cost < choices[-1].cost * (1 - NO_GAIN)
            choices.append(choice if gains else choices[-1])
        return tuple(choices)
    stride = _stride(runs, settings)
    if top is None:
        top = float(np.ceil(needed.max() / stride) * stride)
    return stride_edges(needed, result.weights, stride, top, settings.k)


def needed_bytes(used_bytes: Floats, settings: BinSettings) -> Floats:
    """(n,) uses with headroom, rounded up to the step; edges of one's own know no step."""
    wanted = used_bytes * (1.0 + settings.headroom)
    if not settings.step_bytes or settings.edges_bytes:
        return wanted
    return np.ceil(wanted / settings.step_bytes) * settings.step_bytes


def bin_runs(jobs: pd.DataFrame, settings: BinSettings) -> BinRuns:
    """The runs of the settings' task that have a request, and their weights."""
    jobs = with_killed(jobs, settings.target)
    runs = runs_of(jobs, settings.target)
    if settings.task:
        runs = runs.of(settings.task)
    runs = requesting(with_flat_request(runs, settings.request_bytes))
    weights, messages = _weights(jobs, runs, settings)
    if n_bounds := int(runs.lower_bound.sum()):
        messages += (
            f"of {n_bounds:,} of {len(runs):,} runs, most killed for memory, only a lower bound of the use is known: "
            "the bins need not hold them",
        )
    sized = SizedRuns(runs.used_bytes, runs.requested_bytes, runs.hours)
    return BinRuns(sized, weights, runs.start_s, runs.end_s, dict(runs.left_out), messages)


def _weights(jobs: pd.DataFrame, runs: Runs, settings: BinSettings) -> tuple[Floats, tuple[str, ...]]:
    ones = np.ones(len(runs))
    if settings.weight == COUNT:
        return ones, ()
    weights, messages = runs.hours, []
    if settings.weight == COST and settings.price_column:
        if settings.price_column not in jobs.columns:
            raise ColumnMissing(f"the table has no column {settings.price_column}; leave the price column empty")
        prices = numbers_of(jobs, settings.price_column)[runs.rows]
        priced = prices >= 0
        if not priced.all():
            messages.append(f"{int((~priced).sum()):,} runs without a price count nothing")
        weights = weights * np.where(priced, prices, 0.0)
    if not weights.sum() > 0:
        return ones, (*messages, f"no run has a {settings.weight} above 0, so every run counts as one")
    return weights, tuple(messages)


def _stride(runs: SizedRuns, settings: BinSettings) -> float:
    return settings.stride_bytes or usual_stride_bytes(runs.static_bytes)


@dataclass(frozen=True)
class NoBins:
    """Savings when every run gets a size of its own, as if its use were known beforehand."""

    optimal_improvement: float  # against the largest request, every run counting as one
    time_based_optimal_improvement: float  # the same, runs weighted by their hours
    saved_share: float  # against the requests of the runs
    time_based_saved_share: float  # the same, runs weighted by their hours
    weighted_saved_share: float  # the same, runs weighted as in the search


@dataclass(frozen=True, repr=False)
class ImprovementCurve(Shown):
    """Savings against the number of bins."""

    settings: BinSettings  # as asked; their k and edges do not matter here
    k: tuple[int, ...]  # (8,) numbers of bins
    edges_bytes: tuple[tuple[float, ...], ...]  # the best edges of each
    optimal_improvement: Floats  # (8,), see `BinEffect`; the other four alike
    time_based_optimal_improvement: Floats
    saved_share: Floats
    time_based_saved_share: Floats
    weighted_saved_share: Floats  # (8,) never falls from one number to the next
    oracle: NoBins  # every run gets exactly what it used, without headroom
    # the bound: every run gets a size of its own, what it used with the headroom and the step of the settings. The
    # bins tend to it, and none of their shares is above it
    continuous: NoBins
    messages: tuple[str, ...]  # what was done otherwise than asked, and what is not known
    seconds: float  # of the computation


def improvement_curve(
    frames: Mapping[str, pd.DataFrame], settings: BinSettings, progress: Progress = silent
) -> ImprovementCurve:
    """The savings of the best 1 to 8 bins of a task.

    Raises:
        SettingsError: for a task that is not there.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no run of the task has a request.
    """
    started = time.perf_counter()
    progress(None, "Looking for the best bins of every number")
    result = bin_runs(frames["jobs"], settings)
    searched = replace(settings, k=MOST_BINS, edges_bytes=())
    needed = needed_bytes(result.runs.used_bytes, searched)
    effects = [
        effect_of_edges(result.runs, tuple(choice.edges_bytes.tolist()), needed, result.weights)
        for choice in edge_choices(result, searched)
    ]
    return ImprovementCurve(
        settings=settings,
        k=tuple(range(1, MOST_BINS + 1)),
        edges_bytes=tuple(effect.edges_bytes for effect in effects),
        optimal_improvement=np.array([effect.optimal_improvement for effect in effects]),
        time_based_optimal_improvement=np.array([effect.time_based_optimal_improvement for effect in effects]),
        saved_share=np.array([effect.saved_share for effect in effects]),
        time_based_saved_share=np.array([effect.time_based_saved_share for effect in effects]),
        weighted_saved_share=np.array([effect.weighted_saved_share for effect in effects]),
        oracle=no_bins(result, result.runs.used_bytes),
        continuous=no_bins(result, needed),
        messages=result.messages,
        seconds=time.perf_counter() - started,
    )


def no_bins(result: BinRuns, sizes_bytes: Floats) -> NoBins:
    """The savings when every run gets its own size, (n,) bytes."""
    runs = result.runs
    ones, everyone = np.ones(len(sizes_bytes)), np.full(len(sizes_bytes), runs.static_bytes)
    return NoBins(
        optimal_improvement=saved_share(sizes_bytes, everyone, ones),
        time_based_optimal_improvement=saved_share(sizes_bytes, everyone, runs.hours),
        saved_share=saved_share(sizes_bytes, runs.requested_bytes, ones),
        time_based_saved_share=saved_share(sizes_bytes, runs.requested_bytes, runs.hours),
        weighted_saved_share=saved_share(sizes_bytes, runs.requested_bytes, result.weights),
    )


PROFILE_COLUMN = "profile of the clustering"
"""Column of the jobs' table with the label of each row: -1 = outlier, NaN = not clustered. No store has such a name."""

LEAST_RUNS = 10
"""Below it every edge is one run's own size."""


@settings
class ProfileBinSettings:
    """Bins of a profile; the task stays empty, as the profile stands in its place."""

    profile: Annotated[int, Setting("Number of the profile in its clustering.", least=0, key="memory_profile")]
    bins: BinSettings = field(default_factory=BinSettings)

    def __post_init__(self) -> None:
        if self.bins.task:
            raise SettingsError(f"bins are of a task or of a profile; leave the task {self.bins.task!r} out")


@dataclass(frozen=True)
class ProfileTask:
    """A task among the runs of a profile, and how many of them are its own."""

    task: str
    n_runs: int


@dataclass(frozen=True, repr=False)
class ProfileBins(Shown):
    """Bins of a profile."""

    settings: ProfileBinSettings  # as asked
    bins: Bins  # of its runs that have a request and a known use; its settings name no task
    n_rows: int  # rows of the profile
    n_not_clustered: int  # rows of the table that no clustering has seen; they are in no profile
    tasks: tuple[ProfileTask, ...]  # of the runs that the bins are made from, the most frequent first
    requested_gb_h: float  # GB·h that these runs request
    used_gb_h: float  # GB·h that they use
    wasted_gb_h: float  # GB·h requested and not used; runs that use more than they request waste nothing
    too_few: bool  # whether there are fewer than `FEWEST_RUNS` of them
    n_killed: int  # runs of these tasks that were killed for memory: they are in no profile, so in no bin
    seconds: float  # of the computation


def profile_bins_of(
    frames: Mapping[str, pd.DataFrame], settings: ProfileBinSettings, progress: Progress = silent
) -> ProfileBins:
    """The bins of a profile: those of `bins_of` on its rows alone, by `PROFILE_COLUMN`; 'killed' are those for memory.

    Raises:
        SettingsError: for a profile that is not there, or edges that are no sizes.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when fewer than `LEAST_RUNS` of its runs have a request and a known use.
    """
    started = time.perf_counter()
    jobs = _members(frames["jobs"], settings.profile)
    runs = _sized_runs(jobs, settings)
    requested, used = runs.requested_bytes / GB, runs.used_bytes / GB
    tasks = _tasks(runs)
    return ProfileBins(
        settings=settings,
        bins=bins_of({"jobs": jobs}, settings.bins, progress),
        n_rows=len(jobs),
        n_not_clustered=int(frames["jobs"][PROFILE_COLUMN].isna().sum()),
        tasks=tasks,
        requested_gb_h=float((requested * runs.hours).sum()),
        used_gb_h=float((used * runs.hours).sum()),
        wasted_gb_h=wasted_gb_h(runs),
        too_few=len(runs) < FEWEST_RUNS,
        n_killed=_of_tasks(frames.get("killed"), {one.task for one in tasks}),
        seconds=time.perf_counter() - started,
    )


def _of_tasks(jobs: pd.DataFrame | None, names: Collection[str]) -> int:
    if jobs is None or jobs.empty:
        return 0
    return int(jobs["task_name"].fillna(NO_TASK).isin(names).sum()) if "task_name" in jobs.columns else len(jobs)


def profile_curve_of(
    frames: Mapping[str, pd.DataFrame], settings: ProfileBinSettings, progress: Progress = silent
) -> ImprovementCurve:
    """The savings of one to eight bins of a profile: those of `improvement_curve` on its rows alone.

    Raises SettingsError, ColumnMissing and NotEnoughData as `profile_bins_of`.
    """
    jobs = _members(frames["jobs"], settings.profile)
    _sized_runs(jobs, settings)
    return improvement_curve({"jobs": jobs}, settings.bins, progress)


def _members(jobs: pd.DataFrame, profile: int) -> pd.DataFrame:
    """The rows of a profile."""
    labels = jobs[PROFILE_COLUMN].to_numpy(dtype=np.float64)
    result: pd.DataFrame = jobs[labels == profile]
    if not len(result):
        known = labels[labels >= 0]
        there = f"profiles 0 to {known.max():.0f}" if len(known) else "no profile, only outliers"
        raise SettingsError(f"there is no profile {profile}; this clustering has {there}")
    return result


def _sized_runs(jobs: pd.DataFrame, settings: ProfileBinSettings) -> Runs:
    """The runs that bins can be made from.

    Raises:
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when there are too few of them.
    """
    try:
        runs = requesting(with_flat_request(runs_of(jobs, settings.bins.target), settings.bins.request_bytes))
        n_runs = len(runs)
    except NotEnoughData:
        n_runs = 0
    if n_runs < LEAST_RUNS:
        raise NotEnoughData(
            f"{n_runs} of the {len(jobs):,} runs of profile {settings.profile} have a request, a use of memory and a "
            f"run time; bins need {LEAST_RUNS}: choose another profile, or give one request for all"
        )
    return runs


def _tasks(runs: Runs) -> tuple[ProfileTask, ...]:
    counts = np.bincount(runs.task, minlength=len(runs.tasks)).tolist()
    result = [ProfileTask(name, count) for name, count in zip(runs.tasks, counts, strict=True) if count]
    return tuple(sorted(result, key=lambda one: -one.n_runs))
