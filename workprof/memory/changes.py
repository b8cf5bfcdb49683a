"""What changed since the week or month before: the last full one on the trace's own clock, and the one before it.

Runs count where they start. Waste and kills are the ledger's, rows are compared as `workprof compare` does. Advice is
the verdict on the runs before the last period; `realised` says which rows followed it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present
from workprof.core.causes import OUT_OF_MEMORY, TIMED_OUT
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.scope import TO, bounds, earlier, period_words
from workprof.core.shown import Shown
from workprof.core.units import DAY_S, GB, dated
from workprof.memory.comparison import Comparison, Side, durations_of, parts_of
from workprof.memory.ledger import LedgerRow, rows_of
from workprof.memory.ledger_runs import MONDAY_S, ledger_runs, local_shift_s
from workprof.memory.ledger_settings import LedgerPrices, LedgerSettings, usual_rows
from workprof.memory.over_time import RowsBy
from workprof.memory.realised import BY_CHANCE, RealisedSaving, changed, realised_of, verdict_advice
from workprof.memory.resources import resources_of
from workprof.memory.verdict import VerdictSettings, verdict_of

if TYPE_CHECKING:
    import pandas as pd

WEEK, MONTH = "week", "month"
WEEK_DAYS, UNDATED_MONTH_DAYS = 7, 28
LEAST_RUNS = 5
"""Runs of a row on each side, from where on it can get worse."""
WORSE = 0.1
"""What a row leaves unused in an hour of work rose by more than this share of its request, or its kills of its runs."""
KILLS = (OUT_OF_MEMORY, TIMED_OUT)
MISSING = 0.01
"""A period is full when less than this share of it is missing: the last run of a week rarely ends as the week does."""
OTHER_PERIODS = "Compare takes any two periods (in a shell, workprof compare)"


@settings
class ChangesSettings:
    """Which period, and what rows are."""

    since: Annotated[
        str,
        Setting(
            "Length of the period: the last full one is set against the one before.",
            choices={WEEK: "Monday to Sunday, or seven days", MONTH: "a calendar month, or 28 days"},
            shown={WEEK: "Week", MONTH: "Month"},
            key="home_since",
            label="Since last",
        ),
    ] = WEEK
    by: RowsBy = ""


@dataclass(frozen=True)
class Worse:
    """A key of which later runs leave more memory unused in an hour of work, or are killed more often."""

    key: dict[str, str]  # column -> value
    request: tuple[float, float]  # GB, on average over the hours, of both periods
    unused: tuple[float, float]  # GB that are not used, on average over the hours
    n_runs: tuple[int, int]
    n_killed: tuple[int, int]  # for memory
    extra: float  # GB·h that the later hours leave unused beyond the earlier rate


@dataclass(frozen=True)
class Drifted:
    """A measured quantity whose finished runs are unlike those of the period before, beyond chance."""

    what: str  # 'duration', 'memory use' or 'memory request'
    unit: str  # 's' or 'GB'
    before: float  # median of a run
    after: float


@dataclass(frozen=True)
class DegradedNode:
    """A node whose newest run of some benchmark is flagged."""

    dataset: str  # name of the benchmark runs
    hash: str
    node: str
    benchmarks: tuple[str, ...]
    probability: float  # the largest of these runs; NaN where there were no labels to learn from


@dataclass(frozen=True, repr=False)
class Changes(Shown):
    """The last full period and the one before it."""

    settings: ChangesSettings  # with `by` named
    periods: tuple[str, str]  # the one before and the last, as `--period` takes them
    days: tuple[float, float]  # how long they are
    newest_s: float  # latest moment of the trace, on its clock
    dated: bool  # whether that clock shows dates
    begins_within: bool  # whether the trace begins within the period before
    compared: Comparison
    taken_up: RealisedSaving | None  # of rows that the runs before the last period advised; None = none could be
    worse: tuple[Worse, ...]  # that with most further unused memory first
    drift: tuple[Drifted, ...]
    degraded: tuple[DegradedNode, ...] = ()  # of the home's benchmark runs, as last detected
    seconds: float = 0.0

    @property
    def kills(self) -> tuple[int, int]:
        """Runs that were killed for memory or timed out, of both periods."""
        before, after = (side.totals.ended(*KILLS) for side in self.compared.sides)
        return before, after


def changes_of(frames: Mapping[str, pd.DataFrame], settings: ChangesSettings, progress: Progress = silent) -> Changes:
    """What changed in a job table: all rows, finished or not, with `PROFILE_COLUMN` for rows by profile.

    Raises:
        ColumnMissing: when no run tells a start, or no run time.
        NotEnoughData: when one of the two periods has no run.
    """
    started = time.perf_counter()
    progress(None, "Comparing the last period with the one before")
    jobs = frames["jobs"]
    begin, newest = _clock(jobs)
    offset = local_shift_s(jobs, newest)
    has_dates = dated(float(np.nanmax(begin)))
    last = last_period(settings.since, newest + offset, has_dates=has_dates)
    periods = earlier(last), last
    edges = [bounds(one, dates=has_dates, utc_offset_s=offset) for one in periods]
    inside = [(begin >= (low or 0.0)) & (begin < (high or 0.0)) for low, high in edges]
    for period, own in zip(periods, inside, strict=True):
        if not own.any():
            raise NotEnoughData(
                f"two full {settings.since}s are compared, and no run starts in {period_words(period)}; the newest "
                f"moment is {_moment_words(newest + offset, has_dates=has_dates)}. {OTHER_PERIODS}"
            )
    settings = replace(settings, by=settings.by or usual_rows([str(name) for name in jobs if jobs[name].notna().any()]))
    parts = [jobs[own].reset_index(drop=True) for own in inside]
    ledgers = [_ledger(one, settings.by) for one in parts]
    sides = [_side(period, one, own[0]) for period, one, own in zip(periods, parts, ledgers, strict=True)]
    low_s = float(edges[1][0] or 0.0)
    progress(0.5, "Looking at the rows of the verdict")
    return Changes(
        settings=settings,
        periods=periods,
        days=(_days(edges[0]), _days(edges[1])),
        newest_s=newest,
        dated=has_dates,
        begins_within=float(np.nanmin(begin)) > float(edges[0][0] or 0.0),
        compared=Comparison(settings.by, (sides[0], sides[1]), parts_of((ledgers[0][1], ledgers[1][1]))),
        taken_up=_taken_up(jobs, begin, low_s, float(edges[1][1] or 0.0), last),
        worse=_worse(parts),
        drift=_drift(parts),
        seconds=time.perf_counter() - started,
    )


def refuse_short(first_s: float, last_s: float, since: str, offset_s: float) -> None:
    """Refuse a trace, by its first start and last moment, that begins within its last full period.

    Raises NotEnoughData.
    """
    has_dates = dated(last_s)
    newest_s = last_s + (offset_s if has_dates else 0.0)
    period = last_period(since, newest_s, has_dates=has_dates)
    low, _ = bounds(period, dates=has_dates, utc_offset_s=offset_s)
    if first_s >= (low or 0.0):
        raise NotEnoughData(
            f"no run starts before the last full {since} ({period_words(period)}), so there is nothing to compare; the "
            f"newest moment is {_moment_words(newest_s, has_dates=has_dates)}. {OTHER_PERIODS}"
        )


def _moment_words(moment_s: float, *, has_dates: bool) -> str:
    """A moment in the trace's zone."""
    if not has_dates:
        return f"day {moment_s / DAY_S:.1f}"
    return f"{datetime.fromtimestamp(moment_s, UTC):%Y-%m-%d %H:%M}"


