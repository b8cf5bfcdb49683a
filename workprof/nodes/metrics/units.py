"""The one table of units that benchmark tools write, each with what it is in workprof's own.

Inside, a time is in s, an amount in B, a rate in B/s or 1/s, a cost in s/B, and a share or count in 1. MB is 10**6
bytes and MiB 2**20; a unit that is not here is an error of that run, never a guess.
"""

from __future__ import annotations

from dataclasses import dataclass

from workprof.errors import UnitUnknown
from workprof.units import GB, MEMORY_FACTORS

_TIMES = {
    "s": 1.0,
    "sec": 1.0,
    "ms": 1e-3,
    "msec": 1e-3,
    "us": 1e-6,
    "usec": 1e-6,
    "ns": 1e-9,
    "nsec": 1e-9,
    "min": 60.0,
    "h": 3600.0,
    "hours": 3600.0,
}
_SIZES = MEMORY_FACTORS | {"bytes": 1.0, "byte": 1.0, "TB": 1e12, "TiB": 1024.0**4}
_RATES = {"/s": 1.0, "/sec": 1.0, "K/sec": 1e3, "M/sec": 1e6, "G/sec": 1e9}


@dataclass(frozen=True)
class Unit:
    """A unit as a tool writes it.

    Attributes:
        of: what it is converted to: 's', 'B', 'B/s', '1/s', 's/B' or '1'.
        factor: a value times this is in that.
    """

    of: str
    factor: float


UNITS: dict[str, Unit] = {
    "": Unit("1", 1.0),
    "%": Unit("1", 0.01),
    "% cpus": Unit("1", 0.01),
    **{name: Unit("s", factor) for name, factor in _TIMES.items()},
    **{name: Unit("B", factor) for name, factor in _SIZES.items()},
    **{f"{name}/{per}": Unit("B/s", factor) for name, factor in _SIZES.items() for per in ("s", "sec")},
    "bits/s": Unit("B/s", 1 / 8),
    **{name: Unit("1/s", factor) for name, factor in _RATES.items()},
    **{f"{name}/GB": Unit("s/B", factor / GB) for name, factor in _TIMES.items()},
}
"""By the tool's own writing, upper and lower case kept."""


def converted(value: float, unit: str, wanted: str, metric: str) -> float:
    """Return a value in the unit that a metric is kept in.

    Raises:
        UnitUnknown: when the unit is not in `UNITS` or is of another quantity.
    """
    known = UNITS.get(unit)
    if known is None:
        raise UnitUnknown(f"{metric} is in {unit!r}, a unit that is not known")
    if known.of != wanted:
        raise UnitUnknown(f"{metric} is in {unit!r}, which is no {wanted}")
    return value * known.factor
