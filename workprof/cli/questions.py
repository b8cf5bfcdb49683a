"""A declared question as a command: its options are its settings, its result is JSON or a text for people."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, is_dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit_of, names, opened, plain_text, progress_line, warn
from workprof.core.errors import SettingsError
from workprof.core.fields import Leaf, by_name, leaves, put, read, write
from workprof.core.question import Question
from workprof.core.records import to_json
from workprof.core.units import UNITS
from workprof.profiles.names import with_names
from workprof.profiles.settings import ProfileSettings

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]
MODES = ("corrected", "faithful")
MODE = typer.Option("--mode", help="corrected, or faithful: as published. Default: corrected.")
PAIR, WITH = "NAME=VALUE", "with_"
FIT = typer.Option("--fit", metavar=PAIR, help="An option of `profiles fit`, such as min-cluster-size=60; repeat.")
NAMED = typer.Option("--with", metavar=PAIR, help="A setting by its name on the Runs page; repeat.")


def no_notes(_: Any) -> Iterable[str]:
    """Return nothing to note."""
    return ()


@dataclass(frozen=True)
class Face:
    """How a command shows the result of a question.

    Attributes:
        question: declared.
        to_json, to_text: of its result; else its fields, for people as lines and tables.
        notes: lines for stderr.
        when: the option that chooses this question where a command has several: one of its own, or a switch; any of
            several with spaces between them.
        more: further options of the command.
        complete: (workbench, dataset, options) -> the options with what the home or a file has to say of them.
        profiles_of: (dataset, settings) -> the dataset whose profiles have their names in the text; None = in none.
        named: (result, names of the dataset's profiles) -> the result for people, whose tables have these names.
    """

    question: Question[Any, Any]
    to_json: Callable[[Any], Any] = to_json
    to_text: Callable[[Any], str] = plain_text
    notes: Callable[[Any], Iterable[str]] = no_notes
    when: str = ""
    more: tuple[inspect.Parameter, ...] = ()
    complete: Callable[[Any, str, Mapping[str, Any]], Mapping[str, Any]] | None = None
    profiles_of: Callable[[str, Any], str] | None = None
    named: Callable[[Any, Sequence[str]], Any] | None = None


FACES: dict[str, Face] = {}
"""How the result of each question is shown, by the question's name, once the module of its command is imported."""


def add(app: typer.Typer, *faces: Face) -> None:
    """Add the command of one question, or of several that share a command, to the tree.

    Args:
        app: group of commands.
        faces: the first is the usual one; each of the others has the option that chooses it.
    """
    FACES.update({face.question.name: face for face in faces})
    usual, *others = faces
    own = {leaf.flag for face in faces for leaf in leaves(face.question.settings)}
    further = {one.name: one for face in faces for one in face.more}
    named = [leaf.flag for leaf in usual.question.leaves if leaf.path in usual.question.names]
    required = [*named, *(face.when for face in others if face.when in own)] if named else []

    def command(dataset: str, home: Path | None, as_json: bool, **given: Any) -> None:
        chosen = {name for name, value in given.items() if value not in (None, False)}
        face = next((one for one in others if chosen & set(map(_name, one.when.split()))), usual)
        if required and sum(given[_name(flag)] is not None for flag in required) != 1:
            raise SettingsError(f"give either {' or '.join(required)}")
        flags = {leaf.path: leaf.flag for leaf in face.question.leaves}
        for first, second in face.question.either:
            if None not in (given[_name(flags[first])], given[_name(flags[second])]):
                raise SettingsError(f"give either {flags[second]} or {flags[first]}")
        settings = None if face.complete else settings_of(face.question, given)  # before a home is opened
        more = {"fit": fit_of(given["fit"])} if face.question.rests_on_fit and given["fit"] else {}
        with opened(home) as workbench:
            if face.complete is not None:
                settings = settings_of(face.question, face.complete(workbench, dataset, given))
            result = getattr(workbench, face.question.call)(dataset, settings, progress_line(), **more)
            shares = workbench.machine_shares(dataset)
            whose = face.profiles_of(dataset, settings) if face.profiles_of else dataset if face.named else None
            called = () if whose is None else workbench.profile_names(whose, more.get("fit"))
        for note in face.notes(result):
            warn(f"note: {note}")
        shown = result if face.named is None else face.named(result, called)
        emit_of(shares, face.to_json(result), as_json, lambda: with_names(face.to_text(shown), called))

    switches = [flag for face in others for flag in face.when.split() if flag not in own and _name(flag) not in further]
    parameters = [
        parameter("dataset", Dataset),
        *options(*(one.question for one in faces), required=required),
        *further.values(),
        *(parameter(_name(flag), Annotated[bool, typer.Option(flag)], False) for flag in switches),
        *OUT,
    ]
    register(app, usual.question.words[-1], usual.question.title, command, parameters)


def add_others(app: typer.Typer, questions: Iterable[Question[Any, Any]]) -> None:
    """Add the commands of questions that have none in a group yet: their results as they are."""
    there = {one.name for one in app.registered_commands}
    for question in questions:
        if not question.no_command and question.words[-1] not in there:
            add(app, Face(question))


def register(
    app: typer.Typer, name: str, title: str, command: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> None:
    """Add a function as a command with these parameters, whatever its own are."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__doc__ = title
    app.command(name=name)(command)


def options(*questions: Question[Any, Any], required: Sequence[str] = ()) -> list[inspect.Parameter]:
    """Return the options of questions as parameters of a command: one for each setting, each given at most once."""
    result: dict[str, inspect.Parameter] = {}
    open_flags = [{leaf.flag for leaf in leaves(one.settings) if leaf.default is MISSING} for one in questions]
    for question in questions:
        for leaf in leaves(question.settings):
            alone = tuple(required) == (leaf.flag,) or all(leaf.flag in flags for flags in open_flags)
            option = _option(leaf, hidden=leaf.path in question.ignores, required=alone)
            result.setdefault(_name(leaf.flag), option)
    if any(question.published for question in questions):
        result.setdefault("mode", parameter("mode", Annotated[str | None, MODE], None))
    if any(question.rests_on_fit for question in questions):
        result["fit"] = parameter("fit", Annotated[list[str] | None, FIT], None)
    if result:
        result[WITH] = parameter(WITH, Annotated[list[str] | None, NAMED], None)
    return list(result.values())


def _option(leaf: Leaf, *, hidden: bool, required: bool) -> inspect.Parameter:
    about = leaf.about
    words = [about.help]
    if isinstance(about.choices, Mapping):
        words.append("; ".join(f"{name}: {meaning}" for name, meaning in about.choices.items()) + ".")
    elif about.choices:
        words.append(f"One of {', '.join(map(str, about.choices))}.")
    if leaf.default is not MISSING and not is_dataclass(leaf.kind):
        usual = about.empty if leaf.default in (0, None, "", (), {}) else write(leaf, leaf.default)
        words += [f"Default: {usual}."] if usual else []
    metavar = UNITS[about.unit].metavar if about.unit in UNITS else about.unit.upper() or None
    if leaf.table:
        metavar = "NAME=VALUE,..." if leaf.each is str else "NAME=NUMBER,..."
    said: dict[str, Any] = {"help": " ".join(words), "metavar": metavar, "show_default": False, "hidden": hidden}
    option = typer.Option(leaf.flag, *about.also, autocompletion=_completion(about.choices), **said)
    kind: Any = list[str] | None if leaf.repeated else str if required else str | None
    return parameter(_name(leaf.flag), Annotated[kind, option], ... if required else None)


def _completion(choices: Iterable[str]) -> Callable[[str], list[str]] | None:
    """Return what gives a shell the choices that begin so; of a list, those of its last part."""
    if not choices:
        return None

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{one}" for one in map(str, choices) if one.startswith(last)]

    return complete


def settings_of(question: Question[Any, Any], given: Mapping[str, Any], base: Any = None) -> Any:
    """Return the settings that options ask for.

    Args:
        question: declared.
        given: name of a parameter -> what was given.
        base: the settings that the options change; None = the defaults, or the published ones of `--mode faithful`.

    Raises:
        SettingsError: for a value that a setting cannot have, or an option of another question of the command.
    """
    mode = given.get("mode") or MODES[0]
    if question.published and mode not in MODES:
        raise SettingsError(f"mode is {mode!r}; choose from {', '.join(MODES)}")
    if base is None and question.published and mode == MODES[1]:
        base = question.published()
    values: dict[str, Any] = {}
    own = leaves(question.settings)
    for leaf in own:
        text = given.get(_name(leaf.flag))
        if text not in (None, [], ()):
            values[leaf.path] = tuple(map(names, text)) if leaf.repeated else read(leaf, text)
    values |= with_values(own, given.get(WITH) or ())
    for leaf in own:
        if leaf.path in values and leaf.path in question.ignores:
            warn(f"note: {leaf.flag} changes nothing here")
    return question.without_ignored(question.default(**values) if base is None else put(base, values))


def with_values(own: Sequence[Leaf], texts: Iterable[str]) -> dict[str, Any]:
    """Return path -> value of settings that are given as NAME=VALUE.

    Raises:
        SettingsError: for a name that there is not, or a value that it cannot have.
    """
    pairs = [text.partition("=") for text in texts]
    for name, equals, _ in pairs:
        if not equals:
            raise SettingsError(f"{name!r} is not NAME=VALUE; names are those that `workprof runs show --json` lists")
    return by_name(own, ((name, value) for name, _, value in pairs))


def fit_of(texts: Sequence[str] | None) -> ProfileSettings | None:
    """Return the clustering that `--fit NAME=VALUE ...` describes, None where it is not given."""
    return put(ProfileSettings(), with_values(leaves(ProfileSettings), texts)) if texts else None


def _name(flag: str) -> str:
    name = flag.strip("-").replace("-", "_") or "_"
    return f"{name}_" if iskeyword(name) else name


def parameter(name: str, annotation: Any, default: Any = ...) -> inspect.Parameter:
    """Return a parameter of a command; without a default it has to be given."""
    default = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


OUT = (parameter("home", Home, None), parameter("as_json", Json, False))
"""Last parameters of a command on a home."""
