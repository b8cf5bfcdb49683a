"""Exports of Prometheus about pods: answers of its API as JSON, and Grafana's CSV, one column or one line a series.

Every series that names a pod counts: `pod_series` joins them into one run per pod. A series without the name of its
metric (`sum by (pod) (...)`, a legend) is told by its unit, its file's name, or its size; people are told what it was
taken for.

Source: Prometheus' documentation of its HTTP API; Grafana's of its panel inspector.
"""

from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import math
import re
from array import array
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workprof.core.errors import TraceError
from workprof.core.units import KIB
from workprof.formats.declare import NUMBER, TEXT, Format, Given, Read, Reader, Remark, Rule, SourceColumn, Unreadable
from workprof.formats.json_documents import MAX_MEMBER_CHARACTERS, JsonWindow, parts, remarks
from workprof.formats.pod_names import (
    BYTES,
    CORES,
    NAMED_UNIT,
    PERCENT,
    POD_NAME,
    TIME_NAMES,
    UNITS,
    VALUE_NAME,
    Named,
    moment_of,
    named,
    value_of,
    without_request_suffix,
)
from workprof.formats.pod_series import (
    COLUMNS,
    CPU,
    LIMIT,
    MEMORY,
    POD,
    REQUEST,
    RESOURCES,
    TEXTS,
    UNKNOWN,
    PodRuns,
    Quantity,
    Series,
    label,
    quantity_of,
    request_and_resource,
)
from workprof.formats.repeated_keys import RepeatedKeys

RESULTS = (("data", "result"), ("result",), ())
EXCERPT_CHARACTERS = 200
LONGEST_CELL = 16 * 1024 * 1024
LOOKED_AT = 200


@dataclass
class Column:
    """One series on its way: its name, and its points so far."""

    named: Named
    line: int
    times: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))
    quantity: str = ""

    def series(self) -> Series:
        """Return its points."""
        return Series(self.line, self.named.labels, np.array(self.times), np.array(self.values))


def _hint(name: str, words: Mapping[str, tuple[str, ...]]) -> str:
    lower = name.lower()
    return next((what for what, synonyms in words.items() if any(word in lower for word in synonyms)), "")


def _unnamed(columns: Sequence[Column], origin: str, runs: PodRuns) -> None:
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
        runs.take("", Quantity(kind, held, factor), one.series())


def _json(given: Given, runs: PodRuns, repeated: RepeatedKeys) -> Iterator[Unreadable]:
    window = JsonWindow(given.stream, given.name, repeated, MAX_MEMBER_CHARACTERS)
    unnamed: list[Column] = []
    for _, document in itertools.groupby(parts(window, RESULTS), key=lambda part: part.document):
        whole: dict[str, Any] = {}
        line = 1
        for part in document:
            if part.element:
                yield from _one_of_json(part.line, part.value, given.name, runs, unnamed)
            else:
                line = line if whole else part.line
                whole[".".join(part.path)] = part.value
        _refuse_error(whole, given.name)
        if "metric" in whole and "values" in whole:
            yield from _one_of_json(line, whole, given.name, runs, unnamed)
        repeated.end_row()
    _unnamed(unnamed, given.name, runs)


def _refuse_error(whole: Mapping[str, Any], origin: str) -> None:
    if whole.get("status") == "error":
        message = whole.get("error", whole.get("errorType", ""))
        raise TraceError(f"{origin}: Prometheus answered with an error ({message}); mend the query and save it again")
    kind = whole.get("data.resultType", "matrix")
    if kind not in ("matrix", "vector"):
        raise TraceError(
            f"{origin}: the result is of type {str(kind)[:40]!r}; query series of pods (/api/v1/query_range)"
        )


def _one_of_json(line: int, value: object, origin: str, runs: PodRuns, unnamed: list[Column]) -> Iterator[Unreadable]:
    """Take one series of an answer; `timestamps` are those of a raw export, in ms."""
    metric = value.get("metric") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(metric, dict):
        yield Unreadable(line, "metric", json.dumps(value)[:EXCERPT_CHARACTERS], "no series with labels")
        return
    labels = {str(key): str(each) for key, each in metric.items()}
    name = labels.pop("__name__", "")
    points = value.get("values", [value["value"]] if "value" in value else [])
    try:
        if "timestamps" in value:
            times, values = np.array(value["timestamps"], dtype=np.float64) / 1e3, np.array(points, dtype=np.float64)
        else:
            times = np.array([at for at, _ in points], dtype=np.float64)
            values = np.array([each for _, each in points]).astype(np.float64)
        if times.shape != values.shape or times.ndim != 1:
            raise ValueError("times and values do not match")
    except (TypeError, ValueError, OverflowError) as error:
        yield Unreadable(line, "values", json.dumps(points)[:EXCERPT_CHARACTERS], f"no points: {str(error)[:80]}")
        return
    quantity = quantity_of(name, labels) if label(labels, POD) else None
    if quantity is None or not times.size:
        runs.left_out[name or ", ".join(sorted(labels)) or "(no labels)"] += 1
    elif quantity.kind == UNKNOWN:
        unnamed.append(
            Column(Named("", labels, *request_and_resource(name)), line, array("d", times), array("d", values))
        )
    elif quantity == Quantity(REQUEST, quantity.resource) and not name and "limit" in origin.lower():
        runs.take(name, Quantity(LIMIT, quantity.resource), Series(line, labels, times, values))
    else:
        runs.take(name, quantity, Series(line, labels, times, values))


