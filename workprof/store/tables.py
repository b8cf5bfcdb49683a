"""Loads the raw PAI tables: the corrected join on worker_name, or the published cross join on inst_id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import duckdb

from workprof.core.errors import NoRows
from workprof.core.progress import Progress
from workprof.formats.pai_tables import CORRECTED, FAITHFUL
from workprof.store import cells, pai_joins, rejects
from workprof.store.endings import settle
from workprof.store.loaded import Joined, Loaded, Stage
from workprof.store.one_file import counted
from workprof.store.raw_tables import RawTable, opened
from workprof.store.reports import Check, IngestOptions, JoinStep
from workprof.store.spool import Spooled


def load(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    files: Mapping[str, Spooled],
    options: IngestOptions,
    progress: Progress,
) -> Loaded:
    """What was staged from the raw tables; raises NoRows when the joins leave nothing."""
    rejects.create_table(cursor, stage.rejects)
    tables = opened(files, options.accept_loss, progress)
    faithful = options.join == "faithful"
    declared = FAITHFUL if faithful else CORRECTED
    join = pai_joins.join_as_published if faithful else pai_joins.join_workers
    joined = join(cursor, stage, tables, progress)
    plan = joined.plan
    lost, of_lines = _balanced(cursor, tables, joined.whole, options)
    if not faithful and options.aggregation != "instance":
        plan = pai_joins.aggregate(cursor, stage, plan, options.aggregation, tables, progress)
        declared = replace(declared, many_machines=True)
    strange = cells.left_out(cursor, stage, declared, plan.columns)
    settled = settle(cursor, stage, plan.columns)
    columns = settled.columns
    rows, finished, result = counted(cursor, stage, declared, columns, False, progress)
    if not rows:
        raise NoRows(f"the joins leave no rows: {_steps_text(joined.steps)}; do the tables belong together?")
    return Loaded(
        columns=columns,
        aliases=dict(declared.aliases),
        rows_read=joined.rows_read,
        rows=rows,
        finished_rows=finished,
        rejected=joined.rejected,
        checks=(*of_lines, *joined.checks, *_fan_outs(joined), *strange, *settled.checks, *result),
        joins=joined.steps,
        mode=options.join,
        lost=lost,
    )


def _balanced(
    cursor: duckdb.DuckDBPyConnection,
    tables: Mapping[str, RawTable],
    whole: Mapping[str, int],
    options: IngestOptions,
) -> tuple[int, tuple[Check, ...]]:
    """The lost lines of all tables, and what became of other lines.

    Raises TraceError when lines are lost, and the options accept no loss.
    """
    lost, result = 0, []
    for name, table in tables.items():
        balanced = table.balanced(cursor, whole.get(name))
        balanced.refuse_loss(options.accept_loss)
        lost += balanced.lost
        result += [replace(one, message=f"{table.spooled.origin}: {one.message}") for one in balanced.checks]
    return lost, tuple(result)


def _fan_outs(joined: Joined) -> tuple[Check, ...]:
    """A warning per join that multiplies rows: its key does not identify a row of the right table."""
    return tuple(
        Check(
            "fan-out",
            "warning",
            step.rows_out,
            f"{step.step} turns {step.rows_in:,} rows into {step.rows_out:,} ({step.fan_out:.2f} times): rows mix "
            f"values of different tasks and instances",
        )
        for step in joined.steps
        if step.fan_out > 1 and step.step not in joined.one_to_many
    )


def _steps_text(steps: tuple[JoinStep, ...]) -> str:
    return "; ".join(f"{step.step}: {step.rows_in:,} -> {step.rows_out:,}" for step in steps)
