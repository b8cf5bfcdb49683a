"""Commands on nodes: what the runtime of a task on one machine says of its runtime on others."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.cli.console import Json, emit, names, table, warn
from workprof.formats.lotaru import read_reports, read_scores
from workprof.nodes.runtime_factors import FACTORS, PUBLISHED_SCORES, scores_from_frame
from workprof.nodes.runtime_intervals import Coverage, coverage, past_errors
from workprof.nodes.transfer import Transfer, TransferSettings
from workprof.nodes.transfer import transfer as compare_transfers
from workprof.units import format_share

HELP = "Which machine for which work, and which one has gone bad."
app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)

Reports = Annotated[Path, typer.Option("--reports", help="Folder with one folder of reports per machine.")]
Scores = Annotated[
    Path | None,
    typer.Option(
        "--scores", help="CSV machine,cpu,linpack,memory,io; default: the published ones.", show_default=False
    ),
]
OneFactor = Annotated[
    str | None, typer.Option("--factor", help=f"One of {', '.join(FACTORS)}; default: all.", show_default=False)
]


@app.callback()
def nodes() -> None:
    """Which machine for which work, and which one has gone bad."""


@app.command()
def transfer(
    reports: Reports,
    local: Annotated[str, typer.Option("--local", help="Machine that is learned on.")],
    targets: Annotated[str, typer.Option("--targets", help="Machines A,B that are predicted.")],
    scores: Scores = None,
    factor: OneFactor = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of intervals, 0.5 to 0.99.")] = 0.9,
    seed: Annotated[int, typer.Option("--seed", help="Of the draws of online_p.")] = 0,
    as_json: Json = False,
) -> None:
    """Predict the runtimes of tasks on other machines and tell how far off each method is."""
    factors = (factor,) if factor else tuple(FACTORS)
    settings = TransferSettings(local, names(targets), factors, confidence, seed)
    known = scores_from_frame(read_scores(scores)) if scores else PUBLISHED_SCORES
    read = read_reports(reports, (settings.local, *settings.targets))
    found = compare_transfers(read.by_machine, known, settings)
    for note in (*read.notes, *_notes(found)):
        warn(f"note: {note}")
    interval = _coverage(found, confidence)
    emit(transfer_answer(found, interval), as_json, lambda: _text(found, interval))


def transfer_answer(found: Transfer, interval: Coverage | None) -> dict[str, Any]:
    """Return the JSON document of a transfer."""
    return {
        "methods": {name: asdict(one) for name, one in found.methods.items()},
        "default": found.default,
        "left_out": found.left_out,
        "n_untrained": found.n_untrained,
        "n_absent": found.n_absent,
        "interval": asdict(interval) if interval else None,
    }


def _coverage(found: Transfer, confidence: float) -> Coverage | None:
    if found.default not in found.methods:
        return None
    return coverage(past_errors(found), confidence)


def _notes(found: Transfer) -> list[str]:
    notes = [f"{name} is left out: {reason}" for name, reason in found.left_out.items()]
    if found.n_untrained:
        notes.append(f"{found.n_untrained} tasks and parts have one local run only; nothing is predicted from it")
    if found.n_absent:
        notes.append(f"{found.n_absent} predictions cannot be judged: the target has no run of the task")
    return notes


def _text(found: Transfer, interval: Coverage | None) -> str:
    rows: list[dict[str, object]] = [
        {
            "method": name + (" (default)" if name == found.default else ""),
            "median error": f"{one.median:.4f}",
            "P90": f"{one.p90:.4f}",
            "P95": f"{one.p95:.4f}",
            "n": one.n,
        }
        for name, one in found.methods.items()
    ]
    told = "error = |predicted - measured| / measured\n\n" + table(rows)
    if interval is None or not interval.n:
        return told
    return (
        f"{told}\n\nintervals of {format_share(interval.confidence)} held {format_share(interval.share)} of "
        f"{interval.n} runtimes ({interval.held_out} unseen); upper end / lower end {interval.median_width:.2f}"
    )
