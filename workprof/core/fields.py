"""Settings that describe themselves: help, unit, bounds, choices, option, key of the address and label, said once.

A class of settings is a frozen dataclass made by `settings`; each field is `Annotated[type, Setting(...)]`. Bounds and
choices are checked from the declarations, and every face (command, form, address, code) is made of its `leaves`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from workprof.core.errors import SettingsError, UnitUnknown
from workprof.core.records import Packed, unpack
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
    if (cls, within) not in _LEAVES:
        _LEAVES[cls, within] = tuple(_leaves(cls, within))
    return _LEAVES[cls, within]


_LEAVES: dict[tuple[Any, str], tuple[Leaf, ...]] = {}


def _leaves(cls: Any, within: str) -> Iterator[Leaf]:
    hints = get_type_hints(cls, include_extras=True)
    for one in fields(cls):
        kind, about = hints[one.name], None
        if get_origin(kind) is Annotated:
            kind, *extras = get_args(kind)
            about = next((extra for extra in extras if isinstance(extra, Setting)), None)
        if about is None:
            if is_dataclass(kind) and isinstance(kind, type):
                yield from leaves(kind, f"{within}{one.name}.")
            continue
        optional = get_origin(kind) in (typing.Union, types.UnionType) and type(None) in get_args(kind)
        if optional:
            kind = next(part for part in get_args(kind) if part is not type(None))
        default = one.default_factory() if one.default_factory is not dataclasses.MISSING else one.default
        yield Leaf(within + one.name, kind, optional, default, about)


def check_value(leaf: Leaf, given: Any) -> None:
    """Refuse a value that a setting cannot have.

    Raises:
        SettingsError: for another kind of value, one out of bounds, or one that is no choice.
    """
    about = leaf.about
    if given is None and leaf.optional:
        return
    if not fits(given, leaf.kind):
        raise SettingsError(f"{leaf.path} is {_short(given)}; give {_kind_words(leaf)}")
    if about.some and not given:
        raise SettingsError(f"{leaf.path} is empty; give at least one{_choice_words(about)}")
    unknown = [name for name in given if name not in about.names] if about.names else []
    if unknown:
        raise SettingsError(f"{leaf.path} names {_short(unknown[0])}; choose from {', '.join(about.names)}")
    for value in given if leaf.many else given.values() if isinstance(given, dict) else (given,):
        unset = value == "" and about.empty and not leaf.many
        if about.choices and value not in about.choices and not unset:
            raise SettingsError(f"{leaf.path} is {_short(value)}; choose from {', '.join(map(str, about.choices))}")
        if isinstance(value, str) and about.most is not None and len(value) > about.most:
            raise SettingsError(f"{leaf.path} is {_short(value)}; give a text of at most {about.most:g} characters")
        if isinstance(value, (int, float)) and not _within(value, about):
            raise SettingsError(f"{leaf.path} is {_short(value)}; give {_kind_words(leaf)}")


def _within(value: float, about: Setting) -> bool:
    return (
        math.isfinite(value)
        and (about.least is None or value >= about.least)
        and (about.most is None or value <= about.most)
        and (about.above is None or value > about.above)
        and (about.below is None or value < about.below)
    )


def fits(value: Any, kind: Any) -> bool:
    """Tell whether a value is of a field's kind; a whole number may stand for any number, a boolean for none."""
    origin, within = get_origin(kind), get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in within)
    if origin is Annotated:
        return fits(value, within[0])
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if within[-1] is Ellipsis:
            return all(fits(one, within[0]) for one in value)
        return len(value) == len(within) and all(map(fits, value, within))
    if origin is dict:
        return isinstance(value, dict) and all(fits(one, within[1]) for one in value.values())
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return value is None if kind in (None, type(None)) else isinstance(value, kind)


def _kind_words(leaf: Leaf) -> str:
    """Return what to give: 'a share between 0 and 3, such as 0.05'."""
    about, usual = leaf.about, leaf.default
    noun = {"share": "a share", "bytes": "bytes", "time": "epoch seconds, or 2026-01-31T08:00"}.get(about.unit, "")
    if not noun:
        noun = {int: "a whole number", float: "a number", bool: "true or false"}.get(leaf.each, "a text")
        noun += f" of {about.unit}" if about.unit and leaf.each in (int, float) else ""
    if about.choices:
        noun = f"one of {', '.join(map(str, about.choices))}"
    low = f"above {about.above:g}" if about.above is not None else ""
    if about.least is not None and about.most is not None:
        bounds = f"between {about.least:,g} and {about.most:,g}"
    elif about.least is not None:
        bounds = f"of {about.least:,g} or more" + (f", below {about.below:g}" if about.below is not None else "")
    else:
        bounds = f"{low}{' and ' if low and about.most is not None else ''}"
        bounds += f"at most {about.most:,g}" if about.most is not None else ""
    such = f", such as {usual:g}" if isinstance(usual, (int, float)) and not isinstance(usual, bool) else ""
    return " ".join(text for text in (noun, bounds) if text) + such


