"""The first lines of a text file, read within bounds, and lines that are too long for any field, set aside."""

from __future__ import annotations

import csv
import io
import mmap
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workprof.core.errors import TraceError
from workprof.core.units import MIB
from workprof.store.home import open_private_bytes

HEAD_BYTES = 1 << 20
SAMPLE_ROWS = 200
MAX_COLUMNS = 2_000
MAX_FIELD_CHARACTERS = 16 * 1024 * 1024
DELIMITERS = (",", "\t", ";", "|")
SPELLED_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
MAX_CONTROL_SHARE = 0.02


@dataclass(frozen=True)
class TextShape:
    """What the first lines of a delimited text say.

    Attributes:
        header: names of the first line, unique and non-empty; `raw_header` as written.
        rows: the first rows after it that the bounded look holds whole.
    """

    delimiter: str
    raw_header: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def values(self, position: int) -> tuple[str, ...]:
        """Return the sample values of one column."""
        return tuple(row[position] for row in self.rows if position < len(row))


def decoded_head(head: bytes, origin: str) -> str:
    """Return the first bytes as text, without a partly read last character.

    Raises:
        TraceError: for binary data and for other encodings (offers the option).
    """
    if head.startswith(UTF16_BOMS):
        raise TraceError(
            f"{origin} is UTF-16 (by its byte order mark); set its encoding to utf-16 (--encoding in a shell)"
        )
    body = head.removeprefix(UTF8_BOM)
    if b"\x00" in body:
        if _every_other_byte_is_zero(body):
            raise TraceError(
                f"{origin} looks like UTF-16 without a byte order mark; "
                "set its encoding to utf-16-le or utf-16-be (--encoding in a shell)"
            )
        raise TraceError(f"{origin} is a binary file, not a table; give CSV, Excel (.xlsx), Parquet, Arrow or JSON")
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        if error.start >= len(body) - 3 and len(head) >= HEAD_BYTES:
            return body[: error.start].decode()
        if _control_share(body) > MAX_CONTROL_SHARE:
            raise TraceError(
                f"{origin} is a binary file, not a table; give CSV, Excel (.xlsx), Parquet, Arrow or JSON"
            ) from None
        raise TraceError(
            f"{origin} is not UTF-8 (byte {body[error.start]:#x} at position {error.start}); "
            f"if it is Latin-1, set its encoding to latin-1 (--encoding in a shell)"
        ) from None


def text_shape(
    head: bytes, origin: str, delimiter: str = "", *, quoting: bool = True, names: Sequence[str] = ()
) -> TextShape:
    """Return the shape of a delimited text from its first bytes.

    Args:
        head: the first bytes.
        origin: the file's name for people.
        delimiter: one character; '' = guessed.
        quoting: a cell may stand in quotes; else a quote is a character as any other.
        names: of the columns, where the first line is a row; columns beyond them are numbered.

    Raises:
        TraceError: for binary data, other encodings, an endless first line, too many columns.
    """
    text = decoded_head(head, origin)
    whole = len(head) < HEAD_BYTES
    lines = text if whole else text[: text.rfind("\n") + 1]
    if not lines.strip():
        raise TraceError(f"{origin}: no line ends within the first {HEAD_BYTES:,} bytes; is this a delimited text?")
    chosen = SPELLED_DELIMITERS.get(delimiter, delimiter) or guessed_delimiter(lines)
    if len(chosen) != 1:
        raise TraceError(f"delimiter {delimiter!r} is not one character; use , ; tab or |")
    rows = _first_rows(lines, chosen, origin, csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE)
    if len(rows[0]) > MAX_COLUMNS:
        raise TraceError(
            f"{origin} has {len(rows[0]):,} columns; workprof reads up to {MAX_COLUMNS:,}: keep those of interest"
        )
    if names:
        named = (*names, *("" for _ in rows[0]))[: len(rows[0])]
        return TextShape(chosen, named, unique_names(named), tuple(rows))
    return TextShape(chosen, rows[0], unique_names(rows[0]), tuple(rows[1:]))


def guessed_delimiter(lines: str) -> str:
    """Return the candidate that splits the first line most."""
    first = lines.split("\n", 1)[0]
    return max(DELIMITERS, key=lambda candidate: (first.count(candidate), -DELIMITERS.index(candidate)))


