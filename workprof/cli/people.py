"""Commands on people: who may come in, and what they did."""

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workprof.cli.console import Home, Json, emit_answer, opened
from workprof.core.errors import SettingsError

if TYPE_CHECKING:
    from workprof.store.users import User

app = typer.Typer(help="People who may come in: list, add, set, remove.", rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="As they log in, or as the other login names them.", show_default=False)]
ROLE = "viewer (looks), planner (decides too) or admin (imports, removes, sets up)."


@app.callback(invoke_without_command=True)
def user(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """List who may come in."""
    if context.invoked_subcommand is None:
        _tell(home, as_json)


@app.command()
def add(
    name: Name,
    role: Annotated[str, typer.Option("--role", help=ROLE)] = "viewer",
    no_password: Annotated[
        bool, typer.Option("--no-password", help="A proxy or OpenID Connect vouches for them.")
    ] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Add somebody; the password is read from a prompt or from standard input."""
    password = None if no_password else _password()
    with opened(home) as workbench:
        one = workbench.add_user(name, role, password)
    _tell(home, as_json, f"{one.name} may come in as {one.role}.")


@app.command("set")
def change(
    name: Name,
    role: Annotated[str | None, typer.Option("--role", help=ROLE, show_default=False)] = None,
    password: Annotated[bool, typer.Option("--password", help="Read a new password; ends their logins.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Change somebody's role or password."""
    if role is None and not password:
        raise SettingsError("nothing is changed; give --role or --password")
    new = _password() if password else None
    with opened(home) as workbench:
        one = workbench.set_user(name, role, new)
    _tell(home, as_json, f"{one.name} is {one.role} now{', with a new password' if password else ''}.")


@app.command()
def remove(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Remove somebody; their logins end at once."""
    with opened(home) as workbench:
        one = workbench.remove_user(name)
    _tell(home, as_json, f"{one.name} may not come in any more.")


def _password() -> str:
    """A password that no command line shows: typed twice on a terminal, else the first line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    first = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != first:
        raise SettingsError("the two passwords differ; try again")
    return first


def _tell(home: Path | None, as_json: bool, did: str = "") -> None:
    from workprof.answers.people import users_answer  # noqa: PLC0415  `workprof --version` stays quick

    with opened(home) as workbench:
        users: tuple[User, ...] = workbench.users()
    emit_answer(users_answer(users, did), as_json)


def audit(
    most: Annotated[int, typer.Option("--most", min=1, help="Entries, the latest first.")] = 100,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show who did what to this home, and whose login failed."""
    from workprof.answers.people import audit_answer  # noqa: PLC0415  `workprof --version` stays quick

    with opened(home) as workbench:
        answer = audit_answer(workbench.audit(most))
    emit_answer(answer, as_json)


def register(tree: typer.Typer) -> None:
    """Add `user` and `audit` to the tree."""
    tree.command()(audit)
    tree.add_typer(app, name="user")
