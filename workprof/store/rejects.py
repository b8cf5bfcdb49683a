"""Rows that were not taken: a table per dataset and a CSV file in the home, with line, column, text and reason."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np

from workprof.core.arrays import Ints
from workprof.core.errors import TraceError
from workprof.core.text import FORMULA_STARTS, TURNING, visible
from workprof.formats.declare import TEXT
from workprof.formats.fields import FIELDS
from workprof.store.catalogue import one
from workprof.store.connection import quoted, text
from workprof.store.home import narrow
from workprof.store.loaded import Stage
from workprof.store.spool import Spooled

TEXT_CHARACTERS = 500
"""How much of a bad line is kept."""

REASONS = {
    "CAST": "not a value of the column's type",
    "MISSING COLUMNS": "too few fields",
    "TOO MANY COLUMNS": "too many fields",
    "UNQUOTED VALUE": "a quote is not closed or stands inside a value",
    "LINE SIZE OVER MAXIMUM": "the line is too long",
    "INVALID ENCODING": "not UTF-8",
    "INVALID STATE": "the line cannot be split into fields",
}

OTHER_WIDTH = " OR ".join(
    f"starts_with(reason, {text(REASONS[kind])})" for kind in ("MISSING COLUMNS", "TOO MANY COLUMNS")
)
"""Rejects that are lines with another number of cells than the header, in SQL."""


def create_table(cursor: duckdb.DuckDBPyConnection, table: str) -> None:
    """Create an empty rejects table."""
    cursor.execute(f'CREATE TABLE {quoted(table)} (line BIGINT, "column" VARCHAR, text VARCHAR, reason VARCHAR)')


def collect(cursor: duckdb.DuckDBPyConnection, table: str, spooled: Spooled, prefix: str = "") -> int:
    """Move what the last scan of a file by this cursor refused into `table` and return how many rows that were.

    Raises TraceError when lines are not UTF-8 (offers the encoding option).
    """
    reasons = " ".join(f"WHEN {text(kind)} THEN {text(reason)}" for kind, reason in REASONS.items())
    last = _last_scan(spooled)
    first_bad, rows = one(
        cursor,
        f"SELECT min(line) FILTER (WHERE error_type = 'INVALID ENCODING'), count(DISTINCT line) "
        f"FROM reject_errors WHERE {last}",
    )
    if first_bad is not None:
        raise TraceError(
            f"{spooled.origin}: line {first_bad} is not UTF-8; "
            "if it is Latin-1, set its encoding to latin-1 (--encoding in a shell)"
        )
    cursor.execute(
        f"""
        INSERT INTO {quoted(table)}
        SELECT {original_line(spooled)}, {text(prefix)} || column_name,
            left(CASE error_type WHEN 'CAST' THEN coalesce(nullif(
                regexp_extract(error_message, 'Could not convert string "(.*)" to', 1, 's'), ''), csv_line)
                ELSE csv_line END, {TEXT_CHARACTERS}),
            CASE error_type {reasons} ELSE lower(CAST(error_type AS VARCHAR)) END
                || coalesce(nullif(': ' || regexp_extract(error_message, '(Expected Number.*)', 1), ': '), '')
        FROM {renumbered(spooled, "reject_errors")} WHERE {last} ORDER BY line, column_idx
        """
    )
    too_long = REASONS["LINE SIZE OVER MAXIMUM"]
    for long in spooled.long_lines:
        cursor.execute(f"INSERT INTO {quoted(table)} VALUES (?, NULL, ?, ?)", [long.line, long.text, too_long])
    return int(rows) + len(spooled.long_lines)


TOTALS = (
    r"(?:(?:grand|sub)[ -]?)?totals?|sum|average|mean|median|std|min(?:imum)?|max(?:imum)?|count|"
    r"gesamt|summe|durchschnitt|mittelwert|anzahl"
)
TOTAL = "a total of the rows above, no run"


def move_totals(cursor: duckdb.DuckDBPyConnection, stage: Stage, spooled: Spooled) -> int:
    """Move last rows that add up the others to the rejects, and return how many rows that were.

    One of the names of each is a word of sums, and a cell of all is empty that every other row fills.
    """
    rows = quoted(stage.rows)
    columns = [name for name, *_ in cursor.execute(f"DESCRIBE {rows}").fetchall() if name in FIELDS]
    named = [quoted(name) for name in columns if FIELDS[name].type == TEXT]
    words = [f"regexp_full_match(trim(CAST({name} AS VARCHAR), ' :'), '(?i:{TOTALS})')" for name in named]
    is_named = f"({' OR '.join(f'coalesce({each}, FALSE)' for each in words) or 'FALSE'})"
    last = f"rowid = (SELECT max(rowid) FROM {rows})"
    if not one(cursor, f"SELECT count(*) FROM {rows} WHERE {last} AND {is_named}")[0]:
        return 0
    below = f"rowid > coalesce((SELECT max(rowid) FROM {rows} WHERE NOT {is_named}), -1)"
    filled = ", ".join(f"count({quoted(name)}), count({quoted(name)}) FILTER (WHERE {below})" for name in columns)
    n, n_below, *counts = one(cursor, f"SELECT count(*), count(*) FILTER (WHERE {below}), {filled} FROM {rows}")
    if n == n_below or not any(
        of_all == n - n_below and not of_below for of_all, of_below in zip(*[iter(counts)] * 2, strict=True)
    ):
        return 0
    for place in range(n - 1, n - n_below - 1, -1):
        (line,) = lines_of_rows(cursor, np.array([place]), spooled)
        cursor.execute(
            f"INSERT INTO {quoted(stage.rejects)} SELECT {original_line(spooled)}, NULL, "
            f"(SELECT concat_ws(', ', {', '.join(named)}) FROM {rows} WHERE {last}), {text(TOTAL)} "
            f"FROM {renumbered(spooled, f'(SELECT {int(line)} AS line)')}"
        )
        cursor.execute(f"DELETE FROM {rows} WHERE {last}")
    return int(n_below)


def renumbered(spooled: Spooled, rejected: str) -> str:
    """The SQL of a table of rejects with the line numbers of the text that the file was rewritten from."""
    if spooled.lines is None:
        return rejected
    places = f"read_csv({text(str(spooled.lines))}, columns={{'here': 'BIGINT', 'there': 'BIGINT'}}, "
    return (
        f"(SELECT e.* REPLACE (p.there + e.line::BIGINT - p.here AS line) FROM {rejected} e "
        f"ASOF JOIN {places} auto_detect=false, header=false, delim=',') p ON e.line::BIGINT >= p.here)"
    )


def lines_of_rows(cursor: duckdb.DuckDBPyConnection, places: Ints, spooled: Spooled) -> Ints:
    """The line of each row that the last scan took, by its place among those; the refused ones count too."""
    if spooled.parquet:
        return places + 1
    sql = f"SELECT DISTINCT line::BIGINT AS line FROM reject_errors WHERE {_last_scan(spooled)} ORDER BY line"
    refused = np.asarray(cursor.execute(sql).fetchnumpy()["line"], dtype=np.int64)
    first_row = 2 if spooled.header else 1
    taken_before = refused - first_row - np.arange(len(refused))
    return places + first_row + np.searchsorted(taken_before, places, side="right")


def original_line(spooled: Spooled) -> str:
    """The SQL of a reject's line number, counting the lines that were set aside before the scan."""
    shifts = [long.line - before for before, long in enumerate(spooled.long_lines)]
    line = f"(line + {spooled.skipped})" if spooled.skipped else "line"
    return line + "".join(f" + ({line} >= {shift})::BIGINT" for shift in shifts)


