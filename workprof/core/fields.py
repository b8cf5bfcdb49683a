"""Settings that describe themselves: help, unit, bounds, choices, option, key of the address and label, said once.

A class of settings is a frozen dataclass made by `settings`; each field is `Annotated[type, Setting(...)]`. Bounds and
choices are checked from the declarations, and every face (command, form, address, code) is made of its `leaves`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from workprof.core.errors import SettingsError, UnitUnknown
from workprof.core.text import near
from workprof.core.units import GB, MEMORY_FACTORS, parse_size

Record = TypeVar("Record")

LONGEST_LABEL = 24
"""Characters; what empty means stands beside a label as far as there is room."""

FORM_UNITS = {"share": ("%", 100.0), "bytes": ("GB", 1 / GB), "time": ("UTC", 1.0)}
"""Unit of a setting -> the unit in which people write it in a form, and how many of those one is."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What one setting says about itself.

    Attributes:
        help: a sentence for the option, the form and the glossary.
        unit: 'share' (0-1), 'bytes', 's', 'time' (epoch seconds, also written in ISO 8601), or a plain word for people;
            '' = a number or text without one.
        least, most: bounds, both allowed; of a text `most` characters.
        above, below: bounds that are themselves not allowed.
        choices: values that are allowed, with their meaning where that needs saying.
        shown: choice or word -> what a form shows for it; links, commands and JSON keep the choice itself.
        columns: the value names a column of the dataset: 'numeric', 'category' or 'any'; forms list those there are.
            Another word: the value is one of that column's own; the page lists them.
        names: of a table of weights: all names that it may have. Forms have a number for each, all alike = none given.
        named: words that stand for whole values ('all', 'coupled').
        named_key: of the list of those words in a form, its name after the page's; '' = no such list.
        own: what that list calls a value of one's own, which then has the setting's control, beside it.
        usual: what that control shows while a word is chosen.
        switch: the choice that a form's switch turns on, where there are two.
        repeated: the option of a command may be given several times, A,B each, for a tuple of tuples.
        empty: what 0, None or '' means ('any size', 'automatic'); a text with choices may then be empty, too.
        flag: the option; '' = from the field's name. `also`: earlier spellings, accepted.
        key: of the control and its parameter in the address; '' = page and field's name.
        label: in forms and tables; '' = from the field's name.
        form_unit: unit of memory in forms where it is not GB.
        some: a tuple or a text may not be empty.
    """

    help: str
    unit: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    choices: Mapping[str, str] | Sequence[str] = ()
    shown: Mapping[str, str] = dataclasses.field(default_factory=dict)
    columns: str = ""
    names: Sequence[str] = ()
    named: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    named_key: str = ""
    own: str = ""
    usual: Any = None
    switch: str = ""
    repeated: bool = False
    empty: str = ""
    flag: str = ""
    also: tuple[str, ...] = ()
    key: str = ""
    label: str = ""
    form_unit: str = ""
    some: bool = False


@dataclass(frozen=True, eq=False)
class Leaf:
    """A setting in its record.

    Attributes:
        path: 'retry.cap_bytes' = field `cap_bytes` of the record in field `retry`.
        kind: its type without None; `optional`: None is allowed.
        default: `dataclasses.MISSING` where it has none.
        about: its declaration.
    """

    path: str
    kind: Any
    optional: bool
    default: Any
    about: Setting

    @property
    def name(self) -> str:
        """The field's own name."""
        return self.path.rpartition(".")[2]

    @property
    def flag(self) -> str:
        """The option of a command."""
        return self.about.flag or "--" + self.name.removesuffix("_bytes").replace("_", "-")

    @property
    def many(self) -> bool:
        """Whether the value is a tuple."""
        return get_origin(self.kind) is tuple

    @property
    def each(self) -> Any:
        """Type of one value: of the setting itself, of a tuple's items, or of what a table holds."""
        if get_origin(self.kind) is dict:
            return get_args(self.kind)[1]
        return get_args(self.kind)[0] if self.many else self.kind

    @property
    def form_unit(self) -> tuple[str, float]:
        """Unit in forms, and how many of those the setting's own unit is."""
        if self.about.form_unit:
            return self.about.form_unit, 1 / MEMORY_FACTORS[self.about.form_unit]
        return FORM_UNITS.get(self.about.unit, (self.about.unit, 1.0))

    @property
    def label(self) -> str:
        """The words of a form's field, with the unit and what empty means."""
        words = self.about.label or self.name.removesuffix("_bytes").replace("_", " ").capitalize()
        empty = f"{'empty' if self.optional or not self.number else 0} = {self.about.empty}" if self.about.empty else ""
        unit = self.form_unit[0] if self.form_unit[0] not in words.lower().split() else ""
        if self.word(self.default) or len(f"{words} ({unit}, {empty})") > LONGEST_LABEL:  # a list or the help says it
            empty = ""
        notes = ", ".join(text for text in (unit, empty) if text)
        return f"{words} ({notes})" if notes else words

    @property
    def number(self) -> bool:
        """Whether the value is one number, and is written as one."""
        return self.kind in (int, float) and self.about.unit != "time"

    def key(self, page: str) -> str:
        """Return the name of the control on a page, which is the name in the address."""
        return self.about.key or f"{page}_{self.name.removesuffix('_bytes')}"

    def words_key(self, page: str) -> str:
        """Return the name of the list of words that stand for whole values."""
        return f"{page}_{self.about.named_key}"

    def switched(self, on: bool) -> Any:
        """Return the choice that a form's switch stands for."""
        return self.about.switch if on else next(one for one in self.about.choices if one != self.about.switch)

    def word(self, value: Any) -> str | None:
        """Return the word that stands for a whole value, None where there is none."""
        return next((word for word, meaning in self.about.named.items() if _same(meaning, value)), None)


