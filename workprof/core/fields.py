"""Settings that describe themselves: help, unit, bounds, choices, option, key of the address and label, said once.

A class of settings is a frozen dataclass made by `settings`; each field is `Annotated[type, Setting(...)]`. Bounds and
choices are checked from the declarations, and every face (command, form, address, code) is made of its `leaves`. A
value becomes a text by `write`, and comes back by `read`, of plain JSON by `by_name`.
"""

import contextlib
import dataclasses
import functools
import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from workprof.core.errors import SettingsError, UnitUnknown
from workprof.core.text import near
from workprof.core.units import UNITS

Record = TypeVar("Record")

LONGEST_LABEL = 24
"""Characters; what empty means stands beside a label as far as there is room."""


BOUNDS = (
    ("least", operator.ge, "of {:,.10g} or more"),
    ("above", operator.gt, "above {:,.10g}"),
    ("most", operator.le, "at most {:,.10g}"),
    ("below", operator.lt, "below {:,.10g}"),
)
"""Bound of a setting, how a value stands to it, and its words."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What one setting says about itself."""

    help: str  # a sentence for the option, the form and the glossary
    # 'share' (0-1), 'bytes', 's', 'time' (epoch seconds, also written in ISO 8601), or a plain word for people; '' = a
    # number or text without one
    unit: str = ""
    least: float | None = None  # and `most`: bounds, both allowed; of a text `most` characters
    most: float | None = None
    above: float | None = None  # and `below`: bounds that are themselves not allowed
    below: float | None = None
    # values that are allowed, with their meaning where that needs saying; of a table of weights its names
    choices: Mapping[str, str] | Sequence[str] = ()
    # choice or word -> what a form shows for it; links, commands and JSON keep the choice itself
    shown: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # the value names a column of the dataset: 'numeric', 'category' or 'any'; forms list those there are. Another word:
    # the value is one of that column's own; the page lists them
    columns: str = ""
    # words that stand for whole values ('all', 'coupled')
    named: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    named_key: str = ""  # of the list of those words in a form, its name after the page's; '' = no such list
    own: str = ""  # what that list calls a value of one's own, which then has the setting's control, beside it
    usual: Any = None  # what that control shows while a word is chosen
    empty: str = ""  # what 0, None or '' means ('any size', 'automatic'); a text with choices may then be empty, too
    flag: str = ""  # the option; '' = from the field's name. `also`: earlier spellings, accepted
    also: tuple[str, ...] = ()
    key: str = ""  # of the control and its parameter in the address; '' = page and field's name
    label: str = ""  # in forms and tables; '' = from the field's name
    form_unit: str = ""  # unit of memory in forms where it is not GB
    some: bool = False  # a tuple or a text may not be empty

    @functools.cached_property
    def bounds(self) -> list[tuple[Callable[[float, float], bool], str, float]]:
        """How a value stands to each bound that there is, its words, and the bound."""
        return [(holds, words, value) for name, holds, words in BOUNDS if (value := getattr(self, name)) is not None]


@dataclass(frozen=True, eq=False)
class Leaf:
    """A setting in its record."""

    path: str  # 'retry.cap_bytes' = field `cap_bytes` of the record in field `retry`
    kind: Any  # its type without None; `optional`: None is allowed
    optional: bool
    default: Any  # `dataclasses.MISSING` where it has none
    about: Setting  # its declaration

    @property
    def name(self) -> str:
        """The field's own name."""
        return self.path.rpartition(".")[2]

    @property
    def flag(self) -> str:
        """The option of a command."""
        return self.about.flag or "--" + self.name.removesuffix("_bytes").replace("_", "-")

    @functools.cached_property
    def many(self) -> bool:
        """Whether the value is a tuple."""
        return get_origin(self.kind) is tuple

    @functools.cached_property
    def table(self) -> bool:
        """Whether the value is a table: name -> value."""
        return get_origin(self.kind) is dict

    @functools.cached_property
    def each(self) -> Any:
        """Type of one value: of the setting itself, of a tuple's items, or of what a table holds."""
        return get_args(self.kind)[self.table] if self.many or self.table else self.kind

    @property
    def number(self) -> bool:
        """Whether the value is one number, and is written as one."""
        return self.kind in (int, float) and self.about.unit != "time"

    @property
    def repeated(self) -> bool:
        """Whether the option may be given several times, A,B each: for a tuple of tuples."""
        return get_origin(self.each) is tuple

    @property
    def form_unit(self) -> tuple[str, float]:
        """Unit in forms, and how many of those the setting's own unit is."""
        unit = self.about.form_unit or self.about.unit
        return UNITS[unit].shown if unit in UNITS else (unit, 1.0)

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

    def key(self, page: str) -> str:
        """The name of the control on a page, which is the name in the address."""
        return self.about.key or f"{page}_{self.name.removesuffix('_bytes')}"

    def words_key(self, page: str) -> str:
        """The name of the list of words that stand for whole values."""
        return f"{page}_{self.about.named_key}"

    def word(self, value: Any) -> str | None:
        """The word that stands for a whole value, None where there is none."""
        return next((word for word, meaning in self.about.named.items() if meaning == value), None)


