"""Stage, validate, commit: a trace becomes a dataset inside one transaction, or leaves nothing behind.

The files are hashed in a thread beside the reading; only where a dataset of exactly as many bytes is there already is
the hash awaited first, so that the same content is recognised before anything is staged.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from workprof.errors import Cancelled, SettingsError, TraceError
from workprof.formats import AUTO, NAMES, TABLES, declared
from workprof.progress import Progress
from workprof.store import catalogue, one_file, rejects, tables
from workprof.store.connection import Database, quoted
from workprof.store.content_hash import ContentHash, salt_of, total_bytes
from workprof.store.detect import detect
from workprof.store.loaded import Loaded, Stage
from workprof.store.reports import Dataset, IngestOptions, IngestReport
from workprof.store.running import Span
from workprof.store.schema import REJECTS, ROWS, STAGE
from workprof.store.spool import checked_input, spool
from workprof.store.table_files import required_tables

LAYOUT_VERSION = 1
"""Part of the hash: raise it when the same file would become another table."""

HASH = Span(0.0, 0.1, "hashing")
SPOOL = Span(0.1, 0.3, "spooling")
LAST_HASH = Span(0.97, 0.98, "hashing")
FINISH = Span(0.98, 1.0, "committing")


@dataclass(frozen=True)
class Inputs:
    """The files of one ingest, the role of each, and the format they are read as."""

    format: str
    paths: tuple[Path, ...]
    roles: tuple[str, ...]
    stem: str
    origin: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return total_bytes(self.paths)


def ingest(database: Database, paths: Sequence[Path], options: IngestOptions, progress: Progress) -> IngestReport:
    """Return what became of a trace; see `TraceStore.ingest`."""
    started = time.perf_counter()
    database.refuse_if_readonly()
    inputs = _inputs(paths, options)
    with database.writing(progress), _clear_errors(inputs.origin):
        size = inputs.size
        hashing = ContentHash(inputs.paths, inputs.roles, salt_of(options, inputs.format, LAYOUT_VERSION))
        hashing.start()
        try:
            with database.cursor() as cursor:
                name = catalogue.free_name(cursor, options.name, inputs.stem) if options.name else ""
                known = catalogue.of_size(cursor, size) and _known(cursor, hashing.result(progress, HASH, size))
            if known:
                return known
            with database.modest(size):
                return _loaded(database, inputs, replace(options, name=name), hashing, progress, started)
        finally:
            hashing.stop()


def _loaded(
    database: Database, inputs: Inputs, options: IngestOptions, hashing: ContentHash, progress: Progress, started: float
) -> IngestReport:
    token = uuid.uuid4().hex
    stage = Stage(f"{STAGE}{token}", f"{STAGE}{token}_rejects")
    kept: Path | None = None
    try:
        with database.home.spool_folder(token) as folder, database.transaction() as cursor:
            loaded = _stage(cursor, stage, inputs, options, folder, progress)
            hashed = hashing.result(progress, LAST_HASH, inputs.size)
            progress(FINISH.low, FINISH.message)
            if loaded.rejected:
                kept = database.home.rejects / f"{hashed}.csv"
                rejects.write_file(cursor, stage.rejects, kept)
            name = options.name or catalogue.free_name(cursor, "", inputs.stem)
            report = _report(name, hashed, inputs.format, loaded, kept, time.perf_counter() - started)
            _commit_rows(cursor, stage, inputs, loaded, report)
    except BaseException:
        if kept is not None:
            kept.unlink(missing_ok=True)
        raise
    progress(FINISH.high, "done")
    return report


def _inputs(paths: Sequence[Path], options: IngestOptions) -> Inputs:
    if not paths:
        raise TraceError("no file is named; give the path of a trace")
    if options.format not in (AUTO, *NAMES):
        raise SettingsError(f"format {options.format!r} is not known; use {AUTO} or one of {', '.join(NAMES)}")
    for path in paths:
        if not path.is_dir():
            checked_input(path)
    chosen = options.format if options.format != AUTO else detect(paths, options.delimiter, options.encoding)
    first = paths[0].resolve() if paths[0].is_dir() else paths[0]
    if chosen == TABLES:
        found = required_tables(paths)
        for path in found.values():
            checked_input(path)
        stem = first.name if paths[0].is_dir() else "pai-tables"
        return Inputs(chosen, tuple(found.values()), tuple(found), stem, ", ".join(p.name for p in found.values()))
    if len(paths) > 1:
        raise TraceError(f"format {chosen} takes one file, {len(paths)} are named; load them one by one")
    if options.mapping and chosen != "generic":
        raise SettingsError(
            f"a mapping belongs to format generic, not {chosen}; add --format generic or leave the mapping out"
        )
    role = first.name.split(".")[0] if declared(chosen).from_stem else ""
    return Inputs(chosen, (checked_input(paths[0]),), (role,), first.name.split(".")[0], first.name)


def _known(cursor: duckdb.DuckDBPyConnection, hashed: str) -> IngestReport | None:
    found = catalogue.find_hash(cursor, hashed)
    return replace(catalogue.report(cursor, found), already_loaded=True) if found else None


def _stage(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    inputs: Inputs,
    options: IngestOptions,
    folder: Path,
    progress: Progress,
) -> Loaded:
    if inputs.format == TABLES:
        files = dict(zip(inputs.roles, inputs.paths, strict=True))
        return tables.load(cursor, stage, files, folder, options, progress)
    spooled = spool(inputs.paths[0], folder, "input", options.encoding, progress, SPOOL)
    return one_file.load(cursor, stage, spooled, declared(inputs.format), options, progress)


def _report(
    name: str, hashed: str, format_name: str, loaded: Loaded, rejects_file: Path | None, seconds: float
) -> IngestReport:
    return IngestReport(
        dataset=name,
        hash=hashed,
        kind="jobs",
        format=format_name,
        rows_read=loaded.rows_read,
        rows=loaded.rows,
        rejected=loaded.rejected,
        rejects_file=str(rejects_file) if rejects_file else None,
        joins=loaded.joins,
        checks=loaded.checks,
        seconds=seconds,
    )


def _commit_rows(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, inputs: Inputs, loaded: Loaded, report: IngestReport
) -> None:
    cursor.execute(f"ALTER TABLE {quoted(stage.rows)} RENAME TO {quoted(ROWS + report.hash)}")
    cursor.execute(f"ALTER TABLE {quoted(stage.rejects)} RENAME TO {quoted(REJECTS + report.hash)}")
    dataset = Dataset(
        name=report.dataset,
        hash=report.hash,
        kind=report.kind,
        format=report.format,
        rows=loaded.rows,
        finished_rows=loaded.finished_rows,
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        mode=loaded.mode,
        origin=inputs.origin,
    )
    catalogue.insert(cursor, dataset, loaded.columns, loaded.aliases, report, inputs.size)


@contextlib.contextmanager
def _clear_errors(origin: str) -> Iterator[None]:
    """Turn DuckDB's errors into refusals that say what to do."""
    try:
        yield
    except duckdb.InterruptException as error:
        raise Cancelled(f"loading {origin} was stopped; nothing was kept") from error
    except duckdb.OutOfMemoryException as error:
        raise TraceError(
            f"{origin}: not enough memory or disk ({error}); raise WORKPROF_MEMORY_LIMIT or free disk space"
        ) from error
    except duckdb.InvalidInputException as error:
        if "state machine" not in str(error):
            raise TraceError(f"{origin} cannot be read ({str(error).splitlines()[0][:300]}); check the file") from error
        raise TraceError(
            f"{origin} mixes line ends (CR LF and LF) or has a broken quote; save it with one kind"
        ) from error
    except duckdb.Error as error:
        raise TraceError(
            f"{origin} cannot be read ({str(error).splitlines()[0][:300]}); check the format and the file"
        ) from error
