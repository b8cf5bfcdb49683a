"""What became of every line of a delimited text: how its quotes are read, and that no line is missing afterwards.

The lines are counted before a reader sees them (`lines`). Where a quote is not sound, the text is read with quotes as
plain characters if all of them can be such, else refused by line, unless the caller accepts that lines are lost; then
those are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from workprof.core.errors import TraceError
from workprof.core.progress import Progress
from workprof.formats.declare import TEXT, SourceColumn
from workprof.store.catalogue import one
from workprof.store.connection import quoted
from workprof.store.lines import MOST_CELL_LINES, Lines, count_lines, lines_of_plain_quotes, number_in_file
from workprof.store.relation import CsvDialect, csv_relation
from workprof.store.reports import Check, lines_lost
from workprof.store.running import Span
from workprof.store.spool import Spooled

QUOTED_BREAKS = "quoted line breaks"
PLAIN_QUOTES = "plain quotes"
LOST = "lost lines"
BLANK = "blank lines"
DOUBTFUL_BREAKS = "doubtful line breaks"


@dataclass(frozen=True)
class Accounts:
    """A text's lines and how its quotes are read."""

    spooled: Spooled
    lines: Lines
    quoting: bool = True  # a cell may stand in quotes; else every quote is a character like any other
    plain_quotes: int = 0  # lines that hold a quote, where none is read as one
    fault: str = ""  # what is wrong with a quote and in which line it opens, in words; '' = nothing

    def refuse_fault(self) -> None:
        """Refuse a text with a quote that is not sound; raises TraceError, which names the line in which it opens."""
        if self.fault and self.quoting:
            raise TraceError(
                f"{self.spooled.origin}: {self.fault}; mend that line, or load the file with "
                f"`workprof ingest --accept-loss`, which counts the lines that are lost"
            )


@dataclass(frozen=True)
class Balance:
    """What became of the lines that are in no row and no reject of their own."""

    accounts: Accounts
    quoted_breaks: int  # line ends within the cells of rows, of rejected rows and of the header
    lost: int  # lines that the reader passed over

    def refuse_loss(self, accepted: bool) -> None:
        """Refuse a text of which lines are lost, unless that is accepted; raises TraceError, which says how many."""
        if self.lost and not accepted:
            raise TraceError(
                f"{self.accounts.spooled.origin}: {lines_lost(self.lost)}: in no row and not among the rejected ones; "
                f"nothing was kept. Check its quotes, or load it with `workprof ingest --accept-loss`, which counts "
                f"what is lost"
            )

    @property
    def checks(self) -> tuple[Check, ...]:
        """The findings, those that found nothing left out."""
        lines, fault, plain = self.accounts.lines, self.accounts.fault, self.accounts.plain_quotes
        doubtful = lines.doubtful_line + self.accounts.spooled.skipped
        because = f"; {fault}" if fault else ""
        result = (
            Check(
                LOST,
                "error",
                self.lost,
                f"{lines_lost(self.lost)} of {lines.physical:,}: in no row, not rejected{because}",
            ),
            Check(PLAIN_QUOTES, "warning", plain, f"{fault}; every quote is read as a character like any other"),
            Check(
                QUOTED_BREAKS,
                "info",
                self.quoted_breaks,
                f"{self.quoted_breaks:,} line ends stand within quotes: their rows take several lines of the file",
            ),
            Check(
                DOUBTFUL_BREAKS,
                "warning",
                lines.doubtful_breaks,
                f"{lines.doubtful_breaks:,} of the line ends within quotes stand between lines of as many cells as the "
                f"header, first after line {doubtful}: see whether a quote is there by mistake",
            ),
            Check(BLANK, "info", lines.blank, f"{lines.blank:,} lines are blank"),
        )
        return tuple(check for check in result if check.count)


def accounts_of(spooled: Spooled, delimiter: str, progress: Progress, span: Span, *, quoting: bool = True) -> Accounts:
    """The accounts of a text before it is read; `progress` may cancel."""
    lines = count_lines(spooled.path, delimiter, progress, span, quoting=quoting)
    if not lines.fault:
        return Accounts(spooled, lines, quoting=quoting)
    line = number_in_file(lines.fault_line + spooled.skipped, spooled.long_lines)
    fault = f"the quote that opens in line {line} {lines.fault}"
    plain = lines_of_plain_quotes(spooled.path, delimiter)
    unquoted = count_lines(spooled.path, delimiter, progress, span, quoting=False)
    return Accounts(spooled, unquoted, quoting=not plain, plain_quotes=plain, fault=fault)


def balance(
    cursor: duckdb.DuckDBPyConnection,
    accounts: Accounts,
    spooled: Spooled,
    names: Sequence[str],
    dialect: CsvDialect,
    n_read: int,
) -> Balance:
    """What became of the other lines of a text that was read, by the rows and rejects of the reader.

    A text with an unsound quote is read once more.

    Raises TraceError when the reader tells of more rows than there are.
    """
    lines, header, breaks = accounts.lines, int(dialect.header), accounts.lines.quoted_breaks
    if accounts.fault and accounts.quoting:
        within = [name.count("\n") for name in names] if header else []
        breaks = sum(count for count in within if count < MOST_CELL_LINES)
        breaks += _breaks_in_rows(cursor, spooled, names, dialect)
    lost = lines.physical - lines.blank - header - breaks - n_read
    if lost < 0:
        raise TraceError(
            f"{accounts.spooled.origin}: {n_read:,} rows were read where {n_read + lost:,} stand; write the file again "
            f"with one row per line, and load that"
        )
    return Balance(accounts, breaks, lost)


def _breaks_in_rows(
    cursor: duckdb.DuckDBPyConnection, spooled: Spooled, names: Sequence[str], dialect: CsvDialect
) -> int:
    """The line ends within the cells of all rows; of blank lines in them, and of endless cells, none."""
    relation = csv_relation(spooled, [SourceColumn(name, TEXT) for name in names], dialect)
    parts = ", ".join(f"string_split({quoted(name)}, chr(10))" for name in names)
    blank = "len(list_filter(parts[2:-2], lambda part: part IN ('', chr(13))))"
    cells = f"SELECT unnest([{parts}]) AS parts FROM {relation.sql}"
    (breaks,) = one(
        cursor,
        f"SELECT coalesce(sum(len(parts) - 1 - {blank}), 0) FROM ({cells}) "
        f"WHERE len(parts) BETWEEN 2 AND {MOST_CELL_LINES}",
    )
    return int(breaks)