def _days(edges: tuple[float | None, float | None]) -> float:
    return ((edges[1] or 0.0) - (edges[0] or 0.0)) / DAY_S


def _clock(jobs: pd.DataFrame) -> tuple[Floats, float]:
    """(n,) when runs start, or were submitted where they never did; and the latest moment of any.

    An end of a run without a duration is none: the import found it far after all others, and told it.
    """
    nothing = np.full(len(jobs), np.nan)
    found = [numbers_if_present(jobs, name) for name in ("start_time_s", "submit_time_s", "end_time_s", "duration_s")]
    start, submit, end, duration = (nothing if one is None else one for one in found)
    begin = np.where(np.isfinite(start), start, submit)
    if not np.isfinite(begin).any():
        raise ColumnMissing("no run tells its start, so nothing says what changed; map start_time_s")
    wrong = np.isfinite(start) & ~np.isfinite(duration) if found[-1] is not None else np.zeros(len(jobs), dtype=bool)
    moments = np.concatenate([begin, end[~wrong]])
    return begin, float(moments[np.isfinite(moments)].max())


def last_period(since: str, newest_s: float, *, has_dates: bool) -> str:
    """The last full week or month before a moment, as `--period` takes it; the moment is in the trace's zone."""
    width = WEEK_DAYS if since == WEEK else UNDATED_MONTH_DAYS
    newest_s += MISSING * width * DAY_S
    if not has_dates:
        end = math.floor(newest_s / DAY_S / width) * width
        return f"{end - width}{TO}{end}"
    if since == WEEK:
        monday = math.floor((newest_s + MONDAY_S) / (WEEK_DAYS * DAY_S)) * WEEK_DAYS * DAY_S - MONDAY_S
        first, after = (datetime.fromtimestamp(monday - days * DAY_S, UTC) for days in (WEEK_DAYS, 1))
        return f"{first:%Y-%m-%d}{TO}{after:%Y-%m-%d}"
    now = datetime.fromtimestamp(newest_s, UTC)
    return f"{now.year - (now.month == 1)}-{(now.month - 2) % 12 + 1:02d}"


def _ledger(jobs: pd.DataFrame, by: str) -> tuple[LedgerRow, tuple[LedgerRow, ...]]:
    """The sums of all runs, and those of each row."""
    runs, prices = ledger_runs(jobs, LedgerSettings(by=by)), LedgerPrices()
    whole = rows_of(runs, np.zeros(len(runs), dtype=np.int64), ("total",), prices)[0]
    return whole, rows_of(runs, runs.who, runs.whose, prices)


