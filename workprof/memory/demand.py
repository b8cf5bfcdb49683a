"""Demand over time: what a profile (a task, ...) holds, uses, submits or takes, and in the weeks to come.

Series of whole bins between the first and the last arrival are taken apart (`workprof.memory.series`). A forecast is
shown only where it beats the last week repeated and the plain level on weeks that were held back.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present
from workprof.core.causes import CAUSES, RUNNING
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import DAY_S, HOUR_S, dated
from workprof.memory.ledger_runs import LedgerRuns, ledger_runs, local_shift_s
from workprof.memory.ledger_settings import MEMORY, TASK, LedgerSettings
from workprof.memory.over_time import Placed, RowsBy, bin_edges, spread
from workprof.memory.series import (
    FALSE_ALARMS,
    FEWEST_BINS,
    FEWEST_CYCLES,
    Parts,
    Season,
    bridged,
    continued,
    taken_apart,
)
from workprof.memory.usage import ALL_RUNS

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 8
"""Rows of their own beside all runs, the largest."""
MOST_NAMED = 5
"""Runs that an anomaly names."""
MOST_BINS = 2_200
"""A quarter of a year of hours; Theil-Sen compares every bin with every other."""
FEWEST_DAYS = 4 * 7
"""Whole days from which bins are days."""
MISSING = 0.05
"""Share of what is held that runs from before the trace may have: bins in which they have more are left out."""
KEPT_SHARE = 0.75
"""Of the bins, at least: where fewer would be left, all stay and the answer says so."""
KNOWN_SHARE = 0.5
"""Of the bins that need a run for a row's durations."""

FEWEST_HELD, MOST_HELD = 4, 12
"""Weeks that a forecast is judged on, the last ones."""
LEARNED_DAYS = 7 * FEWEST_CYCLES
"""Before the first of them."""
BETTER = 0.05
"""Chance of weeks as good where a forecast is no better, by a paired t test against each baseline."""
CONFIDENCE = 0.9

REQUESTED, USED, RUNS, DURATION = "requested", "used", "runs", "duration"
SHORT, LEVEL, WORSE = "short", "level", "worse"
"""Why no forecast is shown: too few weeks; neither season nor trend; no better on the held weeks."""


@settings
class DemandSettings:
    """What is added up, for whom, how long a bin is, and how far the forecast goes."""

    by: RowsBy = ""
    of: Annotated[
        str,
        Setting(
            "What is followed.",
            choices={
                REQUESTED: "GB that runs hold by their requests, on average",
                USED: "GB that they would hold at their peaks, on average",
                RUNS: "runs that arrive",
                DURATION: "median run time of finished runs, by arrival",
            },
            shown={
                REQUESTED: "Requested memory",
                USED: "Used memory",
                RUNS: "Arrivals",
                DURATION: "Run time",
            },
            key="memory_demand_of",
            label="Demand of",
        ),
    ] = REQUESTED
    bins: Annotated[
        str,
        Setting(
            "Length of a time bin.",
            choices={"hour": "one hour", "day": "one day"},
            shown={"auto": "Automatic", "hour": "Hour", "day": "Day"},
            named={"auto": ""},
            empty=f"days from {FEWEST_DAYS} days on, else hours",
            flag="--bin",
            key="memory_demand_bin",
            label="Time bin",
        ),
    ] = ""
    weeks: Annotated[
        int,
        Setting(
            "Weeks that are forecast.",
            unit="weeks",
            least=1,
            most=12,
            key="memory_demand_weeks",
            label="Weeks ahead",
        ),
    ] = 4


@dataclass(frozen=True)
class Slope:
    """The trend, per week."""

    per_week: float
    low: float  # and `high`: 95 %
    high: float


@dataclass(frozen=True)
class LevelChange:
    """A new level."""

    bin: int
    before: float  # mean of the level on this side, up to the next change
    after: float


@dataclass(frozen=True)
class Anomaly:
    """A bin far from what season and level make likely, and who is behind it."""

    bin: int
    value: float
    expected: float
    n_runs: int  # that overlap the bin; of arrivals and run times, that arrive in it
    usual_runs: float  # median over the bins
    task: str  # with most of the value; '' where there are no runs
    task_share: float  # of the value
    row_ids: Ints  # (m,) of the runs with most of it


