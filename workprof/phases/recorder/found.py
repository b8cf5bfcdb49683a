"""What was read at one moment: processor ticks, running totals and levels, by counter name."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Found:
    """Readings by counter name.

    Attributes:
        cpu: ticks by state; only their shares matter.
        totals: running totals in the unit of the rate.
        levels: values that hold at the moment.
    """

    cpu: dict[str, float] = field(default_factory=dict)
    totals: dict[str, float] = field(default_factory=dict)
    levels: dict[str, float] = field(default_factory=dict)

    def with_more(self, other: Found) -> Found:
        """Return both readings together."""
        return Found(self.cpu | other.cpu, self.totals | other.totals, self.levels | other.levels)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the order of a row."""
        return (*self.cpu, *self.totals, *self.levels)


@dataclass(frozen=True)
class Snapshot:
    """Readings and the moment they were taken at, in seconds of the monotonic clock."""

    at_s: float
    found: Found


def row_between(columns: Found, before: Snapshot, after: Snapshot) -> tuple[float, ...]:
    """Return the values of one interval in the order of `columns.columns`.

    Rates divide by the measured interval. A total that fell was reset: the cell is NaN, as is one that is absent.
    """
    elapsed_s = after.at_s - before.at_s
    ticks = {name: _grown(before.found.cpu, after.found.cpu, name) for name in columns.cpu}
    whole = math.fsum(value for value in ticks.values() if value == value)  # noqa: PLR0124  NaN is not itself
    shares = (100 * ticks[name] / whole if whole > 0 else math.nan for name in columns.cpu)
    rates = (_grown(before.found.totals, after.found.totals, name) / elapsed_s for name in columns.totals)
    levels = (after.found.levels.get(name, math.nan) for name in columns.levels)
    return (*shares, *rates, *levels)


def _grown(before: dict[str, float], after: dict[str, float], name: str) -> float:
    grown = after.get(name, math.nan) - before.get(name, math.nan)
    return grown if grown >= 0 else math.nan