@dataclass(frozen=True)
class Head:
    """How a CSV export begins: its delimiter, its header, and how many lines that takes."""

    delimiter: str
    header: tuple[str, ...]
    lines: int

    @functools.cached_property
    def time(self) -> int:
        """Place of the column of times, -1 = none."""
        lower = [name.strip().lower() for name in self.header]
        return next((lower.index(name) for name in TIME_NAMES if name in lower), -1)

    @functools.cached_property
    def pod(self) -> int:
        """Place of the column that names a pod or a series in every line; -1 = every column is a series."""
        lower = [name.strip().lower() for name in self.header]
        return next((lower.index(name) for name in (*POD, "series", "metric") if name in lower), -1)

    @functools.cached_property
    def values(self) -> tuple[int, ...]:
        """Places of the columns of values of a long export."""
        names = [name.strip() for name in self.header]
        value_columns = [place for place, name in enumerate(names) if VALUE_NAME.fullmatch(name)]
        others = [place for place, name in enumerate(names) if place not in (self.time, self.pod)]
        return tuple(
            value_columns[:1] or [place for place in others if names[place] and self.named_column(place) is not None]
        )

    def named_column(self, place: int) -> Named | None:
        """Return what the name of a column of values says ('memory_request (MiB)'), None where it is none."""
        name = self.header[place].strip()
        unit = NAMED_UNIT.search(name)
        known = unit.group(1).lower() if unit and unit.group(1).lower() in UNITS else ""
        quantity = quantity_of(name, {})
        if quantity not in (None, Quantity(UNKNOWN)):
            return Named(name, {}, unit=known)
        what, resource = request_and_resource(name)
        return Named("", {}, what, resource, known) if what or resource else None


def _head(text: str) -> Head | None:
    lines = text.lstrip("\ufeff").splitlines()[:3]
    declared = re.fullmatch(r'"?sep=(.)"?', lines[0].strip()) if lines else None
    skipped = 1 if declared else 0
    if len(lines) <= skipped:
        return None
    candidates = (declared.group(1),) if declared else (",", ";", "\t")
    try:
        headers = {one: tuple(next(csv.reader([lines[skipped]], delimiter=one), [])) for one in candidates}
    except csv.Error:
        return None
    delimiter = max(headers, key=lambda one: len(headers[one]))
    head = Head(delimiter, headers[delimiter], skipped + 1)
    return head if head.time >= 0 and len(head.header) > 1 else None


def _csv(given: Given, runs: PodRuns) -> Iterator[Unreadable]:
    lines = given.lines()
    first = list(itertools.islice(lines, 2))
    head = _head("\n".join(text for _, text in first))
    if head is None:
        raise TraceError(f"{given.name}: there is no column of times ({', '.join(TIME_NAMES[:4])}) in its header")
    csv.field_size_limit(LONGEST_CELL)
    rest = itertools.chain(first[head.lines :], lines)
    rows = csv.reader((text for _, text in rest), delimiter=head.delimiter)
    columns = yield from _long(rows, head, runs) if head.pod >= 0 else _wide(rows, head, runs)
    unnamed = []
    for one in columns:
        resource = RESOURCES.get(one.named.labels.get("resource", ""), "")
        quantity = quantity_of(one.named.metric, one.named.labels)
        if one.named.what:
            quantity = Quantity(one.named.what, resource) if resource else Quantity(UNKNOWN)
        if quantity is None:
            runs.left_out[one.named.metric] += 1
        elif quantity.kind == UNKNOWN:
            unnamed.append(one)
        else:
            runs.take(one.named.metric, quantity, one.series())
    _unnamed(unnamed, given.name, runs)


@dataclass(frozen=True)
class Row:
    """A line of a CSV export, with its time in seconds since 1970."""

    line: int
    at: float
    cells: list[str]