@dataclass(frozen=True)
class WeeksAhead:
    """The weeks after the last whole day, on average a day; arrays are empty where none is shown."""

    weeks: Floats  # (n_weeks,) and `low`, `high`: 90 % of weeks
    low: Floats
    high: Floats
    days: Floats  # (7 * n_weeks,)
    from_s: float  # the first day begins
    n_held: int  # weeks that it was judged on
    error: float  # and those of the baselines: mean error of a day in them, NaN without any
    error_naive: float  # of the last week repeated
    error_level: float
    why_not: str  # '' = shown, else SHORT, LEVEL or WORSE


@dataclass(frozen=True)
class DemandRow:
    """One series; arrays are (n_bins,)."""

    name: str
    n_runs: int
    amounts: Floats  # NaN = no run tells
    expected: Floats
    seasons: tuple[Season, ...]
    slope: Slope
    changes: tuple[LevelChange, ...]
    anomalies: tuple[Anomaly, ...]
    ahead: WeeksAhead


@dataclass(frozen=True, repr=False)
class Demand(Shown):
    """Demand over time: GB, runs a bin, or seconds."""

    settings: DemandSettings  # as given, with rows and bins named
    edges_s: Floats  # (n_bins + 1,) in the clock of the trace
    dated: bool
    utc_offset_s: float
    rows: tuple[DemandRow, ...]  # all runs first, then the largest
    n_runs: int  # that are in the series
    n_left_out: int  # without a time, a run time, or what is followed
    n_rows_left_out: int  # smaller ones, and those with runs in too few bins for run times
    n_early: int  # first bins of the trace that are left out, as runs from before it would hold more than `MISSING`
    n_unsettled: int  # first bins of the series in which they would, and which stay, as too few would be left
    n_late: int  # last bins in which runs that outlast the trace would hold, or be, more, where it has none that runs
    seconds: float

    @property
    def width_s(self) -> float:
        """Seconds of a bin."""
        return float(self.edges_s[1] - self.edges_s[0])

    def row(self, name: str) -> DemandRow:
        """The row of a name; else all runs."""
        return next((one for one in self.rows if one.name == name), self.rows[0])


@dataclass(frozen=True)
class _Followed:
    """The runs that are followed; arrays are (n,)."""

    of: str
    table_rows: Ints
    start_s: Floats
    end_s: Floats
    who: Ints
    weight: Floats  # GB, 1, or seconds

    def take(self, own: Bools) -> _Followed:
        return _Followed(self.of, *(getattr(self, name)[own] for name in list(self.__dataclass_fields__)[1:]))

    def series(self, edges_s: Floats) -> Floats:
        """(n_bins,) what is followed, in each bin."""
        if self.of in (REQUESTED, USED):
            inside = (self.end_s > edges_s[0]) & (self.start_s < edges_s[-1])
            start, end = np.maximum(self.start_s, edges_s[0]), np.minimum(self.end_s, edges_s[-1])
            one_row = np.zeros(int(inside.sum()), dtype=np.int64)
            placed = Placed(start[inside], end[inside], one_row, edges_s)
            held = spread(placed, self.weight[inside], (1, len(edges_s) - 1))[0]
            return np.asarray(held * HOUR_S / np.diff(edges_s))
        place = np.searchsorted(edges_s, self.start_s, side="right") - 1
        inside = (place >= 0) & (place < len(edges_s) - 1)
        place, weight = place[inside], self.weight[inside]
        if self.of == RUNS:
            return np.bincount(place, minlength=len(edges_s) - 1).astype(np.float64)
        result = np.full(len(edges_s) - 1, np.nan)
        order = np.argsort(place, kind="stable")
        bins, first = np.unique(place[order], return_index=True)
        for one, own in zip(bins.tolist(), np.split(weight[order], first[1:]), strict=True):
            result[one] = np.median(own)
        return result

    def in_bin(self, begin: float, end: float) -> tuple[Ints, Floats]:
        """The runs behind a bin, and what each holds of it."""
        if self.of in (REQUESTED, USED):
            inside = np.minimum(self.end_s, end) - np.maximum(self.start_s, begin)
            own = np.flatnonzero(inside > 0)
            return own, self.weight[own] * inside[own]
        own = np.flatnonzero((self.start_s >= begin) & (self.start_s < end))
        return own, self.weight[own]


