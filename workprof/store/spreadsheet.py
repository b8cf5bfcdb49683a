"""Excel workbooks (.xlsx, .xlsm): the sheet that holds a table, row by row, as the texts that a CSV would hold.

openpyxl reads the values that the workbook was saved with; no formula, macro or link in it is followed. What the zip
directory promises is bounded before anything is unpacked, and a document type (entities, external files) is refused.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import itertools
import mmap
import re
import statistics
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast
from xml.parsers import expat

from workprof.core.errors import TraceError, WorkprofError
from workprof.core.extras import needed
from workprof.core.text import visible
from workprof.core.units import DAY_S, DURATION_FACTORS, HOUR_S, MEMORY_FACTORS, MIB, MINUTE_S, format_bytes
from workprof.store.reports import Check
from workprof.store.text_shape import LOOKED_AT_TITLES, MAX_COLUMNS, header_place

ZIP_MAGIC = b"PK\x03\x04"
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

SHEETS, STRINGS, CONTENT = "xl/worksheets/", "xl/sharedStrings.xml", "[Content_Types].xml"
MOST_STRINGS_BYTES, MOST_OTHER_BYTES, MOST_BETWEEN_ROWS_BYTES = 256 * MIB, 64 * MIB, 8 * MIB
"""Unpacked: the texts of all sheets, which openpyxl holds in memory; all parts that are no sheet; what is no row."""

MOST_ROWS = 1 << 20
"""A sheet of Excel has no more."""

MOST_CELLS = 200 * MOST_ROWS
BLOCK_ROWS, LOOKED_AT_ROWS = 1_000, 1_000
LOOK_BYTES, OVERLAP_BYTES = 1 << 14, 1 << 10
LIKELY_COLUMNS = 3
"""A sheet of two columns is more often a list of notes than a job table."""

SHOWN = 8
WHOLE = 1e15
"""Above, a number of a workbook is no longer exact to one."""

DATE = re.compile(r"[dye]|mmm")
TIME_OF_DAY = re.compile(r"[hs]")
UNIT_LITERAL = re.compile(r'[#0,.]+\s*"\s*(\w+)\s*"')
LITERALS = re.compile(r'"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|_.|\*.', re.IGNORECASE)
UNCOMPUTED = re.compile(
    rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f(?:\s[^<>]*)?/>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</"
)
STRICT = b"purl.oclc.org/ooxml"

CSV_INSTEAD = "save the sheet as CSV, and load that"


@dataclass(frozen=True)
class Table:
    """Where a table stands in a workbook."""

    sheet: str  # its name; `others`: the names of the sheets that are not read
    others: tuple[str, ...]
    header_row: int  # first row of the sheet = 1
    first_column: int  # first column of the sheet = 0
    columns: int  # how many there are
    titles: tuple[str, ...]  # texts of the rows above the header


def is_workbook(path: Path, head: bytes) -> bool:
    """Tell whether a file is an Excel workbook (.xlsx, .xlsm), from its first bytes and its zip directory.

    Raises TraceError for workbooks that are not read (.xls, .xlsb, .ods, encrypted) and broken ones; says what to do.
    """
    if head.startswith(OLE_MAGIC):
        raise TraceError(f"{path.name} {_old(path)}")
    if not head.startswith(ZIP_MAGIC):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:  # the last: of zip features unread
        raise TraceError(f"{path.name}: the zip data are broken or cut off ({error}); fetch the file again") from error
    if "xl/workbook.bin" in names:
        raise TraceError(f"{path.name} is a binary workbook (.xlsb); save it as .xlsx or as CSV, and load that")
    if "content.xml" in names or any(name.endswith(".iwa") for name in names):
        raise TraceError(f"{path.name} is a spreadsheet of another program; save it as .xlsx or as CSV, and load that")
    if CONTENT not in names or not any(name.startswith("xl/") for name in names):
        raise TraceError(f"{path.name} is a zip archive; unpack it, and load the files in it")
    return True


def _old(path: Path) -> str:
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.find(ENCRYPTED) >= 0:
            return "is encrypted; open it in Excel, save it without a password, and load that"
    return "is a workbook of Excel 2003 or older (.xls); save it as .xlsx or as CSV, and load that"


class Workbook:
    """An open workbook, of which one table is read.

    Attributes:
        table: where it stands.
    """

    def __init__(self, path: Path, sheet: str, most_bytes: int, report_bytes: Callable[[int], None]) -> None:
        """Open it and find the table, in the first sheet that holds one where none is named.

        It may unpack to `most_bytes`. `report_bytes` is called with the bytes that were read so far; it may cancel.

        Raises TraceError for a broken or bomb-like workbook, and for one without a table; names its sheets.
        """
        self._name, self._outside = path.name, 0
        self._stream = _WatchedFile(path.open("rb"), report_bytes)
        try:
            with _readable(self._name, self._stream):
                with zipfile.ZipFile(self._stream) as archive:
                    self._formulas = _refuse_bombs(archive, self._name, most_bytes)
                self._book = _loaded(cast(IO[bytes], self._stream))
                self.table = self._chosen_table(sheet)
        except BaseException:
            self._stream.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._book.close()
        self._stream.close()

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the header and the rows below it that hold something: the row of the sheet (first = 1), its cells."""
        table = self.table
        with _readable(self._name, self._stream):
            sheet = self._book[table.sheet]
            yield from self._of_table(_numbered(sheet, self._name))

    def _of_table(self, rows: Iterator[tuple[int, Sequence[Any]]]) -> Iterator[tuple[int, list[str]]]:
        table, text = self.table, _Texts(self._book.epoch)
        low, high = table.first_column, table.first_column + table.columns
        for number, row in rows:
            if number < table.header_row:
                continue
            cells = [text.of(cell) for cell in row[low:high]]
            if len(row) > high or low:
                self._outside += sum(bool(text.of(cell)) for cell in (*row[:low], *row[high:]))
            if any(cells):
                yield number, cells + [""] * (table.columns - len(cells))

    def checks(self) -> tuple[Check, ...]:
        """What was found, once all rows are read."""
        table, result = self.table, []
        if table.others:
            message = f"the sheet {table.sheet!r} was read; not read: {_listed(table.others)}; choose one with --sheet"
            result.append(Check("sheets", "info", len(table.others), message))
        if table.titles:
            message = f"{len(table.titles):,} rows above the header were passed over: {_listed(table.titles)}"
            result.append(Check("titles", "info", len(table.titles), message))
        if self._outside:
            message = f"{self._outside:,} cells beside the table's columns were passed over"
            result.append(Check("cells beside the table", "warning", self._outside, message))
        uncomputed = self._uncomputed_formulas()
        if uncomputed:
            message = (
                f"{uncomputed:,} formulas were saved without their values, and are read as missing; open the workbook "
                f"in Excel, save it, and load it again"
            )
            result.append(Check("formulas without values", "warning", uncomputed, message))
        return tuple(result)

    def _uncomputed_formulas(self) -> int:
        return self._formulas.get(self._book[self.table.sheet]._worksheet_path, 0)

    def _chosen_table(self, wanted: str) -> Table:
        sheets = {sheet.title: sheet for sheet in self._book.worksheets}
        if wanted and wanted not in sheets:
            raise TraceError(f"{self._name} has no sheet {wanted!r}; its sheets: {_listed(tuple(sheets))}")
        shown = [title for title, sheet in sheets.items() if sheet.sheet_state == "visible"] or list(sheets)
        tables = [self._table(title, tuple(sheets)) for title in ([wanted] if wanted else shown)]
        result = [table for table in tables if table is not None]
        if not result:
            where = f"the sheet {wanted!r}" if wanted else f"its sheets ({_listed(tuple(sheets))})"
            raise TraceError(
                f"{self._name}: there is no table in {where} (a row of column names, and rows below it); {CSV_INSTEAD}"
            )
        return next((table for table in result if table.columns >= LIKELY_COLUMNS), result[0])

    def _table(self, title: str, all_titles: tuple[str, ...]) -> Table | None:
        text, look = _Texts(self._book.epoch), []
        for number, row in itertools.islice(_numbered(self._book[title], self._name), LOOKED_AT_ROWS):
            cells = [text.of(cell) for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                look.append((number, cells))
            if len(look) > LOOKED_AT_TITLES:
                break
        place = header_place([cells for _, cells in look]) if look else 0
        below = [cells for _, cells in look[place + 1 :]]
        if not below:
            return None
        number, header = look[place]
        first = min(next(at for at, cell in enumerate(cells) if cell) for cells in (header, *below))
        columns = max(len(header), statistics.median_low(len(cells) for cells in below)) - first
        if columns > MAX_COLUMNS:
            raise TraceError(f"{self._name} has {columns:,} columns; workprof reads up to {MAX_COLUMNS:,}")
        if columns < 2:  # a list or a text
            return None
        titles = tuple(" ".join(filter(None, cells)) for _, cells in look[:place])
        return Table(title, tuple(other for other in all_titles if other != title), number, first, columns, titles)


def _loaded(stream: IO[bytes]) -> Any:
    openpyxl = needed("openpyxl", "excel")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions that no value depends on
        return openpyxl.load_workbook(stream, read_only=True, data_only=True, keep_links=False)


def _numbered(sheet: Any, name: str) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield the rows of a sheet with their numbers; what the sheet says of its size is not believed."""
    sheet.reset_dimensions()
    rows, cells = enumerate(sheet.iter_rows(), start=1), 0
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of dates out of range, which become '#VALUE!'
            block = list(itertools.islice(rows, BLOCK_ROWS))
        if not block:
            return
        cells += sum(len(row) for _, row in block)
        if block[-1][0] > MOST_ROWS or cells > MOST_CELLS:
            raise TraceError(
                f"{name}: the sheet {sheet.title!r} goes on after {MOST_ROWS:,} rows or {MOST_CELLS:,} cells, more "
                f"than a sheet of Excel holds; {CSV_INSTEAD}"
            )
        yield from block


class _Texts:
    """The texts of cells, as a CSV would hold them."""

    def __init__(self, epoch: datetime.datetime) -> None:
        self._epoch = epoch
        self._units: dict[str, str] = {}
        self._dates: dict[str, bool] = {}

    def of(self, cell: Any) -> str:
        """A cell's text; '' = nothing is in it."""
        value = cell.value
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, (int, float)):
            return self._number(value, cell.number_format)
        if isinstance(value, datetime.timedelta):
            return clock(value.total_seconds())
        if isinstance(value, datetime.time):
            return clock(value.hour * HOUR_S + value.minute * MINUTE_S + value.second + value.microsecond / 1e6)
        if isinstance(value, datetime.datetime):
            if self._is_date(cell.number_format):
                if value.time() == datetime.time() and not TIME_OF_DAY.search(_plain(cell.number_format)):
                    return value.date().isoformat()
                return value.isoformat(" ", "milliseconds" if value.microsecond else "seconds")
            from openpyxl.utils.datetime import to_excel  # noqa: PLC0415  as in _loaded

            return clock(round(to_excel(value, self._epoch) * DAY_S, 3))
        return value.isoformat() if isinstance(value, datetime.date) else str(value)

    def _number(self, value: float, number_format: str) -> str:
        unit = self._units.get(number_format)
        if unit is None:
            unit = self._units[number_format] = _unit_of(number_format)
        if unit == "%":
            value = float(f"{value * 100:.15g}")
        whole = isinstance(value, int) or (value.is_integer() and abs(value) < WHOLE)
        return f"{int(value) if whole else value}{unit}"

    def _is_date(self, number_format: str) -> bool:
        result = self._dates.get(number_format)
        if result is None:
            result = self._dates[number_format] = bool(DATE.search(_plain(number_format)))
        return result


