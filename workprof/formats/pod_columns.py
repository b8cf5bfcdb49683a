"""Series on their way into runs of pods: their points so far, and those that nothing names.

A series without the name of its metric (`sum by (pod) (...)`, a legend) is told by its unit, its file's name, or its
size; people are told what it was taken for.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from workprof.core.units import KIB, MINUTE_S
from workprof.formats.pod_names import BYTES, CORES, PERCENT, UNITS, Named
from workprof.formats.pod_runs import PodRuns
from workprof.formats.pod_series import CONTAINER, CPU, LIMIT, MEMORY, POD, REQUEST, Quantity, Series, in_order, label


@dataclass
class Column:
    """One series on its way: its name, and its points so far."""

    named: Named
    line: int
    times: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))
    quantity: str = ""
    # '.' and ',' -> places of values in which that sign may separate thousands
    doubtful: dict[str, array[int]] = field(default_factory=dict)

    def add(self, at: float, value: float, doubtful: str) -> None:
        """Add a point."""
        if doubtful:
            self.doubtful.setdefault(doubtful, array("q")).append(len(self.values))
        self.times.append(at)
        self.values.append(value)

    def in_thousands(self, sign: str) -> int:
        """Take a sign for a separator of thousands where it may be one; return in how many values."""
        places = self.doubtful.pop(sign, array("q"))
        for place in places:
            self.values[place] = round(self.values[place] * 1000, 6)
        return len(places)

    def series(self) -> Series:
        """Its points."""
        return Series(self.line, self.named.labels, np.array(self.times), np.array(self.values))


def _hint(name: str, words: Mapping[str, tuple[str, ...]]) -> str:
    lower = name.lower()
    return next((what for what, synonyms in words.items() if any(word in lower for word in synonyms)), "")


def take_unnamed(columns: Sequence[Column], origin: str, runs: PodRuns) -> None:
    """Take series without the name of a metric: for what their words, their units, their file's name or size tell."""
    resource_hint = _hint(origin, {MEMORY: ("mem", "rss", "working_set", "workingset"), CPU: ("cpu", "cores")})
    role_hint = _hint(origin, {REQUEST: ("request",), LIMIT: ("limit",)})
    for what in ("", REQUEST, LIMIT):
        some = [one for one in columns if (one.named.what or role_hint) == what]
        for resource in ("", MEMORY, CPU):
            chosen = [one for one in some if one.named.resource == resource]
            if chosen:
                _taken(chosen, what, resource or resource_hint, origin, runs)


def _taken(columns: Sequence[Column], what: str, resource: str, origin: str, runs: PodRuns) -> None:
    quantities = {one.quantity or UNITS.get(one.named.unit, ("", 1.0))[0] for one in columns} - {""}
    values = np.concatenate([np.array(one.values) for one in columns])
    values = np.abs(values[np.isfinite(values) & (values != 0)])
    middle = float(np.median(values)) if values.size else 0.0
    scale, guessed = 1.0, ""
    if BYTES in quantities:
        resource = MEMORY
    elif CORES in quantities:
        resource = CPU
    elif PERCENT in quantities:
        resource, scale = CPU, 0.01
        guessed = "percent of one core"
    elif not resource:
        resource = MEMORY if middle >= 1e5 else CPU
        guessed = "bytes of memory" if resource == MEMORY else "cores"
    elif resource == MEMORY and middle < 1e5:
        scale = float(KIB**2 if middle >= 16 else KIB**3)
        guessed = "MiB of memory" if middle >= 16 else "GiB of memory"
    if guessed:
        runs.taken_for[f"{origin}, {what or 'use'}"] = (
            f"the numbers are taken for {guessed} (the middle one is {middle:,.4g}); export the metric's name, or "
            "values with their unit, if that is wrong"
        )
    kind = what or resource
    held = resource if what else "unnamed" if resource == MEMORY else ""
    for one in columns:
        own = one.quantity == "" and not guessed and one.named.unit in UNITS
        factor = UNITS[one.named.unit][1] if own else scale
        quantity, series = Quantity(kind, held, factor), one.series()
        if quantity.kind == MEMORY and held == "unnamed" and not label(series.labels, CONTAINER):
            series = _counted_once(series, runs)
        runs.take("", quantity, series)


LOOK_BACK_S = 5 * MINUTE_S
"""For so long Prometheus repeats the last value of a series that ended without a word."""
SAME = 0.01
"""Share of a value by which what is gone may differ from what was there before the restart."""
UNUSUAL = 8
"""Usual steps between two points that a container is worth at least."""


def _counted_once(series: Series, runs: PodRuns) -> Series:
    """A sum over a pod's containers without what it counts twice after a restart.

    The sum of a container that is gone and of the one after it stands for five minutes: it rises by the new one's use,
    and falls by just what was there before. A rise that falls by another amount is use, and so is one of a use that
    rises and falls all the time.
    """
    times, values, repeated = in_order(series.times, series.values)
    runs.repeated += repeated
    usual = float(np.median(np.abs(np.diff(values)))) if values.size > 1 else 0.0
    for end in np.flatnonzero(-np.diff(values) > UNUSUAL * usual):
        falls = [values[end] - values[end + 1]]
        low, high = times[end + 1] - LOOK_BACK_S - series.step, times[end + 1] - LOOK_BACK_S / 2
        before = np.flatnonzero((times[:end] >= low) & (times[:end] <= high))
        if before.size and before[0] < end - 1:  # the new container may go on growing
            falls.append(falls[0] + max(values[end] - values[end - 1], 0.0))
        same = [at for at in before if any(abs(values[at] - fall) <= SAME * values[at] for fall in falls)]
        begin = max(same, key=lambda at: values[at + 1] - values[at], default=end)
        gone, inside = values[begin], slice(begin + 1, end + 1)
        if begin < end and values[begin + 1] > gone and (values[inside] >= (1 - SAME) * gone).all():
            runs.doubled[label(series.labels, POD)] += int(end - begin)
            values[inside] = np.maximum(values[inside] - gone, 0.0)
    return Series(series.line, series.labels, times, values)