@dataclass_transform(frozen_default=True)
def settings(cls: type[Record]) -> type[Record]:
    """Make a class a frozen record of settings whose values are checked from its declarations.

    A `__post_init__` of its own runs after, for what concerns several settings at once. Its repr is Python that makes
    it again; settings at their defaults are left out.
    """
    own: Callable[[Any], None] = cls.__dict__.get("__post_init__", lambda _: None)

    def check(self: Any) -> None:
        for leaf in leaves(type(self)):
            if "." not in leaf.path:
                check_value(leaf, getattr(self, leaf.path))
        own(self)

    def code(self: Any) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in chosen(self).items())})"

    cls.__post_init__ = check  # type: ignore[attr-defined]
    cls.__repr__ = code  # type: ignore[method-assign]
    return dataclass(frozen=True, repr=False)(cls)


def chosen(record: Any) -> dict[str, Any]:
    """The fields of a record that are not at their defaults."""
    return {one.name: value for one in fields(record) if (value := getattr(record, one.name)) != default_of(one)}


def default_of(one: dataclasses.Field[Any]) -> Any:
    """The default of a field of a record, MISSING where it has none."""
    return one.default if one.default_factory is MISSING else one.default_factory()


def _leaves(cls: Any) -> tuple[Leaf, ...]:
    """Every declared setting of a class, those of the records within it too, in the order of the fields."""
    result: list[Leaf] = []
    hints = get_type_hints(cls, include_extras=True)
    for one in fields(cls):
        kind = hints[one.name]
        if get_origin(kind) is Annotated:
            kind, about = get_args(kind)
            optional = type(None) in get_args(kind)
            kind = get_args(kind)[0] if optional else kind
            result.append(Leaf(one.name, kind, optional, default_of(one), about))
        elif is_dataclass(kind):
            result += [dataclasses.replace(leaf, path=f"{one.name}.{leaf.path}") for leaf in leaves(kind)]
    return tuple(result)


leaves: Callable[[Any], tuple[Leaf, ...]] = functools.cache(_leaves)
"""Class of settings -> every declared setting, those of the records within it too, in the order of the fields."""


def get(record: Any, path: str) -> Any:
    """The value at a path."""
    return operator.attrgetter(path)(record)


def put(record: Record, values: Mapping[str, Any]) -> Record:
    """A record with other values at some paths, all changed at once: they may be valid together only."""
    inside: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        name, _, rest = path.partition(".")
        inside.setdefault(name, {})[rest] = value
    made = {name: put(changes.pop("", getattr(record, name)), changes) for name, changes in inside.items()}
    return dataclasses.replace(record, **made) if made else record  # type: ignore[type-var]


def differences(before: Any, after: Any) -> dict[Leaf, Any]:
    """The settings in which two records of one class differ, with the value of the second."""
    pairs = ((leaf, get(before, leaf.path), get(after, leaf.path)) for leaf in leaves(type(after)))
    return {leaf: new for leaf, old, new in pairs if old != new}


def earlier_words(before: Any, after: Any) -> str:
    """The first settings in which a record of before differs, as a form has them: 'Show by: Task; Weeks: 4'."""
    others = differences(after, before).items()
    told = [f"{leaf.label.partition(' (')[0]}: {_in_form(leaf, value)}" for leaf, value in others]
    return "; ".join([*told[:MOST_TOLD], *(["..."] if len(told) > MOST_TOLD else [])])


