"""Commands that make traces with a known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workprof.cli.console import Json, emit, progress_line
from workprof.store.outputs import checked_output

app = typer.Typer(help="Make a synthetic trace that knows its own truth.", no_args_is_help=True, rich_markup_mode=None)

Seed = Annotated[int, typer.Option("--seed", help="Of every draw; the same seed gives the same file.")]


@app.command()
def pai(
    rows: Annotated[
        int, typer.Option("--rows", help="Rows, one per instance; at most 100 million.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="FILE.parquet.", show_default=False)],
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write a sample in the shape of the PAI trace, with truth_* columns that no method ever sees."""
    from workprof.synthetic.pai import write_pai_sample  # noqa: PLC0415  light until asked

    checked_output(output, (".parquet",))
    report = write_pai_sample(output, rows, seed, progress_line())
    answer = {"file": str(output), "rows": report.rows, "seconds": report.seconds}
    emit(answer, as_json, lambda: f"wrote {report.rows:,} rows to {output}")


@app.command("pai-tables")
def pai_tables(
    jobs: Annotated[
        int, typer.Option("--jobs", help="Jobs, about ten instances each; at most 10 million.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the six tables.", show_default=False)],
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write the six raw PAI tables, header-less, with the public trace's quirks."""
    from workprof.synthetic.pai_tables import write_pai_tables  # noqa: PLC0415  light until asked

    checked_output(output, folder=True)
    report = write_pai_tables(output, jobs, seed, progress_line())
    answer = {"file": str(output), "rows": report.rows, "seconds": report.seconds}
    emit(answer, as_json, lambda: f"wrote {report.rows:,} rows to {output}")
