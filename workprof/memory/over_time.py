"""Where and when memory lies idle: requested, used and unused GB·h of the runs of a profile (a task, ...) in time bins.

A run counts in every bin that it overlaps, with the hours that it spends there. What is requested, used and unused is
the ledger's (`workprof.memory.ledger_runs`), so the sums over all bins are the ledger's own.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints, Positions
from workprof.core.causes import KILLS, LOWER_BOUND
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.long_table import AT_ONCE, JobTable, parts_of, rows_at
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import DAY_S, HOUR_S, MINUTE_S, dated
from workprof.memory.ledger_runs import MONDAY_S, NO_RUN_TIMES, last_moment, local_shift_s, runs_until
from workprof.memory.ledger_settings import GROUPINGS, MEMORY, PROFILE, TASK, USER, LedgerSettings

if TYPE_CHECKING:
    import pandas as pd

WEEK_S = 7 * DAY_S
WIDTHS = {
    "minute": MINUTE_S,
    "10min": 10 * MINUTE_S,
    "hour": HOUR_S,
    "6h": 6 * HOUR_S,
    "day": DAY_S,
    "week": WEEK_S,
    "4weeks": 4 * WEEK_S,
    "year": 52 * WEEK_S,
}
"""Seconds of a bin by its name, the finest first."""

BIN_WORDS = {
    "minute": "Minute",
    "10min": "10 minutes",
    "hour": "Hour",
    "6h": "6 hours",
    "day": "Day",
    "week": "Week",
    "4weeks": "4 weeks",
    "year": "52 weeks",
}
ENOUGH_BINS = 120
"""The finest bins that are no more than so many are taken where none are named."""
MOST_BINS = 5_000
MOST_ROWS = 40
"""Rows with a line of their own; what the others hold is added up in one."""
OTHERS = "all others"

FEWEST_BINS = 8
FAR_OUT = 3.0
"""Interquartile ranges above the upper quartile: Tukey's 'far out'."""
BURST_SHARE = 0.1
"""Of what lies idle in such a bin: a row with less is no burst."""
BURST_FACTOR = 3.0
"""Times what the row leaves idle in an average other bin."""


RowsBy = Annotated[
    str,
    Setting(
        "What a row is.",
        choices={
            PROFILE: "runs that behave alike",
            TASK: "tasks of the same name",
            USER: "who submitted the runs",
            "group": "their group",
        },
        shown={PROFILE: "Profile", TASK: "Task", USER: "User", "group": "Group"},
        empty="profiles once they are found, else tasks, users or groups",
        key="home_by",
        label="Show by",
    ),
]


@settings
class OverTimeSettings:
    """What a row is, how long a bin is, and whether bursts count."""

    by: RowsBy = ""
    bins: Annotated[
        str,
        Setting(
            "Length of a time bin.",
            choices={name: words.lower() for name, words in BIN_WORDS.items()},
            shown=BIN_WORDS | {"auto": "Automatic"},
            named={"auto": ""},
            empty=f"the shortest with at most {ENOUGH_BINS} bins",
            flag="--bin",
            key="home_bin",
            label="Time bin",
        ),
    ] = ""
    leave_out_bursts: Annotated[
        bool,
        Setting(
            "Bursts do not count: a row in a bin in which far more than usual lies idle.",
            key="home_bursts",
            label="Exclude bursts",
        ),
    ] = False


def read_over_time(by: str) -> tuple[str, ...]:
    """The columns of which memory over time is made, by what a row is."""
    times = ("submit_time_s", "start_time_s", "end_time_s", "duration_s")
    amounts = ("requested_memory_bytes", "peak_memory_bytes", LOWER_BOUND)
    return ("task_name", *GROUPINGS[by or TASK], *times, *amounts, "status", KILLS, "windows")


@dataclass(frozen=True)
class IdleBurst:
    """A row in a bin in which far more than usual lies idle."""

    row: str
    bin: int  # place of the bin
    unused_gb_h: float  # that the row leaves idle there
    share: float  # of what lies idle in all bins, 0-1
    n_runs: int  # that overlap the bin