def _choice_words(about: Setting) -> str:
    return f" of {', '.join(map(str, about.choices))}" if about.choices else ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def get(record: Any, path: str) -> Any:
    """Return the value at a path."""
    return functools.reduce(getattr, path.split("."), record)


def put(record: Record, values: Mapping[str, Any]) -> Record:
    """Return a record with other values at some paths, all changed at once: they may be valid together only."""
    own = {path: value for path, value in values.items() if "." not in path}
    inside: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        first, _, rest = path.partition(".")
        if rest:
            inside.setdefault(first, {})[rest] = value
    made = own | {name: put(own.get(name, getattr(record, name)), changes) for name, changes in inside.items()}
    changed: Record = dataclasses.replace(record, **made)  # type: ignore[type-var]
    return changed


def differences(before: Any, after: Any) -> dict[Leaf, Any]:
    """Return the settings in which two records of one class differ, with the value of the second."""
    pairs = ((leaf, get(before, leaf.path), get(after, leaf.path)) for leaf in leaves(type(after)))
    return {leaf: new for leaf, old, new in pairs if not _same(old, new)}


def _same(one: Any, other: Any) -> bool:
    return bool(type(one) is type(other) and one == other) or (
        isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)
    )


def read(leaf: Leaf, text: str) -> Any:
    """Return the value that a text means: the same rule for options, addresses and files.

    A tuple is `A,B` or a JSON list (of records one of objects), a table `name=value,...` or a JSON object, memory a
    number with a unit (a bare one is in GB), a record within `name=value;...` or a JSON object of what differs from its
    defaults.

    Raises:
        SettingsError: says what to write.
    """
    about = leaf.about
    if text in about.named:
        return about.named[text]
    if text == "" and leaf.optional:
        return None
    if leaf.kind is str:
        return text
    text = text.strip()
    try:
        if leaf.many:
            one = _item if is_dataclass(leaf.each) else _one
            return tuple(one(leaf, leaf.each, item) for item in _items(text))
        if get_origin(leaf.kind) is dict:
            pairs = _pairs(text, ",")
            if "" in pairs.values() and not text.startswith("{"):
                raise ValueError(text)
            return {name: _one(leaf, leaf.each, value) for name, value in pairs.items()}
        if is_dataclass(leaf.kind):
            return _record(leaf.kind, text)
        return _one(leaf, leaf.kind, text)
    except (LookupError, ValueError, TypeError, OverflowError, RecursionError, UnitUnknown) as error:
        raise SettingsError(f"{leaf.flag} is {_short(text)}; give {_text_words(leaf)}") from error


def _text_words(leaf: Leaf) -> str:
    words = "sizes such as 2GiB or 500MB (a bare number is GB)" if leaf.about.unit == "bytes" else _kind_words(leaf)
    if leaf.many:
        return f"{words}, as A,B,..."
    if get_origin(leaf.kind) is dict:
        return f"NAME={'VALUE' if leaf.each is str else 'NUMBER'},... with {words}, each name once"
    return words


def _items(text: str) -> list[Any]:
    if text.startswith("["):
        found = json.loads(text)
        if not isinstance(found, list):
            raise ValueError(text)
        return found
    return [item.strip() for item in text.split(",") if item.strip()]


def _pairs(text: str, separator: str) -> dict[str, Any]:
    if text.startswith("{"):
        return dict(json.loads(text))
    pairs = [word.partition("=") for word in text.split(separator) if word.strip()]
    found = {name.strip(): value.strip() for name, _, value in pairs}
    if "" in found or len(found) < len(pairs) or not all(equals for _, equals, _ in pairs):
        raise ValueError(text)
    return dict(found)


