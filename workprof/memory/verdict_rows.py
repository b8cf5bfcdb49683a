"""The rows of a verdict: what each key requests now, what to request next, and why."""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.stats import Interval, wilson
from workprof.memory.chances import FEWEST_KNOWN, Chances
from workprof.memory.decisions import ACCEPTED, Advice, Decision
from workprof.memory.known import Known, SizedRuns, first_of, known_of
from workprof.memory.origins import Advised, Judgement, Origin, Sizing, advise, killed_below
from workprof.memory.resources import Resource

LOWER, KEEP, RAISE = "lower", "keep", "raise"
ACTIONS = (LOWER, KEEP, RAISE)

FEW, FULL, COSTLY, VARIES, STEPS, BOUND, TOO_SHORT, ROOM, ROOM_ABOVE, KILLED, KILLS_PAY, ABOVE, DECIDED = (
    *("few runs", "uses its request", "a kill costs more", "use varies", "no smaller size", "use known per task only"),
    *("trace too short", "room", "room above kills", "killed", "kills cost less", "above its request", "decided"),
)

MOST_ROWS = 5_000
"""Further rows that are kept are added up in one."""
VARIED = 10.0
"""Largest over smallest use from which a key is said to vary."""
NEARLY_FULL = 0.8
"""Largest use over request from which a key is said to use its request."""
RETRY_FACTOR, RETRIES = 1.5, 2

NORMAL = NormalDist()
RATE_WEIGHT = 50.0
"""Runs that the foreseen chance of a row weighs in the interval of its kills, beside its own runs."""


@dataclass(frozen=True)
class VerdictRow:
    """One row: a key, what it requests now and what to request next. Amounts are in the unit of the resource."""

    key: dict[str, str]  # column -> value; what a coarser key lacks is not there
    by: tuple[str, ...]  # columns of the key; with 'request' it holds for runs of just that request; () = other keys
    told: dict[str, str]  # further columns in which all its runs agree: what exports say of it
    action: str
    reason: str
    request: float  # of the run that was submitted last; without history the median
    n_requests: int  # different ones
    size: float  # from now on; the request where it is kept
    retry: tuple[float, ...]  # sizes of the next attempts
    n_runs: int
    n_killed: int  # in the trace, for this resource
    n_above: int  # runs that used more than their request and lived
    largest: float  # use
    smallest: float
    unused: float  # unit x h, of all runs
    n_judged: int
    booked: float  # unit x h, of the judged runs
    saved: float  # unit x h, of the judged runs
    kills: int  # of the judged runs
    kills_per_1000: Interval  # of the next 1,000 runs
    decision: Decision | None = None  # of a person
    would: Advice | None = None  # what it would say, where the decision leaves it out

    @property
    def accepted(self) -> bool:
        """Whether what it says now was accepted."""
        return self.decision is not None and self.decision.state == ACCEPTED and self.decision.action == self.action


class OfResource(Protocol):
    """What rows are of: one resource of a verdict."""

    @property
    def resource(self) -> str: ...  # noqa: D102  its name
    @property
    def unit(self) -> str: ...  # noqa: D102  of its amounts


Rows = tuple[tuple[VerdictRow, ...], Ints, list[dict[str, str]], Ints]
"""Rows, the key of every run as a code (n,), the names of the codes, and the place of each code among the rows."""


def rows_of(resource: Resource, sizing: Sizing, now: Origin, judged: Judgement, problem: str) -> Rows:
    """The rows: those that save most first, then raises, then what is kept by what it leaves unused.

    Sizes are learned on `now`; savings and kills are those of the judged runs. A problem tells why nothing is advised.
    """
    runs = resource.runs
    keys = _Keys(runs, now)
    requests, advised = keys.kept() if problem else keys.advised(sizing, now)
    sums = _sums(keys, judged)
    order = np.lexsort((-sums["unused"], -np.abs(sums["saved"]), (advised.size == requests).astype(np.int64)))
    names = [
        resource.key_of(lead, max(level, 0))
        for lead, level in zip(keys.lead.tolist(), advised.level.tolist(), strict=True)
    ]
    n_listed = max(MOST_ROWS, int((advised.size != requests).sum()))
    told = resource.told_of(keys.row, len(keys.lead))
    results = []
    for at in order[:n_listed].tolist():
        own = {name: float(values[at]) for name, values in sums.items()}
        size, asked, level = float(advised.size[at]), float(requests[at]), int(advised.level[at])
        action = KEEP if size == asked else LOWER if size < asked else RAISE
        least = max(sizing.floor, math.ceil(own["largest"] / sizing.step * (1 - 1e-12)) * sizing.step)
        reason = problem or _reason(action, own, asked, level, least)
        if reason == ROOM and keys.killed_below[at]:
            reason = ROOM_ABOVE
        about = names[at], resource.columns[max(level, 0)], told[at]
        results.append(_row(about, (action, reason), (asked, size), float(advised.chance[at]), own))
    if len(order) > n_listed:
        further = order[n_listed:]
        own = {name: float(values[further].sum()) for name, values in sums.items()}
        own["largest"], own["smallest"] = float(sums["largest"][further].max()), float(sums["smallest"][further].min())
        results.append(_row(({}, (), {}), (KEEP, FEW), (math.nan, math.nan), 0.0, own))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.minimum(np.arange(len(order)), n_listed)
    return tuple(results), keys.row, names, places


