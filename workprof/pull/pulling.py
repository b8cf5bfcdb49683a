"""Pull a trace: look at its first rows, join, fold, check and draw in the engine, and load what comes as a dataset."""

import contextlib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from workprof.core.errors import Cancelled, SettingsError, TraceError, WorkprofError
from workprof.core.progress import Progress, silent
from workprof.formats import FORMATS, MEASUREMENTS, TABLES, generic
from workprof.pull import expressions
from workprof.pull.engines import Address, Engine, opened, parquet_dataset
from workprof.pull.expressions import Join
from workprof.store.reports import Check, IngestOptions, IngestReport, JoinStep, Stratum, Upstream
from workprof.store.trace_store import TraceStore

HEAD_ROWS = 10_000
SHOWN_STRATA = 1_000


@dataclass(frozen=True)
class PullSettings:
    """What to pull."""

    address: str  # of the engine, see `workprof.pull.engines`
    name: str  # of the dataset
    table: str = ""  # that holds the rows; '' = the only one
    joins: tuple[Join, ...] = ()  # further tables, in order
    # columns that together name a run, where rows tell of parts of runs; empty = a row is a run
    run: tuple[str, ...] = ()
    sample: int = 0  # runs to draw; 0 = all come
    by: str = ""  # column or field whose shares the sample keeps; '' = workload, task or user, the first that there is
    seed: int = 0  # of the draw
    options: IngestOptions = field(default_factory=IngestOptions)  # format, mapping and duplicates, as for an ingest


@dataclass(frozen=True)
class PullReport:
    """What became of a pull."""

    engine: str  # name of the backend
    source: str  # the address without a password
    rows_there: int  # rows of the trace after the joins
    dropped: int  # rows whose run is not known
    runs_there: int  # runs of the trace
    by: str  # column whose shares the sample keeps; '' = none
    strata: tuple[Stratum, ...]  # rows of each stratum there and here, the largest first; at most 1,000
    missing: dict[str, int]  # field -> rows without a value, of the whole trace
    ingest: IngestReport  # what the import says of the rows that came


def pull(store: TraceStore, settings: PullSettings, progress: Progress = silent) -> PullReport:
    """Pull a trace into a store and return what became of it.

    Raises:
        SettingsError: when an option cannot be used, or an extra is missing.
        TraceError: when the engine, the table or its rows cannot be read.
        Cancelled: when `progress` raised it.
    """
    if settings.sample < 0:
        raise SettingsError(f"--sample is {settings.sample}; give a number of runs, or leave it out for all")
    if not settings.sample and (settings.by or settings.seed):
        raise SettingsError("--by and --seed say how a sample is drawn; give --sample with them, or leave them out")
    address = Address.parse(settings.address)
    with store.spool_folder(f"pull-{uuid.uuid4().hex}") as folder:
        progress(0.0, f"opening {address.shown}")
        with opened(address, store.memory_limit_bytes, folder / "spill") as engine, _clear_errors(address):
            return _pulled(store, settings, engine, folder, progress)


