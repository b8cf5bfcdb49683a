"""A dataset as a Parquet or CSV file: complete under its name, or not there."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from workprof.errors import SettingsError
from workprof.store.catalogue import Entry
from workprof.store.connection import Database, quoted, text
from workprof.store.rejects import safe_cell

WRITERS = {".parquet": "FORMAT parquet, COMPRESSION zstd", ".csv": "FORMAT csv, HEADER"}


def export(database: Database, entry: Entry, path: Path) -> int:
    """Write every row and return how many.

    DuckDB writes inside the home (it may nowhere else); the file is then moved beside its place and renamed into it.

    Raises:
        SettingsError: for another suffix, or a folder that is not there or not writable.
    """
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise SettingsError(f"{path.name}: a dataset is written as .parquet or .csv; give one of these suffixes")
    if not path.parent.is_dir():
        raise SettingsError(f"{path.parent}: no such folder; make it first")
    token = uuid.uuid4().hex
    with database.home.spool_folder(f"export-{token}") as folder, database.cursor() as cursor:
        inside = folder / f"dataset{path.suffix.lower()}"
        cursor.execute(
            f"COPY ({_select(entry, path.suffix.lower() == '.csv')}) TO {text(str(inside))} ({writer})"
        ).fetchall()
        aside = path.with_name(f".{path.name}.{token[:8]}.tmp")
        try:
            shutil.move(inside, aside)
            aside.replace(path)
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise SettingsError(f"{path}: cannot be written ({error.strerror}); choose another place") from error
    return entry.dataset.rows


def _select(entry: Entry, csv: bool) -> str:
    items = [
        quoted(column.name) if column.numeric or not csv else f"{safe_cell(column.name)} AS {quoted(column.name)}"
        for column in entry.columns
    ]
    return f"SELECT {', '.join(items)} FROM {quoted(entry.table)}"