class _Keys:
    """Which row every run belongs to: that of its finest key, or of the coarser one that advises it."""

    def __init__(self, runs: SizedRuns, now: Origin) -> None:
        self.runs, self.now_s = runs, now.submit_s
        first, place = first_of(runs.levels[0])
        everything = known_of(runs, np.full(len(runs), now.submit_s), first)
        level = _levels_of(tuple(one.take(first) for one in everything), now.chances)
        coarse = np.zeros(len(first), dtype=np.int64)
        for at in range(1, len(runs.levels)):
            coarse = np.where(level == at, runs.levels[at][first], coarse)
        own = np.where(level > 0, -1, np.arange(len(first)))
        _, lead, row = np.unique(
            np.stack([np.maximum(level, 0), coarse, own]), axis=1, return_index=True, return_inverse=True
        )
        self.row = row[place]  # (n,) of every run
        self.lead = first[lead]  # (n_rows,) a run of every row
        self.level = level[lead]
        self.known = tuple(one.take(self.lead) for one in everything)
        self.killed_below = np.zeros(len(self.lead), dtype=np.bool_)
        if len(self.known) > 1:
            self.killed_below = (self.level == 0) & (killed_below(self.known[0], self.known[1])[1] > 0)
        self.order = np.lexsort((runs.request, self.row))
        self.asked = _medians(self.row, runs.request, self.order, len(self.lead))
        for at, one in enumerate(self.known):
            self.asked = np.where((self.level == at) & (one.asked > 0), one.asked, self.asked)

    def kept(self) -> tuple[Floats, Advised]:
        """The requests of now, and the same as sizes."""
        requests = self._own(self.asked)
        return requests, Advised(requests, np.zeros(len(self.lead)), np.full(len(self.lead), -1, dtype=np.int64))

    def advised(self, sizing: Sizing, now: Origin) -> tuple[Floats, Advised]:
        """The requests of now, and the sizes of least expected charge; rows without history keep their requests."""
        codes = tuple(level[self.lead] for level in self.runs.levels)
        result = advise(self.asked, self.known, codes, now.chances, sizing, now.price)
        requests, way = self._own(result.size), np.sign(result.size - self.asked)
        kept = (self.level < 0) | (way * (result.size - requests) <= 0)
        chance = np.where(kept & (way != 0), 0.0, result.chance)
        return requests, Advised(np.where(kept, requests, result.size), chance, self.level)

    def _own(self, size: Floats) -> Floats:
        """The requests of rows: of a coarser key that of its own runs, the latest that a size changes, else the latest.

        Its history is also that of runs with rows of their own.
        """
        result, way = self.asked.copy(), np.sign(size - self.asked)
        own = np.flatnonzero(self.level[self.row] > 0)
        row, request = self.row[own], self.runs.request[own]
        changed = way[row] * (size[row] - request) > 0
        order = np.lexsort((self.runs.submit_s[own] < self.now_s, changed))  # of several the last is written last
        result[row[order]] = request[order]
        return result


def _levels_of(known: tuple[Known, ...], chances: tuple[Chances | None, ...]) -> Ints:
    """(m,) levels that advise; -1 = none has history."""
    level = np.full(len(known[0].n), -1, dtype=np.int64)
    for at, model in enumerate(chances):
        if model is not None:
            level[(level < 0) & (known[at].n >= FEWEST_KNOWN)] = at
    return level


