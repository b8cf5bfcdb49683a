"""The first lines of a text file, read within bounds, and lines that are too long for any field, set aside."""

import csv
import io
import itertools
import mmap
import re
import shlex
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workprof.core.errors import TraceError
from workprof.core.units import MIB
from workprof.formats import values
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
NO_TABLE = "not a table; give CSV, Excel (.xlsx), Parquet, Arrow or JSON"
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[,;|\t]*\r?\n', re.IGNORECASE)
"""Excel's own first line: which character separates the cells."""

LOOKED_AT_NUMBERS = 5_000


@dataclass(frozen=True)
class TextShape:
    """What the first lines of a delimited text say."""

    delimiter: str
    raw_header: tuple[str, ...]
    header: tuple[str, ...]  # names of the first line, unique and non-empty; `raw_header` as written
    rows: tuple[tuple[str, ...], ...]  # the first rows after it that the bounded look holds whole
    titles: tuple[str, ...] = ()  # texts of the lines before the header: titles, comments, 'sep=;'
    skipped: int = 0  # how many lines those are, `skipped_bytes` with their ends
    skipped_bytes: int = 0
    # those whose numbers have a decimal comma, where that is the file's decimal sign
    comma_columns: tuple[str, ...] = ()
    # decimal sign -> columns -> the sign that their numbers have between thousands for sure
    grouped: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def decimal(self) -> str:
        """The decimal sign that the first rows tell."""
        return "," if self.comma_columns else "."

    def values(self, position: int) -> tuple[str, ...]:
        """The sample values of one column."""
        return tuple(row[position] for row in self.rows if position < len(row))


PACKED = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"7z\xbc\xaf": "7-Zip", b"Rar!": "RAR"}
"""First bytes of kinds of packed files that are not unpacked here."""
SQLITE = b"SQLite format 3\x00"


def no_rows(origin: str) -> str:
    """What is said of a file that has a header alone."""
    return f"{origin}: there is a header but no rows; nothing to load"


def decoded_head(head: bytes, origin: str) -> str:
    """The first bytes as text, without a partly read last character.

    Raises TraceError for binary data and for other encodings (offers the option).
    """
    if head.startswith(UTF16_BOMS):
        raise TraceError(
            f"{origin} is UTF-16 (by its byte order mark); set its encoding to utf-16 (--encoding in a shell)"
        )
    body = head.removeprefix(UTF8_BOM)
    packed = next((name for magic, name in PACKED.items() if head.startswith(magic)), "")
    if packed:
        raise TraceError(f"{origin} is packed by {packed}; unpack it, or pack it as .gz or .zst, and load that")
    if head.startswith(SQLITE):
        export = f"sqlite3 -header -csv {shlex.quote(origin)} 'SELECT * FROM TABLE' > TABLE.csv"
        raise TraceError(f"{origin} is a database of SQLite; load one of its tables (`.tables` lists them): `{export}`")
    if b"\x00" in body:
        if _every_other_byte_is_zero(body):
            raise TraceError(
                f"{origin} looks like UTF-16 without a byte order mark; "
                "set its encoding to utf-16-le or utf-16-be (--encoding in a shell)"
            )
        lost = body.count(b"\x00")
        if lost <= MAX_CONTROL_SHARE * len(body) and _control_share(body.replace(b"\x00", b"")) <= MAX_CONTROL_SHARE:
            clean = f"tr -d '\\000' < {shlex.quote(origin)} > clean.txt"
            raise TraceError(
                f"{origin} is text with bytes that are 0 ({lost:,} of the first {len(body):,}), as a crash leaves; "
                f"remove them (`{clean}`) and load that; lines next to them may be incomplete"
            )
        raise TraceError(f"{origin} is a binary file, {NO_TABLE}")
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        if error.start >= len(body) - 3 and len(head) >= HEAD_BYTES:
            return body[: error.start].decode()
        if _control_share(body) > MAX_CONTROL_SHARE:
            raise TraceError(f"{origin} is a binary file, {NO_TABLE}") from None
        raise TraceError(
            f"{origin} is not UTF-8 (byte {body[error.start]:#x} at position {error.start}); "
            f"if it is Latin-1, set its encoding to latin-1 (--encoding in a shell)"
        ) from None