@dataclass(frozen=True, repr=False)
class OverTime(Shown):
    """Memory over time: arrays are (rows, bins), in GB·h."""

    settings: OverTimeSettings  # as given, with rows and bins named
    # names, the one that leaves most idle first; `OTHERS` last where there are more than `MOST_ROWS`
    rows: tuple[str, ...]
    edges_s: Floats  # (bins + 1,) in the clock of the trace
    dated: bool  # whether that clock shows dates; else it counts from a beginning of its own
    utc_offset_s: float  # to add for the local time of day; 0 on a clock without dates
    # and `used`, `unused`: of the runs whose waste is known; a run that uses more than it requests leaves none
    requested: Floats
    used: Floats
    unused: Floats
    n_runs: Ints  # that overlap the bin
    bursts: tuple[IdleBurst, ...]  # the largest first; they are in the arrays unless the settings exclude them
    n_judged: int  # finished runs with request, use and run time
    n_without_time: int  # of these, those in no bin: neither start nor end nor submission is known
    n_not_judged: int  # the other finished runs
    n_unfinished: int  # runs that ended otherwise, or have not
    # and `total_used`, `total_unused`: of all judged runs, those without times and in bursts among them
    total_requested: float
    total_used: float
    total_unused: float
    seconds: float

    @property
    def width_s(self) -> float:
        """Seconds of a bin."""
        return float(self.edges_s[1] - self.edges_s[0])


@dataclass(frozen=True)
class Placed:
    """Runs with a known start and the bins that they are laid into; `code` is the row of each."""

    start_s: Floats
    end_s: Floats
    code: Ints | Positions
    edges_s: Floats


@dataclass(frozen=True)
class _Placed(Placed):
    """The judged runs, in the order of the table."""

    settings: OverTimeSettings
    table_rows: Ints
    names: tuple[str, ...]
    requested_gb: Floats
    used_gb: Floats
    dated: bool
    utc_offset_s: float  # 0 on a clock without dates
    last_s: float  # the last moment of the trace
    n_unfinished: int
    n_finished: int
    n_judged: int  # with those whose time is not known
    held: tuple[float, float, float]  # GB·h that all judged runs requested, used and left unused

    @property
    def unused_gb(self) -> Floats:
        """(n,) what a run leaves idle at every moment."""
        return np.maximum(self.requested_gb - self.used_gb, 0.0)


def over_time_of(frames: Mapping[str, JobTable], settings: OverTimeSettings, progress: Progress = silent) -> OverTime:
    """Requested, used and unused GB·h by row and time bin, of finished rows and others, with `finished`.

    `PROFILE_COLUMN` is there for rows by profile.

    Raises:
        ColumnMissing: when run times are absent, or the column that makes the rows.
        NotEnoughData: when no finished run has request, use, run time and a place in time.
        SettingsError: when the named bins are too many for the trace.
    """
    started = time.perf_counter()
    progress(None, "Adding up memory over time")
    jobs = frames["jobs"]
    placed = _placed(jobs, settings)
    shape = (len(placed.names), len(placed.edges_s) - 1)
    requested, used, unused = (
        spread(placed, rate, shape) for rate in (placed.requested_gb, placed.used_gb, placed.unused_gb)
    )
    n_runs = overlapping(placed, shape)
    bursts = _bursts(placed.names, unused, n_runs)
    if settings.leave_out_bursts:
        for one in bursts:
            place = (placed.names.index(one.row), one.bin)
            requested[place] = used[place] = unused[place] = 0.0
            n_runs[place] = 0
    total_requested, total_used, total_unused = placed.held
    return OverTime(
        settings=placed.settings,
        rows=placed.names,
        edges_s=placed.edges_s,
        dated=placed.dated,
        utc_offset_s=placed.utc_offset_s,
        requested=requested,
        used=used,
        unused=unused,
        n_runs=n_runs,
        bursts=bursts,
        n_judged=placed.n_judged,
        n_without_time=placed.n_judged - len(placed.table_rows),
        n_not_judged=placed.n_finished - placed.n_judged,
        n_unfinished=placed.n_unfinished,
        total_requested=total_requested,
        total_used=total_used,
        total_unused=total_unused,
        seconds=time.perf_counter() - started,
    )


@dataclass(frozen=True)
class _Part:
    """The judged runs with a start among some rows of a table, and sums over all judged ones there."""

    table_rows: Ints
    start_s: Floats
    seconds: Floats
    code: Positions  # of the row
    requested_gb: Floats
    used_gb: Floats
    idle: Floats  # GB·h by row
    held: Floats  # (3,) requested, used and unused GB·h
    counts: Ints  # (3,) finished, judged, and with a run time


