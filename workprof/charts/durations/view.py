"""How the observed curves are looked at, and the words for what they show."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workprof.charts.text import formatted, title

NEUTRAL = "#7b828c"


@dataclass(frozen=True)
class ObservedView:
    """What a reader asks of the curves.

    Attributes:
        log_x: logarithmic axis of values.
        complementary: share above a value instead of at or below it.
        percentile: cursor, in per cent of the jobs.
        limit: SLO in the target's unit; 0 = none.
        bands: whether the bands are drawn.
    """

    log_x: bool = True
    complementary: bool = False
    percentile: float = 80.0
    limit: float = 0.0
    bands: bool = True

    @property
    def share(self) -> float:
        """The cursor as a share, 0-1."""
        return self.percentile / 100


@dataclass(frozen=True)
class ValueAxis:
    """Ticks and title of an axis of values in the target's unit."""

    title: str
    ticks: tuple[float, ...]
    words: tuple[str, ...]


_SECONDS = (0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36_000, 86_400, 864_000, 8_640_000)
_WORDS = ("1 ms", "10 ms", "0.1 s", "1 s", "10 s", "1 min", "10 min", "1 h", "10 h", "1 d", "10 d", "100 d")
_KIB = 1024.0
_BYTES = tuple(_KIB**power * step for power in range(1, 5) for step in (1, 32))
_BYTE_WORDS = tuple(f"{step} {name}" for name in ("KiB", "MiB", "GiB", "TiB") for step in (1, 32))


def value_axis(target: str, *, log: bool) -> ValueAxis:
    """Return the axis of a target; without ticks of its own where plain numbers read well."""
    scale = ", logarithmic" if log else ""
    if target == "duration_s":
        return ValueAxis(f"Duration (time{scale})", *((_SECONDS, _WORDS) if log else ((), ())))
    if target.endswith("_bytes"):
        return ValueAxis(f"{title(target, 'binary units')}{scale}", *((_BYTES, _BYTE_WORDS) if log else ((), ())))
    return ValueAxis(f"{title(target)}{scale}", (), ())


def within_words(target: str, value: float) -> str:
    """Return 'finish within 4 min 10 s', or the like for another target."""
    verb = "finish within" if target == "duration_s" else "stay at or below"
    return f"{verb} {formatted(target, value)}"


def limit_words(target: str, limit: float) -> str:
    """Return 'SLO 10 min 00 s', or 'limit 2 GiB' for another target."""
    return f"{'SLO' if target == 'duration_s' else 'limit'} {formatted(target, limit)}"


def number(value: float) -> str:
    """Return an error as people read it: '0.331', '16.6', '1,742'."""
    if not math.isfinite(value):
        return "infinite"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(share: float) -> str:
    """Return a round share: '90 %'."""
    return f"{100 * share:.0f} %"
