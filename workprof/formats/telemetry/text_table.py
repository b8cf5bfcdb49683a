"""Delimited text as columns of texts with their line numbers, and texts as numbers; what cannot be read is kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.errors import TraceError
from workprof.formats.declare import Unreadable
from workprof.store.text_shape import unique_names

if TYPE_CHECKING:
    import pandas as pd

NO_VALUE = ("", "NaN", "nan", "-nan", "NA", "N/A", "NULL", "null", "<not counted>", "<not supported>")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
BLOCK_BYTES = 1 << 24
EXCERPT_CHARACTERS = 500


@dataclass(frozen=True)
class TextTable:
    """A delimited text."""

    cells: pd.DataFrame  # (n_lines, n_columns) texts, under the header's names
    lines: NDArray[np.int64]  # (n_lines,) 1-based line numbers in the file
    rejected: tuple[Unreadable, ...]  # lines with too few or too many fields


@dataclass(frozen=True)
class Numbers:
    """Columns of numbers."""

    frame: pd.DataFrame  # (n_lines, n_columns) float64, NaN = no value; same index as the texts
    bad: NDArray[np.bool_]  # (n_lines,) lines with a text that is no number
    rejected: tuple[Unreadable, ...]  # one entry per such line
    infinite: int  # cells that said infinite; they are NaN


def read_table(path: Path, origin: str, delimiter: str = ",", header: tuple[str, ...] = ()) -> TextTable:
    """The fields of a text with a header line, or the header given; lines of another width are set aside.

    Raises TraceError when there is no header, every line has more fields than it, or a quote takes several lines for
    one.
    """
    names = header or header_of(path, origin, delimiter)
    filled = _filled_lines(path, origin)
    skipped = 0 if header else int(filled[0])
    lines = filled if header else filled[1:]
    cells, ragged = _fields(path, origin, delimiter, names, skipped)
    rejected = tuple(_at(one, lines, skipped) for one in ragged)
    if len(cells) + len(rejected) != lines.size:
        raise TraceError(
            f"{origin}: {lines.size:,} lines were read as {len(cells) + len(rejected):,}; a quote is not closed, or a "
            f"value holds a line break: mend that place"
        )
    _refuse_commas(rejected, len(cells), origin)
    return TextTable(cells, np.setdiff1d(lines, [one.line for one in rejected]), rejected)


def _fields(
    path: Path, origin: str, delimiter: str, names: tuple[str, ...], skipped: int
) -> tuple[pd.DataFrame, list[Unreadable]]:
    import pyarrow as pa  # noqa: PLC0415  heavy
    from pyarrow import csv  # noqa: PLC0415  heavy

    ragged: list[Unreadable] = []

    def set_aside(row: Any) -> str:
        reason = "too few fields" if row.actual_columns < row.expected_columns else "too many fields"
        ragged.append(Unreadable(int(row.number), "", str(row.text)[:EXCERPT_CHARACTERS], reason))
        return "skip"

    convert = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    parse = csv.ParseOptions(delimiter=delimiter, invalid_row_handler=set_aside, ignore_empty_lines=True)
    reading = csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES, column_names=list(names), skip_rows=skipped)
    try:
        table = csv.read_csv(path, read_options=reading, parse_options=parse, convert_options=convert)
    except pa.ArrowException as error:
        if "Empty CSV" not in str(error):
            raise TraceError(f"{origin} cannot be read ({str(error)[:200]}); check the file") from error
        table = pa.table({name: pa.array([], pa.string()) for name in names})
    return table.to_pandas(), ragged


def numbers(table: TextTable, columns: tuple[str, ...], origin: str, no_value: tuple[str, ...] = NO_VALUE) -> Numbers:
    """Columns as numbers; empty, NaN and infinite are NaN, other texts make their line a rejected one.

    Raises TraceError when a cell has a decimal comma: the file was written under another locale.
    """
    import pandas as pd  # noqa: PLC0415  heavy

    read: dict[str, NDArray[np.float64]] = {}
    reasons: dict[int, Unreadable] = {}
    infinite = 0
    for name in columns:
        values, bad = _column(table.cells[name], no_value)
        for at in np.flatnonzero(bad):
            text, line = str(table.cells[name].iloc[at]), int(table.lines[at])
            _refuse_decimal_comma(text, line, name, origin)
            reasons.setdefault(int(at), Unreadable(line, name, text[:EXCERPT_CHARACTERS], "not a number"))
        infinite += int(np.isinf(values).sum())
        read[name] = np.where(np.isinf(values), np.nan, values)
    wrong = np.zeros(len(table.cells), dtype=bool)
    wrong[list(reasons)] = True
    frame = pd.DataFrame(read, index=table.cells.index)
    return Numbers(frame, wrong, tuple(reasons[at] for at in sorted(reasons)), infinite)


def _column(texts: pd.Series, no_value: tuple[str, ...]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Numbers and which texts are none; the quick way where all are."""
    import pandas as pd  # noqa: PLC0415  heavy
    import pyarrow as pa  # noqa: PLC0415  heavy
    import pyarrow.compute as pc  # noqa: PLC0415  heavy

    column = pa.array(texts, pa.string())
    filled = pc.if_else(pc.is_in(column, pa.array(no_value)), pa.scalar(None, pa.string()), column)
    try:
        values = pc.cast(filled, pa.float64()).to_numpy(zero_copy_only=False)
        return values, np.zeros(len(texts), dtype=bool)
    except pa.ArrowInvalid:
        stripped = texts.str.strip()
        slow = pd.to_numeric(stripped, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        return slow, np.isnan(slow) & ~stripped.isin(no_value).to_numpy(dtype=bool)


def header_of(path: Path, origin: str, delimiter: str) -> tuple[str, ...]:
    """The names in the first line that holds something."""
    import csv  # noqa: PLC0415  its name is pyarrow's too

    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
            line = next((one for one in csv.reader(stream, delimiter=delimiter) if one), [])
    except csv.Error as error:
        raise TraceError(f"{origin}: the first line cannot be split into fields ({error}); check the file") from error
    if not line:
        raise TraceError(f"{origin} is empty; give a file with a header line and rows")
    return unique_names(tuple(name.strip() for name in line))


def _filled_lines(path: Path, origin: str) -> NDArray[np.int64]:
    """The numbers of the lines that hold something; a line ends with CR, LF or both, as the reader has it.

    Raises TraceError when the text is not UTF-8: the reader would pass some of such lines over unsaid.
    """
    result: list[int] = []
    at = 0
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for at, line in enumerate(stream, start=1):
                if line not in ("\n", ""):
                    result.append(at)
    except UnicodeDecodeError as error:
        raise TraceError(
            f"{origin} is not UTF-8 (byte {error.object[error.start]:#x}, after line {at}); save it as UTF-8, or set "
            f"its encoding (--encoding in a shell)"
        ) from error
    return np.array(result, dtype=np.int64)


def _at(one: Unreadable, lines: NDArray[np.int64], skipped: int) -> Unreadable:
    """The entry with the line's number in the file (the reader counts the lines that hold something)."""
    place = one.line - skipped - 1
    line = int(lines[place]) if 0 <= place < lines.size else one.line
    return Unreadable(line, one.column, one.text, one.reason)


def _refuse_commas(ragged: tuple[Unreadable, ...], rows: int, origin: str) -> None:
    if rows or not ragged or any(one.reason != "too many fields" for one in ragged):
        return
    raise TraceError(
        f"{origin}: every line has more fields than the header, the first is {ragged[0].text[:80]!r}; if its numbers "
        f"have decimal commas, record again with LC_ALL=C"
    )


def _refuse_decimal_comma(text: str, line: int, column: str, origin: str) -> None:
    if DECIMAL_COMMA.fullmatch(text):
        raise TraceError(
            f"{origin}, line {line}, column {column}: {text!r} has a decimal comma, or one between thousands; record "
            f"again with LC_ALL=C, or write plain numbers with decimal points"
        )