def _plain(number_format: str) -> str:
    return LITERALS.sub("", number_format.split(";", maxsplit=1)[0]).lower().replace("am/pm", "")


def clock(seconds: float) -> str:
    """A duration as 'H:MM:SS' or 'H:MM:SS.mmm', the hours going on after 24."""
    whole, thousandths = divmod(round(abs(seconds) * 1000), 1000)
    minutes, second = divmod(whole, int(MINUTE_S))
    hour, minute = divmod(minutes, 60)
    sign = "-" if seconds < 0 else ""
    return f"{sign}{hour}:{minute:02}:{second:02}" + (f".{thousandths:03}" if thousandths else "")


def _unit_of(number_format: str) -> str:
    """What a format writes behind a number: '%', ' GB', ' h'; '' for all that is no unit."""
    first = number_format.split(";", maxsplit=1)[0]
    if "%" in LITERALS.sub("", first):
        return "%"
    literal = UNIT_LITERAL.fullmatch(first)
    return f" {literal[1]}" if literal and literal[1] in DURATION_FACTORS | MEMORY_FACTORS else ""


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(repr(visible(name[:60])) for name in names[:SHOWN])
    return text + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _refuse_bombs(archive: zipfile.ZipFile, name: str, most_bytes: int) -> dict[str, int]:
    """Refuse what could not be read in bounded memory, and return sheet part -> formulas without a value."""
    parts = archive.infolist()
    strings = sum(part.file_size for part in parts if part.filename == STRINGS)
    other = sum(part.file_size for part in parts if not part.filename.startswith((SHEETS, STRINGS)))
    whole = sum(part.file_size for part in parts)
    for size, most, what in (
        (whole, most_bytes, "unpacks"),
        (strings, MOST_STRINGS_BYTES, "holds texts that unpack"),
        (other, MOST_OTHER_BYTES, "holds pictures and styles that unpack"),
    ):
        if size > most:
            raise TraceError(
                f"{name} {what} to more than {format_bytes(most)}: taken for a compression bomb; {CSV_INSTEAD}"
            )
    formulas = {}
    for part in parts:
        if part.filename.endswith((".xml", ".rels")):
            with archive.open(part) as content:
                _refuse_document_type(content, f"{name} ({visible(part.filename)})")
        if part.filename.startswith(SHEETS) and part.filename.endswith(".xml"):
            with archive.open(part) as content:
                formulas[part.filename] = _scanned(content, name)
    with archive.open("xl/workbook.xml") as content:
        if STRICT in content.read(MIB):
            raise TraceError(f"{name} is a 'Strict Open XML' workbook; save it as 'Excel Workbook (.xlsx)' or as CSV")
    return formulas