def _placed(jobs: JobTable, settings: OverTimeSettings) -> _Placed:
    if not len(jobs):
        raise NotEnoughData("the table has no rows, so there is nothing to add up")
    settings = replace(settings, by=settings.by or TASK)
    last, code_of, begin = last_moment(jobs), dict[str, int](), 0
    parts = []
    for rows in parts_of(jobs):
        parts.append(_part(rows, begin, settings.by, last, code_of))
        begin += len(rows)
    n_finished, n_judged, n_timed = np.sum([one.counts for one in parts], axis=0).tolist()
    if not n_timed:
        raise ColumnMissing(NO_RUN_TIMES)
    if not n_judged:
        raise NotEnoughData("no finished run has a memory request, a use of memory and a run time")
    start, seconds = (np.concatenate([getattr(one, name) for one in parts]) for name in ("start_s", "seconds"))
    if not len(start):
        raise NotEnoughData("no run with a memory request and a use says when it ran; map start_time_s or end_time_s")
    end = np.add(start, seconds, out=seconds)
    offset = local_shift_s(jobs, float(start.max()))
    edges, name = bin_edges(float(start.min()), float(end.max()), offset, settings.bins)
    code = np.concatenate([one.code for one in parts])
    idle = np.sum([np.pad(one.idle, (0, len(code_of) - len(one.idle))) for one in parts], axis=0)
    place, names = _rows(code, idle, tuple(code_of))
    requested, used, unused = np.sum([one.held for one in parts], axis=0).tolist()
    return _Placed(
        settings=replace(settings, bins=name),
        table_rows=np.concatenate([one.table_rows for one in parts]),
        start_s=start,
        end_s=end,
        code=place[code],
        names=names,
        requested_gb=np.concatenate([one.requested_gb for one in parts]),
        used_gb=np.concatenate([one.used_gb for one in parts]),
        edges_s=edges,
        dated=dated(float(start.max())),
        utc_offset_s=offset,
        last_s=last,
        n_unfinished=begin - n_finished,
        n_finished=n_finished,
        n_judged=n_judged,
        held=(requested, used, unused),
    )


def _part(jobs: pd.DataFrame, begin: int, by: str, last: float, code_of: dict[str, int]) -> _Part:
    """Rows of a table from one on; `code_of` are the codes of the names of rows, to which new ones are added."""
    runs = runs_until(jobs, LedgerSettings(by=by), last)
    judged = runs.judged(MEMORY)
    seconds = runs.hours * HOUR_S
    start = np.where(np.isnan(runs.start_s), runs.end_s - seconds, runs.start_s)
    at = np.flatnonzero(judged & np.isfinite(start))
    code = np.array([code_of.setdefault(name, len(code_of)) for name in runs.whose], dtype=np.int32)[runs.who[at]]
    wasted, requested, used = runs.wasted(MEMORY), runs.requested[MEMORY], runs.used[MEMORY]
    held = [runs.over_time(MEMORY, amounts)[judged].sum() for amounts in (requested, used)]
    return _Part(
        table_rows=begin + at,
        start_s=start[at],
        seconds=seconds[at],
        code=code,
        requested_gb=requested[at],
        used_gb=used[at],
        idle=np.bincount(code, weights=wasted[at], minlength=len(code_of)).astype(np.float64),
        held=np.array([*held, wasted.sum()]),
        counts=np.array([runs.finished.sum(), judged.sum(), np.isfinite(runs.hours).sum()]),
    )


def _rows(code: Positions, idle: Floats, whose: tuple[str, ...]) -> tuple[Positions, tuple[str, ...]]:
    """Code -> place of a row, the one that leaves most idle first, the least of many in one; and the rows' names."""
    held = np.flatnonzero(np.bincount(code, minlength=len(whose)))
    order = held[np.argsort(-idle[held], kind="stable")]
    own = order if len(order) <= MOST_ROWS else order[: MOST_ROWS - 1]
    place = np.full(len(whose), len(own), dtype=np.int32)
    place[own] = np.arange(len(own))
    names = tuple(whose[one] for one in own.tolist())
    if len(order) > len(own):
        names += (OTHERS if OTHERS not in names else f"{OTHERS} (folded)",)
    return place, names


def bin_edges(first_s: float, last_s: float, offset_s: float, wanted: str) -> tuple[Floats, str]:
    """Edges of round bins that hold everything, weeks from Monday where the clock has dates, and their length's name.

    `offset_s` is that of local time; 0 on a clock without dates.
    """
    to_monday = MONDAY_S if dated(last_s) else 0.0

    def ends(width: float) -> tuple[int, int]:
        shift = offset_s + (to_monday if width >= WEEK_S else 0.0)
        begin = int(np.floor((first_s + shift) / width))
        return begin, max(int(np.ceil((last_s + shift) / width)), begin + 1)

    def count(name: str) -> int:
        begin, end = ends(WIDTHS[name])
        return end - begin

    name = wanted or next((one for one in WIDTHS if count(one) <= ENOUGH_BINS), list(WIDTHS)[-1])
    if count(name) > MOST_BINS:
        longer = next((one for one in WIDTHS if count(one) <= MOST_BINS), "")
        advice = f"choose {longer} or longer" if longer else "check its start times"
        raise SettingsError(f"the trace has {count(name):,} bins of one {BIN_WORDS[name].lower()}; {advice}")
    width = float(WIDTHS[name])
    begin, end = ends(width)
    shift = offset_s + (to_monday if width >= WEEK_S else 0.0)
    return np.arange(begin, end + 1, dtype=np.float64) * width - shift, name


