"""A dataset as a Parquet or CSV file, or its columns as a schema: complete under its name, or not there."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from workprof.spreadsheets import spreadsheet_text
from workprof.store.catalogue import Entry
from workprof.store.connection import Database, quoted, text
from workprof.store.disk import room_in
from workprof.store.outputs import checked_output, whole
from workprof.store.rejects import safe_cell
from workprof.store.reports import Column
from workprof.store.schema_document import SUFFIX, schema_document

WRITERS = {".parquet": "FORMAT parquet, COMPRESSION zstd", ".csv": "FORMAT csv, HEADER"}


def export(database: Database, entry: Entry, path: Path) -> int:
    """Write every row, or what the columns mean (FILE.schema.json), and return the dataset's rows.

    DuckDB writes inside the home (it may nowhere else); the file is then moved beside its place and renamed into it.

    Raises:
        SettingsError: for another suffix, or a place where no file can be written.
        DiskFull: when there is no room, in the home or at the place.
    """
    checked_output(path, (*WRITERS, SUFFIX), option="the file")
    suffix, schema = path.suffix.lower(), path.name.lower().endswith(SUFFIX)
    token = uuid.uuid4().hex
    with database.home.spool_folder(f"export-{token}") as folder, database.cursor() as cursor:
        inside = folder / f"dataset{suffix}"
        with room_in(database.home.folder, f"{path} was not written"):
            if schema:
                inside.write_text(schema_document(entry.dataset, entry.columns), encoding="utf-8")
            else:
                select = _select(entry, suffix == ".csv")
                cursor.execute(f"COPY ({select}) TO {text(str(inside))} ({WRITERS[suffix]})").fetchall()
        with whole(path.parent, path) as aside:
            shutil.move(inside, aside / path.name)
    return entry.dataset.rows


def _select(entry: Entry, csv: bool) -> str:
    items = [_csv_item(column) if csv else quoted(column.name) for column in entry.columns]
    return f"SELECT {', '.join(items)} FROM {quoted(entry.table)}"


def _csv_item(column: Column) -> str:
    """Return the SQL of a column whose header and texts no spreadsheet takes for formulas."""
    cell = quoted(column.name) if column.numeric else safe_cell(column.name)
    return f"{cell} AS {quoted(spreadsheet_text(column.name))}"
