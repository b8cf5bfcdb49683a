"""A question: what a page, a command, a call and a report section ask. Settings in, record out, declared once.

`Question` is the declaration; `ask` makes of it `bench.bins(dataset, settings)`, which computes or reads,
`bench.bins.cached(...)`, which only reads, and `bench.bins.start(...)`, which computes in a child process. What a
face (command, form, address, code) needs is here or in `workprof.core.fields`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Any, Generic, TypeVar, get_type_hints
from urllib.parse import urlencode

from workprof.core.fields import Leaf, chosen, default_of, differences, get, leaves, put, write
from workprof.core.step import Step
from workprof.core.text import shell_line
from workprof.core.units import scaled, unscaled

S = TypeVar("S")
R = TypeVar("R")
QUESTION_KEY = "question"
"""Parameter of an address that says which of a page's questions its settings belong to."""


@dataclass(frozen=True)
class Question(Generic[S, R]):
    """What is asked, by which settings, what computes it, and where it is shown."""

    name: str  # of the step: 'memory.bins'. Part of the cache's key
    title: str  # a sentence: the command's help
    settings: type[S]  # and `result`: classes
    result: type[R]
    compute: str = ""  # 'module:function', taking (frames, settings, progress); '' = its parts are computed and stored
    finds: str = ""  # its result in a few words ('trained classifier and estimators'), for lists of what was computed
    version: int = 1  # raised whenever the same settings would give another result
    # settings -> columns that it cannot do without: a dataset that lacks one is refused before anything is computed, in
    # words
    reads: Callable[[S], Sequence[str]] = lambda _: ()
    # settings -> columns that are read, too, where they are there. Where neither names any, all but planted truths are
    # read
    optional: Callable[[S], Sequence[str]] = lambda _: ()
    # paths of settings that change nothing here; they are at their defaults, and have no option
    ignores: tuple[str, ...] = ()
    # paths of settings that every command line gives, also at their defaults, as those without one
    names: tuple[str, ...] = ()
    # pairs of options; where the second is given, the first changes nothing and is not given beside it
    either: tuple[tuple[str, str], ...] = ()
    page: str = ""  # and `tab`: where it is shown
    tab: str = ""
    # (path of a record, question) whose own controls on the page are those of the record
    controls: tuple[tuple[str, Question[Any, Any]], ...] = ()
    fold: str = ""  # name of the form's "More settings" in the address; '' = page, name and 'more'
    method: str = ""  # of the workbench; '' = the name after the dot
    command: tuple[str, ...] = ()  # its words; () = the parts of the name
    always: tuple[str, ...] = ()  # words that the command takes besides (`--tables`)
    # makes the settings as published of the default ones; the command then has `--mode faithful`
    published: Callable[[], S] | None = None
    rests_on_fit: bool = False  # the labels of a clustering are part of it: the call and the command take one
    # of what is stored on the way to another question: that one, and what makes its settings of these
    made_by: tuple[Question[Any, Any], Callable[[S], Any]] | None = None
    no_python: str = ""  # and `no_command`: why there is no call, or no command, that makes it from settings alone
    no_command: str = ""

    @property
    def step(self) -> Step:
        """The cached computation."""
        return Step(self.name, self.version, self.compute)

    @property
    def call(self) -> str:
        """The workbench's method."""
        return self.method or self.name.rpartition(".")[2]

    @property
    def words(self) -> tuple[str, ...]:
        """The command's words."""
        return self.command or tuple(self.name.split("."))

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Every setting that changes something."""
        return tuple(leaf for leaf in leaves(self.settings) if leaf.path not in self.ignores)

    def columns(self, settings: S) -> Sequence[str] | None:
        """The columns that are read where they are there; None = all but planted truths."""
        return (*self.reads(settings), *self.optional(settings)) or None

    def leaf(self, path: str) -> Leaf:
        """The setting at a path."""
        return next(leaf for leaf in self.leaves if leaf.path == path)

    def default(self, **given: Any) -> S:
        """The default settings; those without a default have to be given by path, else they are empty."""
        kinds = get_type_hints(self.settings)
        required = [one.name for one in fields(self.settings) if default_of(one) is MISSING]  # type: ignore[arg-type]
        return put(self.settings(**{name: given.get(name, kinds[name]()) for name in required}), given)

    def without_ignored(self, settings: S) -> S:
        """Settings whose ignored ones are at their defaults: equal questions share a result."""
        return put(settings, {leaf.path: leaf.default for leaf in leaves(self.settings) if leaf.path in self.ignores})

    @property
    def named(self) -> tuple[Leaf, ...]:
        """The settings that every command line gives."""
        return tuple(leaf for leaf in self.leaves if leaf.default is MISSING or leaf.path in self.names)

    def bases(self, settings: S) -> list[S]:
        """What settings begin as: the defaults, and as published where a mode among them says so."""
        modes = [get(settings, leaf.path) for leaf in self.leaves if leaf.flag == "--mode"]
        return [self.default(), *([self.published()] if self.published and modes == ["faithful"] else [])]

    def given(self, settings: S, *bases: S) -> dict[Leaf, Any]:
        """What a command line or an address has to say of settings: what differs, and what is always named."""
        changed = [leaf for base in bases or self.bases(settings) for leaf in differences(base, settings)]
        given = {*changed, *self.named}
        return {leaf: get(settings, leaf.path) for leaf in self.leaves if leaf in given}


def shell_of(question: Question[Any, Any], dataset: str, settings: Any, further: Sequence[str] = ()) -> str:
    """The command line that asks exactly this of a dataset; `further` words are no settings of the question."""
    words = _options(question, question.given(settings))
    if question.published is not None:
        published = ["--mode", "faithful", *_options(question, question.given(settings, question.published()))]
        shorter = len(published) < len(words) and published.count("--mode") == 1
        words = published if shorter or len(question.bases(settings)) > 1 else words
    return shell_line(("workprof", *question.words, dataset, *question.always, *words, *further))


def _options(question: Question[Any, Any], given: Mapping[Leaf, Any]) -> list[str]:
    words: list[str] = []
    unused = {first for first, second in question.either if any(leaf.flag == second for leaf in given)}
    for leaf, value in given.items():
        text = write(leaf, value)
        if leaf.flag in unused or (leaf.repeated and text.startswith("[")):  # in no way that the option has
            words += ["--with", f"{leaf.path}={text}"]
            continue
        for one in [",".join(item) for item in value] if leaf.repeated else [text]:
            joined = one.startswith("-") and leaf.flag.startswith("--")
            words += [f"{leaf.flag}={one}"] if joined else [leaf.flag, one]
    return words


def python_of(question: Question[Any, Any], dataset: str, name: str, settings: Any, fit: Any = None) -> str:
    """Python that asks the same of the workbench, in the home that WORKPROF_HOME names; defaults are left out."""
    classes = itertools.groupby(sorted(_classes((settings, fit))), lambda one: one[0])
    imports = [f"from {module} import {', '.join(name for _, name in named)}" for module, named in classes]
    lines = ["from workprof import Workbench, from_environment", *imports, ""]
    lines += [f"dataset = {dataset!r}  # {' '.join(name.split())}", f"settings = {code_of(settings)}"]
    lines += [] if fit is None else [f"fit = {code_of(fit)}"]
    arguments = "dataset, settings" if fit is None else "dataset, settings, fit=fit"
    lines += ["", "with Workbench(from_environment()) as workbench:"]
    lines += [f"    result = workbench.{question.call}({arguments})", "    print(type(result).__name__)"]
    return "\n".join(lines)


WIDEST = 96


def code_of(record: Any) -> str:
    """A record of settings as Python, which its repr is: a long one with a line for each of its fields."""
    line = repr(record)
    parts = "".join(f"    {name}={value!r},\n" for name, value in chosen(record).items())
    return line if len(line) <= WIDEST else f"{type(record).__name__}(\n{parts})"


def _classes(value: Any) -> set[tuple[str, str]]:
    """Module and name of every class that the code of a value names."""
    if isinstance(value, tuple):
        return set().union(*map(_classes, value))
    own = {(type(value).__module__, type(value).__name__)}
    return own | _classes(tuple(chosen(value).values())) if is_dataclass(value) else set()


def parameters_of(question: Question[Any, Any], settings: Any) -> dict[str, str | list[str]]:
    """Every setting that is not at its default as the question's page writes it into its address."""
    result: dict[str, str | list[str]] = {}
    for leaf, value in question.given(settings).items():
        result |= controls_of(question, leaf, value)
    return result


