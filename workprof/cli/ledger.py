"""`workprof memory ledger`: what is requested, used and wasted of every resource, and what to request instead."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import workprof
from workprof.answers.ledger import EXPORTS, finding_sentence, ledger_json, small_words
from workprof.cli.console import OUT, Dataset, emit, emit_of, opened, parameter, progress_line, register, table, warn
from workprof.cli.questions import Face, add, fit_of, options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.shares import in_words
from workprof.core.units import format_share, number
from workprof.memory.exports import Origin
from workprof.memory.ledger import Ledger, LedgerRow, LedgerRunList, called
from workprof.memory.ledger_settings import PROFILE, RESOURCES
from workprof.memory.questions import LEDGER, LEDGER_RUNS
from workprof.profiles.names import name_of
from workprof.store.outputs import checked_output, write_whole

SHOWN_ROWS = 20
SHOWN_FINDINGS = 10


def ledger_text(ledger: Ledger) -> str:
    """Return the ledger for people: findings, rows and total, what could not be judged."""
    shown = ledger.findings[:SHOWN_FINDINGS]
    lines = [f"{place}. {finding_sentence(one)}" for place, one in enumerate(shown, 1)] or ["No findings."]
    if len(ledger.findings) > len(shown):
        lines.append(f"... and {len(ledger.findings) - len(shown)} more findings: --json has all")
    if ledger.n_small:
        lines.append(small_words(ledger))
    rows = [_line(row, ledger) for row in (*ledger.rows[:SHOWN_ROWS], ledger.totals)]
    totals = ledger.totals
    ended = (
        f"Of {totals.n_runs + totals.n_lost:,} runs {totals.n_runs:,} finished: runs, amounts and waste are of these."
    )
    lines += ["", *([ended] if totals.n_lost else []), table(rows)]
    if len(ledger.rows) > SHOWN_ROWS:
        lines.append(f"... and {len(ledger.rows) - SHOWN_ROWS} more rows: --json has all")
    lines += [f"not judged: {one.rule} ({one.why})" for one in ledger.unjudged]
    return "\n".join(lines)


def _line(row: LedgerRow, ledger: Ledger) -> dict[str, object]:
    line: dict[str, object] = {ledger.settings.by: row.name, "runs": f"{row.n_runs:,}"}
    for one, amount in zip(RESOURCES, row.amounts, strict=True):
        if one.name not in ledger.absent:
            line[f"{one.hours} requested"] = number(amount.requested)
            line["wasted" + " " * len(line)] = f"{number(amount.wasted)} ({format_share(amount.wasted_share, 0)})"
    if ledger.settings.prices.given:
        line[ledger.settings.prices.currency] = number(row.money)
    return line | {"not finished": f"{row.n_lost:,}"}


def runs_text(result: LedgerRunList) -> str:
    """Return the runs behind a number for people."""
    one = next(one for one in RESOURCES if one.name == result.resource)
    rows: list[dict[str, object]] = [
        {
            "row": row,
            result.settings.ledger.by: name,
            "task": task,
            f"requested {one.unit}": number(requested),
            f"used {one.unit}": number(used),
            "hours": number(hours),
            f"wasted {result.unit}": number(wasted) if np.isfinite(wasted) else "",
        }
        for row, name, task, requested, used, hours, wasted in zip(
            result.row_ids.tolist(),
            result.names,
            result.tasks,
            result.requested.tolist(),
            result.used.tolist(),
            result.hours.tolist(),
            result.wasted_each.tolist(),
            strict=True,
        )
    ]
    return f"{result.n_runs:,} runs, {number(result.wasted)} {result.unit}\n\n{table(rows)}"


def _ledger(dataset: str, to: str | None, output: Path | None, home: Path | None, as_json: bool, **given: Any) -> None:
    if (to is None) != (output is None):
        raise SettingsError("give --to and -o together: what to write, and the file")
    if to is not None and to not in EXPORTS:
        raise SettingsError(f"--to is {to!r}; choose from {', '.join(EXPORTS)}")
    if output is not None:
        checked_output(output)
    started = time.perf_counter()
    with opened(home) as workbench:
        entry = workbench.dataset(dataset)
        result = workbench.ledger(entry.hash, settings_of(LEDGER, given), progress_line(), fit=fit_of(given.get("fit")))
        shares = workbench.machine_shares(entry.hash)
        names = workbench.profile_names(entry.hash, fit_of(given.get("fit"))) if result.settings.by == PROFILE else ()
        shown = called(result, {row.name: name_of(row.name, names) for row in result.rows})
    for note in result.notes:
        warn(f"note: {note}")
    if to is None or output is None:
        emit_of(shares, ledger_json(result), as_json, lambda: ledger_text(shown))
        return
    text = EXPORTS[to](result, Origin(entry.name, entry.hash, workprof.__version__, in_words(shares)))
    write_whole(output, text.encode())
    rows = len(result.findings) if to == "findings" else len(result.rows)
    content = {"file": str(output), "rows": rows, "seconds": time.perf_counter() - started}
    emit(content, as_json, lambda: f"{rows:,} rows written to {output}")


def register_on(app: typer.Typer) -> None:
    """Add the commands `ledger` and `ledger-runs` to the group."""
    to = typer.Option("--to", help=f"Write it, as one of {', '.join(EXPORTS)}; needs -o.", show_default=False)
    output = typer.Option("-o", "--output", help="File to write.", show_default=False)
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
    add(app, Face(LEDGER_RUNS, runs_text))