def _wide(rows: Any, head: Head, runs: PodRuns) -> Generator[Unreadable, None, list[Column]]:
    """Read a line per time, and return its series; of columns of one name, which nothing tells apart, the first."""
    names = {place: name for place, name in enumerate(head.header) if place != head.time}
    result = {place: named(name) for place, name in names.items()}
    pods = {label(one.labels, POD) for one in result.values() if one}
    first = {name.strip(): place for place, name in reversed(names.items())}
    columns = {
        place: Column(without_request_suffix(one, pods), head.lines)
        for place, one in result.items()
        if one and first[names[place].strip()] == place
    }
    runs.left_out.update(name.strip() or "(no name)" for place, name in names.items() if place not in columns)
    for row in _timed(rows, head):
        if isinstance(row, Unreadable):
            yield row
            continue
        for place, column in columns.items():
            if row.cells[place]:
                yield from _point(column, row, place, head)
    return list(columns.values())


def _long(rows: Any, head: Head, runs: PodRuns) -> Generator[Unreadable, None, list[Column]]:
    """Read a line per point, and return its series; of columns called 'Value #A', 'Value #B' the first counts."""
    columns: dict[tuple[str, ...], Column] = {}
    others = {place for place, name in enumerate(head.header) if VALUE_NAME.fullmatch(name.strip())} - {*head.values}
    runs.left_out.update(head.header[place].strip() for place in others)
    apart = [place for place in range(len(head.header)) if place not in (head.time, *others, *head.values)]
    for row in _timed(rows, head):
        if isinstance(row, Unreadable):
            yield row
            continue
        for place in head.values:
            key = (str(place), *(row.cells[each] for each in apart))
            if key not in columns:
                result = _of_row(row.cells, head, place)
                if result is None:
                    excerpt = row.cells[head.pod][:EXCERPT_CHARACTERS]
                    yield Unreadable(row.line, head.header[head.pod], excerpt, "names no pod")
                    break
                columns[key] = Column(result, row.line)
            yield from _point(columns[key], row, place, head)
    return list(columns.values())


def _of_row(row: Sequence[str], head: Head, place: int) -> Named | None:
    """Return what a line of a long export says of its series."""
    if head.header[head.pod].strip().lower() in ("series", "metric"):
        return named(row[head.pod])
    labels = {name.strip().lower(): row[at] for at, name in enumerate(head.header) if at not in head.values and row[at]}
    metric, column = labels.pop("__name__", ""), head.named_column(place) or Named("", {})
    return replace(column, metric=metric or column.metric, labels=labels) if row[head.pod].strip() else None


def _timed(rows: Any, head: Head) -> Iterator[Row | Unreadable]:
    """Yield the lines that have a time and as many fields as the header, and those that have not."""
    try:
        for cells in rows:
            line = rows.line_num + head.lines
            if not any(cells):
                continue
            if len(cells) != len(head.header):
                text = head.delimiter.join(cells)[:EXCERPT_CHARACTERS]
                yield Unreadable(line, "", text, "not as many fields as the header")
                continue
            try:
                yield Row(line, moment_of(cells[head.time]), cells)
            except ValueError:
                yield Unreadable(line, head.header[head.time], cells[head.time][:EXCERPT_CHARACTERS], "no time")
    except csv.Error as error:
        raise TraceError(f"line {rows.line_num + head.lines} cannot be read ({error}); write the file again") from error


def _point(column: Column, row: Row, place: int, head: Head) -> Iterator[Unreadable]:
    text = row.cells[place]
    try:
        number, quantity = float(text), ""
    except ValueError:
        try:
            number, quantity = value_of(text)
        except ValueError as error:
            name, excerpt = head.header[place][:EXCERPT_CHARACTERS], text[:EXCERPT_CHARACTERS]
            yield Unreadable(row.line, name, excerpt, f"no value ({error})"[:80])
            return
    if math.isfinite(number):
        column.times.append(row.at)
        column.values.append(number)
        column.quantity = column.quantity or quantity


LABELS = re.compile(r'"metric"\s*:\s*(\{[^{}]*\})')
GRAFANA_NAME = re.compile(r"-data-(?:as-[a-z]+-)?\d{4}-\d\d-\d\d")
OF_NODES = frozenset({"mode", "device", "mountpoint", "fstype", "chip", "sensor"})
COUNTERS = frozenset(
    (
        *("cpu", "mem", "memory", "disk", "net", "network", "read", "write", "user", "sys", "system", "idle", "load"),
        *("temp", "power", "io", "swap", "cache", "ipc", "freq"),
    )
)
"""Words of the names of counters; a name with one of them is no pod's, unless something else says so."""