def controls_of(question: Question[Any, Any], leaf: Leaf, value: Any) -> dict[str, str | list[str]]:
    """What a setting's controls write into the address: one, a list of words and one's own, or a number each."""
    page, elsewhere = question.page, dict(question.controls)
    if leaf.path in elsewhere:
        return parameters_of(elsewhere[leaf.path], value)
    if leaf.table and leaf.about.choices:  # a number for each name; all alike stand for none
        one, names = replace(leaf, kind=leaf.each), leaf.about.choices if value else ()
        return {f"{leaf.key(page)}_{name}": form_text(one, value.get(name, 0.0)) for name in names}
    word = leaf.word(value) if leaf.about.named_key else None
    if word is not None:
        return {leaf.words_key(page): word}
    own = {leaf.words_key(page): leaf.about.own} if leaf.about.own else {}
    return own | {leaf.key(page): form_text(leaf, value)}


def in_form(leaf: Leaf, value: Any) -> Any:
    """What a setting's control in a form holds: numbers in the form's unit, several choices as a list.

    A number is the shortest that gives exactly the value again (`from_form`).
    """
    if leaf.kind is bool or value is None:
        return value
    if leaf.many and (leaf.about.choices or leaf.about.columns):
        return [str(one) for one in value]
    return leaf.kind(scaled(value, leaf.form_unit[1])) if leaf.number else write(leaf, value)


def from_form(leaf: Leaf, shown: float) -> float:
    """The value of a number that a form shows in its unit."""
    return unscaled(shown, leaf.form_unit[1])


def form_text(leaf: Leaf, value: Any) -> str | list[str]:
    """A value as its control in a form writes it into the address."""
    shown = in_form(leaf, value)
    return str(shown).lower().removesuffix(".0") if isinstance(shown, (int, float)) else shown or ""


def address_of(question: Question[Any, Any], dataset: str, settings: Any) -> str:
    """Path and query of the page that shows a result: the settings that are no defaults, by their options."""
    tab = {f"{question.page}_tab": question.tab} if question.tab else {}
    changed = [leaf for base in question.bases(settings) for leaf in differences(base, settings)]
    options = {leaf.flag.lstrip("-"): write(leaf, get(settings, leaf.path)) for leaf in changed}
    return f"/{question.page}?{urlencode({'ds': dataset} | tab | {QUESTION_KEY: question.call} | options, safe=',:=')}"