@dataclass_transform(frozen_default=True)
def settings(cls: type[Record]) -> type[Record]:
    """Make a class a frozen record of settings whose values are checked from its declarations.

    A `__post_init__` of its own runs after, for what concerns several settings at once.
    """
    own: Callable[[Any], None] | None = cls.__dict__.get("__post_init__")

    def check(self: Any) -> None:
        for leaf in leaves(type(self)):
            if "." not in leaf.path:
                check_value(leaf, getattr(self, leaf.path))
        if own is not None:
            own(self)

    cls.__post_init__ = check  # type: ignore[attr-defined]
    return dataclass(frozen=True)(cls)


def leaves(cls: Any, within: str = "") -> tuple[Leaf, ...]:
    """Return every declared setting of a class, those of the records within it too, in the order of the fields."""
    return _leaves(cls, within)


@functools.cache
def _leaves(cls: Any, within: str) -> tuple[Leaf, ...]:
    found: list[Leaf] = []
    kinds, hints = get_type_hints(cls), get_type_hints(cls, include_extras=True)
    for one in fields(cls):
        kind, said = kinds[one.name], getattr(hints[one.name], "__metadata__", ())
        about = next((extra for extra in said if isinstance(extra, Setting)), None)
        if about is not None:
            optional = type(None) in get_args(kind)
            kind = next(part for part in get_args(kind) if part is not type(None)) if optional else kind
            default = one.default if one.default_factory is MISSING else one.default_factory()
            found.append(Leaf(within + one.name, kind, optional, default, about))
        elif is_dataclass(kind):
            found += leaves(kind, f"{within}{one.name}.")
    return tuple(found)


def check_value(leaf: Leaf, given: Any) -> None:
    """Refuse a value that a setting cannot have.

    Raises:
        SettingsError: for another kind of value, one out of bounds, or one that is no choice.
    """
    about, choices = leaf.about, ", ".join(map(str, leaf.about.choices))
    if given is None and leaf.optional:
        return
    if not fits(given, leaf.kind):
        raise SettingsError(f"{leaf.path} is {_short(given)}; give {_kind_words(leaf)}")
    if about.some and not given:
        raise SettingsError(f"{leaf.path} is empty; give at least one{f' of {choices}' if choices else ''}")
    for name in given if about.names else ():
        if name not in about.names:
            raise SettingsError(f"{leaf.path} names {_short(name)}; choose from {', '.join(about.names)}")
    for value in given if leaf.many else given.values() if isinstance(given, dict) else (given,):
        unset = value == "" and about.empty and not leaf.many
        if choices and value not in about.choices and not unset:
            meant = near(str(value), map(str, about.choices))
            raise SettingsError(f"{leaf.path} is {_short(value)}; choose from {choices}{meant}")
        size = len(value) if isinstance(value, str) else value
        if isinstance(size, (int, float)) and not _within(size, about):
            raise SettingsError(f"{leaf.path} is {_short(value)}; give {_kind_words(leaf)}")


BOUNDS = (
    ("least", operator.ge, "of {:,g} or more"),
    ("above", operator.gt, "above {:,g}"),
    ("most", operator.le, "at most {:,g}"),
    ("below", operator.lt, "below {:,g}"),
)
"""Bound of a setting, how a value stands to it, and its words."""


def _within(value: float, about: Setting) -> bool:
    bounds = ((holds, getattr(about, name)) for name, holds, _ in BOUNDS)
    return math.isfinite(value) and all(bound is None or holds(value, bound) for holds, bound in bounds)


