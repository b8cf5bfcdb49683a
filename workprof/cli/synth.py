"""Commands that make traces with a known truth."""

from pathlib import Path
from typing import Annotated

import typer

from workprof.cli.console import Json, emit, progress_line
from workprof.store.outputs import checked_output
from workprof.synthetic.report import SynthReport, truth_of

app = typer.Typer(help="Make a synthetic trace that knows its own truth.", no_args_is_help=True, rich_markup_mode=None)

Seed = Annotated[int, typer.Option("--seed", help="Of every draw; the same seed gives the same file.")]


def _emit(report: SynthReport, as_json: bool, truth: Path | None = None, of: str = "rows") -> None:
    result = {"file": str(report.path), "rows": report.rows, "seconds": report.seconds}
    beside = {} if truth is None else {"truth": str(truth)}
    also = "" if truth is None else f", the truth to {truth}"
    emit(result | beside, as_json, lambda: f"wrote {report.rows:,} {of} to {report.path}{also}")


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
    _emit(write_pai_sample(output, rows, seed, progress_line()), as_json)


@app.command("pai-tables")
def pai_tables(
    jobs: Annotated[
        int,
        typer.Option(
            "--n-jobs", "--jobs", help="Jobs, about ten instances each; at most 10 million.", show_default=False
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the six tables.", show_default=False)],
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write the six raw PAI tables, header-less, with the public trace's quirks."""
    from workprof.synthetic.pai_tables import write_pai_tables  # noqa: PLC0415  light until asked

    checked_output(output, folder=True)
    _emit(write_pai_tables(output, jobs, seed, progress_line()), as_json)


@app.command()
def telemetry(
    output: Annotated[Path, typer.Option("-o", "--output", help="FILE.csv.", show_default=False)],
    workloads: Annotated[int, typer.Option("--workloads", help="Kinds of work, 2 to 10.")] = 6,
    runs: Annotated[int, typer.Option("--runs", help="Runs of each.")] = 10,
    seconds: Annotated[int, typer.Option("--seconds", help="Rows of each run; a million in all.")] = 30,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write recordings as `record` does, with phases planted at known times (FILE.truth.json)."""
    from workprof.synthetic.telemetry import (  # noqa: PLC0415  light until asked
        TelemetrySettings,
        write_synthetic_telemetry,
    )

    checked_output(output, (".csv",))
    checked_output(truth_of(output))
    _emit(
        write_synthetic_telemetry(output, TelemetrySettings(workloads, runs, seconds, seed)), as_json, truth_of(output)
    )


@app.command()
def demand(
    output: Annotated[Path, typer.Option("-o", "--output", help="FILE.parquet.", show_default=False)],
    days: Annotated[int, typer.Option("--days", help="Whole days, from a Monday on; at most 1,000.")] = 84,
    runs: Annotated[int, typer.Option("--runs", help="Runs of a day at the beginning; at most 10,000.")] = 60,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write runs whose arrivals have a planted trend, seasons and anomalies (FILE.truth.json)."""
    from workprof.synthetic.demand import DemandTrace, write_demand_trace  # noqa: PLC0415  light until asked

    checked_output(output, (".parquet",))
    checked_output(truth_of(output))
    _emit(write_demand_trace(output, DemandTrace(days=days, runs_a_day=runs, seed=seed)), as_json, truth_of(output))


@app.command()
def nextflow(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="FILE.txt with tabs, or FILE.csv.", show_default=False)
    ],
    samples: Annotated[int, typer.Option("--samples", help="Each passes through seven processes.")] = 60,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write a Nextflow trace whose peaks follow the size of a sample, with kills and retries (FILE.truth.json)."""
    from workprof.synthetic.nextflow import NextflowTrace, write_nextflow_trace  # noqa: PLC0415  light until asked

    checked_output(output, (".txt", ".tsv", ".csv"))
    checked_output(truth_of(output))
    _emit(write_nextflow_trace(output, NextflowTrace(samples, seed)), as_json, truth_of(output))


@app.command()
def benchmarks(
    output: Annotated[Path, typer.Option("-o", "--output", help="RUNS.jsonl.", show_default=False)],
    nodes: Annotated[int, typer.Option("--nodes", help="Each half as fast as the one before.")] = 3,
    repeat: Annotated[int, typer.Option("--repeat", help="Runs of each benchmark on each node; 100,000 in all.")] = 30,
    stress: Annotated[float, typer.Option("--stress", help="Share of the runs under stress.")] = 0.2,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Nodes of three kinds; the disk of the last one fails.")
    ] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write runs of the six benchmark tools as `workprof nodes suite` would, with the strength of every stress."""
    from workprof.synthetic.benchmarks import (  # noqa: PLC0415  light until asked
        BenchmarkTraceSettings,
        write_benchmark_trace,
    )

    checked_output(output, (".jsonl",))
    settings = BenchmarkTraceSettings(nodes=nodes, mixed=mixed, repeat=repeat, stressed_share=stress, seed=seed)
    _emit(write_benchmark_trace(output, settings), as_json, of="runs")
