"""PerfSpect: metrics of both generations as CSV, JSON lines, wide and plain text, and its telemetry tables as JSON.

Layouts: `printMetricsCSV`, `printMetricsJSON`, `printMetricsWide`, `printMetricsTxt` and the tables of `telemetry` in
PerfSpect 3 (intel/PerfSpect, cmd/metrics/print.go, cmd/telemetry/telemetry_tables.go). `metrics trim` writes summaries.
"""

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.core.errors import TraceError
from workprof.formats.declare import Unreadable
from workprof.formats.repeated_keys import DOCUMENTS, RepeatedKeys
from workprof.formats.telemetry.samples import Samples, labelled, stem_of
from workprof.formats.telemetry.text_table import EXCERPT_CHARACTERS, TextTable, header_of, numbers, read_table
from workprof.formats.telemetry.times import of_day, past_midnight, seconds_of, since_start, usual_step
from workprof.store.lines import refuse_unread
from workprof.store.reports import Check
from workprof.store.text_shape import unique_names

TIMES = ("Time", "Timestamp", "timestamp")
"""The first field of a record: Time, but for power units and Gaudi devices, whose tools name it themselves."""

ITEMS = (
    "CPU", "CORE", "SOCK", "NODE", "Core", "Package", "Die", "IFACE", "Device", "DEV", "Interface", "FILESYSTEM",
    "module_id",
)  # fmt: skip
"""Fields that say of what a record is."""

AVERAGED = re.compile(r"%|util|MHz|Freq|await|sz\b|Temp|Watt|°|C\d", re.IGNORECASE)
"""Fields of which the mean over processors or devices is taken; the others are added up."""

NEAR_STEPS = 0.75
"""A table's record belongs to the nearest time of the longest table, if it is no further than so many steps."""


def read_tables(whole: Any, origin: str) -> Samples:
    """The samples of all tables on the clock of the longest, a counter `<table>.<field>` each.

    Raises TraceError when the document is not tables of records with times.
    """
    tables, strange, texts = {}, 0, dict[str, str]()
    if isinstance(whole, dict):
        for name, records in whole.items():
            rows = [one for one in records if isinstance(one, dict)] if isinstance(records, list) else []
            strange += len(records) - len(rows) if rows else 0
            time = next((one for one in TIMES if rows and all(one in row for row in rows)), None)
            if time is not None:
                short = str(name).removesuffix(" Telemetry")
                tables[short] = _table(rows, time, origin)
                texts |= {f"{short}.{field}": text for field, text in _texts_of(rows, time, tables[short])}
    series = {name: table for name, table in tables.items() if len(table) > 0}
    if not series:
        raise TraceError(
            f"{origin}: there are no tables of records with a {TIMES[0]}; run perfspect telemetry --format json"
        )
    clock = max(series.values(), key=len).index.to_numpy(dtype=np.float64)
    frame = pd.concat([_on(clock, table).add_prefix(f"{name}.") for name, table in series.items()], axis=1)
    lacking = len(whole) - len(series)
    text = f"{lacking:,} tables hold no records with a time and are left out"
    odd = f"{strange:,} entries of tables are no records and are left out"
    shown = ", ".join(f"{field} ({value!r})" for field, value in list(texts.items())[:8])
    units = f"{len(texts):,} fields are left out, as they hold texts, units or decimal commas: {shown}"
    result = (
        Check("left_out_tables", "info", lacking, text),
        Check("odd_records", "warning", strange, odd),
        Check("text_fields", "warning", len(texts), units),
    )
    checks = tuple(check for check in result if check.count)
    stem = stem_of(origin)
    return Samples(labelled(frame.reset_index(drop=True), since_start(clock), stem), (), 0, checks)


def _table(rows: list[dict[str, Any]], time: str, origin: str) -> pd.DataFrame:
    """One table by time; several records of a time are averaged or added up."""
    names = [name for name in dict.fromkeys(key for row in rows for key in row) if name not in (time, *ITEMS)]
    times = past_midnight(of_day([str(row[time]) for row in rows], origin))
    texts = pd.DataFrame([{name: row.get(name) for name in names} for row in rows], columns=names)
    values = texts.apply(pd.to_numeric, errors="coerce").astype(np.float64).dropna(axis=1, how="all")
    grouped = values.groupby(times)
    means, sums = grouped.mean(), grouped.sum(min_count=1)
    return pd.DataFrame({name: (means if AVERAGED.search(name) else sums)[name] for name in values}, index=means.index)