def demand_of(frames: Mapping[str, pd.DataFrame], settings: DemandSettings, progress: Progress = silent) -> Demand:
    """The series of all runs and of the largest rows, of finished rows and others.

    Raises:
        ColumnMissing: when run times are absent, the column that makes the rows, or what is followed.
        NotEnoughData: when the trace has too few whole bins.
        SettingsError: when the bins are too many.
    """
    started = time.perf_counter()
    jobs = frames["jobs"]
    runs = ledger_runs(jobs, LedgerSettings(by=settings.by or TASK))
    followed = _followed(jobs, runs, settings.of)
    first, last = float(followed.start_s.min()), float(followed.start_s.max())
    offset, to_monday = local_shift_s(jobs, last), local_shift_s(jobs, last, week=True)
    name = settings.bins or ("day" if last - first >= (FEWEST_DAYS + 1) * DAY_S else "hour")
    edges, days = (_whole_bins(first, last, offset, one) for one in (name, "day"))
    if not FEWEST_BINS < len(edges) <= MOST_BINS:
        other = {("day", True): ": choose hours", ("hour", False): ": choose days"}.get(
            (name, len(edges) <= MOST_BINS), ""
        )
        raise NotEnoughData(
            f"the trace has {max(len(edges) - 1, 0):,} whole {name}s between its first and its last arrival; demand "
            f"over time needs {FEWEST_BINS} to {MOST_BINS:,}{other}"
        )
    n_early, n_unsettled = _early(followed, edges)
    edges, days = edges[n_early:], days[days >= edges[n_early]]
    total = np.bincount(followed.who, weights=_size(followed), minlength=len(runs.whose))
    order = [int(code) for code in np.argsort(-total, kind="stable") if total[code] > 0]
    row_ids = jobs["row_id"].to_numpy(dtype=np.int64) if "row_id" in jobs.columns else np.arange(len(jobs))
    groups = {ALL_RUNS: followed}  # a row of that name has another
    if len(order) > 1:
        names = [f"{name} ({settings.by or TASK})" if name == ALL_RUNS else name for name in runs.whose]
        groups |= {names[code]: followed.take(followed.who == code) for code in order[:MOST_ROWS]}
    rows = []
    for place, (row, own) in enumerate(groups.items()):
        progress(place / len(groups), f"series of {row}")
        values = own.series(edges)
        if np.isfinite(values).mean() >= KNOWN_SHARE:
            behind = _Behind(own, runs, row_ids, edges)
            ahead = _ahead(own, days, to_monday, settings.weeks)
            rows.append(_row(row, values, behind, _periods(edges, to_monday), ahead))
    if not rows:
        raise NotEnoughData(f"fewer than half of the {name}s have a run that tells its run time; choose longer bins")
    return Demand(
        settings=replace(settings, by=settings.by or TASK, bins=name),
        edges_s=edges,
        dated=dated(float(edges[-1])),
        utc_offset_s=offset,
        rows=tuple(rows),
        n_runs=len(followed.start_s),
        n_left_out=len(jobs) - len(followed.start_s),
        n_rows_left_out=len(order) - len(rows) + 1 if len(order) > 1 else 0,
        n_early=n_early,
        n_unsettled=n_unsettled,
        n_late=0 if settings.of != DURATION and _running(runs) else _late(followed, edges),
        seconds=time.perf_counter() - started,
    )


