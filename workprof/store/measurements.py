"""Loads a file of measurements: benchmark runs, counters by the second, or measured configurations."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from workprof.core.errors import NoRows, UnitUnknown
from workprof.core.units import DURATION_FACTORS
from workprof.formats.declare import NUMBER, TEXT, Unreadable
from workprof.formats.measured import BENCHMARKS, CONFIGURATIONS, SCOUT, Measured
from workprof.store import rejects
from workprof.store.compile import FINISHED, FLAGS, RESERVED
from workprof.store.connection import quoted
from workprof.store.detect import NamedFiles
from workprof.store.loaded import Loaded, Stage
from workprof.store.reports import Check, Column, IngestOptions
from workprof.store.spool import Spooled
from workprof.store.text_shape import unique_names

VIEW = "measured_rows"
ALIASES = {"start_time_s": "started_s", "end_time_s": "finished_s"}
SECONDS = ("t", "started_s", "finished_s")
SUFFIX_UNITS = (("%", "percent"), ("_mb", "MB"), ("_ms/s", "ms/s"), ("_kb/s", "KB/s"), ("/s", "1/s"))


def load(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    spooled: Sequence[Spooled],
    files: NamedFiles,
    options: IngestOptions,
) -> Loaded:
    """What was staged from a file of measurements, or a folder of them.

    Raises:
        TraceError: when the file is none of its format; says what it is instead.
        NoRows: nothing is left.
    """
    rejects.create_table(cursor, stage.rejects)
    measured = _read(spooled, files, options)
    rejected = _store_rejects(cursor, stage, measured.rejected)
    if measured.frame.empty:
        raise NoRows(_nothing_left(files.origin, measured))
    frame = measured.frame.drop_duplicates() if options.duplicates == "drop" else measured.frame
    dropped = len(measured.frame) - len(frame)
    columns = _columns(frame)
    _stage(cursor, stage, frame.set_axis([column.name for column in columns], axis=1))
    checks = measured.checks
    if dropped:
        check = Check("duplicates", "warning", dropped, f"{dropped:,} rows that repeat an earlier row were dropped")
        checks = (*(each for each in checks if each.name != check.name), check)
    return Loaded(
        columns=columns,
        aliases=ALIASES if measured.kind == BENCHMARKS else {},
        rows_read=measured.rows_read,
        rows=len(frame),
        finished_rows=len(frame),
        rejected=rejected,
        checks=checks,
        dropped=dropped,
        kind=measured.kind,
    )


def _read(several: Sequence[Spooled], files: NamedFiles, options: IngestOptions) -> Measured:
    spooled = several[0]
    if files.format == SCOUT:
        from workprof.formats.scout import read_records  # noqa: PLC0415  one reader per file

        return read_records(dict(zip(files.names, (one.path for one in several), strict=True)))
    if files.format == BENCHMARKS:
        from workprof.formats.benchmarks import read_benchmarks  # noqa: PLC0415  one reader per file

        return read_benchmarks(spooled.path, spooled.origin)
    if files.format == CONFIGURATIONS:
        from workprof.formats.configurations import read_configurations  # noqa: PLC0415  one reader per file

        return read_configurations(spooled.path, spooled.origin)
    from workprof.formats.telemetry import read  # noqa: PLC0415  one reader per file
    from workprof.formats.telemetry.own import OUTCOMES  # noqa: PLC0415  one reader per file

    mapping = {field: source.column for field, source in options.mapping.items()}
    for field, source in options.mapping.items():
        if source.unit and (field != "t" or source.unit not in DURATION_FACTORS):
            raise UnitUnknown(f"unit {source.unit!r} of {field} does not fit; t has {', '.join(DURATION_FACTORS)}")
    unit = options.mapping["t"].unit if "t" in options.mapping else ""
    outcomes = files.paths[0].with_name(files.stem + OUTCOMES)
    return read(spooled.path, files.format, mapping, spooled.origin, outcomes, unit)


def _store_rejects(cursor: duckdb.DuckDBPyConnection, stage: Stage, refused: tuple[Unreadable, ...]) -> int:
    """Keep the refused lines and return how many lines they are."""
    if refused:
        rows = [(one.line, one.column, one.text[: rejects.TEXT_CHARACTERS], one.reason) for one in refused]
        cursor.executemany(f"INSERT INTO {quoted(stage.rejects)} VALUES (?, ?, ?, ?)", rows)
    return len({one.line for one in refused})


def _columns(frame: pd.DataFrame) -> tuple[Column, ...]:
    names = unique_names(tuple(f"{name}_2" if str(name).lower() in RESERVED else str(name) for name in frame.columns))
    return tuple(
        Column(name, *_typed(name, frame[source]), source=str(source), numeric=_numeric(frame[source]))
        for name, source in zip(names, frame.columns, strict=True)
    )


def _typed(name: str, values: pd.Series) -> tuple[str, str]:
    """DuckDB type and unit of a column."""
    if not _numeric(values):
        return TEXT, ""
    unit = "s" if name in SECONDS else next((unit for suffix, unit in SUFFIX_UNITS if name.endswith(suffix)), "")
    return NUMBER, unit


def _numeric(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values)


def _stage(cursor: duckdb.DuckDBPyConnection, stage: Stage, frame: pd.DataFrame) -> None:
    numbers = [name for name in frame.columns if _numeric(frame[name])]
    plain = frame.astype(dict.fromkeys(numbers, np.float64)).replace([np.inf, -np.inf], np.nan)
    cursor.register(VIEW, pa.Table.from_pandas(plain, preserve_index=False))
    try:
        own = f"TRUE AS {FINISHED}, CAST(0 AS UTINYINT) AS {FLAGS}"
        cursor.execute(f"CREATE TABLE {quoted(stage.rows)} AS SELECT *, {own} FROM {VIEW}")
    finally:
        cursor.unregister(VIEW)


def _nothing_left(origin: str, measured: Measured) -> str:
    if not measured.rejected:
        return f"{origin}: there is no measurement in it; nothing to load"
    first = measured.rejected[0]
    where = f", column {first.column}" if first.column else ""
    return (
        f"{origin}: all {measured.rows_read:,} rows were rejected, the first at line {first.line}{where}: "
        f"{first.reason} ({first.text[:80]!r}); check the format"
    )