def _texts_of(rows: list[dict[str, Any]], time: str, table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the fields of a table of which no value is a number, with the first that holds something."""
    for name in dict.fromkeys(key for row in rows for key in row):
        if name not in (time, *ITEMS, *table):
            first = next((str(row[name]) for row in rows if str(row.get(name) or "").strip()), "")
            if first:
                yield name, first[:40]


def _on(clock: np.ndarray[Any, np.dtype[np.float64]], table: pd.DataFrame) -> pd.DataFrame:
    tolerance = NEAR_STEPS * max(usual_step(clock), 1.0)
    return table.reindex(clock, method="nearest", tolerance=tolerance).reset_index(drop=True)


CONTEXT = ("TS", "SKT", "CPU", "PID", "CMD", "CID")
"""Columns before the metrics; told by name, since the generations differ in which they have."""

SUMMARIES = ("metric,mean,min,max,stddev", "metrics,avg,p95,min,max")
WIDE = re.compile(r"Timestamp {4,}\S")
WIDE_GAP = re.compile(r" {3,}")
"""Cells are padded to their column, and three spaces follow."""

WIDE_CONTEXT = {"Timestamp": "TS", "Command": "CMD"}
CAPTURED = re.compile(r"- Metrics captured at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)? \+0000 UTC$")
BLOCK_CONTEXT = re.compile(r"- (PID|CMD|CID|CPU|Socket): (.*)$")
BLOCK_HEADER = re.compile(r"metric +(value|skt .* val)$")
SOCKET_OF = re.compile(r"skt (\S*) val")
RULE = re.compile(r"-{10,}[ -]*$")
JSON_CONTEXT = {"Timestamp": "TS", "Socket": "SKT", "CPU": "CPU", "Cgroup": "CID", "PID": "PID", "Cmd": "CMD"}
NOT_A_NUMBER = -1.0
"""What the JSON lines hold for NaN and infinite."""


@dataclass(frozen=True)
class Metrics:
    """Rows as written: context texts, and metrics as numbers."""

    context: pd.DataFrame  # (n_rows, n_context) texts; 'TS' is one of them
    metrics: pd.DataFrame  # (n_rows, n_metrics)
    rejected: tuple[Unreadable, ...] = ()
    infinite: int = 0
    checks: tuple[Check, ...] = ()


def read_perfspect(path: Path, origin: str) -> Samples:
    """The samples of one recording; rows of several sockets or processors at one time are averaged.

    Raises TraceError for a summary, for several processes or control groups in one file, and on decimal commas.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        first = next((line.strip() for line in stream if line.strip()), "")
    if first.startswith(SUMMARIES):
        raise TraceError(
            f"{origin} is a summary of a recording (a row per metric) and holds no series; give the file of metrics "
            f"beside it, *_metrics.csv or metric_out.sys.csv"
        )
    if first.startswith(("{", "[")):
        return _of_json(path, origin)
    if WIDE.match(first):
        return _samples(_of_wide(path, origin), origin)
    return _samples(_of_blocks(path, origin) if RULE.match(first) else _of_csv(path, origin), origin)


def _of_json(path: Path, origin: str) -> Samples:
    text, repeated = path.read_text(encoding="utf-8-sig", errors="replace"), RepeatedKeys()
    try:
        whole = json.loads(text, object_pairs_hook=repeated.hook)
    except ValueError:
        return _samples(_of_json_lines(path, text, origin), origin)
    except RecursionError as error:
        raise TraceError(f"{origin} is nested beyond reason; give what perfspect telemetry wrote") from error
    if isinstance(whole, dict) and "Metrics" in whole:
        return _samples(_of_json_lines(path, text, origin), origin)
    repeated.end_row()
    result = read_tables(whole, origin)
    return replace(result, checks=(*repeated.checks(DOCUMENTS), *result.checks))


def _of_csv(path: Path, origin: str) -> Metrics:
    names = header_of(path, origin, ",")
    if names[0] not in ("TS", "time"):
        raise TraceError(f"{origin}: the first column is {names[0]!r}; a file of PerfSpect starts with TS or time")
    return _of_table(read_table(path, origin), names[0], origin)


def _of_table(table: TextTable, header: str, origin: str) -> Metrics:
    """The rows of a table whose first column holds times, or `header` where a second recording was appended."""
    names = tuple(str(name) for name in table.cells)
    again = (table.cells[names[0]] == header).to_numpy(dtype=bool)
    measured = replace(table, cells=table.cells[~again], lines=table.lines[~again])
    context = tuple(name for name in names if name in CONTEXT or name == names[0])
    read = numbers(measured, tuple(name for name in names if name not in context), origin)
    rows = measured.cells.loc[~read.bad, list(context)].rename(columns={names[0]: "TS"})
    rows["restarts"] = np.cumsum(again)[~again][~read.bad]
    rejected = (*table.rejected, *read.rejected)
    return Metrics(rows, read.frame[~read.bad], rejected, read.infinite)


def _of_wide(path: Path, origin: str) -> Metrics:
    """The padded columns of --format wide: numbers have two decimals, so that small ones are 0."""
    lines = _lines(path, origin)
    header = WIDE_GAP.split(lines[0][1])
    fields = [(number, line, WIDE_GAP.split(line)) for number, line in lines[1:]]
    good = [(number, cells) for number, _, cells in fields if len(cells) == len(header)]
    rejected = tuple(
        Unreadable(number, "", line[:EXCERPT_CHARACTERS], f"{len(cells)} fields under {len(header)} names")
        for number, line, cells in fields
        if len(cells) != len(header)
    )
    names = unique_names(tuple(WIDE_CONTEXT.get(name, name) for name in header))
    frame = pd.DataFrame([cells for _, cells in good], columns=list(names), dtype="str")
    table = TextTable(frame, np.array([number for number, _ in good], dtype=np.int64), rejected)
    result = _of_table(table, header[0], origin)
    zero = int((result.metrics.fillna(0) == 0).all().sum())
    text = f"{zero:,} metrics are 0 at two decimals throughout; the file *_metrics.csv beside it has eight digits"
    return replace(result, checks=(Check("rounded", "warning", zero, text),) if zero and len(result.metrics) else ())


def _of_blocks(path: Path, origin: str) -> Metrics:
    """The blocks of --format txt: a moment, of what it is, and a line a metric with a value for each socket."""
    rows: list[dict[str, str]] = []
    values: list[dict[str, float]] = []
    rejected: list[Unreadable] = []
    of: dict[str, str] = {}
    at, block = "", 0  # the moment, and how many values a line has
    for number, line in _lines(path, origin):
        captured, context, header = CAPTURED.match(line), BLOCK_CONTEXT.match(line), BLOCK_HEADER.match(line)
        if captured:
            of, block = {}, 0
            at = f"{datetime.fromisoformat(captured[1] + '+00:00').timestamp():.0f}"
        elif context and at:
            of["SKT" if context[1] == "Socket" else context[1]] = context[2].strip()
        elif header and at:
            sockets = SOCKET_OF.findall(line)
            block = max(len(sockets), 1)
            rows += [{"TS": at, **of, **({"SKT": one} if one else {})} for one in sockets or [""]]
            values += [{} for _ in range(block)]
        elif RULE.match(line):
            continue
        else:
            cells = line.rsplit(None, block) if block else []
            try:
                read = [float(cell) for cell in cells[1:]]
                for frame, value in zip(values[len(values) - block :], read, strict=True):
                    frame[cells[0].strip()] = value
            except (ValueError, IndexError):
                rejected.append(Unreadable(number, "", line[:EXCERPT_CHARACTERS], "no metric with its values"))
    if not rows:
        raise TraceError(f"{origin}: no block says when its metrics were captured; give what perfspect metrics wrote")
    metrics = pd.DataFrame(values, dtype=np.float64)
    infinite = metrics.abs() == np.inf
    told = pd.DataFrame(rows, columns=list(JSON_CONTEXT.values()), dtype="str").assign(restarts=0)
    return Metrics(told, metrics.mask(infinite), tuple(rejected), int(infinite.to_numpy().sum()))


def _lines(path: Path, origin: str) -> list[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    result = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    refuse_unread(path, origin, len(result))
    return result


def _of_json_lines(path: Path, text: str, origin: str) -> Metrics:
    rows, values, rejected, repeated = [], [], [], RepeatedKeys()
    for number, line in enumerate(io.StringIO(text), start=1):  # a text in JSON may hold other separators of lines
        if not line.strip():
            continue
        try:
            frame = json.loads(line, object_pairs_hook=repeated.hook)
            metrics = repeated.hook([(str(one["Name"]), float(one["Value"])) for one in frame["Metrics"]])
            rows.append({name: _text(frame.get(key)) for key, name in JSON_CONTEXT.items()})
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            rejected.append(Unreadable(number, "", line.rstrip("\n")[:EXCERPT_CHARACTERS], "no frame of metrics"))
            repeated.forget()
            continue
        repeated.end_row()
        values.append(metrics)
    refuse_unread(path, origin, len(rows) + len(rejected))
    result = pd.DataFrame(values, dtype=np.float64)
    missing = int((result == NOT_A_NUMBER).to_numpy().sum())
    message = f"{missing:,} cells were -1, which PerfSpect writes for NaN and infinite; they are empty"
    checks = (*repeated.checks("lines"), *((Check("minus_one", "info", missing, message),) if missing else ()))
    context = pd.DataFrame(rows, columns=list(JSON_CONTEXT.values()), dtype="str").assign(restarts=0)
    return Metrics(context, result.mask(result == NOT_A_NUMBER), tuple(rejected), 0, checks)


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def _samples(result: Metrics, origin: str) -> Samples:
    context = result.context
    at = pd.Series(seconds_of(list(context["TS"]), origin), index=context.index)
    _refuse_scopes(context, at, origin)
    scoped = _filled(context, "SKT") | _filled(context, "CPU")
    parts, stem = [], stem_of(origin)
    for restart, rows in context.groupby("restarts", sort=True):
        times, values = at[rows.index], result.metrics.loc[rows.index]
        if scoped.any():
            values = values.groupby(times).mean()
            times = pd.Series(values.index, index=values.index)
        t = since_start(untruncated(np.asarray(times, dtype=np.float64)))
        parts.append(labelled(values, t, stem if restart == 0 else f"{stem}-{int(str(restart)) + 1}"))
    frame = pd.concat(parts, ignore_index=True) if parts else labelled(result.metrics, [], stem)
    return Samples(frame, result.rejected, result.infinite, (*result.checks, *_checks(context, scoped, len(frame))))


def _refuse_scopes(context: pd.DataFrame, at: pd.Series, origin: str) -> None:
    """Refuse files in which the rows of one time are of different processes or control groups."""
    for column, what in (("CID", "control groups"), ("PID", "processes")):
        names = context.loc[_filled(context, column), column].unique() if column in context else []
        if len(names) > 1:
            raise TraceError(
                f"{origin} holds {len(names)} {what} ({', '.join(names[:3])}, ...); record the whole system, or give "
                f"a file of one of them"
            )
    if (_filled(context, "SKT") | _filled(context, "CPU")).any():
        return
    for _, one in at.groupby(context["restarts"]):
        if len(one) > one.max() - one.min() + 2:
            raise TraceError(
                f"{origin} has {len(one):,} rows in {one.max() - one.min() + 1:.0f} s without saying of what: several "
                f"processes cannot be distinguished (scope process); record the whole system"
            )


def untruncated(at_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Times that were cut to whole seconds with a doubled one moved into the hole beside it: 5 5 7 is 5 6 7."""
    moved = at_s.copy()
    for at in range(1, moved.size):
        if moved[at] != moved[at - 1]:
            continue
        if at + 1 < moved.size and moved[at + 1] - moved[at] == 2:
            moved[at] += 1
        elif at >= 2 and moved[at - 1] - moved[at - 2] == 2:
            moved[at - 1] -= 1
    return moved


def _filled(context: pd.DataFrame, column: str) -> pd.Series:
    if column not in context:
        return pd.Series(False, index=context.index)
    return context[column].fillna("").str.strip() != ""


def _checks(context: pd.DataFrame, scoped: pd.Series, rows: int) -> tuple[Check, ...]:
    restarts = int(context["restarts"].max()) if len(context) else 0
    counted = (
        ("averaged", int(scoped.sum()), f"rows of single sockets or processors were averaged to {rows:,} times"),
        ("appended", restarts, "further recordings were appended to the file; each is a run"),
    )
    return tuple(Check(name, "info", count, f"{count:,} {what}") for name, count, what in counted if count)