def text_shape(
    head: bytes, origin: str, delimiter: str = "", *, quoting: bool = True, names: Sequence[str] = ()
) -> TextShape:
    """The shape of a delimited text from its first bytes; without a delimiter it is guessed.

    `quoting`: a cell may stand in quotes; else a quote is a character as any other. `names` are of the columns, where
    the first line is a row; columns beyond them are numbered.

    Raises TraceError for binary data, other encodings, an endless first line, too many columns.
    """
    text = decoded_head(head, origin)
    whole = len(head) < HEAD_BYTES
    lines = text if whole else text[: text.rfind("\n") + 1]
    if not lines.strip():
        raise TraceError(f"{origin}: no line ends within the first {HEAD_BYTES:,} bytes; is this a delimited text?")
    separator = _SEPARATOR_LINE.match(lines)
    chosen = (
        SPELLED_DELIMITERS.get(delimiter, delimiter) or (separator[1] if separator else "") or guessed_delimiter(lines)
    )
    if len(chosen) != 1:
        raise TraceError(f"delimiter {delimiter!r} is not one character; use , ; tab or |")
    at = separator.end() if separator else 0
    look = _Look(lines[at:], chosen, origin, quoting=quoting)
    if quoting and not names:
        look = look if delimiter or separator else _likeliest(look)
        look.go_to_header()
    rows = look.rows
    if len(rows[0]) > MAX_COLUMNS:
        raise TraceError(
            f"{origin} has {len(rows[0]):,} columns; workprof reads up to {MAX_COLUMNS:,}: keep those of interest"
        )
    if names:
        named = (*names, *("" for _ in rows[0]))[: len(rows[0])]
        return TextShape(chosen, named, unique_names(named), tuple(rows[: SAMPLE_ROWS + 1]))
    above = lines[: at + look.skipped_characters]
    header = rows[0]
    if header[0].startswith("#") and len(header) > 1:
        header = (header[0].lstrip("# ") or header[0], *header[1:])
    named = unique_names(header)
    sample = tuple(rows[1 : SAMPLE_ROWS + 1])
    return TextShape(
        look.delimiter,
        header,
        named,
        sample,
        tuple(line.strip() for line in above.splitlines() if line.strip()),
        look.skipped_lines + bool(separator),
        len(above.encode()) + len(UTF8_BOM) * head.startswith(UTF8_BOM),
        _comma_columns(named, rows[1:], look.delimiter),
        {decimal: _grouped_columns(named, rows[1:], decimal) for decimal in ".,"},
    )


def guessed_delimiter(lines: str) -> str:
    """The candidate that splits the first line most."""
    first = lines.split("\n", 1)[0]
    return max(DELIMITERS, key=lambda candidate: (first.count(candidate), -DELIMITERS.index(candidate)))