def first_and_last(placed: Placed, own: slice | Ints) -> tuple[Ints, Ints]:
    """The first and the last bin that runs overlap; one that takes no time is in the bin of its start."""
    edges, n = placed.edges_s, len(placed.edges_s) - 1
    first = np.clip(np.searchsorted(edges, placed.start_s[own], side="right") - 1, 0, n - 1)
    last = np.clip(np.searchsorted(edges, placed.end_s[own], side="left") - 1, 0, n - 1)
    return first, np.maximum(first, last)


def spread(placed: Placed, rate: Floats, shape: tuple[int, int]) -> Floats:
    """(rows, bins): rates times the hours that runs spend in a bin.

    The first and the last bin of a run are added one by one, the whole ones between them as a step up and a step down
    whose running sum is taken at the end: the work does not grow with the bins that a run overlaps.
    """
    edges, (n_rows, n_bins) = placed.edges_s, shape
    sums, steps, inside = np.zeros(n_rows * n_bins), np.zeros(n_rows * (n_bins + 1)), np.zeros(n_rows * (n_bins + 1))
    for begin in range(0, len(rate), AT_ONCE):
        own = slice(begin, begin + AT_ONCE)
        first, last = first_and_last(placed, own)
        code, each = placed.code[own], rate[own] / HOUR_S
        start, end = placed.start_s[own], placed.end_s[own]
        head = (np.minimum(end, edges[first + 1]) - start) * each
        tail = np.where(last > first, (end - edges[last]) * each, 0.0)
        sums += np.bincount(code * n_bins + first, weights=head, minlength=len(sums))
        sums += np.bincount(code * n_bins + last, weights=tail, minlength=len(sums))
        long = last - first > 1
        up, down = (code * (n_bins + 1) + first + 1)[long], (code * (n_bins + 1) + last)[long]
        steps += np.bincount(up, weights=each[long], minlength=len(steps))
        steps -= np.bincount(down, weights=each[long], minlength=len(steps))
        inside += np.bincount(up, minlength=len(steps)) - np.bincount(down, minlength=len(steps))
    level = np.cumsum(steps.reshape(n_rows, n_bins + 1), axis=1)[:, :n_bins]
    busy = np.cumsum(inside.reshape(n_rows, n_bins + 1), axis=1)[:, :n_bins] > 0
    whole = np.where(busy, np.maximum(level, 0.0) * np.diff(edges), 0.0)  # where none is inside, no rest of rounding
    return np.asarray(sums.reshape(shape) + whole)


def overlapping(placed: Placed, shape: tuple[int, int]) -> Ints:
    """(rows, bins): runs that overlap a bin."""
    n_rows, n_bins = shape
    steps = np.zeros(n_rows * (n_bins + 1), dtype=np.int64)
    for begin in range(0, len(placed.code), AT_ONCE):
        own = slice(begin, begin + AT_ONCE)
        first, last = first_and_last(placed, own)
        row = placed.code[own] * (n_bins + 1)
        steps += np.bincount(row + first, minlength=len(steps)) - np.bincount(row + last + 1, minlength=len(steps))
    return np.cumsum(steps.reshape(n_rows, n_bins + 1), axis=1)[:, :n_bins]


def _bursts(names: tuple[str, ...], unused: Floats, n_runs: Ints) -> tuple[IdleBurst, ...]:
    """Rows that leave far more than usual idle in a bin that is far out itself, the largest first.

    A bin is far out where more lies idle than the upper quartile of all bins with runs plus `FAR_OUT` interquartile
    ranges; a row makes it so where it holds at least `BURST_SHARE` of it and `BURST_FACTOR` times its other bins' mean.
    """
    totals, busy = unused.sum(axis=0), n_runs.sum(axis=0) > 0
    if int(busy.sum()) < FEWEST_BINS or not totals.sum() > 0:
        return ()
    low, high = np.percentile(totals[busy], (25, 75))
    result = []
    for place in np.flatnonzero(totals > high + FAR_OUT * (high - low)).tolist():
        others = (unused.sum(axis=1) - unused[:, place]) / max(unused.shape[1] - 1, 1)
        own = unused[:, place]
        for row in np.flatnonzero((own >= BURST_SHARE * totals[place]) & (own > BURST_FACTOR * others)).tolist():
            share = float(own[row] / totals.sum())
            result.append(IdleBurst(names[row], place, float(own[row]), share, int(n_runs[row, place])))
    return tuple(sorted(result, key=lambda one: -one.unused_gb_h))