def unique_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names that are non-empty and differ without regard to case, as DuckDB needs them."""
    taken: set[str] = set()
    result = []
    for position, name in enumerate(names):
        base = name.strip() or f"column_{position + 1}"
        candidate, number = base, 2
        while candidate.lower() in taken:
            candidate, number = f"{base}_{number}", number + 1
        taken.add(candidate.lower())
        result.append(candidate)
    return tuple(result)


def _first_rows(lines: str, delimiter: str, origin: str, quoting: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    csv.field_size_limit(MAX_FIELD_CHARACTERS)  # a quote left open takes in the whole look
    try:
        for row in csv.reader(io.StringIO(lines, newline=""), delimiter=delimiter, quoting=quoting):  # type: ignore[arg-type]
            if row:
                rows.append(tuple(row))
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error as error:
        if not rows:
            raise TraceError(f"{origin}: the first line cannot be read as delimited text ({error})") from error
    return rows


def _every_other_byte_is_zero(body: bytes) -> bool:
    probe = body[:2000]
    return max(probe[0::2].count(0), probe[1::2].count(0)) > 0.4 * len(probe)


def _control_share(body: bytes) -> float:
    probe = body[:4096]
    return sum(byte < 32 and byte not in b"\t\n\r" for byte in probe) / max(len(probe), 1)


LOOKED_AT_TITLES = 50
"""Titles and comments stand in a table's first rows."""

VALUE = re.compile(r"[+-]?[\d.,]*\d[\d.,:/\-TZ+ ]*%?")


def header_place(rows: Sequence[Sequence[str]]) -> int:
    """Return which of a table's first rows names its columns: the first, or the first below titles and comments.

    A title is a row of one filled cell (of two where the table has five columns or more), a comment one that begins
    with '#'. They are passed over only where a row of names follows; else the first row is the header.
    """
    look = [[cell.strip() for cell in row] for row in rows[:LOOKED_AT_TITLES]]
    usual = statistics.median_low(len(row) for row in look) if look else 0
    place = next((at for at, row in enumerate(look) if not _is_title(row, usual)), 0)
    if not place:
        return 0
    above, row = look[place - 1], look[place]
    if above[0].startswith("#") and len(above) == len(row) > 1 and not _names_columns(look[place:]):
        return place - 1  # the header itself is written as a comment
    return place if _are_names(row) else 0


def _is_title(row: Sequence[str], usual: int) -> bool:
    filled = [cell for cell in row if cell]
    if usual > 1 and len(filled) <= (2 if usual > 4 else 1):
        return True
    return bool(filled) and filled[0].startswith("#")


def _are_names(row: Sequence[str]) -> bool:
    names = [cell.lower() for cell in row if cell]
    return len(set(names)) == len(names) > 1 and not any(VALUE.fullmatch(name) for name in names)


def _names_columns(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row has no values and a row below it has some."""
    return _are_names(rows[0]) and any(VALUE.fullmatch(cell) for row in rows[1:] for cell in row)


MAX_LINE_BYTES = MIB // 2
"""A longer line is a reject: no field of a job table is that long."""

WINDOW = MAX_LINE_BYTES // 2
EXCERPT_BYTES = 500


@dataclass(frozen=True)
class LongLine:
    """A line that was set aside: its number (first line = 1) and how it begins."""

    line: int
    text: str


def set_aside_long_lines(path: Path) -> tuple[LongLine, ...]:
    """Rewrite a text without its over-long lines, where it has any, and return them."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as text:
        text.madvise(mmap.MADV_RANDOM)  # else the pages around every look count as this process's memory
        if _every_window_has_a_break(text):
            return ()
        kept = path.with_suffix(".short")
        found = []
        with open_private_bytes(kept) as target:
            for number, (start, end) in enumerate(_lines(text), start=1):
                if end - start > MAX_LINE_BYTES:
                    found.append(LongLine(number, text[start : start + EXCERPT_BYTES].decode(errors="replace")))
                else:
                    target.write(text[start:end])
    path.unlink()  # the original may be a hard link: it is left alone, only our name for it goes
    kept.rename(path)
    return tuple(found)


def _every_window_has_a_break(text: mmap.mmap) -> bool:
    size = len(text)
    return all(text.find(b"\n", at, min(at + WINDOW, size)) >= 0 for at in range(0, max(size - WINDOW, 0), WINDOW))


def _lines(text: mmap.mmap) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find(b"\n", start) + 1 or len(text)
        yield start, end
        start = end
