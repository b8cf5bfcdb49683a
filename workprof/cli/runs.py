"""Commands on computed results: list, show, pin, unpin, remove, export."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, opened, table
from workprof.core.errors import SettingsError
from workprof.core.units import format_duration

if TYPE_CHECKING:
    from workprof.core.runs import StoredRun

app = typer.Typer(help="Computed results: list, show, pin, remove, export.", rich_markup_mode=None)

Run = Annotated[str, typer.Argument(help="Its digits, as `workprof runs` shows them.", show_default=False)]
CONTRACT = ("run", "step", "dataset", "settings", "seed", "versions", "seconds", "created", "pinned")
FURTHER = ("dataset_hash", "clustering", "current", "size_bytes")


@app.callback(invoke_without_command=True)
def runs(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """List every computed result, newest first."""
    if context.invoked_subcommand is not None:
        return
    with opened(home) as workbench:
        result = workbench.stored_runs()
    emit([run_json(one) for one in result], as_json, lambda: table([_line(one) for one in result]))


@app.command()
def show(run: Run, home: Home = None, as_json: Json = False) -> None:
    """Show one run with the Python and the command that reproduce it."""
    with opened(home) as workbench:
        result, again = workbench.stored_run(run), workbench.run_again(run)
        address = workbench.run_address(run) if again.settings is not None else ""
    commands = {"python": again.python or None, "shell": again.shell or None, "address": address or None}
    parts = (again.python or f"# {again.why_no_python}", again.shell or f"# {again.why_no_shell}")
    emit(run_json(result) | commands, as_json, lambda: "\n\n".join([table([_line(result)]), *parts]))


@app.command()
def pin(run: Run, home: Home = None, as_json: Json = False) -> None:
    """Keep a result when others are removed to free space."""
    _pin(run, True, home, as_json)


@app.command()
def unpin(run: Run, home: Home = None, as_json: Json = False) -> None:
    """Let a result be removed to free space, as the others."""
    _pin(run, False, home, as_json)


@app.command()
def remove(
    run: Run,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Remove a saved result; it can be computed again."""
    with opened(home) as workbench:
        result = workbench.stored_run(run)
        if not yes and not _confirmed(f"remove {result.finds} of {result.dataset} ({result.run})?"):
            raise SettingsError(f"run {result.run} was not removed; answer y at a terminal, or give --yes")
        workbench.remove_run(run)
    emit(run_json(result), as_json, lambda: f"removed {result.run} ({result.finds} of {result.dataset})")


@app.command()
def export(
    mlflow: Annotated[Path, typer.Option("--mlflow", metavar="DIR", help="Folder to write to.", show_default=False)],
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Some results; default: all.", show_default=False)
    ] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write computed results as runs of MLflow's file store; the models of a training are runs within."""
    from workprof.answers.saved_runs import export_sentence  # noqa: PLC0415  light until needed
    from workprof.report.mlflow import export_mlflow  # noqa: PLC0415

    with opened(home) as workbench:
        done = export_mlflow(workbench, mlflow, runs or ())
    emit(asdict(done), as_json, lambda: export_sentence(done))


def run_json(result: StoredRun) -> dict[str, Any]:
    """Return the JSON document of a kept run."""
    document = asdict(result)
    return {name: document[name] for name in (*CONTRACT, *FURTHER)}


def _pin(run: str, pinned: bool, home: Home, as_json: bool) -> None:
    with opened(home) as workbench:
        result = workbench.pin_run(run, pinned)
    emit(run_json(result), as_json, lambda: f"{result.run} is {'pinned' if pinned else 'no longer pinned'}")


def _line(result: StoredRun) -> dict[str, object]:
    return {
        "run": result.run,
        "result": result.finds,
        "dataset": result.dataset,
        "seed": result.seed,
        "took": format_duration(result.seconds),
        "created (UTC)": result.created[:16].replace("T", " "),
        "MB": f"{result.size_bytes / 1e6:.1f}",
        "pinned": "yes" if result.pinned else "",
    }


def _confirmed(question: str) -> bool:
    """Return the answer of whoever sits at the terminal; no where nobody does."""
    return sys.stdin.isatty() and typer.confirm(question, err=True)