def _finished(jobs: pd.DataFrame, name: str) -> Floats:
    """(n,) values of the finished runs; (0,) where nothing tells them."""
    values = numbers_if_present(jobs, name)
    if values is None:
        return np.zeros(0)
    return values[np.asarray(jobs["finished"], dtype=bool)] if "finished" in jobs else values


def _side(period: str, jobs: pd.DataFrame, totals: LedgerRow) -> Side:
    users = jobs["user"].nunique() if "user" in jobs and jobs["user"].notna().any() else None
    return Side(period, users, durations_of(_finished(jobs, "duration_s")), totals, None)


def _taken_up(jobs: pd.DataFrame, begin: Floats, low_s: float, high_s: float, last: str) -> RealisedSaving | None:
    """Which rows of the verdict on the runs before the last period its runs follow."""
    before = jobs[~(begin >= low_s)].reset_index(drop=True)
    try:
        rows = verdict_of({"jobs": before}, VerdictSettings()).memory.rows
        until = jobs[~(begin >= high_s)].reset_index(drop=True)
        return realised_of(until, verdict_advice(rows, low_s), f"the verdict on runs before {period_words(last)}")
    except (ColumnMissing, NotEnoughData):
        return None


def _worse(parts: list[pd.DataFrame]) -> tuple[Worse, ...]:
    """The keys that got worse beyond chance: of many keys with few runs some always seem so."""
    try:
        first, second = (_sums(one) for one in parts)
    except (ColumnMissing, NotEnoughData):
        return ()
    found = []
    for key, (now, unused_now) in second.items():
        then, unused_then = first.get(key, (now, unused_now[:0]))
        if min(len(unused_then), len(unused_now)) < LEAST_RUNS or not (then[1] > 0 and now[1] > 0):
            continue
        request, unused = ((then[at] / then[1], now[at] / now[1]) for at in (2, 3))
        more, kills, counts = unused[1] - unused[0], (int(then[4]), int(now[4])), (int(then[0]), int(now[0]))
        wasteful = more > WORSE * request[0] and _rose(unused_then, unused_now)
        if wasteful or (kills[1] / counts[1] > kills[0] / counts[0] + WORSE and _more_often(kills, counts)):
            found.append(Worse(dict(key), request, unused, counts, kills, more * now[1] if wasteful else 0.0))
    return tuple(sorted(found, key=lambda one: (-one.extra, -one.n_killed[1], sorted(one.key.items()))))


def _rose(before: Floats, after: Floats) -> bool:
    """Whether (n,) values are below (m,) later ones beyond chance (Mann-Whitney)."""
    from scipy.stats import mannwhitneyu  # noqa: PLC0415  heavy

    return bool(mannwhitneyu(before, after, alternative="less").pvalue < BY_CHANCE)


def _more_often(killed: tuple[int, int], runs: tuple[int, int]) -> bool:
    """Whether a share rose beyond chance (Fisher's exact test)."""
    from scipy.stats import hypergeom  # noqa: PLC0415  heavy

    return bool(hypergeom.sf(killed[1] - 1, sum(runs), sum(killed), runs[1]) < BY_CHANCE)


def _sums(jobs: pd.DataFrame) -> dict[tuple[tuple[str, str], ...], tuple[Floats, Floats]]:
    """Of each key that people know: runs, hours, requested and unused GB·h, kills; GB that each run leaves unused."""
    memory = resources_of(jobs, "peak_rss", 0.0)[0]
    runs = memory.runs
    level = next((at for at, names in enumerate(memory.columns) if "request" not in names), 0)
    code: Ints = runs.levels[level]
    n = int(code.max(initial=-1)) + 1
    unused = np.maximum(runs.request - runs.use, 0.0)
    values: tuple[Floats | Bools, ...] = (np.ones(len(runs)), runs.hours, runs.booked, unused * runs.hours, runs.killed)
    sums = np.stack([np.bincount(code, one.astype(np.float64), n) for one in values], axis=1)
    kinds, lead, counts = np.unique(code, return_index=True, return_counts=True)
    keys = (tuple(memory.key_of(run, level).items()) for run in lead.tolist())
    own = np.split(unused[np.argsort(code, kind="stable")], np.cumsum(counts)[:-1])
    return {key: (sums[kind], left) for kind, key, left in zip(kinds.tolist(), keys, own, strict=True)}


MEASURED = (
    ("duration", "duration_s", "s", 1.0),
    ("memory use", "peak_memory_bytes", "GB", GB),
    ("memory request", "requested_memory_bytes", "GB", GB),
)


def _drift(parts: list[pd.DataFrame]) -> tuple[Drifted, ...]:
    """What moved beyond chance of the finished runs."""
    result = []
    for what, column, unit, scale in MEASURED:
        found = [_finished(one, column) for one in parts]
        before, after = (one[np.isfinite(one) & (one > 0)] / scale for one in found)
        if changed(before, after):
            result.append(Drifted(what, unit, float(np.median(before)), float(np.median(after))))
    return tuple(result)
