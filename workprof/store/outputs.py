"""Where results go on the user's disk: refused before the work, whole under their names after it, or not there."""

import contextlib
import io
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.text import spreadsheet_text
from workprof.formats import rules_of
from workprof.formats.fields import DESCRIPTIONS, FIELDS
from workprof.store.catalogue import Entry
from workprof.store.connection import Database, quoted, text
from workprof.store.home import is_full, no_room, room_in
from workprof.store.rejects import safe_cell
from workprof.store.reports import Column, Dataset

SUFFIX = ".schema.json"
AS_IN_TRACE = "Kept from the trace as it is; the trace's own documentation says what it means."
PLANTED = "Planted truth of a synthetic trace: for scoring, no method sees it."


def schema_document(dataset: Dataset, columns: Sequence[Column]) -> str:
    """JSON: the dataset, then name, type, unit, source column and description of every column, in order.

    `type` is DuckDB's; `unit` is null where there is none, `source` null where the column was made while loading (from
    the file's name, or from other columns).
    """
    over = {rule.field: rule.over for rule in rules_of(dataset.format) if rule.over}
    document = {
        "dataset": dataset.name,
        "hash": dataset.hash,
        "kind": dataset.kind,
        "format": dataset.format,
        "join": dataset.mode,
        "rows": dataset.rows,
        "origin": dataset.origin,
        "columns": [_described(column, over) for column in columns],
    }
    return json.dumps(document, indent=2) + "\n"


def _described(column: Column, over: Mapping[str, str]) -> dict[str, str | None]:
    description = PLANTED if column.truth else AS_IN_TRACE
    if column.name in FIELDS and not column.truth:
        description = DESCRIPTIONS[column.name]
        if column.name in over:
            description = f"{description.rstrip('.')} over the {over[column.name]}."
    return {
        "name": column.name,
        "type": column.type,
        "unit": column.unit or None,
        "source": column.source or None,
        "description": description,
    }


try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: one process at a time
    fcntl = None  # type: ignore[assignment]

ANOTHER = "give another place"


def checked_output(path: Path, suffixes: Sequence[str] = (), *, option: str = "-o", folder: bool = False) -> Path:
    """A path that a result can be written to: of a file, or of a folder of files, made where absent.

    What is there may be replaced. The name ends in one of `suffixes` (lower case; none = any); `option` is for the
    message.

    Raises:
        SettingsError: says why nothing can be written there, and what to do.
        DiskFull: when there is no room for anything.
    """
    named = f"{option} {path} cannot be written"
    try:
        is_folder, there = path.is_dir(), os.path.lexists(path)
        if there and folder and not is_folder:
            raise SettingsError(f"{named}: it is no folder; give a folder, or a name that is free")
        if is_folder and not folder:
            raise SettingsError(f"{named}: it is a folder; name a file in it")
        if suffixes and not path.name.lower().endswith(tuple(suffixes)):
            raise SettingsError(f"{named}: it does not end in {' or '.join(suffixes)}; name it so")
        if not path.parent.is_dir():
            raise SettingsError(f"{named}: there is no folder {path.parent}; make it first, or {ANOTHER}")
        if path.exists() and not (is_folder or path.is_file()):
            raise SettingsError(f"{named}: it is no regular file; {ANOTHER}")
        if path.exists() and not os.access(path, os.W_OK):
            raise SettingsError(f"{named}: it is write-protected; {ANOTHER}")
        with tempfile.TemporaryFile(dir=path if is_folder else path.parent):
            pass  # rights, read-only disks and quotas at once
    except OSError as error:
        raise _refusal(path, path.parent, named, error) from error
    return path


@contextlib.contextmanager
def whole(folder: Path, what: Path, note: str = "") -> Iterator[Path]:
    """Yield an empty folder: what is written there takes its names in `folder` at the end; nothing is left of an error.

    `what` is written and `note` (what stays when it cannot be) are for the message.

    Raises:
        SettingsError: when it cannot be written.
        DiskFull: when there is no room.
    """
    aside, made = folder / f".{uuid.uuid4().hex[:12]}.part", not folder.exists()
    try:
        if made:
            folder.mkdir()
        aside.mkdir()
        yield aside
        for path in sorted(aside.iterdir()):
            path.replace(folder / path.name)
        made = False
    except OSError as error:
        raise _refusal(what, folder, f"{what} cannot be written", error, note) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if made:
            with contextlib.suppress(OSError):
                folder.rmdir()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is there whole, or not at all; raises as `whole` does."""
    with whole(path.parent, path) as aside:
        (aside / path.name).write_bytes(content)


def append(path: Path, text: str, *, header: str = "", note: str = "") -> None:
    """Add lines to a file, whole or not at all; several processes may do so at a time.

    Where the file's last line has no end (somebody edited it), it is given one.

    The header comes first where the file is empty; `note`, what stays when nothing can be added, is for the message.

    Raises:
        SettingsError: when it cannot be written.
        DiskFull: when there is no room.
    """
    with growing(path, note), path.open("a+b") as locked:
        if fcntl is not None:
            fcntl.flock(locked, fcntl.LOCK_EX)
        before = locked.seek(0, io.SEEK_END)
        locked.seek(max(before - 1, 0))
        start = header if not before else "" if locked.read(1) == b"\n" else "\n"
        try:
            with path.open("ab") as stream:
                stream.write(f"{start}{text}".encode())
        except BaseException:
            locked.truncate(before)
            if not before:
                path.unlink()
            raise


@contextlib.contextmanager
def growing(path: Path, note: str = "") -> Iterator[None]:
    """Turn what a growing file raises into a refusal; `note` says what stays."""
    try:
        yield
    except OSError as error:
        raise _refusal(path, path.parent, f"{path} cannot be written", error, note) from error


def _refusal(path: Path, folder: Path, named: str, error: OSError, note: str = "") -> WorkprofError:
    more = f" {note};" if note else ""
    if is_full(error):
        return no_room(folder, f"{path} was not written;{more}".removesuffix(";"), ANOTHER)
    return SettingsError(f"{named} ({error.strerror or error});{more} {ANOTHER}")


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
    return f"SELECT {', '.join(items)} FROM {entry.relation}"


def _csv_item(column: Column) -> str:
    """The SQL of a column whose header and texts no spreadsheet takes for formulas."""
    cell = quoted(column.name) if column.numeric else safe_cell(column.name)
    return f"{cell} AS {quoted(spreadsheet_text(column.name))}"