def unique_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names that are non-empty and differ without regard to case, as DuckDB needs them."""
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


class _Look:
    """The first rows of a delimited text, blank lines left out, and where each begins.

    Attributes:
        rows: from the header on, once `go_to_header` was asked.
        skipped_lines, skipped_characters: before the first of them.
    """

    def __init__(self, text: str, delimiter: str, origin: str, *, quoting: bool = True) -> None:
        self.delimiter, self.origin, self.text = delimiter, origin, text
        self._lines = list(io.StringIO(text, newline=""))
        self.rows: list[tuple[str, ...]] = []
        self._starts: list[int] = []
        self.skipped_lines = self.skipped_characters = 0
        csv.field_size_limit(MAX_FIELD_CHARACTERS)  # a quote left open takes in the whole look
        kind = csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE
        reader = csv.reader(self._lines, delimiter=delimiter, quoting=kind)  # type: ignore[arg-type]
        try:
            start = 0
            for row in reader:
                if row:
                    self.rows.append(tuple(row))
                    self._starts.append(start)
                start = reader.line_num
                if len(self.rows) > LOOKED_AT_NUMBERS:
                    break
        except csv.Error as error:
            if not self.rows:
                raise TraceError(f"{origin}: the first line cannot be read as delimited text ({error})") from error

    def go_to_header(self) -> None:
        """Leave out what stands before the header."""
        place = header_place(self.rows)
        if place:
            self.rows, start = self.rows[place:], self._starts[place]
            self.skipped_lines, self.skipped_characters = start, sum(map(len, self._lines[:start]))

    def columns(self) -> int:
        """How many columns most rows and the header agree on, 0 where they do not."""
        look = self.rows[header_place(self.rows) :][:LOOKED_AT_TITLES]
        width = len(look[0])
        return width if 2 * sum(len(row) == width for row in look[1:]) >= len(look) > 1 else 0


def _likeliest(look: _Look) -> _Look:
    """The look with the separator that the first line tells, or with one that the rows agree on instead."""
    first, below = len(look.rows[0]), look.rows[1:LOOKED_AT_TITLES]
    if first > 1 and (not below or 2 * sum(len(row) == first for row in below) >= len(below)):
        return look
    others = [_Look(look.text, delimiter, look.origin) for delimiter in DELIMITERS]
    best = max(others, key=_Look.columns)
    return best if best.columns() > 1 else look


_UNIT = r"(?:\s?[A-Za-z%]{1,6})?"
POINT, COMMA = re.compile(rf"[+-]?\d+(?:\.\d+)?{_UNIT}"), re.compile(rf"[+-]?\d+(?:,\d+)?{_UNIT}")
SURE_COMMA = re.compile(rf"[+-]?(?:0|\d{{4,}}|\d+(?=,(?!\d{{3}}(?:\D|$)))),\d+{_UNIT}")
"""No thousands are written so: '1,5', '0,123', '1234,567'; '1,234' may be either."""

SMALL, ENDS_IN_0 = re.compile(rf"[+-]?\d{{1,3}}{_UNIT}"), re.compile(rf".*0{_UNIT}")

THOUSANDS = re.compile(rf"[+-]?\d{{1,3}}(?:\.\d{{3}})+(?:,\d+)?{_UNIT}")
"""Numbers of a file with decimal commas, though none of them is read: '1.234', '1.234,56'."""


def _comma_columns(names: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str) -> tuple[str, ...]:
    """The columns whose numbers have a decimal comma, none where as many columns have a point.

    Between semicolons commas win, as those stand there for the commas' sake. Between commas one such column is more
    often a list than numbers.
    """
    columns = [[row[at].strip() for row in rows if at < len(row)] for at in range(len(names))]
    numbers = [[cell for cell in cells if cell.lstrip("+-")[:1].isdigit()] for cells in columns]
    commas = [name for name, cells in zip(names, numbers, strict=True) if _has_commas(cells)]
    if not commas:
        return ()
    points = sum(any("." in cell for cell in cells) and all(map(POINT.fullmatch, cells)) for cells in numbers)
    enough = {",": max(points + 1, 2), ";": max(points, 1)}.get(delimiter, points + 1)
    return tuple(commas) if len(commas) >= enough else ()


def _has_commas(numbers: Sequence[str]) -> bool:
    if not any("," in cell for cell in numbers):
        return False
    sure = any(SURE_COMMA.fullmatch(cell) or ("." in cell and "," in cell) for cell in numbers)
    return sure and all(COMMA.fullmatch(cell) or THOUSANDS.fullmatch(cell) for cell in numbers)


def _grouped_columns(names: Sequence[str], rows: Sequence[Sequence[str]], decimal: str) -> dict[str, str]:
    """Columns whose numbers have a sign between thousands, each with the sign, where that is certain.

    What one column tells for sure holds for all whose numbers with that sign are in groups, where none denies it.
    """
    columns = {name: [row[at].strip() for row in rows if at < len(row)] for at, name in enumerate(names)}
    numbers = {name: [cell for cell in cells if cell[:1] in "+-123456789"] for name, cells in columns.items()}
    sure = {
        name: sign
        for name, cells in numbers.items()
        for sign in values.BETWEEN_THOUSANDS
        if _has_groups(cells, sign, decimal)
    }
    if len({*sure.values()}) != 1:
        return sure
    (sign,) = {*sure.values()}
    with_sign = {name: [cell for cell in cells if sign in cell] for name, cells in columns.items() if name not in sure}
    number, whole = re.compile(rf"[+-]?\d+{re.escape(sign)}\d+{_UNIT}"), re.compile(values.grouped(sign, decimal))
    numeric = {name: cells for name, cells in with_sign.items() if cells and all(map(number.fullmatch, cells))}
    if not all(map(whole.fullmatch, itertools.chain(*numeric.values()))):
        return sure
    return sure | dict.fromkeys(numeric, sign)


def _has_groups(numbers: Sequence[str], sign: str, decimal: str) -> bool:
    """Tell whether a sign stands between thousands: in groups of three digits each, and it can be nothing else.

    It is no decimal sign where it stands twice in a number, or beside a decimal sign; nor where a number ends in 0 and
    the others are whole and under a thousand: as a decimal '1,300' beside '400' would be written '1,3'.
    """
    between = re.compile(values.BETWEEN_THOUSANDS[sign])
    some = [number for number in numbers if between.search(number)]
    whole = re.compile(values.grouped(sign, decimal))
    fraction = "" if sign == decimal else rf"(?:{re.escape(decimal)}\d+)?"
    plain = re.compile(rf"[+-]?\d+{fraction}{_UNIT}")
    with_sign = [number for number in some if not plain.fullmatch(number)]  # '4 GB' has a blank, too
    if not with_sign or not all(map(whole.fullmatch, with_sign)):
        return False
    if any(len(between.findall(number)) > 1 for number in with_sign):
        return True
    if sign == decimal:
        return False
    if sign in "' " or any(decimal in number for number in with_sign):
        return True
    others = [number for number in numbers if plain.fullmatch(number)]
    return bool(others) and all(map(SMALL.fullmatch, others)) and any(map(ENDS_IN_0.fullmatch, with_sign))


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
    """Which of a table's first rows names its columns: the first, or the first below titles and comments.

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
    """Tell whether the first row has no values, and the rows below it have some where it has a name."""
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    return _are_names(rows[0]) and any(
        bool(name) and 2 * sum(bool(VALUE.fullmatch(row[at])) for row in below) > len(below)
        for at, name in enumerate(rows[0])
    )


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
        shortened = path.with_suffix(".short")
        result = []
        with open_private_bytes(shortened) as target:
            for number, (start, end) in enumerate(_lines(text), start=1):
                if end - start > MAX_LINE_BYTES:
                    result.append(LongLine(number, text[start : start + EXCERPT_BYTES].decode(errors="replace")))
                else:
                    target.write(text[start:end])
    path.unlink()  # the original may be a hard link: it is left alone, only our name for it goes
    shortened.rename(path)
    return tuple(result)


def _every_window_has_a_break(text: mmap.mmap) -> bool:
    size = len(text)
    return all(text.find(b"\n", at, min(at + WINDOW, size)) >= 0 for at in range(0, max(size - WINDOW, 0), WINDOW))


def _lines(text: mmap.mmap) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find(b"\n", start) + 1 or len(text)
        yield start, end
        start = end