def _followed(jobs: pd.DataFrame, runs: LedgerRuns, of: str) -> _Followed:
    seconds = runs.hours * HOUR_S
    start = np.where(np.isnan(runs.start_s), runs.end_s - seconds, runs.start_s)
    if of in (RUNS, DURATION):
        submitted = numbers_if_present(jobs, "submit_time_s")
        start = start if submitted is None else np.where(np.isnan(submitted), start, submitted)
    weight = np.ones(len(runs))
    if of in (REQUESTED, USED):
        weight = (runs.requested if of == REQUESTED else runs.used)[MEMORY]
    elif of == DURATION:
        weight = np.where(runs.finished, seconds, np.nan)
    if not np.isfinite(weight).any():
        lacks = {REQUESTED: "requested_memory_bytes", USED: "peak_memory_bytes", DURATION: "duration_s"}[of]
        raise ColumnMissing(f"no run has {lacks}, so there is nothing to follow; map it, or choose arrivals")
    known = np.isfinite(start) & np.isfinite(weight) & (np.isfinite(seconds) | (of == RUNS))
    if not known.any():
        raise NotEnoughData("no run says when it ran; map start_time_s, submit_time_s or end_time_s")
    at = np.flatnonzero(known)
    return _Followed(of, at, start[at], (start + np.nan_to_num(seconds))[at], runs.who[at], weight[at])


def _size(followed: _Followed) -> Floats:
    """(n,) by which rows are ranked: GB·s, or runs."""
    held = followed.of in (REQUESTED, USED)
    return followed.weight * (followed.end_s - followed.start_s) if held else np.ones(len(followed.weight))


def _early(followed: _Followed, edges_s: Floats) -> tuple[int, int]:
    """The first bins to leave out, and those that are as incomplete and stay.

    A trace has no run from before its first arrival. Were demand steady, runs would at an age of the trace lack what
    they hold beyond that age, of all that they hold: the mean residual life of renewal theory.
    """
    if followed.of not in (REQUESTED, USED):
        return 0, 0
    ages = edges_s[:-1] - float(followed.start_s.min())
    n_early = int((_beyond(followed, ages) > MISSING).sum())
    n_left = len(ages) - n_early
    return (n_early, 0) if n_left >= max(FEWEST_BINS, KEPT_SHARE * len(ages)) else (0, n_early)


def _running(runs: LedgerRuns) -> bool:
    """Whether the trace holds runs that had not ended."""
    return bool((runs.cause == CAUSES.index(RUNNING)).any())


def _late(followed: _Followed, edges_s: Floats) -> int:
    """The last bins that lack as much where a trace has only runs that had ended by its last moment."""
    return int((_beyond(followed, np.maximum(float(followed.end_s.max()) - edges_s[1:], 0.0)) > MISSING).sum())


def _beyond(followed: _Followed, ages: Floats) -> Floats:
    """Shares of what runs hold that they hold beyond ages; of arrivals and run times, of runs that last longer."""
    seconds = followed.end_s - followed.start_s
    order = np.argsort(seconds, kind="stable")
    longer = np.searchsorted(seconds[order], ages, side="right")  # runs from there on last longer than an age
    if followed.of not in (REQUESTED, USED):
        return np.asarray((len(order) - longer) / len(order))
    held, rate = (
        np.append(np.cumsum(one[order][::-1])[::-1], 0.0) for one in (seconds * followed.weight, followed.weight)
    )
    return np.asarray((held[longer] - ages * rate[longer]) / (held[0] or 1.0))


def _whole_bins(first: float, last: float, offset_s: float, name: str) -> Floats:
    """Edges of the whole bins between the first and the last arrival."""
    edges, _ = bin_edges(first, last, offset_s, name)
    return edges[(edges >= first) & (edges <= last)]


def _periods(edges_s: Floats, to_monday_s: float) -> list[tuple[str, int, int]]:
    """The seasons that bins can have: name, bins, and the phase of the first bin."""
    if len(edges_s) < 2:
        return []
    width = float(edges_s[1] - edges_s[0])
    since_monday = float(edges_s[0]) + to_monday_s
    lengths = {"day": DAY_S, "week": 7 * DAY_S}
    return [
        (name, round(length / width), round((since_monday % length) / width))
        for name, length in lengths.items()
        if length > width
    ]


