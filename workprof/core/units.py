"""Units of the trace, of people and of tools: read, converted once, and written."""

import contextlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from workprof.core.errors import UnitUnknown

KIB = 1024
MIB = 1024**2
GIB = 1024**3
GB = 1_000_000_000
MINUTE_S = 60
HOUR_S = 3600
DAY_S = 86_400
DATES_FROM_S = 978_307_200
"""1 January 2001."""

FIRST_EPOCH_S, LAST_EPOCH_S = 6.0e8, 2.6e9
"""A moment between 1989 and 2052 counts from 1970; the unit is the one in which all of a column are."""

MOST_FOLD, TEN, NEAR_ONE = 1_000, 9.95, 1.095

DURATION_FACTORS = {
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "s": 1.0,
    "min": float(MINUTE_S),
    "h": float(HOUR_S),
    "d": float(DAY_S),
}
"""Seconds in one unit."""

MEMORY_FACTORS = {
    "B": 1.0,
    "KB": 1e3,
    "KiB": float(KIB),
    "MB": 1e6,
    "MiB": float(MIB),
    "GB": 1e9,
    "GiB": float(GIB),
    "TB": 1e12,
    "TiB": float(GIB * KIB),
}
"""Bytes in one unit."""

MEMORY_STEPS = ("TB", "GB", "MB", "kB")
"""Units that memory is shown in, largest first."""

PERCENT_FACTORS = {"percent": 1.0, "cores": 100.0, "share": 100.0, "milli": 0.1}
"""Percent of one core or GPU in one unit."""

UNITS_OF = {"s": DURATION_FACTORS, "B": MEMORY_FACTORS, "percent": PERCENT_FACTORS}
"""Unit that a quantity is kept in -> the units that it may be written in."""

FACTORS = DURATION_FACTORS | MEMORY_FACTORS | PERCENT_FACTORS


def dated(latest_s: float) -> bool:
    """Whether a clock counts from 1970, by its latest moment; else from the trace's own begin."""
    return latest_s > DATES_FROM_S


def day_of(moment_s: float) -> int:
    """The day of the trace on a clock without dates; the first is day 0, as in `--period 0..7`."""
    return math.floor(moment_s / DAY_S)


_SIZE = re.compile(r"^\s*([0-9]*\.?[0-9]+(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)\s*$")


def factor(unit: str) -> float:
    """What one `unit` is in workprof's own unit of that quantity.

    Raises UnitUnknown when the unit is not in `FACTORS`.
    """
    try:
        return FACTORS[unit]
    except KeyError:
        raise UnitUnknown(f"unit {unit!r} is not known; use one of {', '.join(FACTORS)}") from None


def parse_size(text: str, *, bare: str = "B") -> int:
    """The bytes of a size such as '2GiB', '500MB' or '1024' (a bare number is in `bare`).

    Raises UnitUnknown when the text is not a number with a known memory unit.
    """
    match = _SIZE.match(text)
    unit = (match.group(2) or bare) if match else ""
    if match is None or unit not in MEMORY_FACTORS:
        raise UnitUnknown(f"size {text!r} is not known; write a number and one of {', '.join(MEMORY_FACTORS)}")
    size = float(match.group(1)) * MEMORY_FACTORS[unit]
    if not math.isfinite(size):
        raise UnitUnknown(f"size {text!r} is larger than any; write a number and one of {', '.join(MEMORY_FACTORS)}")
    return round(size)


def read_bytes(text: str) -> float:
    """The bytes that a size means, exactly where it is in B; a bare number is in GB.

    Raises ValueError and UnitUnknown for another text.
    """
    exact = text.removesuffix("B")
    return float(exact) if exact != text and not exact[-1:].isalpha() else float(parse_size(text, bare="GB"))


def bytes_text(value: float) -> str:
    """Bytes as `read_bytes` reads exactly them again: '64GB', '1500MB', '1048576B'."""
    for unit in ("GB", "MB"):
        scaled = value / MEMORY_FACTORS[unit]
        if scaled and float(scaled).is_integer() and scaled * MEMORY_FACTORS[unit] == value:
            return f"{scaled:.0f}{unit}"
    return f"{value:.0f}B" if float(value).is_integer() else f"{value!r}B"


def read_time(text: str) -> float:
    """The epoch seconds of a time in ISO 8601 (without a zone UTC), or of a number of seconds.

    Raises ValueError for another text.
    """
    with contextlib.suppress(ValueError):
        return float(text)
    at = datetime.fromisoformat(text)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True)
class Unit:
    """A unit of settings that people write in another way than programs."""

    noun: str  # what to give, in words, and `texts` what may be typed
    texts: str
    shown: tuple[str, float]  # the unit in a form, and how many of those one is
    metavar: str  # of an option
    read: Callable[[str], float] = float  # and `write`: a number of that unit from a text, and its text
    write: Callable[[float], str] = repr


def scaled(value: float, factor: float) -> float:
    """A number in a unit of which one of its own has `factor`: the shortest that `unscaled` reads exactly."""
    exact = value * factor
    tries = [float(f"{exact:.{digits}g}") for digits in (10, 15, 16, 17)]
    tries += [math.nextafter(exact, -math.inf), math.nextafter(exact, math.inf)]
    return next((one for one in tries if unscaled(one, factor) == value), exact)


