"""`workprof memory ledger`: what is requested, used and wasted of every resource, and what to request instead."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import workprof
from workprof.answers.ledger import called, ledger_answer
from workprof.answers.ledger_exports import EXPORTS
from workprof.cli.console import (
    OUT,
    Dataset,
    emit,
    emit_answer,
    emit_file,
    opened,
    parameter,
    progress_line,
    register,
    warn,
)
from workprof.cli.files import STDOUT
from workprof.cli.questions import fit_of, options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.shares import in_words
from workprof.core.words import counted
from workprof.memory.exports import Origin
from workprof.memory.ledger_settings import PROFILE
from workprof.memory.questions import LEDGER
from workprof.store.outputs import checked_output, write_whole


def _ledger(dataset: str, to: str | None, output: Path | None, home: Path | None, as_json: bool, **given: Any) -> None:
    if (to is None) != (output is None):
        raise SettingsError("give --to and -o together: what to write, and the file")
    if to is not None and to not in EXPORTS:
        raise SettingsError(f"--to is {to!r}; choose from {', '.join(EXPORTS)}")
    if output is not None and output != STDOUT:
        checked_output(output)
    if output == STDOUT and as_json:
        raise SettingsError("-o - prints the file on stdout, where --json prints its answer; leave out one")
    started = time.perf_counter()
    with opened(home) as workbench:
        entry = workbench.dataset(dataset)
        result = workbench.ledger(entry.hash, settings_of(LEDGER, given), progress_line(), fit=fit_of(given.get("fit")))
        shares = workbench.machine_shares(entry.hash)
        names = workbench.profile_names(entry.hash, fit_of(given.get("fit"))) if result.settings.by == PROFILE else ()
        told = ledger_answer(called(result, names))
    if as_json:  # rows keep their keys
        told = replace(ledger_answer(result), sentence=told.sentence, notes=told.notes)
    if to is None or output is None:
        emit_answer(told, as_json, shares)
        return
    for note in told.notes:
        warn(f"note: {note}")
    text = EXPORTS[to](result, Origin(entry.name, entry.hash, workprof.__version__, in_words(shares)))
    if output == STDOUT:
        emit_file(text.encode())
        return
    write_whole(output, text.encode())
    rows = len(result.findings) if to == "findings" else len(result.rows)
    content = {"file": str(output), "rows": rows, "seconds": time.perf_counter() - started}
    emit(content, as_json, lambda: f"{counted(rows, 'row')} written to {output}")


def register_on(app: typer.Typer) -> None:
    """Add the commands `ledger` and `ledger-runs` to the group."""
    to = typer.Option("--to", help=f"Write it, as one of {', '.join(EXPORTS)}; needs -o.", show_default=False)
    output = typer.Option(
        "-o", "--output", help="File: of --to, else .csv, .md, .parquet or .json; - is stdout.", show_default=False
    )
    register(
        app,
        LEDGER.words[-1],
        LEDGER.title,
        _ledger,
        [
            parameter("dataset", Dataset),
            *options(LEDGER),
            parameter("to", Annotated[str | None, to], None),
            parameter("output", Annotated[Path | None, output], None),
            *OUT,
        ],
    )
