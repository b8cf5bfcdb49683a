"""`workprof compare A B`: two datasets or scopes side by side; `changes`: two periods in turn; saved scopes."""

from typing import Annotated, Any

import typer

from workprof.answers.comparison import comparison_answer, scopes_answer
from workprof.cli import console
from workprof.cli.questions import add, answered
from workprof.core.errors import SettingsError
from workprof.core.scope import of_options, of_words, split
from workprof.core.words import counted
from workprof.memory.ledger_settings import GROUPINGS, PROFILE
from workprof.memory.questions import CHANGES

TWO = 2
SCOPED = "Name or hash, with a scope where one is meant: 'pai?user=ann&period=2026-01'."
BY = f"What the rows are: {', '.join(GROUPINGS)}; users where there are some, else tasks."


TWICE = "Two of one dataset, such as --period 2026-01 --period 2026-02."


def _compare(before: str, after: str, periods: list[str] | None, by: str, home: Any, as_json: bool) -> None:
    if periods:
        if after or len(periods) != TWO:
            raise SettingsError(f"{counted(len(periods), 'period')} of {before}; give one dataset and two periods")
        before, after = (of_options(before, (), period) for period in periods)
    elif not after:
        raise SettingsError("one dataset is given; name a second one, or two periods of it with --period")
    with console.opened(home) as workbench:
        found = workbench.compare(before, after, by, console.progress_line())
        whole = split(before)[0]
        found_already = whole == split(after)[0] and workbench.profiles.cached(whole).result is not None
        profiles = workbench.compare(before, after, PROFILE) if found.by != PROFILE and found_already else None
        answer = comparison_answer(found, profiles)
    console.emit_answer(answer, as_json)


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    dataset = typer.Argument(help=SCOPED, show_default=False, autocompletion=console.dataset_names)
    parameters = [
        console.parameter("before", Annotated[str, dataset]),
        console.parameter("after", Annotated[str, dataset], ""),
        console.parameter(
            "periods", Annotated[list[str] | None, typer.Option("--period", help=TWICE, show_default=False)], None
        ),
        console.parameter("by", Annotated[str, typer.Option("--by", help=BY, show_default=False)], ""),
        *console.OUT,
    ]
    title = "Two datasets, or two scopes of one, side by side: hours, waste, kills, durations, what the verdict saves."
    console.register(app, "compare", title, _compare, parameters)
    add(app, answered(CHANGES))
    app.add_typer(scopes, name="scopes")


scopes = typer.Typer(help="Saved scopes: list, save, remove.", rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="Of the scope.", show_default=False)]


@scopes.callback(invoke_without_command=True)
def list_scopes(context: typer.Context, home: console.Home = None, as_json: console.Json = False) -> None:
    """List the saved scopes, newest first, as they stand behind a dataset's name."""
    if context.invoked_subcommand is None:
        with console.opened(home) as workbench:
            answer = scopes_answer(workbench.scopes())
        console.emit_answer(answer, as_json)


@scopes.command("save")
def save_scope(
    name: Name,
    only: console.Only = None,
    period: console.Period = None,
    home: console.Home = None,
    as_json: console.Json = False,
) -> None:
    """Save a scope for any dataset; one of that name is overwritten."""
    scope = str(of_words(only or (), period))
    with console.opened(home) as workbench:
        saved = workbench.save_scope(name, scope)
    console.emit({"scope": saved, "text": scope}, as_json, lambda: f"saved {saved}: {scope}")


@scopes.command("remove")
def remove_scope(name: Name, home: console.Home = None, as_json: console.Json = False) -> None:
    """Forget a saved scope."""
    with console.opened(home) as workbench:
        workbench.remove_scope(name)
    console.emit({"scope": name}, as_json, lambda: f"removed {name}")