def _pulled(store: TraceStore, settings: PullSettings, engine: Engine, folder: Path, progress: Progress) -> PullReport:
    table, steps = _joined(engine, settings, progress)
    table, nested, engine.lengths[:] = expressions.plain_columns(table)
    _refuse_unknown(settings.run, table, "--run")
    options = _columns(store, settings, engine, table, folder, progress)
    fields = _fields(options, table)
    progress(0.15, "checking the rows in the engine")
    counts = {
        name: int(value or 0) for name, value in engine.one(expressions.quality(table, settings.run, fields)).items()
    }
    rows, dropped = counts["rows"], counts.get("no_key", 0)
    if not rows - dropped:
        raise TraceError(f"{engine.address.shown}: no row is left of {rows:,}; check --table and --run")
    checks = _checks(counts, settings.run, nested)
    runs, there = table, rows
    if settings.run:
        progress(0.25, "folding rows into runs")
        known = expressions.with_keys(table, settings.run)
        checks += _texts(engine, known, settings.run, fields)
        runs = expressions.runs(known, settings.run, fields)
        there = int(engine.one(runs.aggregate(rows=runs.count()))["rows"])
        steps += (JoinStep("rows folded into runs", rows - dropped, there, there / (rows - dropped)),)
    by, drawn = "", runs
    strata: tuple[Stratum, ...] = ()
    if settings.sample:
        by = expressions.stratum_of(fields, settings.by, tuple(runs.columns))
        drawn = expressions.sample(runs, settings.sample, by, settings.seed, engine.name)
    progress(0.4, "drawing the sample" if settings.sample else "streaming the rows")
    file = folder / "pulled.parquet"
    came = _write(engine, drawn, file, folder / "parts", bounded=bool(settings.sample), progress=progress)
    if settings.sample:
        steps += (JoinStep(f"sample by {by}" if by else "sample", there, came, came / there),)
        strata = _strata(engine, runs, by, file) if by else ()
    upstream = Upstream(engine.address.shown, rows, dropped, steps, checks)
    report = store.ingest([file], options, progress, upstream)
    missing = {name.removeprefix("missing_"): value for name, value in counts.items() if name.startswith("missing_")}
    return PullReport(engine.name, engine.address.shown, rows, dropped, there, by, strata, missing, report)


def _texts(engine: Engine, table: Any, run: tuple[str, ...], fields: dict[str, str]) -> tuple[Check, ...]:
    """How many runs have rows that differ in a text; raises SettingsError where that should be a number or a moment."""
    texts, numbers, summed = expressions.texts(table, run, fields)
    unlike = [name for name in numbers if engine.one(expressions.differing(table, run, [name]))["differing"]]
    if summed or unlike:
        raise SettingsError(
            f"--run adds up and compares numbers, and these columns hold texts: {', '.join([*summed, *unlike])}; cast "
            "them there to numbers or moments (in a view), or leave --run out"
        )
    count = int(engine.one(expressions.differing(table, run, texts))["differing"]) if texts else 0
    text = f"{count:,} runs have rows that differ in a text; the first in the engine's order counts, of an end the last"
    return (Check("texts that differ", "info", count, text),) if count else ()


def _joined(engine: Engine, settings: PullSettings, progress: Progress) -> tuple[Any, tuple[JoinStep, ...]]:
    table, steps = engine.table(settings.table), []
    for join in settings.joins:
        progress(0.02, f"joining {join.table}")
        other = engine.table(join.table)
        for side, what in ((table, settings.table or "the first table"), (other, join.table)):
            _refuse_unknown(join.keys, side, f"--join {join.table}: {what}")
        counts = engine.one(expressions.join_counts(table, other, join))
        before, after, alone = (int(counts[name] or 0) for name in ("rows_in", "rows_out", "unmatched"))
        if after > before and not settings.run:
            raise SettingsError(
                f"--join {join.table}: {before:,} rows would become {after:,}, because several rows of {join.table} "
                f"have the same {', '.join(join.keys)}; name more columns, or the columns of a run with --run"
            )
        text = f" ({alone:,} without a row there)" if alone else ""
        steps.append(JoinStep(f"{join.table} on {', '.join(join.keys)}{text}", before, after, after / max(before, 1)))
        table = expressions.joined(table, other, join)
    return table, tuple(steps)


def _columns(
    store: TraceStore, settings: PullSettings, engine: Engine, table: Any, folder: Path, progress: Progress
) -> IngestOptions:
    """The options of the import with the format and the mapping that the first rows tell for sure."""
    progress(0.05, "looking at the first rows")
    head = folder / "head.parquet"
    _write(engine, table.limit(HEAD_ROWS), head, folder, bounded=True, progress=silent)
    options = replace(settings.options, name=settings.name)
    name = options.format if options.format != "auto" else store.detect([head], options)
    if name == TABLES or name in MEASUREMENTS or (name in FORMATS and FORMATS[name].reader is not None):
        raise SettingsError(f"format {name} is read from files, not from a table; load it with workprof ingest")
    options = replace(options, format=name)
    folded = ("steps", "windows", "events")
    folds = name in FORMATS and any(getattr(FORMATS[name], each, None) for each in folded)
    if folds and (settings.sample or settings.run):
        raise SettingsError(
            f"rows of format {name} are parts of runs that the import folds; leave --sample and --run out, or give "
            f"--format generic with --map and --run"
        )
    if name != generic.FORMAT.name or options.mapping:
        return options
    options = store.with_mapping(head, options)
    task, job = (options.mapping.get(field) for field in ("task_name", "job_name"))
    if task is None or task.column not in settings.run or (job is not None and job.column in settings.run):
        return options
    # what names a run stands in several of its rows, and is no task of several runs
    others = {field: source for field, source in options.mapping.items() if field != "task_name"}
    return replace(options, mapping=others | {"job_name": task})


