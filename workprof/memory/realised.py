"""What was saved in fact: rows of the verdict whose later runs moved to the advice, against the requests of before.

A later run moved where its request is at least half of the way from the request of before to the advised size, and is
none of the requests of before. It saves (request of before - its own) x its own hours, so that less work is no saving.
A run that was killed for memory saves nothing: all that it held is lost. Where a request that came by advice is advised
anew, each row saves its own step of the way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present
from workprof.core.shown import Shown
from workprof.memory.decisions import ACCEPTED, REQUEST, SAME_REQUEST, USUAL_RESOURCE, Decision, key_text, parts_of
from workprof.memory.known import SizedRuns
from workprof.memory.resources import Resource, resources_of
from workprof.memory.verdict_rows import KEEP, VerdictRow

if TYPE_CHECKING:
    import pandas as pd

CLOCK = ("submit_time_s", "start_time_s", "end_time_s")
HALF_WAY = 0.5
USE_CHANGED, BY_CHANCE = 0.1, 0.01
"""The median use changed by more than this share, and by chance as rarely as that."""
ACCEPTED_ROWS = "accepted rows, each from its decision on"
TAKEN_UP, PARTLY, NOT_YET, NO_RUNS = "taken up", "partly", "not taken up", "no later runs"


@dataclass(frozen=True)
class Advised:
    """A row as it was advised. Amounts are in GB."""

    row_key: str  # as a decision has it
    action: str
    request: float
    size: float
    since_s: float  # runs that are submitted from then on may follow it, on the trace's clock

    @property
    def key(self) -> dict[str, str]:
        """Column -> value, without the request."""
        return {name: value for name, value in parts_of(self.row_key).items() if name != REQUEST}

    @property
    def by_request(self) -> bool:
        """Whether it is about runs of just that request."""
        return REQUEST in parts_of(self.row_key)


@dataclass(frozen=True)
class Realised:
    """What became of one advised row. Amounts are in GB, sums in GB·h."""

    advised: Advised
    n_later: int  # runs of its key since
    n_moved: int
    n_killed: int  # of those that moved, for memory
    hours_moved: float
    saved: float  # by the runs that moved and were not killed; below 0 where more is requested, as advised
    lost: float  # held by those that were killed
    use_before: float  # median of a run, GB; NaN where there is none
    use_later: float  # of the runs that moved
    use_changed: bool  # beyond chance, so that the advice alone does not explain the change

    @property
    def state(self) -> str:
        """Whether its later runs moved: most, some or none of them."""
        if not self.n_later:
            return NO_RUNS
        return NOT_YET if not self.n_moved else TAKEN_UP if 2 * self.n_moved >= self.n_later else PARTLY


@dataclass(frozen=True, repr=False)
class RealisedSaving(Shown):
    """What advice saved in fact, row by row: the largest saving first."""

    advice: str  # what was advised when, for people: 'accepted rows', 'the verdict on runs before 2026-01-05'
    rows: tuple[Realised, ...]
    saved: float  # GB·h
    saved_use_changed: float  # of `saved`, by rows whose use changed
    lost: float  # GB·h
    n_killed: int
    latest_s: float  # submission of the newest run

    @property
    def accepted(self) -> bool:
        """Whether somebody accepted the advice; else a plan on earlier runs would have given it."""
        return self.advice == ACCEPTED_ROWS

    @property
    def taken_up(self) -> int:
        """Rows that most or some later runs follow."""
        return sum(one.n_moved > 0 for one in self.rows)


def accepted_advice(decisions: Sequence[Decision]) -> tuple[Advised, ...]:
    """The accepted rows of memory that change a request, each from the moment of its decision on."""
    from datetime import datetime  # noqa: PLC0415

    return tuple(
        Advised(one.row_key, one.action, one.request, one.size, datetime.fromisoformat(one.at).timestamp())
        for one in decisions
        if one.state == ACCEPTED and one.action != KEEP and "resource" not in parts_of(one.row_key)
    )


def verdict_advice(rows: Sequence[VerdictRow], since_s: float) -> tuple[Advised, ...]:
    """The rows of a verdict on memory, from a moment on; those that are kept claim their runs."""
    return tuple(
        Advised(key_text(USUAL_RESOURCE, row.by, row.key, row.request), row.action, row.request, row.size, since_s)
        for row in rows
        if row.by
    )


def realised_of(jobs: pd.DataFrame, advice: Sequence[Advised], told: str) -> RealisedSaving:
    """What a job table shows of advice: all runs, with `finished` and `status` where there are any.

    Raises:
        ColumnMissing: when memory's columns are absent.
        NotEnoughData: when no run has a use of memory, or none has a request.
    """
    times = [found for name in CLOCK if (found := numbers_if_present(jobs, name)) is not None]
    timed = np.logical_or.reduce([np.isfinite(found) for found in times]) if times else np.zeros(len(jobs), dtype=bool)
    memory = resources_of(jobs[timed].reset_index(drop=True), "peak_rss", 0.0)[0]
    groups: dict[tuple[tuple[str, str], ...], list[Advised]] = {}
    for one in advice:
        groups.setdefault(tuple(sorted(one.key.items())), []).append(one)
    places = _places(memory, groups)
    followed = [each for key, own in groups.items() for each in _group(memory.runs.take(places[key]), own)]
    rows = tuple(sorted(followed, key=lambda one: (-one.saved, -one.n_later, one.advised.row_key)))
    return RealisedSaving(
        advice=told,
        rows=rows,
        saved=math.fsum(one.saved for one in rows),
        saved_use_changed=math.fsum(one.saved for one in rows if one.use_changed),
        lost=math.fsum(one.lost for one in rows),
        n_killed=sum(one.n_killed for one in rows),
        latest_s=float(memory.runs.submit_s[-1]),
    )


def _places(
    memory: Resource, groups: Mapping[tuple[tuple[str, str], ...], Sequence[Advised]]
) -> dict[tuple[tuple[str, str], ...], Ints]:
    """Of each key the places of its runs; a run belongs to the key with most columns that it has."""
    result = {key: np.zeros(0, dtype=np.int64) for key in groups}
    free = np.ones(len(memory.runs), dtype=bool)
    for names in sorted({tuple(name for name, _ in key) for key in groups}, key=len, reverse=True):
        if any(name not in memory.texts for name in names):
            continue
        codes = [memory.texts[name] for name in names]
        rows = np.stack([code for code, _ in codes], axis=1) if names else np.zeros((len(free), 0), dtype=np.int64)
        kinds, place = np.unique(rows, axis=0, return_inverse=True)
        place = place.reshape(-1)
        order = np.argsort(place, kind="stable")
        ends = np.cumsum(np.bincount(place, minlength=len(kinds)))
        for at, kind in enumerate(kinds.tolist()):
            values = [texts[code] if code >= 0 else "" for code, (_, texts) in zip(kind, codes, strict=True)]
            key = tuple((name, value) for name, value in zip(names, values, strict=True))
            if key in result:
                own = np.sort(order[ends[at - 1] if at else 0 : ends[at]])
                result[key] = own[free[own]]
                free[result[key]] = False
    return result


def _group(runs: SizedRuns, advice: Sequence[Advised]) -> list[Realised]:
    """What became of the rows of one key.

    A run that followed several is of those whose size it requests, and shared among them by the hours of before. One
    that followed none is of the row with its request, else of that with the nearest size.
    """
    sizes, asked, since_s = (
        np.array([getattr(one, name) for one in advice]) for name in ("size", "request", "since_s")
    )
    of_row = np.stack([_alike(runs.request, one.request) & one.by_request for one in advice], axis=1)
    near = np.abs(np.log(runs.request[:, None] / sizes)).argmin(axis=1)
    row = np.where(of_row.any(axis=1), of_row.argmax(axis=1), near)
    later = runs.submit_s[:, None] >= since_s
    known = [np.unique(runs.request[~later[:, at]]) for at in range(len(advice))]
    before = [~later[:, at] & (of_row[:, at] if one.by_request else row == at) for at, one in enumerate(advice)]
    followed = np.stack([_follows(runs.request, one, known[at]) for at, one in enumerate(advice)], axis=1) & later
    followed[np.array([one.action == KEEP for one in advice])[row]] = False
    steps = _steps(advice, known)
    last = followed.copy()
    for at, earlier in steps.items():  # who goes on from there followed the earlier row through it
        last[followed[:, at], earlier] = False
    followed = last
    exact = followed & np.stack([_alike(runs.request, size) for size in sizes], axis=1)
    followed = np.where(exact.any(axis=1, keepdims=True), exact, followed)
    moved = followed.any(axis=1)
    row[moved] = _shared(followed[moved], runs.hours[moved], np.array([runs.hours[own].sum() for own in before]))
    result: list[Realised] = []
    through = np.zeros_like(followed)
    reached = np.repeat(runs.request[:, None], len(advice), axis=1)  # what a run requests, of the way of each row
    for at in sorted(range(len(advice)), key=lambda at: -since_s[at]):
        own = moved & (row == at)
        if at in steps:
            through[:, steps[at]] |= own | through[:, at]
            reached[own | through[:, at], steps[at]] = asked[at]
        of_it = later[:, at] & ((row == at) | of_row[:, at] | through[:, at])
        if advice[at].action != KEEP:
            result.append(_realised(runs, advice[at], before[at], of_it, (own, through[:, at]), reached[:, at]))
    return result


def _follows(requests: Floats, one: Advised, known: Floats) -> Bools:
    """(n,) which requests are half of the way to the advised size, and none of (m,) that were there before."""
    way = (requests - one.request) * math.copysign(1.0, one.size - one.request)
    followed: Bools = (way >= HALF_WAY * abs(one.size - one.request)) & ~_among(requests, known)
    return followed


def _steps(advice: Sequence[Advised], known: Sequence[Floats]) -> dict[int, int]:
    """Rows whose request came by earlier advice, and the latest row of that: the two are one way in two steps."""
    result = {}
    for at, one in enumerate(advice):
        earlier = [
            place
            for place, other in enumerate(advice)
            if one.by_request
            and other.action == one.action != KEEP
            and other.since_s < one.since_s
            and _follows(np.array([one.request]), other, known[place])[0]
        ]
        if earlier:
            result[at] = max(earlier, key=lambda place: advice[place].since_s)
    return result


def _shared(followed: Bools, hours: Floats, weights: Floats) -> Ints:
    """(n,) one row of each run of those (n, m) that it may be of, so that each has hours by its weight (m,)."""
    row: Ints = followed.argmax(axis=1)
    kinds, kind_of = np.unique(followed, axis=0, return_inverse=True)
    for at, kind in enumerate(kinds):
        places, some = np.flatnonzero(kind), np.flatnonzero(kind_of.reshape(-1) == at)
        if len(places) > 1 and (weight := weights[places]).sum() > 0 and (own := hours[some]).sum() > 0:
            middle = (np.cumsum(own) - own / 2) / own.sum()
            row[some] = places[np.searchsorted(np.cumsum(weight)[:-1] / weight.sum(), middle)]
    return row


def _realised(
    runs: SizedRuns, one: Advised, before: Bools, later: Bools, moved: tuple[Bools, Bools], reached: Floats
) -> Realised:
    """What became of a row; `moved` by it, and through it by later advice, whose part of the way is not its own."""
    own, through = moved
    killed, lived = own & runs.killed, (own | through) & ~runs.killed
    used = tuple(runs.use[which & ~runs.killed] for which in (before, own | through))
    return Realised(
        advised=one,
        n_later=int(later.sum()),
        n_moved=int((own | through).sum()),
        n_killed=int(killed.sum()),
        hours_moved=float(runs.hours[own | through].sum()),
        saved=float(((one.request - reached) * runs.hours)[lived].sum()),
        lost=float(runs.booked[killed].sum()),
        use_before=float(np.median(used[0])) if used[0].size else math.nan,
        use_later=float(np.median(used[1])) if used[1].size else math.nan,
        use_changed=changed(*used),
    )


def changed(before: Floats, later: Floats) -> bool:
    """Whether the median of (n,) values moved to that of (m,) others, beyond chance."""
    from scipy.stats import mannwhitneyu  # noqa: PLC0415  heavy

    if not before.size or not later.size or not np.median(before) > 0:
        return False
    if abs(float(np.median(later) / np.median(before)) - 1) <= USE_CHANGED:
        return False
    return bool(mannwhitneyu(before, later).pvalue < BY_CHANCE)


def _alike(values: Floats, one: float) -> Bools:
    return np.isclose(values, one, rtol=SAME_REQUEST, atol=0.0)


def _among(values: Floats, known: Floats) -> Bools:
    """(n,) which values are one of (m,) others, in ascending order, within a rounding."""
    if not known.size:
        return np.zeros(len(values), dtype=bool)
    place = np.searchsorted(known, values)
    low, high = known[np.maximum(place - 1, 0)], known[np.minimum(place, len(known) - 1)]
    return np.isclose(values, low, rtol=SAME_REQUEST, atol=0.0) | np.isclose(values, high, rtol=SAME_REQUEST, atol=0.0)
