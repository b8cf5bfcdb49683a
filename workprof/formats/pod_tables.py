"""CSV exports about pods, as Grafana writes them: one column a series, or one line a point."""

from __future__ import annotations

import contextlib
import csv
import functools
import itertools
import math
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workprof.core.errors import TraceError
from workprof.formats.declare import Given, Unreadable
from workprof.formats.pod_columns import Column, take_unnamed
from workprof.formats.pod_names import (
    BYTES,
    CORES,
    NAMED_UNIT,
    TIME_NAMES,
    UNITS,
    VALUE_NAME,
    Named,
    moment_of,
    named,
    separators,
    unit_in,
    value_of,
    without_request_suffix,
)
from workprof.formats.pod_runs import PodRuns
from workprof.formats.pod_series import (
    CLUSTER,
    CONTAINER,
    NAMESPACE,
    POD,
    RESOURCES,
    UNKNOWN,
    Quantity,
    is_share,
    label,
    quantity_of,
    quantity_told,
    request_and_resource,
)
from workprof.formats.values import order_of_days, order_of_samples

LONGEST_CELL = 16 * 1024 * 1024
EXCERPT_CHARACTERS = 200
LOOKED_AT = 1_000


@dataclass(frozen=True)
class Head:
    """How a CSV export begins: its delimiter, its header, how many lines that takes, and how its times are written."""

    delimiter: str
    header: tuple[str, ...]
    lines: int
    day_first: bool = False

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
        told = {place: one for place in others if names[place] and (one := self.named_column(place)) is not None}
        if any(one.metric for one in told.values()):  # a column 'cpu' beside a metric is the number of a core
            told = {place: one for place, one in told.items() if names[place].lower() not in LABELS}
        return tuple(value_columns[:1] or told)

    def named_column(self, place: int) -> Named | None:
        """What the name of a column of values says ('memory_request (MiB)'), None where it is none."""
        name = self.header[place].strip()
        unit = NAMED_UNIT.search(name)
        known = unit.group(1).lower() if unit and unit.group(1).lower() in UNITS else unit_in(name)
        quantity = quantity_of(name, {})
        if quantity not in (None, Quantity(UNKNOWN)):
            return Named(name, {}, unit=known)
        if is_share(name):
            return None
        what, resource = request_and_resource(name)
        of_some = resource or known or "resource" in (other.strip().lower() for other in self.header)
        return Named("", {}, what, resource, known) if of_some and (what or resource) else None


def head_of(text: str) -> Head | None:
    """How a text begins, None where its first lines are no header with a column of times."""
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


def read_table(given: Given, runs: PodRuns) -> Iterator[Unreadable]:
    """Take the series of a table; yield what of it is none."""
    head = head_of("\n".join(text for _, text in itertools.islice(given.lines(), 2)))
    if head is None:
        raise TraceError(f"{given.name}: there is no column of times ({', '.join(TIME_NAMES[:4])}) in its header")
    csv.field_size_limit(LONGEST_CELL)
    given.stream.seek(0)
    head = replace(head, day_first=_day_first(_rows(given, head), head, given.name, runs))
    given.stream.seek(0)
    rows = _rows(given, head)
    signs = Signs()
    columns = yield from _long(rows, head, runs, signs) if head.pod >= 0 else _wide(rows, head, runs, signs)
    runs.thousands += signs.settle(columns, head.delimiter)
    unnamed = []
    for one in columns:
        resource = RESOURCES.get(one.named.labels.get("resource", ""), "")
        quantity = quantity_told(one.named.metric, one.named.labels, np.array(one.values))
        if one.named.what:
            quantity = Quantity(one.named.what, resource) if resource else Quantity(UNKNOWN)
        if quantity is None:
            runs.left_out[one.named.metric] += 1
        elif quantity.kind == UNKNOWN:
            unnamed.append(one)
        else:
            quantity_name, factor = UNITS.get(one.named.unit, ("", 1.0))
            if quantity_name in (BYTES, CORES) and not one.quantity and quantity.scale == 1.0:
                quantity = replace(quantity, scale=factor)
            runs.take(one.named.metric, quantity, one.series())
    take_unnamed(unnamed, given.name, runs)


def _rows(given: Given, head: Head) -> Any:
    return csv.reader((text for _, text in itertools.islice(given.lines(), head.lines, None)), delimiter=head.delimiter)