def recognises(head: str, name: str) -> bool:
    """Tell whether a text's beginning is of series of pods, and not of counters of nodes."""
    start = head[:LOOKED_AT].lstrip("\ufeff \r\n\t")
    if start.startswith(("{", "[")):
        result = [_labels(match.group(1)) for match in itertools.islice(LABELS.finditer(head), LOOKED_AT)]
        return bool(result) and '"value' in head and sum(map(_of_a_pod, result)) * 2 > len(result)
    shape = _head(head)
    if shape is None:
        return False
    rows = list(itertools.islice(csv.reader(io.StringIO(head), delimiter=shape.delimiter), shape.lines, LOOKED_AT))
    if shape.pod >= 0:
        series = shape.header[shape.pod].strip().lower() in ("series", "metric")
        names = [row[shape.pod] for row in rows if len(row) > shape.pod]
        if not series:
            plain = any(VALUE_NAME.fullmatch(shape.header[place].strip()) for place in shape.values)
            return bool(shape.values) and (plain or len(set(names)) < len(names))
        return bool(shape.values) and bool(names) and all(map(_looks_like_a_pod, names))
    others = [text for place, text in enumerate(shape.header) if place != shape.time]
    if any(_in_braces(text) for text in others):
        return True
    cells = [text for row in rows for place, text in enumerate(row) if place != shape.time]
    has_bytes = any(_quantity(text) == BYTES for text in cells)
    certain = has_bytes or bool(GRAFANA_NAME.search(name))
    like = [_looks_like_a_pod(text, certain=certain) for text in others if named(text) is not None]
    return shape.time == 0 and bool(like) and all(like)


def _labels(text: str) -> dict[str, str]:
    try:
        result = json.loads(text)
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in result.items()}


def _of_a_pod(labels: Mapping[str, str]) -> bool:
    name = labels.get("__name__", "")
    of_pod = quantity_of(name, labels) is not None and bool(label(labels, POD))
    return of_pod and (bool(name) or not (OF_NODES & labels.keys() or "node-exporter" in labels.get("job", "")))


def _in_braces(text: str) -> bool:
    result = named(text) if "{" in text else None
    return result is not None and _of_a_pod({**result.labels, "__name__": result.metric})


def _quantity(text: str) -> str:
    try:
        return value_of(text)[1]
    except ValueError:
        return ""


def _looks_like_a_pod(text: str, *, certain: bool = False) -> bool:
    """Tell whether a name without labels is that of a pod: in Kubernetes' letters, with a number or a random end."""
    if "{" in text:
        return _in_braces(text)
    result = named(text)
    pod = result.labels["pod"] if result else ""
    words = set(re.split(r"[-.]", pod))
    like = bool(POD_NAME.fullmatch(pod)) and "-" in pod and not words & COUNTERS
    return like and (certain or "pod" in words or any(character.isdigit() for character in pod))


def read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row per pod of all files together.

    Raises:
        TraceError: when a file is broken or an error, or no series names a pod.
    """
    runs, repeated = PodRuns(), RepeatedKeys()
    for given in sources:
        start = given.stream.read(LOOKED_AT).lstrip(b"\xef\xbb\xbf \r\n\t")
        given.stream.seek(0)
        yield from _json(given, runs, repeated) if start[:1] in (b"{", b"[") else _csv(given, runs)
    if not runs.runs:
        text = ", ".join(name[:60] for name, _ in runs.left_out.most_common(5))
        raise TraceError(
            f"{', '.join(given.name for given in sources[:3])}: no series names a pod (found: {text or 'none'}); "
            "export container_memory_working_set_bytes by namespace and pod"
        )
    yield from runs.rows()
    yield from remarks(repeated, "documents")


FORMAT = Format(
    name="prometheus-pods",
    title="Pods as Prometheus and Grafana export them",
    columns=tuple(SourceColumn(name, TEXT if name in TEXTS else NUMBER) for name in COLUMNS),
    rules=(
        Rule("job_name", "pod"),
        Rule("task_name", "task"),
        Rule("workload", "namespace"),
        Rule("node", "node"),
        Rule("status", "status"),
        Rule("submit_time_s", "created", "s"),
        Rule("start_time_s", "start", "s"),
        Rule("end_time_s", "end", "s"),
        Rule("requested_cpu_percent", "cpu_request", "cores"),
        Rule("requested_gpu_percent", "gpu_request", "cores"),
        Rule("requested_memory_bytes", "memory_request", "B"),
        Rule("cpu_usage_percent", "cpu_used", "cores"),
        Rule("gpu_usage_percent", "gpu_used", "percent"),
        Rule("mean_memory_bytes", "memory_mean", "B"),
        Rule("peak_memory_bytes", "memory_peak", "B"),
        Rule("mean_gpu_memory_bytes", "gpu_memory_mean", "B"),
        Rule("peak_gpu_memory_bytes", "gpu_memory_peak", "B"),
    ),
    finished=("succeeded",),
    duration_from_times=True,
    units=(("cpu_limit", "cores"), ("memory_limit", "B")),
    reader=Reader(recognises, COLUMNS, read, several=True),
)