def fits(value: Any, kind: Any) -> bool:
    """Tell whether a value is of a field's kind; a whole number may stand for any number, a boolean for none."""
    origin, within = get_origin(kind), get_args(kind)
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(one, within[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(one, within[1]) for one in value.values())
    return isinstance(value, (int, float) if kind is float else kind) and (kind is bool or not isinstance(value, bool))


def _kind_words(leaf: Leaf) -> str:
    """Return what to give: 'a share between 0 and 3, such as 0.05'."""
    about, usual, number = leaf.about, leaf.default, leaf.each in (int, float)
    noun = {int: "a whole number", float: "a number", bool: "true or false"}.get(leaf.each, "a text")
    noun = UNIT_WORDS.get(about.unit) or (f"{noun} of {about.unit}" if about.unit and number else noun)
    bounds = " and ".join(
        words.format(getattr(about, name)) for name, _, words in BOUNDS if getattr(about, name) is not None
    )
    if about.choices:
        noun, bounds = f"one of {', '.join(map(str, about.choices))}", ""
    elif leaf.each is str and about.most is not None:
        bounds = f"of at most {about.most:g} characters"
    elif about.least is not None and about.most is not None:
        bounds = f"between {about.least:,g} and {about.most:,g}"
    such = f", such as {usual:g}" if isinstance(usual, (int, float)) and not isinstance(usual, bool) else ""
    return " ".join(text for text in (noun, bounds) if text) + such


UNIT_WORDS = {"share": "a share", "bytes": "bytes", "time": "epoch seconds, or 2026-01-31T08:00"}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def get(record: Any, path: str) -> Any:
    """Return the value at a path."""
    return functools.reduce(getattr, path.split("."), record)


def put(record: Record, values: Mapping[str, Any]) -> Record:
    """Return a record with other values at some paths, all changed at once: they may be valid together only."""
    made: dict[str, Any] = {path: value for path, value in values.items() if "." not in path}
    inside: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        first, _, rest = path.partition(".")
        if rest:
            inside.setdefault(first, {})[rest] = value
    made |= {name: put(made.get(name, getattr(record, name)), changes) for name, changes in inside.items()}
    changed: Record = dataclasses.replace(record, **made)  # type: ignore[type-var]
    return changed


def differences(before: Any, after: Any) -> dict[Leaf, Any]:
    """Return the settings in which two records of one class differ, with the value of the second."""
    pairs = ((leaf, get(before, leaf.path), get(after, leaf.path)) for leaf in leaves(type(after)))
    return {leaf: new for leaf, old, new in pairs if not _same(old, new)}


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def read(leaf: Leaf, text: str) -> Any:
    """Return the value that a text means: the same rule for options, addresses and files.

    A tuple is `A,B` or a JSON list (of records one of objects), a table `name=value,...` or a JSON object, memory a
    number with a unit (a bare one is in GB), a record within `name=value;...` or a JSON object of what differs from its
    defaults.

    Raises:
        SettingsError: says what to write.
    """
    if text in leaf.about.named:
        return leaf.about.named[text]
    if text == "" and leaf.optional:
        return None
    if leaf.kind is str:
        return text
    try:
        return _made(leaf, leaf.kind, _parted(leaf, text.strip()))
    except UNREADABLE as error:
        raise SettingsError(f"{leaf.flag} is {_short(text.strip())}; give {_text_words(leaf)}") from error


UNREADABLE = (LookupError, ValueError, TypeError, OverflowError, RecursionError, UnitUnknown)
"""What a text or a document raises that is of another kind than its setting."""


def _text_words(leaf: Leaf) -> str:
    words = "sizes such as 2GiB or 500MB (a bare number is GB)" if leaf.about.unit == "bytes" else _kind_words(leaf)
    if leaf.many:
        return f"{words}, as A,B,..."
    if get_origin(leaf.kind) is dict:
        return f"NAME={'VALUE' if leaf.each is str else 'NUMBER'},... with {words}, each name once"
    return words


def _parted(leaf: Leaf, text: str) -> Any:
    """Return the list or the table that a text writes, in JSON or with commas; any other text as it is."""
    record = is_dataclass(leaf.kind)
    if not (leaf.many or record or get_origin(leaf.kind) is dict):
        return text
    if text.startswith("[" if leaf.many else "{"):
        return json.loads(text)
    words = [word.strip() for word in text.split(";" if record else ",") if word.strip()]
    if leaf.many:
        return words
    pairs = [(name.strip(), value.strip()) for name, equals, value in (word.partition("=") for word in words) if equals]
    if len(dict(pairs)) < len(words) or not all(name and (value or record) for name, value in pairs):
        raise ValueError(text)
    return dict(pairs)


def _made(leaf: Leaf, kind: Any, given: Any) -> Any:
    """Return the value of a kind that JSON means, or the text of a single one.

    A record in a tuple has every field, of its own kind, and no more; a setting that is a record has those that differ.
    """
    origin, within = get_origin(kind), get_args(kind)
    if origin is tuple:
        parts = [part.strip() for part in given.split("+")] if isinstance(given, str) else given  # a tuple in a tuple
        if not isinstance(parts, list):
            raise TypeError(given)
        return tuple(_made(leaf, within[0], part) for part in parts)
    if origin is dict:
        return {name: _made(leaf, within[1], value) for name, value in {**given}.items()}
    if is_dataclass(kind):
        made, hints = leaf.each, get_type_hints(kind)
        if kind is leaf.kind:
            return put(made(), by_name(leaves(kind), {**given}.items()))
        if {**given}.keys() != hints.keys() or any(
            _text_for_number(hints[name], value) for name, value in given.items()
        ):
            raise TypeError(given)
        return made(**{name: _made(leaf, hints[name], value) for name, value in given.items()})
    if kind is bool:
        return BOOLEANS[str(given).lower()]
    if kind in (int, float) and isinstance(given, str):
        return _number(leaf, kind, given)
    if not fits(given, kind) and not (kind is int and fits(given, float) and given == int(given)):
        raise TypeError(given)
    return kind(given)


def _text_for_number(kind: Any, value: Any) -> bool:
    """Tell whether a JSON value holds a text where its kind is another."""
    if isinstance(value, list):
        return any(_text_for_number((*get_args(kind), kind)[0], part) for part in value)
    return isinstance(value, str) and kind is not str


BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _number(leaf: Leaf, kind: Any, text: str) -> Any:
    """Return the number that a text means in the setting's unit; a time without a zone is UTC."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    if leaf.about.unit == "bytes":
        exact = text.removesuffix("B") if text.endswith("B") and not text[-2:-1].isalpha() else ""
        return float(exact) if exact else float(parse_size(text, bare="GB"))
    if leaf.about.unit == "time":
        with contextlib.suppress(ValueError):
            return float(text)
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    return kind(text)


def by_name(own: Sequence[Leaf], pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return path -> value of settings that are named by their paths ('-' and '_' alike), with a text or plain JSON.

    A bare number is in the setting's own unit, as in a result's JSON.

    Raises:
        SettingsError: for a name that there is not, or a value that it cannot have.
    """
    inside = {f"{leaf.path}.{one.path}": one for leaf in own if is_dataclass(leaf.kind) for one in leaves(leaf.kind)}
    by_path = {leaf.path: leaf for leaf in own} | inside
    values: dict[str, Any] = {}
    for name, given in pairs:
        path = name.strip().replace("-", "_")
        leaf = by_path.get(path)
        if leaf is None:
            known = ", ".join(by_path)
            raise SettingsError(f"there is no setting {name.strip()!r} here; choose from {known}{near(path, by_path)}")
        exact = given
        if leaf.number and leaf.about.unit == "bytes":
            with contextlib.suppress(ValueError, TypeError):
                exact = float(given)
        if given in (None, "null") and leaf.optional:
            values[path] = None
        else:
            values[path] = read(leaf, exact) if isinstance(exact, str) else _made(leaf, leaf.kind, exact)
    return values


def write(leaf: Leaf, value: Any) -> str:
    """Return the text that `read` turns into exactly this value: as people write it, else JSON."""
    word = leaf.word(value)
    if word is not None or value is None:
        return word or ""
    if is_dataclass(value):
        made: Any = type(value)
        value = {one.path: new for one, new in differences(made(), value).items()}
    elif not leaf.many and not isinstance(value, dict):
        return _written(leaf, value)
    else:
        short = ",".join(_written(leaf, one) for one in value) if leaf.many else _written(leaf, value)
        with contextlib.suppress(SettingsError):
            if read(leaf, short) == value:
                return short
    return json.dumps(value, ensure_ascii=False, default=dataclasses.asdict)


def _written(leaf: Leaf, value: Any) -> str:
    if isinstance(value, tuple):
        return "+".join(value)
    if isinstance(value, dict):
        return ",".join(f"{name}={_written(leaf, one)}" for name, one in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    if leaf.about.unit == "bytes":
        for unit in ("GB", "MB"):
            scaled = value / MEMORY_FACTORS[unit]
            if scaled and float(scaled).is_integer() and scaled * MEMORY_FACTORS[unit] == value:
                return f"{scaled:.0f}{unit}"
        return f"{value:.0f}B" if float(value).is_integer() else f"{value!r}B"
    return repr(value) if isinstance(value, float) else str(value)