def _day_first(rows: Any, head: Head, origin: str, runs: PodRuns) -> bool:
    """Tell whether times with slashes begin with the day; raises TraceError where none of them tells."""
    times = (cells[head.time] for cells in rows if len(cells) > head.time)
    some, order = [], ""
    with contextlib.suppress(csv.Error):  # that is told where the rows are read
        some = list(itertools.islice(times, LOOKED_AT))
        order = order_of_days(some) and order_of_days(itertools.chain(some, times))
    if order == "either":
        named = re.search(r"\d{4}-\d\d-\d\d", origin)  # Grafana names its exports by their day
        order = order_of_samples(some, named[0] if named else "")
        runs.day_told += order != "either"
    if order == "either":
        raise TraceError(
            f"{origin}: times such as {some[0][:EXCERPT_CHARACTERS]} may begin with the day or with the month, and "
            "none of them tells; export them as 2026-01-31 10:00:00 (in Grafana: turn Formatted data off)"
        )
    return order == "first"


@dataclass(frozen=True)
class Row:
    """A line of a CSV export, with its time in seconds since 1970."""

    line: int
    at: float
    cells: list[str]


def _wide(rows: Any, head: Head, runs: PodRuns, signs: Signs) -> Generator[Unreadable, None, list[Column]]:
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
                yield from _point(column, row, place, head, signs)
    return list(columns.values())


def _long(rows: Any, head: Head, runs: PodRuns, signs: Signs) -> Generator[Unreadable, None, list[Column]]:
    """Read a line per point, and return its series; of columns called 'Value #A', 'Value #B' the first counts."""
    columns: dict[tuple[str, ...], Column] = {}
    no_labels = (VALUE_NAME.fullmatch(name.strip()) or is_share(name) for name in head.header)
    others = {place for place, other in enumerate(no_labels) if other} - {*head.values}
    runs.left_out.update(head.header[place].strip() for place in others)
    apart: list[int] | None = None
    for row in _timed(rows, head):
        if isinstance(row, Unreadable):
            yield row
            continue
        if apart is None:
            numbers = {place for place, name in enumerate(head.header) if _is_measured(name, row.cells[place])}
            apart = [place for place in range(len(head.header)) if place not in (head.time, *others, *head.values)]
            runs.left_out.update(head.header[place].strip() for place in apart if place in numbers)
            apart = [place for place in apart if place not in numbers]
        for place in head.values:
            key = (str(place), *(row.cells[each] for each in apart))
            if key not in columns:
                result = _of_row(row.cells, head, place)
                if result is None:
                    excerpt = row.cells[head.pod][:EXCERPT_CHARACTERS]
                    yield Unreadable(row.line, head.header[head.pod], excerpt, "names no pod")
                    break
                columns[key] = Column(result, row.line)
            yield from _point(columns[key], row, place, head, signs)
    return list(columns.values())


LABELS = frozenset(("cpu", "gpu", "gpu_i_id", "uuid", *POD, *NAMESPACE, *CONTAINER, *CLUSTER))
"""Columns that tell series apart, also where their cells are numbers."""


def _is_measured(name: str, cell: str) -> bool:
    """Tell whether a column holds numbers that are no label: they change while a series goes on."""
    try:
        float(cell)
    except ValueError:
        return False
    return name.strip().lower() not in LABELS


def _of_row(row: Sequence[str], head: Head, place: int) -> Named | None:
    """What a line of a long export says of its series."""
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
                yield Row(line, moment_of(cells[head.time], day_first=head.day_first), cells)
            except ValueError:
                yield Unreadable(line, head.header[head.time], cells[head.time][:EXCERPT_CHARACTERS], "no time")
    except csv.Error as error:
        raise TraceError(f"line {rows.line_num + head.lines} cannot be read ({error}); write the file again") from error


def _point(column: Column, row: Row, place: int, head: Head, signs: Signs) -> Iterator[Unreadable]:
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
        column.add(row.at, number, signs.look(text))
        column.quantity = column.quantity or quantity


@dataclass
class Signs:
    """What the numbers of a file tell of '.' and ',' together: their language writes all of them alike."""

    thousands: set[str] = field(default_factory=set)
    decimal: set[str] = field(default_factory=set)

    def look(self, text: str) -> str:
        """Take in a number; return the sign of it that may separate thousands or decimals."""
        if "." not in text and "," not in text:
            return ""
        thousands, decimal, doubtful = separators(text)
        self.thousands.update(thousands)
        self.decimal.update(decimal)
        return doubtful

    def settle(self, columns: Iterable[Column], delimiter: str) -> int:
        """Mend the numbers of doubt; return how many. Commas alone separate thousands where no number denies it.

        Between semicolons they are decimal: that is why the lines have these.
        """
        commas = {","} if "." not in self.thousands and delimiter != ";" else set()
        signs = self.thousands - self.decimal or commas - self.decimal
        return sum(column.in_thousands(sign) for column in columns for sign in signs)
