"""Sizes of least expected charge, chosen at origins in time and judged on the runs that follow.

A run booked at its request r for h hours is charged s x h at a size s that holds it. A killed attempt is charged its
size for the whole time; then the run is charged its request, or its use where that is larger. The size of a key is
the one with the least expected charge, a kill costing `price` more. The price rises until the kills of lower sizes that
are expected are acceptable. Nothing that ends, or is submitted, after an origin changes a size that is fixed there.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.memory.chances import FEWEST_KNOWN, Chances, fit_chances
from workprof.memory.known import Known, SizedRuns, codes_of, dense, first_of, known_of

TABLE, SUBMISSION = "table", "submission"
APPLIED = (TABLE, SUBMISSION)

N_BLOCKS = 4
"""Origins of the judged half, and windows of the first half that the table learns from."""
N_STEPS = 32
"""How often the chances are learned anew in the judged half where sizes follow every ended run."""

MULTIPLES = np.exp(np.concatenate([np.linspace(0, 0.7, 29), np.linspace(0.75, 3, 46)]))
"""Sizes that are tried, over the largest known use: by 2.5 % up to twice, then by 5 % up to 20 times."""

PRICE_AT_DEFAULT, DEFAULT_SHARE = 5.0, 0.005
"""A kill costs this many mean booked runs where 0.5 % of the runs may be killed, and inversely to that share else."""
OWN_RUNS = 15.0
"""A kill of a kept or raised request costs this many of its own runs, unless a cost per kill is set."""
MOST_PRICE, PRICE_STEP = 1e9, 1.5
FIT_RUNS, MANY_RUNS, FEWER_STEPS = 200_000, 20_000, 8
"""The chances are learned from the latest so many ended runs; of more runs, less often."""
PRICED_RUNS = 2_000
"""Runs of the last window, evenly drawn, on which the price is found where every run has a size of its own."""
NO_KILL = 0.05
"""Expected kills of a window that count as none."""
DIGITS = 9
"""Sizes in GB are whole bytes."""
FEWEST_COARSE = 20
"""Runs of keys with too little history that a coarser key must have learned from before it advises."""


@dataclass(frozen=True)
class Sizing:
    """How a size is rounded and what it costs to miss it."""

    step: float  # sizes are multiples of it
    floor: float  # no size is smaller
    acceptable_share: float | None  # of the runs; None = more than 0.5 % only where more were really killed
    price: float | None  # of a kill, in the unit of booked; None = by the acceptable kills


@dataclass(frozen=True)
class Advised:
    """Sizes of (m,) runs or keys."""

    size: Floats  # (m,) the request where it is kept
    chance: Floats  # (m,) that the next run is killed by it
    level: Ints  # (m,) of the key that it comes from; -1 = no key has history


@dataclass(frozen=True)
class Origin:
    """What was learned at a moment."""

    at_run: int  # the first run that it applies to
    submit_s: float  # of that run; infinite: after all runs
    chances: tuple[Chances | None, ...]  # of each level; None where it does not advise
    price: float  # of a kill, in the unit of booked
    acceptable_share: float  # of the runs
    n_known: int  # runs that had ended


@dataclass(frozen=True)
class Judgement:
    """The runs of the second half under one way to apply sizes."""

    applied: str
    first: int  # the first judged run
    origins: tuple[Origin, ...]
    block: Ints  # (n_judged,) 0 to 3
    size: Floats  # (n_judged,)
    chance: Floats  # (n_judged,)
    level: Ints  # (n_judged,)
    killed: Bools  # (n_judged,) at a size below the request and below the use
    charged: Floats  # (n_judged,)


@dataclass(frozen=True)
class _Fitted:
    """What was learned at a moment, whatever kills are acceptable."""

    chances: tuple[Chances | None, ...]
    n_past: int  # runs that had ended
    booked: float  # of a run that was submitted before, in the mean
    killed_share: float  # of the runs that had ended


Arrays = tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats]


class Windows:
    """What is known of every run at its own moment, for one way to apply sizes."""

    def __init__(self, runs: SizedRuns, applied: str) -> None:
        """Pass the events of every level once."""
        n = len(runs)
        self.runs, self.applied, self.first = runs, applied, n // 2
        self.window = max(1, round((n - self.first) / N_BLOCKS))
        self.edges = block_edges(self.first, n, N_BLOCKS)
        query, window = runs.submit_s, np.arange(n)
        if applied == TABLE:
            earlier = [max(0, self.first - self.window * back) for back in range(N_BLOCKS, 0, -1)]
            starts = np.unique([0, *earlier, *self.edges[:-1]])
            window = np.searchsorted(starts, np.arange(n), side="right") - 1
            query = runs.submit_s[starts[window]]
        self.query_s = query
        self.known = known_of(runs, query)
        self._alike = None if applied == SUBMISSION else codes_of([*runs.levels, dense(runs.request), window])
        self._groups: dict[tuple[int, int], tuple[Ints, Ints]] = {}
        self.block = np.searchsorted(np.asarray(self.edges[1:-1]), np.arange(self.first, n), side="right")
        self.n_keys = tuple(int(level.max(initial=-1)) + 1 for level in runs.levels)
        self._fitted: dict[int, _Fitted] = {}

    def learned(self, at_run: int, sizing: Sizing, now_s: float) -> Origin:
        """What the runs that were submitted before one, and had ended by then, show."""
        runs, start = self.runs, max(0, at_run - self.window)
        if at_run not in self._fitted:
            past = np.flatnonzero(runs.end_s[:at_run] <= now_s)
            booked = float(runs.booked[past].mean()) if len(past) else 0.0  # how long others run is not known yet
            killed = float(runs.killed[past].mean()) if len(past) else 0.0
            self._fitted[at_run] = _Fitted(self._fit(past[-FIT_RUNS:], booked), len(past), booked, killed)
        fitted = self._fitted[at_run]
        share = sizing.acceptable_share
        if share is None:
            share = max(DEFAULT_SHARE, fitted.killed_share)
        window = np.arange(start, at_run)
        drawn = window[:: max(1, len(window) // PRICED_RUNS)] if self.applied == SUBMISSION else window
        price, chances = self._price(fitted.chances, drawn, sizing, share, fitted.booked, now_s)
        return Origin(at_run, now_s, chances, price, share, fitted.n_past)

    def _fit(self, past: Ints, booked: float) -> tuple[Chances | None, ...]:
        """The chances of every level; a coarser one learns of runs that the finer ones know nothing of."""
        runs, thin, chances = self.runs, np.ones(len(past), dtype=bool), []
        for level, known in enumerate(self.known):
            fitted = fit_chances(runs, known, level, past[thin], self.n_keys[level], booked)
            chances.append(fitted if level == 0 or fitted.n_runs >= FEWEST_COARSE else None)
            thin &= known.n[past] < FEWEST_KNOWN
        return tuple(chances)

    def _price(
        self,
        chances: tuple[Chances | None, ...],
        window: Ints,
        sizing: Sizing,
        share: float,
        booked: float,
        now_s: float,
    ) -> tuple[float, tuple[Chances | None, ...]]:
        """The price at which the kills of lower sizes in the last window, expected and seen, are acceptable.

        Those of kept and larger requests cost `OWN_RUNS` each, at any price. Coarser keys advise only where their kills
        in that window were no more frequent than is acceptable and what they lowered paid.
        """
        runs = self.runs
        if sizing.price is not None:
            return sizing.price, chances
        price = PRICE_AT_DEFAULT * booked * DEFAULT_SHARE / max(share, NO_KILL / max(len(window), 1))
        most = max(share * len(window), NO_KILL if share == 0 else 1.0)
        over = runs.end_s[window] <= now_s
        request, use, hours = runs.request[window], runs.use[window], runs.hours[window]
        while True:
            advised = self.advised(window, chances, sizing, price)
            killed = killed_by(advised.size, request, use) & over
            for level in range(1, len(chances)):
                own = (advised.level == level) & over
                if chances[level] is None or not own.any():
                    continue
                kills = int((killed & own).sum())
                saved = float((request * hours - charged_of(advised.size, request, use, hours, killed))[own].sum())
                if kills > share * own.sum() or saved < 0:
                    chances = tuple(None if at == level else one for at, one in enumerate(chances))
                    break
            else:
                expected = float(advised.chance[advised.size < request].sum())
                if max(expected, float(killed.sum())) <= most or price > MOST_PRICE * max(booked, 1e-9):
                    return price, chances
                price = max(price, booked * 1e-3) * PRICE_STEP

    def advised(self, of: Ints, chances: Sequence[Chances | None], sizing: Sizing, price: float) -> Advised:
        """Sizes of some runs, all from the first to the last of them, by what was known at their own moments.

        Runs of one key and request that share a moment share their size: it is chosen once.
        """
        if self._alike is None or not len(of):
            return self._advised(of, chances, sizing, price)
        window = int(of[0]), int(of[-1])
        if window not in self._groups:
            first, place = first_of(self._alike[of])
            self._groups[window] = of[first], place
        lead, place = self._groups[window]
        one = self._advised(lead, chances, sizing, price)
        return Advised(one.size[place], one.chance[place], one.level[place])

    def _advised(self, of: Ints, chances: Sequence[Chances | None], sizing: Sizing, price: float) -> Advised:
        return advise(
            self.runs.request[of],
            tuple(known.take(of) for known in self.known),
            tuple(level[of] for level in self.runs.levels),
            chances,
            sizing,
            price,
        )

    def judge(self, sizing: Sizing) -> Judgement:
        """The second half of the runs, each sized by what was learned before it was submitted."""
        runs, n = self.runs, len(self.runs)
        edges = (
            self.edges
            if self.applied == TABLE
            else block_edges(self.first, n, N_STEPS if n <= MANY_RUNS else FEWER_STEPS)
        )
        size, chance = runs.request[self.first :].copy(), np.zeros(n - self.first)
        level = np.full(n - self.first, -1, dtype=np.int64)
        origins = []
        for start, end in itertools.pairwise(edges):
            if end == start:
                continue
            origin = self.learned(start, sizing, float(runs.submit_s[start]))
            advised = self.advised(np.arange(start, end), origin.chances, sizing, origin.price)
            own = slice(start - self.first, end - self.first)
            size[own], chance[own], level[own] = advised.size, advised.chance, advised.level
            origins.append(origin)
        request, use = runs.request[self.first :], runs.use[self.first :]
        killed = killed_by(size, request, use)
        return Judgement(
            applied=self.applied,
            first=self.first,
            origins=tuple(origins),
            block=self.block.astype(np.int64),
            size=size,
            chance=chance,
            level=level,
            killed=killed,
            charged=charged_of(size, request, use, runs.hours[self.first :], killed),
        )


PLAIN_RULES = tuple((least, times) for least in (5, 10) for times in (1.25, 1.5, 2.0))
"""Known runs that a plain rule needs, and what it multiplies their largest use with."""


@dataclass(frozen=True)
class PlainPoint:
    """What the judged runs would save by a plain rule of sites, and how many it would kill."""

    least: int  # known runs of a key
    times: float  # their largest use
    saved_share: float
    kills: int


def plain_points(windows: Windows) -> tuple[PlainPoint, ...]:
    """The judged runs by each of `PLAIN_RULES`, that know what the verdict knows.

    A size is a multiple of the largest known use of user, task and request, and never above the request. After a kill
    a key needs 2 n + 1 runs that end later.
    """
    from workprof.memory.verdict_kernels import follow_plain_rule  # noqa: PLC0415  what names a verdict loads no compiler

    runs, later = windows.runs, windows.runs.take(slice(windows.first, len(windows.runs)))
    query_s = np.where(np.arange(len(runs)) < windows.first, runs.submit_s, windows.query_s)
    key, n_keys, booked, result = runs.levels[0], windows.n_keys[0], float(later.booked.sum()), []
    for least, times in PLAIN_RULES:
        size = runs.request.copy()
        follow_plain_rule(key, n_keys, runs.use, runs.request, runs.end_s, runs.by_end, query_s, least, times, size)
        own = size[windows.first :]
        killed = killed_by(own, later.request, later.use)
        charged = float(charged_of(own, later.request, later.use, later.hours, killed).sum())
        saved_share = 1 - charged / booked if booked > 0 else float("nan")
        result.append(PlainPoint(least, times, saved_share, int(killed.sum())))
    return tuple(result)


def block_edges(first: int, n: int, blocks: int) -> list[int]:
    """The ends of blocks of about equal counts."""
    return [first + round(block * (n - first) / blocks) for block in range(blocks + 1)]


def killed_by(size: Floats, request: Floats, use: Floats) -> Bools:
    """(n,) whether a size kills a run that its request would not have: below both request and use."""
    result: Bools = (size < request) & (size < use)
    return result


def charged_of(size: Floats, request: Floats, use: Floats, hours: Floats, killed: Bools) -> Floats:
    """(n,) what runs are charged: a killed attempt for its whole time, then the request or the use."""
    result: Floats = (size + np.where(killed, np.maximum(request, use), 0.0)) * hours
    return result


def killed_below(own: Known, any_request: Known, of: Ints | slice = slice(None)) -> tuple[Floats, Floats]:
    """(m,) largest known uses, and chances of a kill at smaller requests of the same job, 0 where none was killed.

    `own` is of a job and its request, `any_request` of the job alone, at the places `of`. A run that was killed at a
    smaller request used at least that: where it is more than all runs of this request used, their sizes rest on it.
    """
    use = any_request.cut_use[of]
    below = (use > own.largest) & (use < own.asked)
    chance = (any_request.cut[of] + 0.5) / (any_request.n[of] + 1.0)
    return np.where(below, use, own.largest), np.where(below, chance, 0.0)


def _plain(sizes: Floats, step: float) -> Floats:
    """Sizes as whole bytes, or as the multiples of a step that is a part of one, as the twelfth of an hour.

    A twelfth with nine digits is less than the five minutes that a run took.
    """
    parts, plain = round(1 / step), np.round(sizes, DIGITS)
    if abs(parts * step - 1.0) > 1e-12:
        return plain
    multiples = np.round(sizes * parts)
    return np.where(np.abs(sizes * parts - multiples) < 1e-6, multiples / parts, plain)


def advise(
    request: Floats,
    known: Sequence[Known],
    keys: Sequence[Ints],
    chances: Sequence[Chances | None],
    sizing: Sizing,
    price: float,
) -> Advised:
    """The sizes of least expected charge; a lower one is never above the request (m,) of the run or row.

    `known` (m,), `keys` (m,) and `chances` are of each level; without chances it does not advise. `price` is of a kill,
    in the unit of booked.
    """
    from workprof.core.compiled import share_out  # noqa: PLC0415  what only names a verdict loads no compiler
    from workprof.memory.verdict_kernels import cheapest  # noqa: PLC0415

    m = len(request)
    size, chance, from_level = request.copy(), np.zeros(m), np.full(m, -1, dtype=np.int64)
    for level, model in enumerate(chances):
        if model is None:
            continue
        own = np.flatnonzero((from_level < 0) & (known[level].n >= FEWEST_KNOWN))
        if not len(own):
            continue
        some = known[level].take(own)
        largest, elsewhere = killed_below(some, known[1], own) if known[1:] and not level else (some.largest, 0.0)
        got = np.zeros((2, len(own)))
        figures = np.array(
            [*model.record, model.tail, model.heavy_share, model.heavy_scale, model.spread**2, model.longer]
        )
        rules = np.array([sizing.step, sizing.floor, price, OWN_RUNS if sizing.price is None else 0.0])
        factor = model.key_factor[keys[level][own]]
        arrays = (
            some.asked,
            some.n,
            some.weight,
            some.squares,
            largest,
            some.mean_hours,
            some.above,
            some.cut,
            np.broadcast_to(elsewhere, len(own)).astype(np.float64),
            factor,
        )

        def work(
            first: int,
            last: int,
            arrays: Arrays = arrays,
            figures: Floats = figures,
            rules: Floats = rules,
            got: Floats = got,
        ) -> None:
            cheapest(arrays, figures, rules, MULTIPLES, first, last, got)

        share_out(work, len(own), 20_000)
        got[0] = np.where(got[0] == some.asked, got[0], _plain(got[0], sizing.step))
        lower, above = got[0] < some.asked, got[0] > some.asked
        kept = np.where(above, np.maximum(got[0], request[own]), request[own])
        size[own] = np.where(lower, np.minimum(got[0], request[own]), kept)
        chance[own], from_level[own] = got[1], level
    return Advised(size, chance, from_level)
