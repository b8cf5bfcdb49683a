"""The lines of a text, counted before and apart from any reader: every one is a row, a reject, blank, or told.

A quote that is never closed, or closes where it should not, takes line after line into one cell, and a reader that goes
by quotes passes over them unsaid. So lines are counted here by rules of our own: line ends within quotes are part of a
row only where the cell begins with its quote, ends with it before a separator or a line end, goes over no more than 100
lines, and stands in a row of as many cells as the header.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workprof.core.errors import TraceError
from workprof.core.progress import Progress, silent
from workprof.core.units import MIB, format_bytes
from workprof.store.running import Span
from workprof.store.text_shape import MAX_LINE_BYTES, UTF8_BOM, LongLine

MOST_CELL_LINES = 100
"""A cell of more lines is taken for a quote that was left open."""

CHUNK_BYTES = MIB
SPAN = Span(0.0, 1.0, "counting lines")
ANY_LINE_END = re.compile(rb"\r\n|\r|\n")

QUOTE, NO_BYTE = ord('"'), -1

LINE_END, QUOTE_BYTE, SPACES_ARE_BLANK, CELL_LINES, ROW_LENGTH = range(5)
"""Places of the rules of a text."""

CELL_START, PLAIN, QUOTED, QUOTE_IN_QUOTES, CLOSED = range(5)
"""Where in a cell the next byte stands. A quote within quotes closes them, or stands for itself before another."""

SOUND, NEVER_CLOSED, CLOSED_INSIDE, OTHER_WIDTH, MANY_LINES, LONG_ROW, IN_HEADER = range(7)
"""What a quote that takes in line ends is."""

STATE, LINE, CELLS, CELL_FILLED, ROW_FILLED, ROW_BYTES, ROW_BREAKS, CELL_BREAKS, MISUSED, QUOTE_LINE = range(10)
LINE_SEPARATORS, WIDE_LINES = range(10, 12)
"""Places of what is known of the cell, the line and the row that the next byte belongs to."""

BREAK_LINE, ROWS, BLANK, LEADING_BLANK, BREAKS, DOUBTFUL_BREAKS, DOUBTFUL_LINE, FAULT = range(12, 20)
FIRST_SEPARATORS, COLUMNS, KNOWN = range(20, 23)
"""Places of what is known of the text so far, and how many places there are."""


@dataclass(frozen=True)
class Lines:
    """What the lines of a delimited text are."""

    physical: int  # all of them, the last one also where no line end follows it
    fault: str  # what is wrong with a quote, in words; '' = every quote that takes in line ends is sound
    fault_line: int  # where that quote opens, else 0. The numbers below are those of the lines before it
    rows: int  # of cells, the header among them
    blank: int  # lines without a character, `leading_blank` of them before the first row
    leading_blank: int
    quoted_breaks: int  # line ends within quotes
    # of these, those in rows (not the header) most of whose lines would be rows without the quotes
    doubtful_breaks: int
    doubtful_line: int  # where the first such row begins to go on, else 0


def count_lines(
    path: Path,
    delimiter: str,
    progress: Progress = silent,
    span: Span = SPAN,
    *,
    quoting: bool = True,
    spaces_are_blank: bool = False,
) -> Lines:
    """What the lines of a delimited text are, in one pass and in bounded memory.

    `quoting`: a cell may stand in quotes; else a quote is a character as any other. `spaces_are_blank`: a line of
    spaces and tabs alone is blank. `progress` may cancel.
    """
    line_end, physical, done = line_end_of(path), 0, 0
    separator = np.frombuffer(delimiter.encode(), dtype=np.uint8)
    quote = QUOTE if quoting else NO_BYTE
    rules = np.array([line_end[0], quote, spaces_are_blank, MOST_CELL_LINES, MAX_LINE_BYTES], dtype=np.int64)
    known = np.zeros(KNOWN, dtype=np.int64)
    known[LINE], known[FIRST_SEPARATORS] = 1, -1
    for text in _pieces(path, line_end):
        places = np.frombuffer(text, dtype=np.uint8) == line_end[0]
        ends = int(np.count_nonzero(places))
        physical += ends
        marked = spaces_are_blank or (quoting and b'"' in text) or known[ROW_FILLED]
        if not marked and _each_line_is_a_row(text, line_end, places):
            if not known[ROWS]:
                known[FIRST_SEPARATORS] = text[: text.find(line_end)].count(delimiter.encode())
                known[COLUMNS] = known[FIRST_SEPARATORS] + 1
            known[[ROWS, LINE]] += ends
        elif known[FAULT] == SOUND:
            from workprof.store.line_kernel import walk  # noqa: PLC0415  numba, where there is a quote

            walk(np.frombuffer(text, dtype=np.uint8), separator, rules, known)
        done += len(text)
        progress(span.at(done / path.stat().st_size), span.message)
    return _lines_of(physical, known)


def rows_under_header(path: Path, name: str, separator: str = ",") -> int:
    """The rows of a text with a header and, by default, commas, a line of spaces being blank.

    Raises TraceError for a quote that is not sound or takes in whole rows; names the line in which it opens.
    """
    lines = count_lines(path, separator, spaces_are_blank=True)
    if lines.doubtful_breaks:
        raise TraceError(
            f"{name}: the quote that opens in line {lines.doubtful_line} takes lines of as many cells as the header "
            f"into one; mend that line"
        )
    if lines.fault:
        raise TraceError(f"{name}: the quote that opens in line {lines.fault_line} {lines.fault}; mend that line")
    return max(lines.rows - 1, 0)


def refuse_other_count(name: str, rows: int, there: int) -> None:
    """Refuse a text that was read as another number of rows than stand in it.

    Raises TraceError, which says both numbers.
    """
    if rows != there:
        raise TraceError(
            f"{name}: {there:,} rows stand there and {rows:,} were read; look for quotes within a cell and for a "
            f"carriage return (CR) alone, and write one line per row"
        )


def refuse_unread(path: Path, name: str, n_read: int, *, any_end: bool = True) -> None:
    """Refuse a text of whose lines a reader does not tell all, those of white space aside.

    Raises TraceError, which says both numbers.
    """
    there = filled_lines(path, any_end=any_end)
    if n_read != there:
        raise TraceError(
            f"{name}: {there:,} lines hold something and {n_read:,} were read; save it as plain text with one "
            f"line end per line, and load that"
        )


def line_end_of(path: Path) -> bytes:
    """The byte that ends a line: a carriage return only where no line feed stands near the beginning."""
    with path.open("rb") as stream:
        head = stream.read(CHUNK_BYTES)
    return b"\r" if b"\r" in head and b"\n" not in head else b"\n"


def filled_lines(path: Path, *, any_end: bool = False) -> int:
    """How many lines hold something else than white space; by `any_end` a lone carriage return ends one."""
    result, open_is_filled = 0, False
    for text in _pieces(path, b"\n"):
        first, *others = ANY_LINE_END.split(text) if any_end else text.split(b"\n")
        begun = bool(first.strip()) and not open_is_filled  # a line that is longer than a piece counts once
        result += begun + sum(map(bool, map(bytes.strip, others)))
        open_is_filled = bool(others[-1].strip()) if others else open_is_filled or begun
    return result


def number_in_file(line: int, set_aside: tuple[LongLine, ...]) -> int:
    """The number that a line has in the file as given, before over-long lines were set aside."""
    for long in set_aside:
        line += long.line <= line
    return line


def lines_of_plain_quotes(path: Path, delimiter: str) -> int:
    """How many lines hold a quote, where every quote is a character like any other; 0 where some are not.

    They are such where no cell is properly quoted on its line, and every line with a quote has as many cells as the
    header once quotes mean nothing.
    """
    line_end, separator, result, columns = line_end_of(path), delimiter.encode(), 0, 0
    quoted = re.compile(rb'(?:^|%b) *+"(?:[^"]|"")*+" *+(?=%b|\r?$)' % (re.escape(separator), re.escape(separator)))
    for text in _pieces(path, line_end):
        columns = columns or text.lstrip(b"\r\n").split(line_end, 1)[0].count(separator) + 1
        at = text.find(b'"')
        while at >= 0:
            start, end = text.rfind(line_end, 0, at) + 1, text.find(line_end, at)
            if text.count(separator, start, end) + 1 != columns or quoted.search(text[start:end]):
                return 0
            result += 1
            at = text.find(b'"', end)
    return result


def _each_line_is_a_row(text: bytes, line_end: bytes, ends: NDArray[np.bool_]) -> bool:
    """Tell whether a piece that begins a row and has no quotes holds whole lines, none of them blank."""
    if not ends[-1] or text.startswith((line_end, b"\r\n")) or bool(np.any(ends[1:] & ends[:-1])):
        return False
    return b"\r" not in text or b"\n\r\n" not in text


def _pieces(path: Path, line_end: bytes) -> Iterator[bytes]:
    """Yield the text, its last line ended and no byte order mark before it, in pieces of whole lines.

    A line that is longer than a piece comes in parts.
    """
    with path.open("rb") as stream:
        held = stream.read(len(UTF8_BOM)).removeprefix(UTF8_BOM)
        while more := stream.read(CHUNK_BYTES):
            piece = held + more
            whole = piece.rfind(line_end) + 1 or len(piece)
            yield piece[:whole]
            held = piece[whole:]
    if held:
        yield held if held.endswith(line_end) else held + line_end


def _lines_of(physical: int, known: NDArray[np.int64]) -> Lines:
    rows, fault = int(known[ROWS]), int(known[FAULT])
    if fault == SOUND and known[STATE] == QUOTED:  # the last line end was taken for a part of the cell
        rows += 1
        fault = NEVER_CLOSED if known[ROW_BREAKS] > 1 else SOUND
    words = {
        SOUND: "",
        NEVER_CLOSED: "is never closed",
        CLOSED_INSIDE: "ends in a later line, where neither a separator nor a line end follows",
        OTHER_WIDTH: f"ends in a later line, and the row has not as many cells as the header ({known[COLUMNS]:,})",
        MANY_LINES: f"goes on for more than {MOST_CELL_LINES} lines",
        LONG_ROW: f"makes a row longer than {format_bytes(MAX_LINE_BYTES)}",
        IN_HEADER: "takes lines of as many cells as the header into the header",
    }
    return Lines(
        physical=physical,
        fault=words[fault],
        fault_line=int(known[BREAK_LINE]) if fault else 0,
        rows=rows,
        blank=int(known[BLANK]),
        leading_blank=int(known[LEADING_BLANK]),
        quoted_breaks=int(known[BREAKS]),
        doubtful_breaks=int(known[DOUBTFUL_BREAKS]),
        doubtful_line=int(known[DOUBTFUL_LINE]),
    )
