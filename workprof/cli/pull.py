"""The command `pull`: a trace in another engine becomes a dataset here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from workprof.cli.console import Home, Json, emit, opened, progress_line, table, warn
from workprof.formats import NAMES

if TYPE_CHECKING:
    from workprof.pull.pulling import PullReport

FROM = (
    "A DuckDB file; Parquet files (file, folder, pattern, s3://bucket/folder); postgres://user@host/database; "
    "spark, spark:local[2] or spark://host:port; trino:// or bigquery://."
)
SHOWN_STRATA = 20


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command()(pull)


def pull(
    address: Annotated[str, typer.Option("--from", help=FROM, show_default=False)],
    name: Annotated[str, typer.Option("--as", help="Name of the dataset.", show_default=False)],
    from_table: Annotated[str, typer.Option("--table", help="Table with the rows (default: the only one).")] = "",
    join: Annotated[
        list[str] | None,
        typer.Option("--join", help="TABLE:COLUMN,COLUMN: a further table by columns of both; may be repeated."),
    ] = None,
    run: Annotated[
        str, typer.Option("--run", help="Columns that name a run, where a row tells of a part of one: fold them.")
    ] = "",
    sample: Annotated[int, typer.Option("--sample", help="Runs to draw in the engine; 0 = all come.")] = 0,
    by: Annotated[
        str,
        typer.Option("--by", help="Column or field whose shares the sample keeps (default: workload, task or user)."),
    ] = "",
    seed: Annotated[int, typer.Option("--seed", help="Of the draw.")] = 0,
    trace_format: Annotated[
        str, typer.Option("--format", help=f"auto, or one of {', '.join(NAMES)} that is one table.")
    ] = "auto",
    mapping: Annotated[
        str, typer.Option("--map", help='FILE.json with {FIELD: {"from": COLUMN, "unit": UNIT}}, or a saved name.')
    ] = "",
    duplicates: Annotated[str, typer.Option("--duplicates", help="keep (counted) or drop (counted).")] = "keep",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Load a trace from another engine: it joins, checks and samples there; what it draws comes here."""
    from workprof.cli.datasets import given_mapping  # noqa: PLC0415  `workprof --version` stays quick
    from workprof.pull.expressions import Join  # noqa: PLC0415
    from workprof.pull.pulling import PullSettings  # noqa: PLC0415
    from workprof.store.reports import IngestOptions  # noqa: PLC0415

    joins = tuple(Join.parse(one) for one in join or ())
    keys = tuple(filter(None, (key.strip() for key in run.split(","))))
    with opened(home) as workbench:
        options = IngestOptions(format=trace_format, mapping=given_mapping(workbench, mapping), duplicates=duplicates)
        settings = PullSettings(address, name, from_table, joins, keys, sample, by, seed, options)
        report = workbench.pull(settings, progress_line())
    if report.ingest.already_loaded:
        warn(f"already loaded as {report.ingest.dataset!r}: the same rows came")
    emit(report, as_json, lambda: _as_text(report))


def _as_text(report: PullReport) -> str:
    came, dropped = report.ingest, f", {report.dropped:,} dropped" if report.dropped else ""
    lines = [
        f"{came.dataset} ({came.hash[:8]}), {came.format}, from {report.source} ({report.engine})",
        f"{report.rows_there:,} rows there{dropped}, {report.runs_there:,} runs; {came.rows:,} runs here",
    ]
    if came.joins:
        lines += ["", table([vars(step) | {"fan_out": f"{step.fan_out:.3f}"} for step in came.joins])]
    if report.strata:
        lines += ["", f"by {report.by}:", table([vars(one) for one in report.strata[:SHOWN_STRATA]])]
        more = len(report.strata) - SHOWN_STRATA
        lines += [f"... and {more:,} more"] if more > 0 else []
    checks = [check for check in came.checks if check.count]
    if checks:
        lines += ["", table([vars(check) for check in checks])]
    missing = [{"field": name, "rows without a value": count} for name, count in report.missing.items() if count]
    if missing:
        lines += ["", table(missing)]
    if came.rejects_file:
        lines += ["", f"rejected rows: {came.rejects_file}"]
    return "\n".join(lines)
