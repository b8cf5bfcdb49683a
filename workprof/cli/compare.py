"""`workprof compare A B`: two datasets or scopes side by side; `workprof changes`: two periods in turn."""

from typing import Annotated, Any

import typer

from workprof.answers.comparison import comparison_answer
from workprof.cli import console
from workprof.cli.questions import add, answered
from workprof.memory.ledger_settings import GROUPINGS
from workprof.memory.questions import CHANGES

SCOPED = "Name or hash, with a scope where one is meant: 'pai?user=ann&period=2026-01'."
BY = f"What the rows are: {', '.join(GROUPINGS)}; users where there are some, else tasks."


def _compare(before: str, after: str, by: str, home: Any, as_json: bool) -> None:
    with console.opened(home) as workbench:
        answer = comparison_answer(workbench.compare(before, after, by, console.progress_line()))
    console.emit_answer(answer, as_json)


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    dataset = typer.Argument(help=SCOPED, show_default=False, autocompletion=console.dataset_names)
    parameters = [
        console.parameter("before", Annotated[str, dataset]),
        console.parameter("after", Annotated[str, dataset]),
        console.parameter("by", Annotated[str, typer.Option("--by", help=BY, show_default=False)], ""),
        *console.OUT,
    ]
    title = "Two datasets, or two scopes of one, side by side: hours, waste, kills, durations, what the verdict saves."
    console.register(app, "compare", title, _compare, parameters)
    add(app, answered(CHANGES))
