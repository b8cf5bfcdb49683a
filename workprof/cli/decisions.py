"""Commands on what was decided about rows of the verdict: decide, decisions; and the file of them."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.answers.changes import realised_answer
from workprof.answers.decisions import decisions_answer
from workprof.cli.console import Dataset, Home, Json, emit, emit_answer, opened, progress_line
from workprof.core.errors import SettingsError
from workprof.core.records import Packed, unpack
from workprof.memory.decisions import ACCEPTED, DECLINED, NEVER, NOTED, STATES, Decision

TEXTS = ("row_key", "note", "by", "at", "action", "unit")
NUMBERS = ("request", "size", "saved")


def decide(
    dataset: Dataset,
    row: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="A row of `memory plan`: its row_key, or parts of it such as user=ann,task_name=train.",
            show_default=False,
        ),
    ],
    accept: Annotated[bool, typer.Option("--accept", help="The row is taken as it stands.")] = False,
    decline: Annotated[bool, typer.Option("--decline", help="The requests are kept this time.")] = False,
    never: Annotated[bool, typer.Option("--never", help="The requests are never touched.")] = False,
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="Why, in words.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Forget what was decided.")] = False,
    every: Annotated[bool, typer.Option("--all", help="All rows that the parts fit, not one.")] = False,
    by: Annotated[str, typer.Option("--by", metavar="WHO", help="Who decides; else the account.")] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Accept or decline a row of the plan, or say never to touch it; with a note."""
    states = [state for state, given in ((ACCEPTED, accept), (DECLINED, decline), (NEVER, never)) if given]
    if len(states) + clear > 1 or (clear and note is not None):
        raise SettingsError("give one of --accept, --decline, --never, --clear; a note goes with the first three")
    if not (states or clear or note is not None):
        raise SettingsError("say what is decided: --accept, --decline, --never, --note TEXT or --clear")
    with opened(home) as workbench:
        entry = workbench.dataset(dataset)
        if clear:
            done = workbench.forget_decisions(entry.hash, row, every=every)
        else:
            done = workbench.decide(entry.hash, row, *states, note=note, by=by, every=every, progress=progress_line())
        reason = workbench.verdict(entry.hash).reason
    told = "forgotten" if clear else states[0] if states else NOTED
    result = {"decided": [_told(one) for one in done], "cleared": clear, "reason": reason}
    emit(result, as_json, lambda: "\n".join([*(f"{told}: {one.row_key}" for one in done), reason]))


def decisions(dataset: Dataset, home: Home = None, as_json: Json = False) -> None:
    """List what was decided about the rows of the plan; `size --decisions` takes the JSON."""
    with opened(home) as workbench:
        entry = workbench.dataset(dataset)
        kept = workbench.decisions(entry.hash)
        missing = workbench.verdict(entry.hash, None, progress_line()).missing if kept else ()
    answer = decisions_answer(kept, missing)
    emit_answer(answer, as_json)


def realised(
    dataset: Dataset,
    since: Annotated[
        str,
        typer.Option("--since", metavar="DATE", help="Advice: the verdict on runs before (default: accepted rows)."),
    ] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show what advice saved in fact: rows whose later runs moved to it, against the requests of before."""
    with opened(home) as workbench:
        answer = realised_answer(workbench.realised(dataset, since, progress_line()))
    emit_answer(answer, as_json)


def register_on(app: typer.Typer) -> None:
    """Add the commands to those of memory."""
    app.command()(decide)
    app.command()(decisions)
    app.command()(realised)


def _told(one: Decision) -> dict[str, Any]:
    return {name: getattr(one, name) for name in ("row_key", "state", "note", "by", "at")}


def read_decisions(path: Path) -> tuple[Decision, ...]:
    """Return the decisions that `memory decisions --json` printed.

    Raises SettingsError where the file holds something else.
    """
    how = "write it with `workprof memory decisions NAME --json`"
    try:
        given = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"--decisions {path} cannot be read: {error.strerror or error}; {how}") from None
    except ValueError:
        raise SettingsError(f"--decisions {path} cannot be read: it is no JSON in UTF-8; {how}") from None
    rows = given.get("decisions") if isinstance(given, dict) else given
    if not isinstance(rows, list):
        raise SettingsError(f"--decisions {path} holds no decisions; {how}")
    return tuple(_decision(path, at, row) for at, row in enumerate(rows))


def _decision(path: Path, at: int, row: object) -> Decision:
    if not isinstance(row, dict) or row.get("state") not in STATES:
        state = row.get("state") if isinstance(row, dict) else row
        raise SettingsError(f"--decisions {path}: entry {at + 1} has state {state!r}; choose from {', '.join(STATES)}")
    texts = all(isinstance(row.get(name), str) for name in TEXTS)
    if not texts or not all(isinstance(row.get(name), (int, float)) for name in NUMBERS):
        raise SettingsError(f"--decisions {path}: entry {at + 1} lacks one of {', '.join((*TEXTS, *NUMBERS))}")
    return unpack(Decision, Packed(row, {}))
