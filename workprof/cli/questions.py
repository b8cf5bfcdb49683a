"""A declared question as a command: its options are its settings, its result is JSON or a text for people."""

import contextlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, is_dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.answers.told import TOLD, document_of
from workprof.cli import console
from workprof.core.answer import Answer, to_text as answer_text
from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.fields import Leaf, by_name, check_value, leaves, put, read, write
from workprof.core.question import Question
from workprof.core.shares import Share
from workprof.core.units import UNITS
from workprof.profiles.names import with_names
from workprof.profiles.settings import ProfileSettings
from workprof.store.mapping import shown

MODES = ("corrected", "faithful")
MODE = typer.Option("--mode", help="corrected, or faithful: as published. Default: corrected.")
PAIR, WITH = "NAME=VALUE", "with_"
FIT = typer.Option("--fit", metavar=PAIR, help="An option of `profiles fit`, such as min-cluster-size=60; repeat.")
NAMED = typer.Option("--with", metavar=PAIR, help="A setting by its name on the Runs page; repeat.")


@dataclass(frozen=True)
class Former:
    """What became of an option: it has another name, changes nothing, or is refused; in words what to do instead."""

    words: str
    now: str = ""  # the option that takes its value
    refused: bool = False


@dataclass(frozen=True)
class Face:
    """How a command shows the result of a question."""

    question: Question[Any, Any]  # declared
    # of its result without `answer`; else its fields as lines and tables. Its JSON is `answers.told.document_of`
    to_text: Callable[[Any], str] = console.plain_text
    notes: Callable[[Any], Iterable[str]] = lambda _: ()  # lines for stderr
    when: str = ""  # the options that choose this question where a command has several, with spaces between them
    more: tuple[inspect.Parameter, ...] = ()  # further options of the command
    # (workbench, dataset, options) -> the options with what the home or a file has to say of them
    complete: Callable[[Any, str, Mapping[str, Any]], Mapping[str, Any]] | None = None
    # (dataset, settings) -> the dataset whose profiles have their names in the text; None = in none
    profiles_of: Callable[[str, Any], str] | None = None
    # (result, these names) -> the result for people, whose tables have them, too
    named: Callable[[Any, Sequence[str]], Any] = lambda result, _: result
    # of a result that is worded once: its tables go to files, too (--csv, --md, -o)
    answer: Callable[[Any], Answer] | None = None
    former: Mapping[str, Former] = field(default_factory=dict)  # options of the release before, and what became of them
    # (workbench, dataset) -> values of the first option of `question.named`, told where it is not given
    known: Callable[[Any, str], Sequence[str]] | None = None
    room: str = "whole:Workbench"  # module and class of the workbench that are enough for it: what is kept comes sooner


def answered(question: Question[Any, Any], **more: Any) -> Face:
    """A face that shows the answer of a result: its JSON, its text as wide as the terminal, its notes on stderr."""
    return Face(question, answer=TOLD[question.name], **more)