def _one(leaf: Leaf, kind: Any, given: Any) -> Any:
    """Return one value: of a text, or of what JSON gave."""
    if get_origin(kind) is tuple:  # a tuple of tuples: `workload+task_name`
        return tuple(given if isinstance(given, list) else [part.strip() for part in str(given).split("+")])
    if kind is bool:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        return given if isinstance(given, bool) else words[str(given).lower()]
    if kind is str:
        if not isinstance(given, str):
            raise TypeError(given)
        return given
    if kind not in (int, float):
        raise TypeError(given)
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise TypeError(given)
    if not isinstance(given, str):
        return kind(given) if kind is float or given == int(given) else int(str(given))
    if not given.isascii() or "_" in given:
        raise ValueError(given)
    if leaf.about.unit == "bytes":
        exact = given.removesuffix("B") if given.endswith("B") and not given[-2:-1].isalpha() else ""
        return float(exact) if exact else float(parse_size(given, bare="GB"))
    return _moment(given) if leaf.about.unit == "time" else kind(given)


def _moment(text: str) -> float:
    """Return epoch seconds of a number or of ISO 8601; a time without a zone is UTC."""
    try:
        return float(text)
    except ValueError:
        at = datetime.fromisoformat(text)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _item(_: Leaf, cls: Any, given: Any) -> Any:
    """Return a record of a tuple: its JSON object has every field, of its own kind, and no more."""
    hints = get_type_hints(cls)
    if not isinstance(given, dict) or given.keys() != hints.keys():
        raise TypeError(given)
    made = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    if not all(fits(made[name], hint) for name, hint in hints.items()):
        raise TypeError(given)
    return unpack(cls, Packed(given, {}))


def _record(cls: Any, text: str) -> Any:
    by_path = {leaf.path: leaf for leaf in leaves(cls)}
    changes = {}
    for name, value in _pairs(text, ";").items():
        leaf = by_path.get(name.replace("-", "_"))
        if leaf is None:
            raise SettingsError(f"there is no setting {name!r} here; choose from {', '.join(by_path)}")
        changes[leaf.path] = from_json(leaf, value) if not isinstance(value, str) else read(leaf, value)
    return put(cls(), changes)


def from_json(leaf: Leaf, value: Any) -> Any:
    """Return the value that plain JSON means: lists become tuples.

    Raises:
        SettingsError: for another kind of value than the setting has.
    """
    if leaf.many and is_dataclass(leaf.each) and isinstance(value, list):
        return read(leaf, json.dumps(value))
    made = tuple(tuple(one) if isinstance(one, list) else one for one in value) if isinstance(value, list) else value
    if leaf.each is float and isinstance(made, int) and not isinstance(made, bool):
        made = float(made)
    if not (made is None and leaf.optional) and not fits(made, leaf.kind):
        raise SettingsError(f"{leaf.path} is {_short(value)}; give {_kind_words(leaf)}")
    return made


def write(leaf: Leaf, value: Any) -> str:
    """Return the text that `read` turns into exactly this value."""
    word = leaf.word(value)
    if word is not None:
        return word
    if value is None:
        return ""
    if leaf.many and is_dataclass(leaf.each):
        return json.dumps(to_plain(value), ensure_ascii=False)
    if leaf.many:
        words = [_written(leaf, one) for one in value]
        plain = all(word and "," not in word and word == word.strip() and word[0] not in "[{" for word in words)
        nested = any(isinstance(one, tuple) and any("+" in part or not part for part in one) for one in value)
        return ",".join(words) if plain and not nested else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        texts = {name: _written(leaf, one) for name, one in value.items()}
        plain = all(name and name == name.strip() and not {",", "="} & {*name} and name[0] != "{" for name in texts)
        if plain and all(text and text == text.strip() and "," not in text for text in texts.values()):
            return ",".join(f"{name}={text}" for name, text in texts.items())
        return json.dumps(value, ensure_ascii=False)
    if is_dataclass(value):
        made: Any = type(value)
        changed = differences(made(), value)
        return json.dumps({one.path: to_plain(new) for one, new in changed.items()}, ensure_ascii=False)
    return _written(leaf, value)


def _written(leaf: Leaf, value: Any) -> str:
    if isinstance(value, tuple):
        return "+".join(value)
    if isinstance(value, bool):
        return str(value).lower()
    if leaf.about.unit == "bytes":
        for unit in ("GB", "MB"):
            scaled = value / MEMORY_FACTORS[unit]
            if scaled and float(scaled).is_integer() and scaled * MEMORY_FACTORS[unit] == value:
                return f"{scaled:.0f}{unit}"
        return f"{value:.0f}B" if float(value).is_integer() else f"{value!r}B"
    return repr(value) if isinstance(value, float) else str(value)


def to_plain(value: Any) -> Any:
    """Return a value of a setting as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: to_plain(getattr(value, one.name)) for one in fields(value)}
    return [to_plain(one) for one in value] if isinstance(value, tuple) else value
