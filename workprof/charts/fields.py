"""Fields of a job table as people read them: label, unit of the axis, formatted value."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from workprof.units import DAY_S, GIB, HOUR_S, MIB, MINUTE_S, format_bytes, format_count, format_duration

_SUFFIXES = {"_bytes": "bytes", "_s": "s", "_percent": "percent", "_count": "operations"}
_IN_BRACKETS = {"_bytes": "bytes", "_percent": "%", "_gb_h": "GB·h", "_gb": "GB", "_per_h": "per hour", "_s": "s"}
_OF_WORDS = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")
_WORDS = {"cpu": "CPU", "gpu": "GPU", "id": "ID"}
_READABLE = {
    "bytes": ((GIB, "GiB"), (MIB, "MiB"), (1024, "KiB")),
    "s": ((DAY_S, "days"), (HOUR_S, "h"), (MINUTE_S, "min")),
}


@dataclass(frozen=True)
class AxisUnit:
    """A unit for one axis: divide by `factor` and write `name`."""

    factor: float
    name: str


def unit(field: str) -> str:
    """Return the unit of a field ('bytes', 's', 'percent', 'operations' or '')."""
    return next((name for suffix, name in _SUFFIXES.items() if field.endswith(suffix)), "")


def label(field: str) -> str:
    """Return 'peak memory' for peak_memory_bytes."""
    stem = field
    for suffix in ("_bytes", "_s", "_percent"):
        stem = stem.removesuffix(suffix)
    return " ".join(_WORDS.get(word, word) for word in stem.split("_"))


def title(field: str, unit_name: str | None = None) -> str:
    """Return an axis title with the unit: 'CPU usage (% of one core)'."""
    name = unit(field) if unit_name is None else unit_name
    if name == "percent":
        name = "% of one GPU" if "gpu" in field else "% of one core"
    text = label(field)
    return f"{text[:1].upper()}{text[1:]}" + (f" ({name})" if name else "")


def column_words(name: str) -> str:
    """Return a column of a table as people read it: 'duration p95 (s)' for duration_p95_s; a counter's name stays."""
    if not _OF_WORDS.fullmatch(name):
        return name
    stem, kind = name, ""
    for suffix, words in _IN_BRACKETS.items():
        if name.endswith(suffix) and name != suffix:
            stem, kind = name.removesuffix(suffix), f" ({words})"
            break
    return " ".join(_WORDS.get(word, word) for word in stem.split("_") if word) + kind


def axis_unit(field: str, largest: float) -> AxisUnit:
    """Return the unit in which values up to `largest` read well."""
    for factor, name in _READABLE.get(unit(field), ()):
        if math.isfinite(largest) and abs(largest) >= factor:
            return AxisUnit(float(factor), name)
    return AxisUnit(1.0, unit(field))


def formatted(field: str, value: float) -> str:
    """Return a value with its unit, 'no data' for NaN."""
    kind = unit(field)
    if not math.isfinite(value):
        return "no data"
    if kind == "bytes":
        return format_bytes(value)
    if kind == "s":
        return format_duration(value)
    if kind == "percent":
        return f"{value:,.4g} %"
    return format_count(value) if float(value).is_integer() else f"{value:,.4g}"