def add(app: typer.Typer, *faces: Face, name: str = "") -> None:
    """Add the command of one question, or of several that share a command, to the tree.

    The first face is the usual one; each of the others has the option that chooses it. `name` is of a further command
    of the question; '' = its own.
    """
    usual, *others = faces
    questions = [face.question for face in faces]
    needed = _needed(questions)
    own = [leaf.flag for one in questions for leaf in one.named if leaf.flag not in needed]
    without = [leaf.default for leaf in usual.question.named if leaf.flag in own]
    one_of = own if without else []
    must = MISSING in without

    def command(dataset: str, home: Path | None, as_json: bool, **given: Any) -> None:
        chosen = {name for name, value in given.items() if value not in (None, False)}
        _of_release_before(faces, given)
        face = next((one for one in others if chosen & set(map(_name, one.when.split()))), usual)
        for flags in (one_of, *face.question.either):
            n_given = sum(given[_name(flag)] is not None for flag in flags)
            if n_given > 1 or (must and flags is one_of and not n_given):
                raise SettingsError(f"give either {' or '.join(flags)}")
        missing = [flag for flag in needed if given[_name(flag)] is None]
        asked_first = face.complete or missing
        settings = None if asked_first else settings_of(face.question, given)  # before a home is opened
        more = {"fit": fit_of(given["fit"])} if face.question.rests_on_fit else {}
        with console.opened(home, face.room) as workbench:
            if face.known is not None and given[_name(face.question.named[0].flag)] is None:
                if missing:
                    values = shown(face.known(workbench, dataset))
                    raise SettingsError(f"give {' and '.join(missing)}, such as {values}")
                with contextlib.suppress(WorkprofError):  # the answer itself tells what is missing
                    console.warn(f"note: of all; one alone: {shown(face.known(workbench, dataset))}")
            if face.complete is not None:
                settings = settings_of(face.question, face.complete(workbench, dataset, given))
            result = getattr(workbench, face.question.call)(dataset, settings, console.progress_line(), **more)
            shares = workbench.machine_shares(dataset)
            whose = face.profiles_of and face.profiles_of(dataset, settings)
            called = workbench.profile_names(whose, more.get("fit")) if whose else ()
        _say(face, result, shares, called, as_json)

    further = [one for face in faces for one in face.more]
    further += [_hidden(flag) for face in faces for flag in face.former]
    own_options = options(*questions, told=usual.known is not None)
    parameters = [console.parameter("dataset", console.Dataset), *own_options, *further, *console.OUT]
    console.register(app, name or usual.question.words[-1], usual.question.title, command, parameters)


def _say(face: Face, result: Any, shares: Sequence[Share], called: Sequence[str], as_json: bool) -> None:
    """Print a result as its face says, and its notes on stderr; or write its tables to the file that was asked."""
    answer = None if face.answer is None else face.answer(result)
    for note in face.notes(result) if answer is None else answer.notes:
        console.warn(f"note: {note}")
    if answer is not None and console.filed(answer, shares, as_json):
        return

    def text() -> str:
        people = face.named(result, called)
        if face.answer is None:
            return with_names(face.to_text(people), called)
        told = answer if answer is not None and people is result else face.answer(people)
        return with_names(answer_text(told, console.width()), called)

    names = (lambda: called) if called else None
    console.emit_of(shares, lambda: document_of(face.question, result, answer, names), as_json, text)


def _hidden(flag: str) -> inspect.Parameter:
    return console.parameter(_name(flag), Annotated[str | None, typer.Option(flag, hidden=True)], None)


def _of_release_before(faces: Sequence[Face], given: dict[str, Any]) -> None:
    """Refuse options of the release before, or pass their values on, in words."""
    for flag, former in ((flag, former) for face in faces for flag, former in face.former.items()):
        value = given.pop(_name(flag))
        if value is None:
            continue
        if former.refused:
            raise SettingsError(f"{flag} is no option any more: {former.words}")
        console.warn(f"note: {flag} goes with the next release: {former.words}")
        if former.now:
            given[_name(former.now)] = given[_name(former.now)] or value


def add_others(app: typer.Typer, questions: Iterable[Question[Any, Any]]) -> None:
    """Add the commands of questions that have none in a group yet: their answers, or results as they are."""
    there = {one.name for one in app.registered_commands}
    for question in questions:
        if not question.no_command and question.words[-1] not in there:
            add(app, answered(question) if question.name in TOLD else Face(question))


def _needed(questions: Iterable[Question[Any, Any]]) -> set[str]:
    """Return the options that a command has to be given, whichever of its questions is asked."""
    return set.intersection(*({leaf.flag for leaf in one.named} for one in questions))