@dataclass(frozen=True)
class _Behind:
    """Where the runs behind a bin are found."""

    own: _Followed
    runs: LedgerRuns
    row_ids: Ints
    edges_s: Floats

    def anomaly(self, place: int, value: float, expected: float, usual: float) -> Anomaly:
        own, amounts = self.own.in_bin(float(self.edges_s[place]), float(self.edges_s[place + 1]))
        order = own[np.argsort(-amounts, kind="stable")]
        by_task = np.bincount(self.runs.task[self.own.table_rows[own]], weights=amounts) if len(own) else np.zeros(0)
        task = self.runs.tasks[int(by_task.argmax())] if len(own) else ""
        share = float(by_task.max() / by_task.sum()) if len(own) and by_task.sum() > 0 else math.nan
        named = self.row_ids[self.own.table_rows[order[:MOST_NAMED]]]
        return Anomaly(place, value, expected, len(own), usual, task, share, named)

    def chance(self, value: float, expected: float) -> float:
        """Of a bin as far out, were runs to arrive at random; 0 for run times, which no run adds to.

        Source: The scaled Poisson distribution of weighted counts (Bohm & Zech 2014): few or large runs make a sum far
        from normal.
        """
        from scipy.special import gammainc, gammaincc  # noqa: PLC0415  heavy

        own = self.own
        if own.of == DURATION:
            return 0.0
        unit = 1.0
        if own.of in (REQUESTED, USED):
            bins = (own.end_s - own.start_s) / float(self.edges_s[1] - self.edges_s[0])
            held = own.weight * np.minimum(bins, 1.0)  # of a bin, in as many as a run overlaps
            unit = float((np.maximum(bins, 1.0) * held**2).sum() / (np.maximum(bins, 1.0) * held).sum())
        count, rate = value / unit, max(expected, 0.0) / unit
        return float(gammainc(count, rate) if value > expected else gammaincc(count + 1.0, rate))

    def counts(self) -> Floats:
        """(n_bins,) runs behind each bin."""
        edges, own = self.edges_s, self.own
        if own.of in (REQUESTED, USED):
            begun = np.searchsorted(np.sort(own.start_s), edges[1:], side="left")
            ended = np.searchsorted(np.sort(own.end_s), edges[:-1], side="right")
            return (begun - ended).astype(np.float64)
        return np.diff(np.searchsorted(np.sort(own.start_s), edges, side="left")).astype(np.float64)


def _row(
    name: str, values: Floats, behind: _Behind, periods: list[tuple[str, int, int]], ahead: WeeksAhead
) -> DemandRow:
    parts = taken_apart(bridged(values), periods)
    bins_a_week = 7 * DAY_S / float(behind.edges_s[1] - behind.edges_s[0])
    usual = float(np.median(behind.counts()))
    level = FALSE_ALARMS / (2 * len(values))
    known = values[np.isfinite(values)]
    least = 0.0 if np.median(known) > 0 else float(known.mean())  # where most bins are empty, the level is none
    told = [
        place
        for place in parts.anomalies.tolist()
        if math.isfinite(values[place])
        and behind.chance(float(values[place]), max(float(parts.expected[place]), least)) < level
    ]
    return DemandRow(
        name=name,
        n_runs=len(behind.own.start_s),
        amounts=values,
        expected=parts.expected,
        seasons=parts.seasons,
        slope=Slope(*(bins_a_week * each for each in (parts.trend.per_bin, parts.trend.low, parts.trend.high))),
        changes=_level_changes(parts),
        anomalies=tuple(
            behind.anomaly(place, float(values[place]), float(parts.expected[place]), usual) for place in told
        ),
        ahead=ahead,
    )


def _level_changes(parts: Parts) -> tuple[LevelChange, ...]:
    means = [float(own.mean()) for own in np.split(parts.level, parts.changes)]
    return tuple(
        LevelChange(place, before, after)
        for place, before, after in zip(parts.changes.tolist(), means[:-1], means[1:], strict=True)
    )