MOST_LISTED = 50


@settings
class OverTimeRunsSettings:
    """Which runs behind memory over time are listed."""

    over: OverTimeSettings = field(default_factory=OverTimeSettings)
    row: Annotated[str, Setting("Name of a row.", empty="all rows", key="home_cell_row")] = ""
    cell: Annotated[
        int | None,
        Setting(
            "Place of the time bin, 0 = the first.",
            least=0,
            most=MOST_BINS,
            empty="all bins",
            flag="--at",
            key="home_cell_bin",
            label="Place of the bin",
        ),
    ] = None
    most: Annotated[
        int, Setting("Runs that are listed.", least=1, most=100_000, key="home_cell_most", label="Runs listed")
    ] = MOST_LISTED


@dataclass(frozen=True, repr=False)
class OverTimeRuns(Shown):
    """Runs that overlap a time bin, the one that leaves most idle in it first."""

    settings: OverTimeRunsSettings  # as given, with rows and bins named
    n_runs: int  # all of them
    unused_gb_h: float  # by all of them in the bin
    row_ids: Ints  # (m,) of the listed runs in their dataset
    names: tuple[str, ...]  # (m,) their rows
    tasks: tuple[str, ...]  # (m,) their tasks
    requested_gb: Floats  # and `used_gb`: (m,) sizes
    used_gb: Floats
    hours: Floats  # (m,) run times
    hours_inside: Floats  # (m,) of those, in the bin
    unused_each_gb_h: Floats  # (m,) in the bin


def over_time_runs_of(
    frames: Mapping[str, JobTable], settings: OverTimeRunsSettings, progress: Progress = silent
) -> OverTimeRuns:
    """The runs behind a cell, a row or a bin of memory over time, bursts among them; the table has `row_id`.

    Raises SettingsError for a row or a bin that there is not; says which there are.
    """
    progress(None, "Listing the runs")
    jobs = frames["jobs"]
    placed = _placed(jobs, settings.over)
    n_bins = len(placed.edges_s) - 1
    own = np.arange(len(placed.table_rows))
    if settings.row:
        if settings.row not in placed.names:
            raise SettingsError(f"there is no row {settings.row!r}; choose one of {', '.join(placed.names[:8])}")
        own = np.flatnonzero(placed.code == placed.names.index(settings.row))
    inside = placed.end_s[own] - placed.start_s[own]
    if settings.cell is not None:
        if settings.cell >= n_bins:
            raise SettingsError(f"there is no bin {settings.cell}; the last of {n_bins} is {n_bins - 1}")
        first, last = first_and_last(placed, own)
        within = (first <= settings.cell) & (settings.cell <= last)
        begin, end = placed.edges_s[settings.cell : settings.cell + 2]
        own, inside = own[within], np.minimum(placed.end_s[own[within]], end)
        inside = np.maximum(inside - np.maximum(placed.start_s[own], begin), 0.0)
    hours = inside / HOUR_S
    unused = placed.unused_gb[own] * hours
    first_of = np.argsort(-unused, kind="stable")[: settings.most]
    listed = own[first_of]
    at = placed.table_rows[listed]
    found = rows_at(jobs, at)
    runs = runs_until(found, LedgerSettings(by=placed.settings.by), placed.last_s)
    return OverTimeRuns(
        settings=replace(settings, over=placed.settings),
        n_runs=len(own),
        unused_gb_h=float(unused.sum()),
        row_ids=found["row_id"].to_numpy(dtype=np.int64),
        names=tuple(runs.whose[code] for code in runs.who.tolist()),
        tasks=tuple(runs.tasks[code] for code in runs.task.tolist()),
        requested_gb=placed.requested_gb[listed],
        used_gb=placed.used_gb[listed],
        hours=runs.hours,
        hours_inside=hours[first_of],
        unused_each_gb_h=unused[first_of],
    )


def usual_over_time_rows(columns: Mapping[str, int], *, clustered: bool) -> str:
    """What rows are where nothing is named, by the distinct values of columns that hold something."""
    if clustered:
        return PROFILE
    several = [by for by in (TASK, USER, "group") if columns.get(GROUPINGS[by][0], 0) > 1]
    return several[0] if several else TASK
