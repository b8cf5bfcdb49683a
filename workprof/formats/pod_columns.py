"""Series on their way into runs of pods: their points so far, and those that nothing names.

A series without the name of its metric (`sum by (pod) (...)`, a legend) is told by its unit, its file's name, or its
size; people are told what it was taken for.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from workprof.core.units import KIB, MINUTE_S
from workprof.formats.pod_names import BYTES, CORES, PERCENT, UNITS, Named
from workprof.formats.pod_runs import PodRuns
from workprof.formats.pod_series import (
    CLUSTER,
    CONTAINER,
    CPU,
    CPU_TOTAL,
    CREATED,
    ENDED,
    LABELS,
    LIMIT,
    MEMORY,
    NAMESPACE,
    NOTES,
    OWNER,
    OWNERS,
    POD,
    REQUEST,
    RESTARTS,
    STARTED,
    Quantity,
    Series,
    in_order,
    is_share,
    label,
)


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
    """Take series without the name of a known metric: for what their words, units, their file's name or size tell."""
    resource_hint = _hint(origin, {MEMORY: ("mem", "rss", "working_set", "workingset"), CPU: ("cpu", "cores")})
    role_hint = _hint(origin, {REQUEST: ("request",), LIMIT: ("limit",)})
    groups: dict[tuple[str, str, str, bool], list[Column]] = {}
    kind_hint = "" if resource_hint else _hint(origin, OF_FILES)
    for one in _of_one_kind(columns, runs):
        if kind := _kind_by_labels(one) or (kind_hint if _may_be(kind_hint, one) else ""):
            if kind == kind_hint:
                runs.taken_for[origin] = "info", f"its numbers are taken for {OF_FILES[kind][0]} by its name"
            runs.take("", Quantity(kind), one.series())
            continue
        resource = one.named.resource or resource_hint
        key = one.named.metric, one.named.what or role_hint, resource, bool(resource) and _quantity(one) == PERCENT
        groups.setdefault(key, []).append(one)
    for (metric, what, resource, _), chosen in groups.items():
        for part in [chosen] if resource else _by_size(chosen):
            _taken(part, metric, what, resource, origin, runs)


OF_FILES = {
    RESTARTS: ("restarts", "restart"),
    ENDED: ("times of completion", "completion", "completed", "end_time", "end-time"),
    STARTED: ("times of start", "start_time", "start-time", "starttime", "started"),
    CREATED: ("times of creation", "created", "creation"),
}
"""What series without a name are -> its name for people, and words of files' names that tell it."""


def _kind_by_labels(one: Column) -> str:
    """What a series is that is 1 throughout and says something in its labels alone, '' for any other."""
    if (np.array(one.values) != 1.0).any():
        return ""
    if not OWNERS.isdisjoint(one.named.labels):
        return OWNER
    return LABELS if any(key.startswith(NOTES) for key in one.named.labels) else ""


def _may_be(kind: str, one: Column) -> bool:
    """Tell whether a series may be of what its file's name says: counts of restarts, or moments."""
    values = np.array(one.values)
    if not kind or (values != np.round(values)).any():
        return False
    return bool((values < LEAST_BYTES).all() if kind == RESTARTS else ((values == 0) | (values > YEAR_2001)).all())


YEAR_2001 = 1e9
SCRAPED = frozenset(
    (
        *("endpoint", "instance", "job", "metrics_path", "node", "prometheus"),
        *("prometheus_replica", "replica", "service", "uid"),
    )
)
"""Labels in which series of one thing may differ: who was asked, and who asked."""


def _of_one_kind(columns: Sequence[Column], runs: PodRuns) -> list[Column]:
    """All but those of a metric that nobody documents and that has several series of a container: parts of its use."""
    parts: dict[tuple[str, ...], set[frozenset[tuple[str, str]]]] = {}
    keys = [(one.named.metric, *(label(one.named.labels, of) for of in (CLUSTER, *RUN))) for one in columns]
    for one, key in zip(columns, keys, strict=True):
        own = frozenset(pair for pair in one.named.labels.items() if pair[0] not in SCRAPED)
        parts.setdefault(key, set()).add(own)
    several = {key[0] for key, own in parts.items() if len(own) > 1 and key[0]}
    runs.left_out.update(f"{key[0]} (several of a container)" for key in keys if key[0] in several)
    return [one for one, key in zip(columns, keys, strict=True) if key[0] not in several]


RUN = (NAMESPACE, POD, CONTAINER)
LEAST_BYTES, MOST_CORES = 1e5, 1e3
"""A middle value from the first is bytes; one from the second is, where others are."""