def _fields(options: IngestOptions, table: Any) -> dict[str, str]:
    """Field -> column, as far as the table has it."""
    if options.format != generic.FORMAT.name:
        rules = FORMATS[options.format].rules
        return {rule.field: rule.source for rule in rules if rule.source in table.columns}
    own = {rule.field: rule.source for rule in generic.FORMAT.rules if rule.source in table.columns}
    named = {name: source.column for name, source in options.mapping.items()}
    _refuse_unknown(tuple(named.values()), table, "--map")
    return own | named


def _refuse_unknown(names: tuple[str, ...], table: Any, what: str) -> None:
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise SettingsError(f"{what}: there is no column {missing[0]!r}; there are {', '.join(table.columns[:40])}")


def _checks(counts: dict[str, int], run: tuple[str, ...], nested: tuple[str, ...]) -> tuple[Check, ...]:
    result = [
        Check(
            "no run", "warning", counts.get("no_key", 0), f"rows without {', '.join(run)} were dropped in the engine"
        ),
        Check(
            "ends before start", "warning", counts.get("backwards", 0), "rows of the whole trace end before they start"
        ),
        Check(
            "nested columns", "info", len(nested), f"columns that hold lists or objects stay there: {', '.join(nested)}"
        ),
    ]
    for name, count in counts.items():
        if name.startswith("negative_"):
            result.append(Check(name.replace("_", " ", 1), "warning", count, "rows of the whole trace are below zero"))
    return tuple(check for check in result if check.count)


def _write(engine: Engine, rows: Any, file: Path, folder: Path, *, bounded: bool, progress: Progress) -> int:
    """Write the rows that come, lengths of time (s) as such; returned is how many they are."""
    written, schema, writer = 0, None, None
    try:
        for batch in engine.batches(rows, bounded=bounded, folder=folder):
            for name in engine.lengths:
                micros = pc.round(pc.multiply(batch[name].cast(pa.float64()), 1e6)).cast(pa.int64())
                batch = batch.set_column(batch.schema.get_field_index(name), name, micros.cast(pa.duration("us")))  # noqa: PLW2901
            if writer is None:
                schema = batch.schema
                writer = pq.ParquetWriter(file, schema, compression="zstd")
            writer.write_batch(batch)
            written += batch.num_rows
            progress(None, f"{written:,} rows have come")
        if writer is None:
            raise TraceError(f"{engine.address.shown}: the table holds no row; check --table")
    finally:
        if writer is not None:
            writer.close()
    return written


def _strata(engine: Engine, runs: Any, by: str, file: Path) -> tuple[Stratum, ...]:
    here: dict[str, int] = {}
    column = parquet_dataset(str(file)).to_table(columns=[by])[by].cast(pa.string()).fill_null(expressions.NO_VALUE)
    for one in column.value_counts().to_pylist():
        here[one["values"]] = one["counts"]
    result = expressions.strata(runs, by)
    largest = result.order_by([result["rows_in"].desc(), result["value"]]).limit(SHOWN_STRATA)
    return tuple(Stratum(row["value"], int(row["rows_in"]), here.get(row["value"], 0)) for row in engine.rows(largest))


@contextlib.contextmanager
def _clear_errors(address: Address) -> Iterator[None]:
    try:
        yield
    except (WorkprofError, Cancelled):
        raise
    except Exception as error:
        if isinstance(error, OSError | MemoryError):
            raise
        text = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        raise TraceError(f"{address.shown}: the engine refused ({text}); check the table and its columns") from error