def _in_form(leaf: Leaf, value: Any) -> str:
    text = leaf.word(value) or write(leaf, value)
    return leaf.about.shown.get(text, text) or leaf.about.empty or "none"


MOST_TOLD = 3
NOUNS = {int: "a whole number", float: "a number", bool: "true or false"}


def check_value(leaf: Leaf, given: Any, *, flag: str = "") -> Any:
    """A value as it is; refuse one that a setting cannot have. `flag`: the option that gives it as a text.

    Raises SettingsError for another kind of value, one out of bounds, or one that is no choice.
    """
    about, choices, called = leaf.about, ", ".join(map(str, leaf.about.choices)), flag or leaf.path
    if given is None and leaf.optional:
        return given
    if type(given) is not leaf.kind and not fits(given, leaf.kind):
        raise SettingsError(f"{called} is {_short(given)}; give {_needed(leaf, typed=bool(flag))}")
    if about.some and not given:
        raise SettingsError(f"{called} is empty; give at least one{f' of {choices}' if choices else ''}")
    items = given if leaf.many or leaf.table else (given,)
    for one in items if choices else ():
        if one not in about.choices and not (one == "" and about.empty and not leaf.many):
            name = f"{called} {'has' if leaf.table else 'is'} {_short(one)}"
            raise SettingsError(f"{name}; choose from {choices}{near(str(one), map(str, about.choices))}")
    if leaf.each in (int, float, str):
        for one in given.values() if leaf.table else items:
            size = len(one) if isinstance(one, str) else one
            if not math.isfinite(size) or not all(holds(size, bound) for holds, _, bound in about.bounds):
                raise SettingsError(f"{called} is {_short(one)}; give {_needed(leaf, typed=bool(flag))}")
    return given


def fits(value: Any, kind: Any) -> bool:
    """Tell whether a value is of a field's kind; a whole number may stand for any number, a boolean for none."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(one, inner[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(one, inner[1]) for one in value.values())
    return isinstance(value, (int, float) if kind is float else kind) and (kind is bool or not isinstance(value, bool))


def _needed(leaf: Leaf, *, typed: bool = False) -> str:
    """What to give: 'a share between 0 and 3, such as 0.05'; `typed`: as a text."""
    about, number = leaf.about, leaf.each in (int, float)
    if about.choices and not leaf.table:
        return f"one of {', '.join(map(str, about.choices))}"
    noun = NOUNS.get(leaf.each, "a text") + (f" of {about.unit}" if about.unit and number else "")
    if about.unit in UNITS:
        noun = UNITS[about.unit].texts if typed else UNITS[about.unit].noun
    bounds = " and ".join(words.format(bound) for _, words, bound in about.bounds)
    if leaf.each is str and about.most is not None:
        bounds = f"of at most {about.most:.10g} characters"
    elif about.least is not None and about.most is not None:
        bounds = f"between {about.least:,.10g} and {about.most:,.10g}"
    such = f", such as {leaf.default:.10g}" if number and fits(leaf.default, float) else ""
    return " ".join(filter(None, (noun, bounds))) + such


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


_json = functools.partial(json.dumps, ensure_ascii=False, default=dataclasses.asdict)
BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read(leaf: Leaf, text: str) -> Any:
    """The value that a text means: the same rule for options, addresses and files.

    A tuple is `A,B` or a JSON list (of records one of objects), a table `name=value,...` or a JSON object, memory a
    number with a unit (a bare one is in GB), a record within `name=value;...` or a JSON object of what differs from its
    defaults.

    Raises SettingsError, which says what to write.
    """
    if text in leaf.about.named:
        return leaf.about.named[text]
    if text == "" and leaf.optional:
        return None
    if leaf.kind is str:
        return text
    try:
        return _load(leaf.kind, leaf.about.unit, _parts(leaf, text.strip()))
    except (LookupError, ValueError, TypeError, OverflowError, RecursionError, UnitUnknown) as error:
        words = _needed(leaf, typed=True) + (", as A,B,..." if leaf.many else "")
        if leaf.table:
            words = f"NAME={'VALUE' if leaf.each is str else 'NUMBER'},... with {words}, each name once"
        raise SettingsError(f"{leaf.flag} is {_short(text.strip())}; give {words}") from error


def _parts(leaf: Leaf, text: str) -> Any:
    """The list or the table that a text writes, in JSON or with separators; any other text as it is."""
    record = is_dataclass(leaf.kind)
    if not (leaf.many or leaf.table or record):
        return text
    if text.startswith("[" if leaf.many else "{"):
        return json.loads(text)
    words = [word.strip() for word in text.split(";" if record else ",") if word.strip()]
    if leaf.many:
        return words
    pairs = dict([part.strip() for part in word.split("=", 1)] for word in words)
    if len(pairs) < len(words) or not all(pairs) or not (record or all(pairs.values())):
        raise ValueError(text)
    return pairs


def _load(kind: Any, unit: str, given: Any) -> Any:
    """The value of a kind that plain JSON means, or a text in it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        parts = [part.strip() for part in given.split("+")] if isinstance(given, str) else given  # a tuple in a tuple
        if not isinstance(parts, list):
            raise TypeError(given)
        return tuple(_load(inner[0], unit, part) for part in parts)
    if origin is dict:
        return {name: _load(inner[1], unit, value) for name, value in {**given}.items()}
    if is_dataclass(kind):
        return _load_record(kind, {**given})
    if kind is bool:
        return BOOLEANS[str(given).lower()]
    if isinstance(given, str) and kind is not str:
        if not given.isascii() or "_" in given:
            raise ValueError(given)
        return UNITS[unit].read(given) if unit in UNITS else kind(given)
    if not fits(given, float if kind is int else kind) or (kind is int and int(given) != given):
        raise TypeError(given)
    return kind(given)