def options(*questions: Question[Any, Any], told: bool = False) -> list[inspect.Parameter]:
    """Return the options of questions as parameters of a command: one for each setting, each given at most once.

    `told`: where one that has to be given is not, the command tells the values that there are.
    """
    result: dict[str, inspect.Parameter] = {}
    needed = set() if told else _needed(questions)
    for question in questions:
        for leaf in leaves(question.settings):
            option = _option(leaf, hidden=leaf.path in question.ignores, required=leaf.flag in needed)
            result.setdefault(_name(leaf.flag), option)
    if any(question.published for question in questions):
        result.setdefault("mode", console.parameter("mode", Annotated[str | None, MODE], None))
    if any(question.rests_on_fit for question in questions):
        result["fit"] = console.parameter("fit", Annotated[list[str] | None, FIT], None)
    if result:
        result[WITH] = console.parameter(WITH, Annotated[list[str] | None, NAMED], None)
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
    if leaf.repeated:
        metavar = "A,B"
    if leaf.table:
        metavar = f"NAME={'VALUE' if leaf.each is str else 'NUMBER'},..."
    look: dict[str, Any] = {"help": " ".join(words), "metavar": metavar, "show_default": False, "hidden": hidden}
    option = typer.Option(leaf.flag, *about.also, autocompletion=_completion(about.choices), **look)
    kind: Any = list[str] | None if leaf.repeated else str if required else str | None
    return console.parameter(_name(leaf.flag), Annotated[kind, option], inspect.Parameter.empty if required else None)


def _completion(choices: Iterable[str]) -> Callable[[str], list[str]]:
    """Return what gives a shell the choices that begin so; of a list, those of its last part."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{one}" for one in map(str, choices) if one.startswith(last)]

    return complete


def settings_of(question: Question[Any, Any], given: Mapping[str, Any], base: Any = None) -> Any:
    """Return the settings that options ask for; `given` is by name of a parameter.

    They change `base`; None = the defaults, or the published ones of `--mode faithful`.

    Raises SettingsError for a value that a setting cannot have, or an option of another question of the command.
    """
    mode = given.get("mode") or MODES[0]
    if question.published and mode not in MODES:
        raise SettingsError(f"mode is {mode!r}; choose from {', '.join(MODES)}")
    if base is None and question.published and mode == MODES[1]:
        base = question.published()
    own = leaves(question.settings)
    texts = [(leaf, given[_name(leaf.flag)]) for leaf in own if given.get(_name(leaf.flag)) not in (None, [], ())]
    values = {leaf.path: given_value(leaf, text) for leaf, text in texts}
    values |= with_values(own, given.get(WITH) or ())
    for leaf in own:
        if leaf.path in values and leaf.path in question.ignores:
            console.warn(f"note: {leaf.flag} changes nothing here")
    return question.without_ignored(question.default(**values) if base is None else put(base, values))


def given_value(leaf: Leaf, text: Any) -> Any:
    """Return the value of an option as it was given: a text, or the texts of one that is repeated."""
    value = tuple(map(console.names, text)) if leaf.repeated else read(leaf, text)
    return check_value(leaf, value, flag=leaf.flag)


def with_values(own: Sequence[Leaf], texts: Sequence[str]) -> dict[str, Any]:
    """Return path -> value of settings that are given as NAME=VALUE.

    Raises SettingsError for a name that there is not, or a value that it cannot have.
    """
    for text in texts:
        if "=" not in text:
            raise SettingsError(f"{text!r} is not NAME=VALUE; names are those that `workprof runs show --json` lists")
    return by_name(own, (text.partition("=")[::2] for text in texts))


def fit_of(texts: Sequence[str] | None) -> ProfileSettings | None:
    """Return the clustering that `--fit NAME=VALUE ...` describes, None where it is not given."""
    return put(ProfileSettings(), with_values(leaves(ProfileSettings), texts)) if texts else None


def _name(flag: str) -> str:
    name = flag.strip("-").replace("-", "_") or "_"
    return f"{name}_" if iskeyword(name) else name