def _medians(group: Ints, values: Floats, order: Ints, n_groups: int) -> Floats:
    """The (n_groups,) lower medians of values by group, in whose order they are, so that each is one of them."""
    ends = np.cumsum(np.bincount(group, minlength=n_groups))
    sizes = np.diff(ends, prepend=0)
    result: Floats = values[order][ends - sizes + (sizes - 1) // 2]
    return result


def _sums(keys: _Keys, judged: Judgement) -> dict[str, Floats]:
    runs, row, order, n_rows = keys.runs, keys.row, keys.order, len(keys.lead)
    later = row[judged.first :]

    def total(values: Floats | Bools) -> Floats:
        return np.bincount(row, values.astype(np.float64), n_rows).astype(np.float64)

    def after(values: Floats | Bools) -> Floats:
        return np.bincount(later, values.astype(np.float64), n_rows).astype(np.float64)

    largest, smallest = np.zeros(n_rows), np.full(n_rows, np.inf)
    np.maximum.at(largest, row, runs.use)
    np.minimum.at(smallest, row, runs.use)
    changes = np.diff(runs.request[order], prepend=np.nan) != 0
    changes[np.r_[0, np.flatnonzero(np.diff(row[order])) + 1]] = True
    booked = runs.booked[judged.first :]
    n_runs, log_use = total(np.ones(len(runs))), np.log(runs.use)
    spread = total((log_use - (total(log_use) / n_runs)[row]) ** 2) / n_runs
    return {
        "n_runs": n_runs,
        "n_requests": np.bincount(row[order], changes.astype(np.float64), n_rows),
        "n_killed": total(runs.killed),
        "killed_at": total(runs.killed * runs.request),
        "spread": np.sqrt(spread),  # of log use; that of killed runs just above their requests
        "n_bound": total(runs.bound),
        "n_above": total((runs.use > runs.request) & ~runs.killed & ~runs.bound),
        "largest": largest,
        "smallest": smallest,
        "unused": total(np.maximum(runs.request - runs.use, 0.0) * runs.hours),
        "n_judged": after(np.ones(len(later))),
        "booked": after(booked),
        "saved": after(booked - judged.charged),
        "kills": after(judged.killed),
    }


def _row(
    about: tuple[dict[str, str], tuple[str, ...], dict[str, str]],
    advice: tuple[str, str],
    sizes: tuple[float, float],
    chance: float,
    own: dict[str, float],
) -> VerdictRow:
    (key, by, told), (action, reason), (asked, size) = about, advice, sizes
    return VerdictRow(
        key=key,
        by=by,
        told=told,
        action=action,
        reason=reason,
        request=asked,
        n_requests=int(own["n_requests"]),
        size=size,
        retry=retries_of(size, asked),
        n_runs=int(own["n_runs"]),
        n_killed=int(own["n_killed"]),
        n_above=int(own["n_above"]),
        largest=own["largest"],
        smallest=own["smallest"],
        unused=own["unused"],
        n_judged=int(own["n_judged"]),
        booked=own["booked"],
        saved=own["saved"],
        kills=int(own["kills"]),
        kills_per_1000=rate(action, size, chance, own),
    )


def rate(action: str, size: float, chance: float, own: dict[str, float]) -> Interval:
    """The kills of the next 1,000 runs, a 95 % interval: of the row's runs, and of the chance that is foreseen.

    What a killed run would have used is not known. At most its log use goes half as far again as is foreseen, and such
    runs have all kills; at least those of a normal distribution of log use, spread as the row's, that is above their
    requests as often as they were killed.
    A request that is kept kills as often as it did, and the runs that used more than it.
    """
    n, unknown, low = own["n_runs"], own["n_killed"], chance
    if action == KEEP:
        low = chance = max(chance, unknown / n)
        unknown += own["n_above"]
        if not chance:
            return Interval(0.0, 0.0)
    elif unknown:
        further = math.log(size * unknown / own["killed_at"]) / own["spread"] if own["spread"] > 0 else math.inf
        was = (unknown + 0.5) / (n + 1)
        low = min(chance, NORMAL.cdf(NORMAL.inv_cdf(was) - further))
        chance = max(chance, was * (chance / was) ** (1 / 1.5))
    least, most = (
        wilson(own["kills"] + min(unknown, share * n) + RATE_WEIGHT * share, n + RATE_WEIGHT) for share in (low, chance)
    )
    return Interval(1000 * least.low, 1000 * most.high)


def retries_of(size: float, request: float) -> tuple[float, ...]:
    """The sizes of the next attempts: the request where the size was below it, then half as much more."""
    if not math.isfinite(size):
        return ()
    first = request if size < request else size * RETRY_FACTOR
    return tuple(first * RETRY_FACTOR**attempt for attempt in range(RETRIES))


def _reason(action: str, own: dict[str, float], request: float, level: int, least: float) -> str:
    """Why a row says what it does; `least` is the smallest size that would have held its runs."""
    if action == LOWER:
        return ROOM
    if action == RAISE:
        return KILLED if own["n_killed"] else ABOVE
    if level < 0:
        return FEW
    if own["n_killed"]:
        return KILLS_PAY
    if own["n_bound"]:
        return BOUND
    if own["largest"] >= VARIED * own["smallest"] and least < request:
        return VARIES
    if own["largest"] >= NEARLY_FULL * request:
        return FULL
    return COSTLY if least < request else STEPS
