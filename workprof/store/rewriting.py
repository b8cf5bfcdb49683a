"""Inputs that are rewritten as plain CSV in the spool, line by line: JSON lines, and numbers written for people.

A value that cannot be rewritten stays as it is: the CSV reader then rejects it with line, column and text.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workprof.errors import TraceError
from workprof.progress import Progress
from workprof.store.rejects import TEXT_CHARACTERS
from workprof.store.running import Span
from workprof.store.spool import Spooled
from workprof.store.text_shape import MAX_COLUMNS, TextShape

TOLD_EVERY_LINES = 20_000
MAX_FIELD_CHARACTERS = 16 * 1024 * 1024
NOTHING = ""
LOOKED_AT_LINES = 200


@dataclass(frozen=True)
class Rewritten:
    """The rewritten file, and the lines that are no rows (line, column, text, reason) as a CSV file of their own."""

    spooled: Spooled
    rejects: Path | None
    rejected: int


def rewrite_units(
    spooled: Spooled, shape: TextShape, kinds: Mapping[str, Callable[[str], str]], progress: Progress, span: Span
) -> Spooled:
    """Return a copy whose columns in `kinds` hold plain numbers."""
    target = spooled.path.with_name(f"{spooled.path.stem}-plain.csv")
    by_position = {shape.header.index(name): kinds[name] for name in kinds if name in shape.header}
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    size, told = spooled.path.stat().st_size, 0
    with (
        spooled.path.open(encoding="utf-8-sig", newline="", errors="surrogateescape") as source,
        target.open("w", encoding="utf-8", newline="", errors="surrogateescape") as plain,
    ):
        writer = csv.writer(plain, delimiter=shape.delimiter, lineterminator="\n")
        try:
            for number, row in enumerate(csv.reader(source, delimiter=shape.delimiter)):
                plain_row = [by_position[at](value) if at in by_position else value for at, value in enumerate(row)]
                writer.writerow(plain_row if number else row)
                if number - told >= TOLD_EVERY_LINES:
                    told = number
                    progress(span.at(plain.tell() / max(size, 1)), span.message)
        except csv.Error as error:
            raise TraceError(f"{spooled.origin}: line {number + 2} cannot be split into fields ({error})") from error
    return Spooled(target, spooled.origin)


def is_json_lines(head: str) -> bool:
    """Tell whether a text begins with a JSON object."""
    return head.lstrip().startswith("{")


def first_objects(content: str, whole: bool) -> list[dict[str, Any]]:
    """Return the objects of the first lines (`whole`: the last line is not cut off)."""
    lines = content.splitlines() if whole else content.splitlines()[:-1]
    found = (_object(line) for line in lines[:LOOKED_AT_LINES])
    return [row for row in found if row is not None]


def rewrite_json_lines(spooled: Spooled, progress: Progress, span: Span) -> Rewritten:
    """Return the objects as CSV rows, one line each, in the order of the first appearance of their keys.

    Raises:
        TraceError: when no line holds an object, or there are too many keys.
    """
    keys = _keys(spooled, progress, Span(span.low, (span.low + span.high) / 2, span.message))
    target = spooled.path.with_name(f"{spooled.path.stem}-lines.csv")
    refused = spooled.path.with_name(f"{spooled.path.stem}-refused.csv")
    rejected = 0
    with (
        target.open("w", encoding="utf-8", newline="") as plain,
        refused.open("w", encoding="utf-8", newline="") as bad,
    ):
        writer, refuser = csv.writer(plain, lineterminator="\n"), csv.writer(bad, lineterminator="\n")
        writer.writerow(keys)
        half = Span((span.low + span.high) / 2, span.high, span.message)
        for line, content, row in _objects(spooled, progress, half):
            if row is None:
                rejected += 1
                refuser.writerow([line, NOTHING, content[:TEXT_CHARACTERS], "not a JSON object"])
            else:
                writer.writerow([_cell(row.get(key)) for key in keys])
    return Rewritten(Spooled(target, spooled.origin), refused if rejected else None, rejected)


def _keys(spooled: Spooled, progress: Progress, span: Span) -> list[str]:
    keys: dict[str, None] = {}
    for _, _, row in _objects(spooled, progress, span):
        if row is not None and row.keys() - keys.keys():
            keys.update(dict.fromkeys(row))
            if len(keys) > MAX_COLUMNS:
                raise TraceError(f"{spooled.origin} has more than {MAX_COLUMNS:,} keys; keep those of interest")
    if not keys:
        raise TraceError(f"{spooled.origin}: no line holds a JSON object; write one object a line")
    return list(keys)


def _objects(spooled: Spooled, progress: Progress, span: Span) -> Iterator[tuple[int, str, dict[str, Any] | None]]:
    size, done = max(spooled.path.stat().st_size, 1), 0
    with spooled.path.open("rb") as source:
        for number, raw in enumerate(source, start=1):
            done += len(raw)
            if number % TOLD_EVERY_LINES == 0:
                progress(span.at(done / size), span.message)
            if not raw.strip():
                continue
            content = raw.decode(errors="replace")
            yield number, content, _object(content)


def _object(content: str) -> dict[str, Any] | None:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _cell(value: object) -> object:
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, (dict, list)) else value
