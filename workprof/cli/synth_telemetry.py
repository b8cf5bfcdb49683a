"""`workprof synth telemetry`: recordings with planted phases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workprof.cli.console import Json, emit
from workprof.store.outputs import checked_output


def register(app: typer.Typer) -> None:
    """Add the command to `workprof synth`."""
    app.command("telemetry")(telemetry)


def telemetry(
    output: Annotated[Path, typer.Option("-o", "--output", help="FILE.csv.", show_default=False)],
    workloads: Annotated[int, typer.Option("--workloads", help="Kinds of work, 2 to 10.")] = 6,
    runs: Annotated[int, typer.Option("--runs", help="Runs of each.")] = 10,
    seconds: Annotated[int, typer.Option("--seconds", help="Rows of each run; a million in all.")] = 30,
    seed: Annotated[int, typer.Option("--seed", help="Of every draw; the same seed gives the same file.")] = 0,
    as_json: Json = False,
) -> None:
    """Write recordings as `record` does, with phases planted at known times (FILE.truth.json)."""
    from workprof.synthetic.telemetry import (  # noqa: PLC0415  light until asked
        TelemetrySettings,
        truth_of,
        write_synthetic_telemetry,
    )

    checked_output(output, (".csv",))
    checked_output(truth_of(output))
    report = write_synthetic_telemetry(output, TelemetrySettings(workloads, runs, seconds, seed))
    truth = truth_of(output)
    answer = {"file": str(output), "rows": report.rows, "seconds": report.seconds, "truth": str(truth)}
    emit(answer, as_json, lambda: f"wrote {report.rows:,} rows to {output}, the truth to {truth}")