def _refuse_document_type(content: IO[bytes], where: str) -> None:
    """Refuse an XML text that declares a document type, by which it could name entities and other files."""
    begun: list[str] = []

    def refuse(*_: object) -> None:
        raise TraceError(f"{where} declares an XML document type, which no workbook does; {CSV_INSTEAD}")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda element, _: begun.append(element)
    while not begun and (chunk := content.read(LOOK_BYTES)):
        parser.Parse(chunk, False)


def _scanned(content: IO[bytes], name: str) -> int:
    """How many formulas of a sheet have no value; refuse one whose rows are too long to be held."""
    result, held, since_row = 0, b"", 0
    while chunk := content.read(MIB):
        text = held + chunk
        at = text.rfind(b"row")
        since_row = len(text) - at if at >= 0 else since_row + len(chunk)
        if since_row > MOST_BETWEEN_ROWS_BYTES:
            raise TraceError(
                f"{name}: a sheet holds more than {format_bytes(MOST_BETWEEN_ROWS_BYTES)} in one row, or beside its "
                f"rows; {CSV_INSTEAD}"
            )
        last = 0
        for match in UNCOMPUTED.finditer(text):
            result, last = result + 1, match.end()
        held = text[max(last, len(text) - OVERLAP_BYTES) :]
    return result


@contextlib.contextmanager
def _readable(name: str, watched: _WatchedFile | None = None) -> Iterator[None]:
    """Turn whatever a broken workbook makes zipfile, expat and openpyxl raise into a refusal."""
    try:
        yield
    except Exception as error:
        if watched is not None and watched.stopped is not None:
            raise watched.stopped from None
        if isinstance(error, WorkprofError):
            raise
        raise TraceError(
            f"{name}: the workbook is broken ({type(error).__name__}: {str(error)[:200]}); open it in Excel and save "
            f"it again, or {CSV_INSTEAD}"
        ) from error


class _WatchedFile(io.RawIOBase):
    """A file that tells how far it was read, so that a long read can be stopped anywhere."""

    def __init__(self, stream: IO[bytes], report_bytes: Callable[[int], None]) -> None:
        self._stream, self._report_bytes = stream, report_bytes
        self.stopped: BaseException | None = None

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        try:
            self._report_bytes(self._stream.tell())
        except BaseException as error:
            self.stopped = error
            raise
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """The place."""
        return self._stream.tell()

    def seekable(self) -> bool:
        """Tell that it can go to a place."""
        return True

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()