def unscaled(shown: float, factor: float) -> float:
    """The number that `scaled` shows in another unit."""
    return shown * round(1 / factor) if factor < 1 else shown / factor


SIZES, TIMES = "sizes such as 2GiB or 500MB (a bare number is GB)", "epoch seconds, or 2026-01-31T08:00"
UNITS = {
    "share": Unit("a share", "a share", ("%", 100.0), "SHARE"),
    "bytes": Unit("bytes", SIZES, ("GB", 1 / GB), "SIZE", read_bytes, bytes_text),
    "MiB": Unit("bytes", SIZES, ("MiB", 1 / MIB), "SIZE", read_bytes, bytes_text),
    "time": Unit(TIMES, TIMES, ("UTC", 1.0), "TIME", read_time),
}
"""By the name of the unit; 'MiB' is bytes that forms show in MiB."""


def format_bytes(value: float) -> str:
    """Bytes as people read memory, in decimal units: '1.83 GB'; see `MEMORY_STEPS`."""
    if not math.isfinite(value):
        return "no data"
    return _in_steps(value, tuple((name, MEMORY_FACTORS[name.upper()]) for name in MEMORY_STEPS), "B")


def compact(value: float) -> str:
    """A number in at most three significant digits: '233 k', '1.2 M', '0.0489', 'no data' for NaN."""
    return (
        _in_steps(value, (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)), "") if math.isfinite(value) else "no data"
    )


def number(value: float) -> str:
    """A number with about three digits: '0.31', '12.3', '8,724'."""
    if not math.isfinite(value):
        return "no data"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def grouped(value: float) -> str:
    """A number in three significant digits, written out: '158,000', '12.3', 'no data' for NaN."""
    return number(float(f"{value:.3g}"))


def gb(value: float) -> str:
    """'12.3 GB'."""
    return f"{number(value)} GB" if math.isfinite(value) else "no data"


def gb_h(value: float) -> str:
    """'8.72 k GB·h'."""
    return f"{compact(value)} GB·h" if math.isfinite(value) else "no data"


def _in_steps(value: float, steps: tuple[tuple[str, float], ...], unit: str) -> str:
    """A number in the largest of the steps, largest first, that it reaches once it is rounded."""
    rounded = float(f"{value:.3g}")
    name, size = next(((name, size) for name, size in steps if abs(rounded) >= size), (unit, 1.0))
    shown = rounded / size
    return f"{f'{shown:.3g}' if abs(shown) < 1000 else f'{shown:,.0f}'} {name}".rstrip()


def format_duration(value: float) -> str:
    """Seconds as people read them: '13 s', '4 min 10 s', '1 h 03 min', '2 d 4 h'."""
    if not math.isfinite(value):
        return "no data"
    sign, seconds = ("-" if value < 0 else ""), abs(value)
    if seconds < MINUTE_S:
        text = f"{seconds:.3g} s"
    elif seconds < HOUR_S:
        text = f"{int(seconds // MINUTE_S)} min {int(seconds % MINUTE_S):02d} s"
    elif seconds < DAY_S:
        text = f"{int(seconds // HOUR_S)} h {int(seconds % HOUR_S // MINUTE_S):02d} min"
    else:
        text = f"{int(seconds // DAY_S)} d {int(seconds % DAY_S // HOUR_S)} h"
    return sign + text


def format_count(value: float) -> str:
    """A count with thousands separators, 'no data' where it is not a number."""
    return f"{value:,.0f}" if math.isfinite(value) else "no data"


SUMMED = 9
"""Digits after the point of a percentage that do not hang on the order in which it was added up."""


def format_share(value: float, decimals: int = 1) -> str:
    """A share (0-1) as percent, in at most three significant digits or whole percent: '24.6 %', '239 %'."""
    if not math.isfinite(value):
        return "no data" if math.isnan(value) else "infinite"
    percent = round(round(value * 100, SUMMED), decimals) + 0.0  # -0.0 is 0
    return f"{percent:.{decimals}f} %" if abs(percent) < 100 else f"{percent:,.0f} %"


def fold(log_odds: float) -> str:
    """How many times larger or smaller the odds become by an amount of log-odds: '11-fold', 'over 1,000-fold'."""
    if abs(log_odds) > math.log(MOST_FOLD):
        return f"over {MOST_FOLD:,}-fold"
    times = math.exp(abs(log_odds))
    return f"{times:,.0f}-fold" if times >= TEN else f"{times:.{2 if times >= NEAR_ONE else 3}g}-fold"


def odds_times(log_odds: float) -> str:
    """'× 11', or '÷ 2.4' where the odds become smaller; '× 1' where they stay."""
    times = fold(log_odds).removesuffix("-fold")
    return f"{'÷' if log_odds < 0 and times != '1' else '×'} {times}"


def odds_words(log_odds: float, of: str) -> str:
    """'raises the odds of P7 11-fold'."""
    return f"{'raises' if log_odds >= 0 else 'lowers'} the odds of {of} {fold(log_odds)}"


def saved(share: float) -> str:
    """'31.3 % less', or '12.0 % more' where a saving is none."""
    if not math.isfinite(share):
        return "an unknown share less"
    return f"{format_share(abs(share))} {'less' if share >= 0 else 'more'}"