def _by_size(columns: Sequence[Column]) -> list[list[Column]]:
    """Series of bytes and series of cores, as their units or sizes tell; zeros are of what most others are of."""
    sizes = [_middle([one]) for one in columns]
    known = {BYTES: MEMORY, CORES: CPU, PERCENT: CPU}
    kinds = [
        known.get(_quantity(one), MEMORY if size >= LEAST_BYTES else "")
        for one, size in zip(columns, sizes, strict=True)
    ]
    least = MOST_CORES if MEMORY in kinds else LEAST_BYTES
    kinds = [
        kind or (MEMORY if size >= least else CPU if size else "") for kind, size in zip(kinds, sizes, strict=True)
    ]
    most = max((MEMORY, CPU), key=kinds.count)
    parts: tuple[list[Column], list[Column]] = ([], [])
    for one, kind in zip(columns, kinds, strict=True):
        parts[(kind or most) == CPU].append(one)
    return [part for part in parts if part]


def _quantity(column: Column) -> str:
    return column.quantity or UNITS.get(column.named.unit, ("", 1.0))[0]


def _middle(columns: Sequence[Column]) -> float:
    """The middle of the values that are not 0, 0 where there is none."""
    values = np.concatenate([np.array(one.values) for one in columns])
    values = np.abs(values[np.isfinite(values) & (values != 0)])
    return float(np.median(values)) if values.size else 0.0


FEWEST_STEPS = 10


def _adds_up(columns: Sequence[Column]) -> bool:
    """Tell whether the numbers of series rise throughout, as totals do and rates do not; after a restart they fall."""
    steps = np.concatenate([np.diff(in_order(np.array(one.times), np.array(one.values))[1]) for one in columns])
    return bool(steps.size >= FEWEST_STEPS and (steps < 0).mean() <= 0.05 and (steps > 0).mean() >= 0.5)


USUAL_CORES = 16
"""A middle use of a pod from here on may as well be percent or thousandths of a core."""


def _meaning(resource: str, quantities: Collection[str], middle: float) -> tuple[str, float, str, str]:
    """What numbers are of, their unit, what they are taken for ('' = they say so), and how much of a doubt that is."""
    if BYTES in quantities:
        return MEMORY, 1.0, "", ""
    if CORES in quantities:
        return CPU, 1.0, "", ""
    if PERCENT in quantities:
        return CPU, 0.01, "percent of one core", "warning"
    if not resource:
        large = middle >= LEAST_BYTES
        return (MEMORY, 1.0, "bytes of memory", "warning") if large else (CPU, 1.0, "cores", "warning")
    if resource == MEMORY and middle < LEAST_BYTES:
        mib = middle >= 16
        return MEMORY, float(KIB**2 if mib else KIB**3), "MiB of memory" if mib else "GiB of memory", "warning"
    if resource == CPU and middle:
        return CPU, 1.0, "cores", "info" if middle < USUAL_CORES else "warning"
    return resource, 1.0, "", ""


def _taken(columns: Sequence[Column], metric: str, what: str, resource: str, origin: str, runs: PodRuns) -> None:
    quantities = {_quantity(one) for one in columns} - {""}
    middle = _middle(columns)
    shares = PERCENT in quantities or (is_share(origin) and not quantities and middle < LEAST_BYTES)
    if shares and (resource == MEMORY or what):
        runs.left_out[f"{resource or CPU} as a share"] += len(columns)
        return
    adds_up = resource != MEMORY and not what and not quantities and middle < LEAST_BYTES and _adds_up(columns)
    resource, scale, guessed, level = _meaning(resource, quantities, middle)
    if adds_up:
        guessed, level = "seconds of CPU that add up, as they rise throughout", "warning"
    if metric:
        guessed = guessed or " in ".join(filter(None, (resource, columns[0].named.unit)))
        level = "info" if ":" in metric else "warning"
    if guessed:
        runs.taken_for[f"{metric or origin}, {what or 'use'} of {resource}"] = (
            level,
            f"{'nothing documents this metric; ' if metric else ''}the numbers are taken for {guessed} (the middle one "
            f"is {middle:,.4g}); export the metric's name, or values with their unit, if that is wrong",
        )
    kind = what or (CPU_TOTAL if adds_up else resource)
    held = resource if what else "unnamed" if resource == MEMORY else ""
    for one in columns:
        own = one.quantity == "" and UNITS.get(one.named.unit, ("", 1.0))[0] in (BYTES, CORES)
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