def _load_record(kind: Any, given: Mapping[str, Any]) -> Any:
    """A record: of settings, those that differ from its defaults; else every field, of its kind, and no more."""
    if leaves(kind):
        return put(kind(), by_name(leaves(kind), given.items()))
    hints = get_type_hints(kind)
    made = kind(**{name: _load(hints[name], "", value) for name, value in given.items()})
    if json.loads(_json(made)) != given:
        raise TypeError(given)
    return made


def by_name(own: Sequence[Leaf], pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Path -> value of settings that are named by their paths ('-' and '_' alike), with a text or plain JSON.

    A bare number is in the setting's own unit, as in a result's JSON.

    Raises SettingsError for a name that there is not, or a value that it cannot have.
    """
    inside = {f"{leaf.path}.{one.path}": one for leaf in own if is_dataclass(leaf.kind) for one in leaves(leaf.kind)}
    by_path = {leaf.path: leaf for leaf in own} | inside
    values: dict[str, Any] = {}
    for name, given in pairs:
        path = name.strip().replace("-", "_")
        if path not in by_path:
            known = ", ".join(by_path)
            raise SettingsError(f"there is no setting {name.strip()!r} here; choose from {known}{near(path, by_path)}")
        leaf = by_path[path]
        if leaf.number and leaf.about.unit == "bytes":
            with contextlib.suppress(ValueError, TypeError):
                given = float(given)  # noqa: PLW2901  in bytes
        if given in (None, "null") and leaf.optional:
            given = ""  # noqa: PLW2901  the text of None
        values[path] = read(leaf, given) if isinstance(given, str) else _load(leaf.kind, leaf.about.unit, given)
    return values


def write(leaf: Leaf, value: Any) -> str:
    """The text that `read` turns into exactly this value: as people write it, else JSON."""
    word = leaf.word(value)
    if word is not None or value is None:
        return word or ""
    if is_dataclass(value):
        return _json({one.path: new for one, new in differences(leaf.each(), value).items()})
    text = _written(leaf.about.unit, value)
    with contextlib.suppress(SettingsError):
        return text if not (leaf.many or leaf.table) or read(leaf, text) == value else _json(value)
    return _json(value)


def _written(unit: str, value: Any, sign: str = ",") -> str:
    if isinstance(value, tuple):
        return sign.join(_written(unit, one, "+") for one in value)
    if isinstance(value, dict):
        return ",".join(f"{name}={_written(unit, one)}" for name, one in value.items())
    if unit in UNITS:
        return UNITS[unit].write(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
