"""The command that makes benchmark runs with a known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workprof.cli.console import Json, emit
from workprof.cli.synth import Seed
from workprof.store.outputs import checked_output


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command("benchmarks")(benchmarks)


def benchmarks(
    output: Annotated[Path, typer.Option("-o", "--output", help="RUNS.jsonl.", show_default=False)],
    nodes: Annotated[int, typer.Option("--nodes", help="Each half as fast as the one before.")] = 3,
    repeat: Annotated[int, typer.Option("--repeat", help="Runs of each benchmark on each node; 100,000 in all.")] = 30,
    stress: Annotated[float, typer.Option("--stress", help="Share of the runs under stress.")] = 0.2,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write runs of the six benchmark tools as `workprof nodes suite` would, with the strength of every stress."""
    from workprof.synthetic.benchmarks import (  # noqa: PLC0415  light until asked
        BenchmarkTraceSettings,
        write_benchmark_trace,
    )

    checked_output(output, (".jsonl",))
    settings = BenchmarkTraceSettings(nodes=nodes, repeat=repeat, stressed_share=stress, seed=seed)
    report = write_benchmark_trace(output, settings)
    answer = {"file": str(output), "rows": report.rows, "seconds": report.seconds}
    emit(answer, as_json, lambda: f"wrote {report.rows:,} runs to {output}")
