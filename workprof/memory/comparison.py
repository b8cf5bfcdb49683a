"""Two datasets, or two scopes of one, side by side: what they hold and waste, what was killed, and what changed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats
from workprof.core.shown import Shown
from workprof.memory.ledger import Amount, LedgerRow
from workprof.memory.ledger_settings import MEMORY
from workprof.memory.verdict import Judged

APPEARED, VANISHED, GREW, SHRANK, ALIKE = "appeared", "vanished", "grew", "shrank", "alike"
LEAST_CHANGE = 0.1
"""Of the hours of an amount, from where on a row grew or shrank."""


@dataclass(frozen=True)
class Side:
    """One of the two."""

    name: str  # of the dataset, with its scope
    n_users: int | None  # None = nothing tells users
    duration_s: Floats  # (2,) median and 90th percentile of the finished runs; NaN without any
    totals: LedgerRow  # of the ledger
    judged: Judged | None  # what the verdict saves of its later runs; None = it cannot be made
    covered_s: float = math.nan  # time that the dataset covers, in its period alone; NaN = nothing tells


@dataclass(frozen=True)
class Part:
    """A user, task, ... of either side."""

    name: str
    state: str  # APPEARED, VANISHED, GREW, SHRANK or ALIKE, by the amount of memory x time, else by runs
    runs: tuple[int, ...]  # of both sides: finished ones
    requested: tuple[float, ...]  # GB·h, of both sides; NaN where no run of a side says it
    wasted: tuple[float, ...]  # GB·h, of both sides

    @property
    def more(self) -> float:
        """What it requests more, GB·h; 0 where a side does not say it."""
        return float(np.nan_to_num(self.requested[1] - self.requested[0]))


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Both sides, and the rows of their ledgers by what changed most."""

    by: str  # what rows are: 'user', 'task', ...
    sides: tuple[Side, Side]
    parts: tuple[Part, ...]


def parts_of(ledgers: tuple[Sequence[LedgerRow], Sequence[LedgerRow]]) -> tuple[Part, ...]:
    """The rows of two ledgers by name; those whose requested memory x time changed most come first."""
    found: tuple[dict[str, LedgerRow], ...] = tuple({row.name: row for row in one} for one in ledgers)
    result = []
    for name in dict.fromkeys((*found[0], *found[1])):
        rows = [one.get(name) for one in found]
        memory = [row.of(MEMORY) if row else None for row in rows]
        runs = tuple(row.n_runs if row else 0 for row in rows)
        requested = tuple(requested_of(one) if one else 0.0 for one in memory)
        wasted = tuple((one.wasted if one.n_judged else math.nan) if one else 0.0 for one in memory)
        held = tuple(map(float, runs)) if any(map(math.isnan, requested)) else requested
        result.append(Part(name, _state(rows, held), runs, requested, wasted))
    return tuple(sorted(result, key=lambda one: (-abs(one.more), -abs(one.runs[1] - one.runs[0]), one.name)))


def requested_of(amount: Amount) -> float:
    """What runs requested of a resource; NaN where none says it."""
    return amount.requested if amount.requested or amount.n_judged else math.nan


def _state(rows: Sequence[LedgerRow | None], requested: Sequence[float]) -> str:
    if None in rows:
        return APPEARED if rows[0] is None else VANISHED
    before, after = requested
    if abs(after - before) <= LEAST_CHANGE * before:
        return ALIKE
    return GREW if after > before else SHRANK


def durations_of(duration_s: Floats) -> Floats:
    """(2,) median and 90th percentile of (n,) durations; NaN without any."""
    known = duration_s[np.isfinite(duration_s)]
    return np.quantile(known, [0.5, 0.9]) if known.size else np.full(2, np.nan)