def _ahead(own: _Followed, days: Floats, to_monday_s: float, n_weeks: int) -> WeeksAhead:
    """The weeks to come, where days tell more than the last week and the level, on the weeks held back."""
    values, none = own.series(days) if len(days) > 1 else np.zeros(0), np.zeros(0)
    end = float(days[-1]) if len(days) else math.nan
    if len(values) < LEARNED_DAYS + 7 * FEWEST_HELD or np.isfinite(values).mean() < KNOWN_SHARE:
        return WeeksAhead(none, none, none, none, end, 0, math.nan, math.nan, math.nan, SHORT)
    periods = _periods(days, to_monday_s)
    return forecast(bridged(values), periods, n_weeks, end)


def forecast(values: Floats, periods: list[tuple[str, int, int]], n_weeks: int, from_s: float = 0.0) -> WeeksAhead:
    """The weeks after (n,) daily values, n at least `LEARNED_DAYS` and four weeks.

    Every held week is forecast from the ends of up to `n_weeks` weeks before it, each time from the days until then.
    """
    n, none = len(values), np.zeros(0)
    n_held = min(MOST_HELD, (n - LEARNED_DAYS) // 7)
    days, _, told = continued(values, periods, 7 * n_weeks)
    errors = _held_errors(values, periods, n_weeks, n_held)
    by_week = np.array([[np.mean(lead[week]) for week in range(n_held)] for lead in errors.daily])
    error, naive, level = by_week.mean(axis=1).tolist()
    why_not = LEVEL if not told else "" if all(_beats(by_week[0], other) for other in by_week[1:]) else WORSE
    if why_not:
        return WeeksAhead(none, none, none, none, from_s, n_held, error, naive, level, why_not)
    weeks = days.reshape(n_weeks, 7).mean(axis=1)
    reach = _reach(errors.weekly)
    low, high = np.maximum(weeks - reach, 0.0), weeks + reach
    return WeeksAhead(weeks, low, high, days, from_s, n_held, error, naive, level, "")


@dataclass(frozen=True)
class _Held:
    daily: tuple[list[list[float]], ...]  # of forecast, last week repeated and level: by week, of each lead
    weekly: list[list[float]]  # by lead, errors of a week's mean


def _held_errors(values: Floats, periods: list[tuple[str, int, int]], n_weeks: int, n_held: int) -> _Held:
    n = len(values)
    daily: tuple[list[list[float]], ...] = tuple([[] for _ in range(n_held)] for _ in range(3))
    weekly: list[list[float]] = [[] for _ in range(n_weeks)]
    for before in range(n_held, 0, -1):  # weeks between the origin and the end
        origin = n - 7 * before
        leads = min(n_weeks, before)
        made, flat, _ = continued(values[:origin], periods, 7 * leads)
        repeated = np.tile(values[origin - 7 : origin], leads)
        for lead in range(leads):
            own = slice(7 * lead, 7 * lead + 7)
            truth = values[origin:][own]
            for found, errors in zip((made, repeated, flat), daily, strict=True):
                errors[n_held - before + lead].append(float(np.abs(found[own] - truth).mean()))
            weekly[lead].append(float(made[own].mean() - truth.mean()))
    return _Held(daily, weekly)


def _beats(error: Floats, other: Floats) -> bool:
    """Whether (n_held,) errors are smaller than others, beyond chance."""
    from scipy.stats import ttest_rel  # noqa: PLC0415  heavy

    if not np.ptp(error - other) > 0:
        return bool((error < other).all())
    return bool(ttest_rel(error, other, alternative="less").pvalue < BETTER)


def _reach(weekly: list[list[float]]) -> Floats:
    """(n_weeks,) half of the interval of a week's mean by its lead; a far week is never surer than a near one."""
    from scipy.stats import t  # noqa: PLC0415  heavy

    result, every = [], [one for errors in weekly for one in errors]
    for errors in weekly:
        own = np.array(errors if len(errors) >= FEWEST_HELD else every)
        wide = float(np.sqrt(np.mean(own**2) * (1 + 1 / len(own))))
        result.append(float(t.isf((1 - CONFIDENCE) / 2, len(own) - 1)) * wide)
    return np.maximum.accumulate(np.array(result))
