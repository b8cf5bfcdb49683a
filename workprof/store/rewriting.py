"""Inputs that are rewritten as plain CSV in the spool, row by row: JSON, and what the readers of formats take."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workprof.core.errors import TraceError
from workprof.core.progress import Progress
from workprof.core.words import counted
from workprof.formats.broken_records import UNCLEAR, Rejoined
from workprof.formats.declare import Format, Given, Read, Reader, Unreadable
from workprof.formats.repeated_keys import RepeatedKeys
from workprof.store.csv_rows import CsvWriter, Places, written_text
from workprof.store.json_rows import LINES, LIST, NO_ROWS, JsonRow, flat, json_rows, shape_of
from workprof.store.lines import refuse_unread
from workprof.store.rejects import TEXT_CHARACTERS
from workprof.store.relation import CsvDialect
from workprof.store.reports import Check
from workprof.store.running import Span
from workprof.store.spool import Spooled
from workprof.store.text_shape import MAX_COLUMNS

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PROGRESS_EVERY_LINES = 20_000
PROGRESS_EVERY_ROWS = 1_000
NOTHING = ""


@dataclass(frozen=True)
class Rewritten:
    """The rewritten file, and what did not come through it."""

    spooled: Spooled
    # the lines that are no rows (line, column, text, reason) as a CSV file of their own; None = none
    rejects: Path | None = None
    rejected: int = 0  # how many they are
    rows: int = 0  # how many rows were written
    checks: tuple[Check, ...] = ()  # what was found on the way


def rewrite_json(spooled: Spooled, progress: Progress, span: Span) -> Rewritten:
    """The objects as CSV rows, flat, in the order of the first appearance of their keys.

    Objects in objects stay whole, as JSON texts, where their keys would be more than a table has columns.

    Raises TraceError when there is no object, there are too many keys, or an array is broken.
    """
    keys, flatten = _keys(spooled, progress, Span(span.low, (span.low + span.high) / 2, span.message))
    target, refused, lines = (
        spooled.path.with_name(f"{spooled.path.stem}-{what}.csv") for what in ("rows", "refused", "lines")
    )
    half = Span((span.low + span.high) / 2, span.high, span.message)
    rejected, written, repeated = 0, 0, RepeatedKeys()
    with written_text(target) as plain, written_text(refused) as bad, written_text(lines) as numbers:
        writer, refuser = CsvWriter(plain), CsvWriter(bad)
        writer.writerow(keys)
        places = Places(numbers)
        for one in _rows(spooled, progress, half, repeated):
            if one.row is None:
                rejected += 1
                refuser.writerow([one.line, NOTHING, one.text.strip()[:TEXT_CHARACTERS], "not a JSON object"])
                continue
            written += 1
            places.note(one.line)
            row = flat(one.row) if flatten else one.row
            writer.writerow([_cell(row.get(key)) for key in keys])
    shape, checks = shape_of(spooled.path), repeated.checks()
    if shape.kind == LINES:
        refuse_unread(spooled.path, spooled.origin, written + rejected, any_end=False)
    if shape.path:
        kind = "list" if shape.kind == LIST else "members"
        message = (
            f"the rows are the {kind} under {'.'.join(shape.path)[:60]!r}; the document's other parts are not read"
        )
        strange = shape.path[-1] in NO_ROWS
        message += "; see whether they are runs, and give that list alone if another one has these" * strange
        message += f"; the list {shape.beside[:60]!r} has rows like these: give both as one" * bool(shape.beside)
        checks = (Check("list", "warning" if strange or shape.beside else "info", 1, message), *checks)
    checks += _replaced(target)
    rows = replace(spooled, path=target, lines=lines)
    return Rewritten(rows, refused if rejected else None, rejected, written, checks)


def rewrite_read(files: Mapping[str, Spooled], reader: Reader, progress: Progress, span: Span) -> Rewritten:
    """The rows that a reader makes of the files of one dataset, by the names that it is to see, as CSV rows.

    Raises TraceError when a file breaks off, or its rows are none of the reader's columns.
    """
    first = next(iter(files.values()))
    target, refused, lines = (
        first.path.with_name(f"{first.path.stem}-{what}.csv") for what in ("rows", "refused", "lines")
    )
    size = max(sum(file.path.stat().st_size for file in files.values()), 1)
    rejected, written, checks = 0, 0, []
    with contextlib.ExitStack() as stack:
        plain, bad, numbers = (stack.enter_context(written_text(path)) for path in (target, refused, lines))
        streams = [stack.enter_context(io.BufferedReader(_OpenedLater(file.path))) for file in files.values()]
        writer, refuser, places = CsvWriter(plain), CsvWriter(bad), Places(numbers)
        writer.writerow(reader.columns)
        given = [Given(name, stream) for name, stream in zip(files, streams, strict=True)]
        for number, item in enumerate(reader.read(given)):
            if number % PROGRESS_EVERY_ROWS == 0:
                progress(span.at(sum(stream.tell() for stream in streams) / size), span.message)
            if isinstance(item, Read):
                written += 1
                places.note(item.line)
                writer.writerow([NOTHING if cell is None else cell for cell in item.cells])
            elif isinstance(item, Unreadable):
                rejected += 1
                refuser.writerow([item.line, item.column, item.text.strip()[:TEXT_CHARACTERS], item.reason])
            else:
                checks.append(Check(item.name, item.level, item.count, item.message))
    checks += _replaced(target)
    rows = replace(first, path=target, lines=lines)
    return Rewritten(rows, refused if rejected else None, rejected, written, tuple(checks))


def _replaced(path: Path) -> tuple[Check, ...]:
    """What is told of rows with bytes that are no UTF-8: one sign stands for each of them."""
    with path.open("rb") as stream:
        count = sum("\ufffd".encode() in line for line in stream)
    message = (
        f"{count:,} rows have characters that are no UTF-8: names that differ in them alone are one; if the text is "
        f"Latin-1, set its encoding to latin-1 (--encoding in a shell)"
    )
    return (Check("not UTF-8", "warning", count, message),) if count else ()


def rewrite_broken(
    spooled: Spooled, names: Sequence[str], known: Format, dialect: CsvDialect, progress: Progress, span: Span
) -> Rewritten | None:
    """The records of a text of which some are broken, put together; None where none can be."""
    target, refused, lines = (
        spooled.path.with_name(f"{spooled.path.stem}-{what}.csv") for what in ("joined", "split", "places")
    )
    rejected = written = 0
    with (
        written_text(target) as plain,
        written_text(refused) as bad,
        written_text(lines) as numbers,
        spooled.path.open(encoding="utf-8-sig", errors="replace", newline="\n") as source,
    ):
        writer, refuser, places = CsvWriter(plain), CsvWriter(bad), Places(numbers)
        writer.writerow(names)
        numbered = ((at, line.rstrip("\r\n")) for at, line in enumerate(source, start=1))
        filled = (each for each in numbered if each[1].strip())
        next(filled, None)
        rejoined = Rejoined(names, _splitter(dialect), known, dialect.delimiter)
        for number, record in enumerate(rejoined.records(filled)):
            if number % PROGRESS_EVERY_LINES == 0:
                progress(span.low, span.message)
            if record.cells is None:
                rejected += 1
                refuser.writerow([record.line, NOTHING, record.text[:TEXT_CHARACTERS], UNCLEAR])
            else:
                written += 1
                places.note(record.line)
                writer.writerow(record.cells)
    if not rejoined.broken + rejoined.joined:
        return None
    message = "{} {} taken apart by {} in a free text, and put together again"
    checks = [
        Check(name, "info", count, message.format(counted(count, "record"), "was" if count == 1 else "were", what))
        for name, count, what in (
            ("broken records", rejoined.broken, "a line break"),
            ("delimiters in texts", rejoined.joined, "the delimiter"),
        )
        if count
    ]
    rows = replace(spooled, path=target, lines=lines)
    return Rewritten(rows, refused if rejected else None, rejected, written, tuple(checks))


def _splitter(dialect: CsvDialect) -> Callable[[str], list[str]]:

    def of_quotes(line: str) -> list[str]:
        return (
            next(csv.reader([line], delimiter=dialect.delimiter), []) if '"' in line else line.split(dialect.delimiter)
        )

    return of_quotes if dialect.quoting else lambda line: line.split(dialect.delimiter)


class _OpenedLater(io.RawIOBase):
    """A file that is opened when it is read and closed at its end: a folder has more than a process may hold open."""

    def __init__(self, path: Path) -> None:
        self._path, self._at = path, 0
        self._plain: io.FileIO | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if self._plain is None:
            self._plain = io.FileIO(self._path)
            self._plain.seek(self._at)
        got = self._plain.readinto(buffer) or 0
        self._at += got
        if not got:
            self._shut()
        return got

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._path.stat().st_size}[whence]
        self._shut()
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        self._shut()
        super().close()

    def _shut(self) -> None:
        if self._plain is not None:
            self._plain.close()
            self._plain = None


def _keys(spooled: Spooled, progress: Progress, span: Span) -> tuple[list[str], bool]:
    """The keys of all rows, and whether they are those of flat rows."""
    keys: dict[str, None] = {}
    flattened: dict[str, None] = {}
    for one in _rows(spooled, progress, span):
        if one.row is None:
            continue
        keys.update(dict.fromkeys(one.row))
        if len(keys) > MAX_COLUMNS:
            raise TraceError(f"{spooled.origin} has more than {MAX_COLUMNS:,} keys; keep those of interest")
        if len(flattened) <= MAX_COLUMNS:
            flattened.update(dict.fromkeys(flat(one.row)))
    if not keys:
        raise TraceError(f"{spooled.origin}: there is no JSON object with keys in it; write one object per row")
    return (list(flattened), True) if len(flattened) <= MAX_COLUMNS else (list(keys), False)


def _rows(spooled: Spooled, progress: Progress, span: Span, repeated: RepeatedKeys | None = None) -> Iterator[JsonRow]:
    size = max(spooled.path.stat().st_size, 1)
    for number, result in enumerate(json_rows(spooled.path, spooled.origin, repeated)):
        if number % PROGRESS_EVERY_LINES == 0:
            progress(span.at(result.done_bytes / size), span.message)
        yield result


def _cell(value: object) -> object:
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, (dict, list)) else value
