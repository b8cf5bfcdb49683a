"""What a parser returns, and the two ways in which it reads: JSON, and numbers with a unit."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workprof.errors import TraceError
from workprof.nodes.metrics.metrics import METRICS
from workprof.nodes.metrics.units import converted

NAN = float("nan")


@dataclass(frozen=True)
class Reading:
    """The metrics of one run.

    Attributes:
        numbers: by short name, in the metric's own unit; a metric that the output does not have is not in it.
        texts: versions and words, by short name.
    """

    numbers: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def json_document(stdout: str, opening: str) -> Any:
    """Return the JSON document of an output, notes before its first brace and words after its end left out.

    Raises:
        TraceError: when there is none or it is cut short.
    """
    start = stdout.find(opening)
    if start < 0:
        raise TraceError(f"output holds no JSON (no {opening!r}); run the tool with its JSON option")
    try:
        document, _ = json.JSONDecoder().raw_decode(stdout[start:])
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a ValueError too
        raise TraceError(f"output is no whole JSON document, it may be cut short: {error}") from error
    return document


def number_at(document: Any, *path: str | int) -> float:
    """Return the finite number that stands at a path of keys and positions, NaN where there is none.

    Raises:
        TraceError: when something else stands there.
    """
    place = document
    for step in path:
        place = _child(place, step)
        if place is None:
            return NAN
    if isinstance(place, bool) or not isinstance(place, (int, float)) or not abs(place) < math.inf:
        raise TraceError(f"{'.'.join(map(str, path))} is {str(place)[:40]!r}, not a number")
    try:
        return float(place)
    except OverflowError as error:
        raise TraceError(f"{'.'.join(map(str, path))} is {str(place)[:40]}..., too large a number") from error


def _child(place: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return place[step] if isinstance(place, Sequence) and len(place) > step else None
    return place.get(step) if isinstance(place, Mapping) else None


def present(values: Mapping[str, float]) -> dict[str, float]:
    """Return the values that are there: those that are not NaN."""
    return {name: value for name, value in values.items() if not math.isnan(value)}


def in_unit(benchmark: str, short: str, text: str, unit: str) -> float:
    """Return a printed number, with or without thousands commas, in the unit of its metric.

    Raises:
        TraceError: when it is no number, or its unit is unknown or of another quantity.
    """
    name = f"{benchmark}.{short}"
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = NAN
    if not math.isfinite(value):
        raise TraceError(f"{name} is {text[:40]!r}, not a number")
    return converted(value, unit, METRICS[name].unit, name)


def whole_lines(stdout: str) -> str:
    """Return the lines of an output that have an end; the last one, without, may be cut within a number."""
    return stdout[: stdout.rfind("\n") + 1]


def required(reading: Reading, names: Sequence[str]) -> Reading:
    """Return the reading as it is.

    Raises:
        TraceError: when it lacks one of the names: the output is cut short, or of another tool.
    """
    missing = [name for name in names if name not in reading.numbers]
    if missing:
        raise TraceError(f"output has no {', '.join(missing)}; it may be cut short, or of another tool or option")
    return reading
