"""The line of a command against what is kept of it: its help, and what is wrong with it, without its module.

`commands.json` (made by `python -m tests.golden.lines`) says of every command what it takes. The modules of commands
import the methods whose settings are their options; that takes more than a second.
"""

import functools
import json
from collections import UserDict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

KINDS = {"integer": int, "float": float}


class Sound(Exception):
    """The line asks for a command, in a way that it can be asked."""


class _Option(TyperOption):
    kept: tuple[str, str] | None = None

    def get_help_record(self, ctx: Any) -> tuple[str, str] | None:
        return self.kept


class _Argument(TyperArgument):
    kept: tuple[str, str] | None = None

    def get_help_record(self, ctx: Any) -> tuple[str, str] | None:
        return self.kept


FILE = Path(__file__).parent / "commands.json"
AT_ONCE_S = 60.0
"""A checkout writes its files within this time."""


@functools.cache
def _lines() -> Mapping[str, Any]:
    made: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return made


def may_be_old() -> bool:
    """Whether this is a checkout in which a module was changed after the file was made."""
    package = FILE.parents[1]
    newest = FILE.stat().st_mtime + AT_ONCE_S
    return (package.parent / "pyproject.toml").exists() and any(
        one.stat().st_mtime > newest for one in package.rglob("*.py")
    )


class Kept(UserDict[str, Any]):
    """Commands below a path by name, in the order of the help; each is made when it is asked."""

    def __init__(self, names: Iterable[str], above: str = "") -> None:
        super().__init__(dict.fromkeys(names))
        self._above = above

    def __getitem__(self, name: str) -> Any:
        """Return the command, which runs nothing: it raises Sound."""
        if self.data[name] is None:
            self.data[name] = _command(name, f"{self._above}{name}")
        return self.data[name]


def _command(name: str, path: str) -> Any:
    about = dict(_lines()[path])
    parts = about.pop("commands", None)
    about["params"] = [_parameter(one) for one in about.get("params", ())]
    if parts is None:
        return TyperCommand(name=name, callback=_sound, rich_markup_mode=None, **about)
    alone = _sound if about.get("invoke_without_command") else None
    result = TyperGroup(name=name, callback=alone, rich_markup_mode=None, **about)
    result.commands = Kept(parts, f"{path} ")
    return result


def _sound(**_: Any) -> None:
    raise Sound


def _parameter(about: Mapping[str, Any]) -> Any:
    given = dict(about)
    kept = given.pop("record", None)
    kind = _Option if any(one.startswith("-") for one in given["param_decls"]) else _Argument
    result = kind(**given | {"type": KINDS.get(given.get("type", ""), str)})
    result.kept = tuple(kept) if kept else None
    return result
