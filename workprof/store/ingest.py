"""Stage, validate, commit: a trace becomes a dataset in the last transaction, or leaves nothing behind.

What the files hold is hashed beside the reading; only where a dataset of exactly as many bytes is there already is the
hash awaited first, so that the same content is recognised before anything is staged.
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

from workprof.core.errors import Cancelled, TraceError, WorkprofError
from workprof.core.progress import Progress
from workprof.core.roles import IMPORT
from workprof.formats import FORMATS, MEASUREMENTS, TABLES, declared, generic, has_reader
from workprof.formats.fields import FIELDS
from workprof.formats.measured import MEASURED_ROWS
from workprof.store import catalogue, checks, mapping, measurements, one_file, proposal, rejects, tables
from workprof.store.catalogue import REJECTS, ROWS, STAGE
from workprof.store.connection import Database, quoted
from workprof.store.content_hash import ContentHash, salt_of
from workprof.store.detect import NamedFiles, named_files
from workprof.store.home import room_in
from workprof.store.loaded import Loaded, Stage
from workprof.store.parquet_bounds import refuse_long_texts, refuse_promises
from workprof.store.reports import (
    Check,
    Counts,
    Dataset,
    FieldSource,
    IngestOptions,
    IngestReport,
    Upstream,
    lines_lost,
    shares_of,
)
from workprof.store.running import Span
from workprof.store.spool import Spooled, TextOptions, spool

LAYOUT_VERSION = 2
"""Part of the hash: raise it when the same file would become another table."""


def version_of(format_name: str) -> int:
    """What the hash of a file of a format holds of how its rows are made."""
    rows = FORMATS[format_name].rows_version if format_name in FORMATS else MEASURED_ROWS.get(format_name, 1)
    return LAYOUT_VERSION + rows - 1


HASH = Span(0.0, 0.1, "hashing")
SPOOL = Span(0.1, 0.3, "spooling")
SPOOL_TABLES = Span(0.0, 0.1, "spooling")
LAST_HASH = Span(0.97, 0.98, "hashing")
FINISH = Span(0.98, 1.0, "committing")

MIXED_LINE_ENDS = "state machine"
"""What DuckDB says of them, and of a broken quote."""


@dataclass(frozen=True)
class Task:
    """One ingest and what it works with."""

    database: Database
    files: NamedFiles
    options: IngestOptions
    hashing: ContentHash
    progress: Progress
    started: float
    upstream: Upstream | None = None  # what an engine did with the trace before
    looked: tuple[Check, ...] = ()  # what a look at a generic file told


def ingest(
    database: Database,
    paths: Sequence[Path],
    options: IngestOptions,
    progress: Progress,
    upstream: Upstream | None = None,
) -> IngestReport:
    """What became of a trace; see `TraceStore.ingest`."""
    started = time.perf_counter()
    database.refuse(IMPORT)
    files = named_files(paths, options)
    looked: tuple[Check, ...] = ()
    if files.format == generic.FORMAT.name and not options.mapping:
        options, looked = proposal.taken(database, files.paths[0], options)
    lost = f"{files.origin} was not loaded"
    with (
        database.writing(IMPORT, options.name or files.stem, progress),
        _clear_errors(files.origin),
        room_in(database.home.folder, lost),
    ):
        hashing = ContentHash(files.paths, files.roles, salt_of(options, files.format, version_of(files.format)))
        hashing.start()
        try:
            if options.name:
                catalogue.checked_name(options.name)
            task = Task(database, files, options, hashing, progress, started, upstream, looked)
            known = _known(task)
            if known is None and hashing.content_bytes is not None:  # else the content is not known yet
                _refuse_taken(task)
            return known or _loaded_despite_mixed_ends(task)
        finally:
            hashing.stop()


def _known(task: Task) -> IngestReport | None:
    """The report of the dataset that has this content already, where that can be told by now."""
    size = task.hashing.content_bytes
    with task.database.cursor() as cursor:
        if size is None or not catalogue.of_size(cursor, size):
            return None
        result = catalogue.find_hash(cursor, task.hashing.result(task.progress, HASH))
        if result is None:
            return None
        there = catalogue.entry(cursor, result.hash).readable()
        report = catalogue.report(cursor, there.dataset)
        if task.options.name != there.dataset.name:
            _refuse_taken(task)
    if report.lost and not task.options.accept_loss:
        raise TraceError(
            f"{task.files.origin} is loaded as {report.dataset!r} already, with {lines_lost(report.lost)}; mend the "
            f"file and load it again, or use that dataset"
        )
    return replace(report, already_loaded=True)


def _refuse_taken(task: Task) -> None:
    """Refuse the asked name where another content has it; raises SettingsError."""
    if task.options.name:
        with task.database.cursor() as cursor:
            catalogue.free_name(cursor, task.options.name, "")


def _loaded_despite_mixed_ends(task: Task) -> IngestReport:
    """Load; a text that mixes CR LF and LF is spooled anew with LF alone (only DuckDB's reading finds that out)."""
    options = TextOptions(
        task.options.encoding,
        long_lines=task.files.format in MEASUREMENTS or has_reader(task.files.format),
        expansion_limit=task.database.expansion_limit,
        sheet=task.options.sheet,
    )
    try:
        return _loaded(task, options)
    except duckdb.InvalidInputException as error:
        if MIXED_LINE_ENDS not in str(error):
            raise
    return _loaded(task, replace(options, even_line_ends=True))


def _loaded(task: Task, text: TextOptions) -> IngestReport:
    token = uuid.uuid4().hex
    stage = Stage(f"{STAGE}{token}", f"{STAGE}{token}_rejects")
    database, rejects_path = task.database, None
    try:
        with database.home.spool_folder(token) as folder:
            spooled = _spooled(task, folder, text)
            task.hashing.take_over(spooled)
            known = _known(task)
            if known:
                return known
            _refuse_taken(task)
            with database.modest(task.hashing.content_bytes or 0), database.transaction() as cursor:
                catalogue.drop_staged(cursor)
                loaded = _stage(cursor, stage, task, spooled)
                hashed = task.hashing.result(task.progress, LAST_HASH)
                task.hashing.refuse_changed(spooled)
                task.progress(FINISH.low, FINISH.message)
                if loaded.rejected:
                    rejects_path = database.home.rejects / f"{hashed}.csv"
                    rejects.write_file(cursor, stage.rejects, rejects_path)
                name = task.options.name or catalogue.free_name(cursor, "", task.files.stem)
                stem = "" if task.options.name else catalogue.plain_stem(task.files.stem)
                if catalogue.reads_as_hash(stem):
                    message = f"{stem!r} reads as the hash of a dataset, so this one was called {name!r}"
                    loaded = replace(loaded, checks=(*loaded.checks, Check("name", "info", 1, message)))
                counts = checks.counts_of(cursor, quoted(stage.rows), loaded.columns) if loaded.kind == "jobs" else None
                report = _report(name, hashed, task, loaded, rejects_path, counts)
                _commit_rows(cursor, stage, task, loaded, report)
    except BaseException:
        if rejects_path is not None:
            rejects_path.unlink(missing_ok=True)
        with contextlib.suppress(duckdb.Error, WorkprofError), database.transaction() as cursor:
            catalogue.drop_staged(cursor)  # where this cannot be, say for want of room, the next ingest does it
        raise
    task.progress(FINISH.high, "done")
    return report


def _spooled(task: Task, folder: Path, text: TextOptions) -> tuple[Spooled, ...]:
    files, spooled = task.files, []
    whole, parts = (SPOOL_TABLES if files.format == TABLES else SPOOL), len(files.paths)
    for at, (role, path) in enumerate(zip(files.roles, files.paths, strict=True)):
        message = f"{whole.message} {path.name}" if parts > 1 else whole.message
        span = Span(whole.at(at / parts), whole.at((at + 1) / parts), message)
        name = role if files.format == TABLES else f"input{at or ''}"
        spooled.append(spool(path, folder / name, text, task.progress, span))
    return tuple(spooled)


def _stage(cursor: duckdb.DuckDBPyConnection, stage: Stage, task: Task, spooled: Sequence[Spooled]) -> Loaded:
    files, options, progress = task.files, task.options, task.progress
    if files.format == TABLES:
        return tables.load(cursor, stage, dict(zip(files.roles, spooled, strict=True)), options, progress)
    if files.format in MEASUREMENTS:
        return measurements.load(cursor, stage, spooled, files, options)
    if spooled[0].parquet:
        refuse_promises(spooled[0], task.database.expansion_limit)
        refuse_long_texts(cursor, spooled[0], task.database.expansion_limit, progress)
    return one_file.load(
        cursor, stage, dict(zip(files.names, spooled, strict=True)), declared(files.format), options, progress
    )


def _report(
    name: str, hashed: str, task: Task, loaded: Loaded, rejects_file: Path | None, counts: Counts | None
) -> IngestReport:
    upstream = task.upstream or Upstream(task.files.origin, loaded.rows_read, 0)
    return IngestReport(
        dataset=name,
        hash=hashed,
        kind=loaded.kind,
        format=task.files.format,
        rows_read=upstream.rows_read,
        rows=loaded.rows,
        rejected=loaded.rejected + upstream.dropped,
        rejects_file=str(rejects_file) if rejects_file else None,
        joins=(*upstream.joins, *loaded.joins),
        checks=(*upstream.checks, *task.looked, *loaded.checks),
        seconds=time.perf_counter() - task.started,
        lost=loaded.lost,
        running=counts.running if counts else 0,
        never_started=counts.never_started if counts else 0,
        jobs=counts.jobs if counts else None,
        users=counts.users if counts else None,
        machine_shares=shares_of(loaded.columns),
        mapping=_mapping(task, loaded) if task.files.format == generic.FORMAT.name else {},
    )


def _mapping(task: Task, loaded: Loaded) -> mapping.Document:
    """Which column became which field: what was mapped, and columns with a field's own name."""
    own = [column.name for column in loaded.columns if column.name in FIELDS and column.source == column.name]
    named = {name: FieldSource(name, FIELDS[name].unit) for name in own}
    return mapping.document(named | task.options.mapping)


def _commit_rows(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, task: Task, loaded: Loaded, report: IngestReport
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
        origin=task.upstream.origin if task.upstream else task.files.origin,
    )
    catalogue.insert(cursor, dataset, loaded.columns, loaded.aliases, report, task.hashing.content_bytes or 0)


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
        if MIXED_LINE_ENDS not in str(error):
            raise TraceError(f"{origin} cannot be read ({str(error).splitlines()[0][:300]}); check the file") from error
        raise TraceError(f"{origin} has a broken quote; mend that place") from error
    except duckdb.Error as error:
        raise TraceError(
            f"{origin} cannot be read ({str(error).splitlines()[0][:300]}); check the format and the file"
        ) from error