def _last_scan(spooled: Spooled) -> str:
    scans = f"SELECT scan_id, file_id FROM reject_scans WHERE file_path = {text(str(spooled.path))}"
    return f"(scan_id, file_id) IN ({scans} ORDER BY scan_id DESC LIMIT 1)"


def last_refused(cursor: duckdb.DuckDBPyConnection, spooled: Spooled) -> int:
    """How many rows the last scan of a file by this cursor refused."""
    (rows,) = one(cursor, f"SELECT count(DISTINCT line) FROM reject_errors WHERE {_last_scan(spooled)}")
    return int(rows)


def any_of(cursor: duckdb.DuckDBPyConnection, spooled: Spooled) -> bool:
    """Tell whether a scan of a file by this cursor refused anything."""
    (errors,) = one(cursor, f"SELECT count(*) FROM reject_errors WHERE {_last_scan(spooled)}")
    return bool(errors)


def bad_columns(cursor: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """The columns whose values the last CSV scan could not convert."""
    result = cursor.execute(
        "SELECT DISTINCT column_name FROM reject_errors WHERE error_type = 'CAST' "
        "AND scan_id = (SELECT max(scan_id) FROM reject_scans)"
    ).fetchall()
    return frozenset(name for (name,) in result)


def forget(cursor: duckdb.DuckDBPyConnection) -> None:
    """Forget what earlier scans of this cursor refused (a scan without rejects leaves no trace of its own)."""
    for table in ("reject_errors", "reject_scans"):
        cursor.execute(f"DELETE FROM {table}")


def safe_cell(column: str) -> str:
    """The SQL of a text cell that runs as no formula and turns no line round (see `workprof.core.text`)."""
    name = quoted(column)
    starts = ", ".join(text(start) for start in FORMULA_STARTS)
    shown = name
    for code in TURNING:
        shown = f"replace({shown}, chr({code}), {text(visible(chr(code)))})"
    turning = text(f"[{''.join(map(chr, TURNING))}]")
    shown = f"CASE WHEN regexp_matches({name}, {turning}) THEN {shown} ELSE {name} END"
    return f"CASE WHEN left({name}, 1) IN ({starts}) THEN '''' || {shown} ELSE {shown} END"


def write_file(cursor: duckdb.DuckDBPyConnection, table: str, path: Path) -> None:
    """Write a rejects table as CSV, complete or not at all."""
    aside = path.with_suffix(".tmp")
    cells = ", ".join(f"{safe_cell(name)} AS {quoted(name)}" for name in ("column", "text", "reason"))
    try:
        cursor.execute(
            f"COPY (SELECT line, {cells} FROM {quoted(table)} ORDER BY line) TO {text(str(aside))} (FORMAT csv, HEADER)"
        )
        narrow(aside)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
