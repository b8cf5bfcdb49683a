"""Commands on alerts: add, list, remove; and `check`, which tells by its status whether one fired."""

from pathlib import Path
from typing import Annotated

import typer

from workprof.cli.console import Home, Json, dataset_names, emit_answer, opened

app = typer.Typer(help="Alerts on numbers of a dataset: add, list, remove.", rich_markup_mode=None)
FIRED, NOT_COMPUTED = 1, 2
"""Statuses of `check`; where one fired that decides."""
WHEN = "NUMBER, a sign and a limit: 'kills_per_day > 5'; a question's number is QUESTION:PATH."
CHECKED = "Of an alert (default: every alert), or RULES.toml: a table [NAME] with dataset and when for each."
Name = Annotated[str, typer.Argument(help="Of the alert.", show_default=False)]


@app.callback(invoke_without_command=True)
def alert(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """List the alerts."""
    if context.invoked_subcommand is None:
        list_alerts(home, as_json)


@app.command("list")
def list_alerts(home: Home = None, as_json: Json = False) -> None:
    """List the alerts."""
    from workprof.answers.alerts import alerts_answer  # noqa: PLC0415  `workprof --version` stays quick

    with opened(home) as workbench:
        answer = alerts_answer(workbench.alerts())
    emit_answer(answer, as_json)


@app.command()
def add(
    name: Name,
    when: Annotated[str, typer.Option("--when", help=WHEN, show_default=False)],
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset",
            help="Name, with a scope where one is meant: 'pai?user=ann'.",
            show_default=False,
            autocompletion=dataset_names,
        ),
    ],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Keep an alert in place of one of that name."""
    from workprof.answers.alerts import alerts_answer  # noqa: PLC0415  `workprof --version` stays quick
    from workprof.core.alerts import alert_of  # noqa: PLC0415
    from workprof.watch.numbers import looked_up  # noqa: PLC0415

    rule = alert_of(name, dataset, when)
    with opened(home) as workbench:
        certain = looked_up(workbench, dataset, rule.number)
        workbench.add_alert(name, dataset, when)
        answer = alerts_answer(workbench.alerts(), None if certain else rule)
    emit_answer(answer, as_json)


@app.command()
def remove(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Forget an alert."""
    from workprof.answers.alerts import alerts_answer  # noqa: PLC0415  `workprof --version` stays quick

    with opened(home) as workbench:
        workbench.remove_alert(name)
        answer = alerts_answer(workbench.alerts())
    emit_answer(answer, as_json)


def check(
    name: Annotated[str, typer.Argument(help=CHECKED, show_default=False)] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Look at alerts: status 0 = none fired, 1 = one fired, 2 = one could not be computed and none fired."""
    from workprof.answers.alerts import checked_answer  # noqa: PLC0415  `workprof --version` stays quick
    from workprof.core.alerts import rules_of  # noqa: PLC0415
    from workprof.core.errors import SettingsError  # noqa: PLC0415
    from workprof.watch.numbers import checked, refuse_unknown  # noqa: PLC0415

    of_file = name.endswith(".toml")
    alerts = [*rules_of(Path(name))] if of_file else []
    for one in alerts:
        refuse_unknown(one.number)
    with opened(home) as workbench:
        alerts = alerts if of_file else [one for one in workbench.alerts() if name in ("", one.name)]
        if name and not alerts:
            raise SettingsError(f"no alert is called {name!r}; `workprof alert list` shows all")
        found = checked(workbench, alerts)
    emit_answer(checked_answer(found), as_json)
    if any(one.fired for one in found):
        raise typer.Exit(FIRED)
    if any(one.problem for one in found):
        raise typer.Exit(NOT_COMPUTED)


def register(tree: typer.Typer) -> None:
    """Add `alert` and `check` to the tree."""
    tree.command()(check)
    tree.add_typer(app, name="alert")
