"""Settings by the path of their name, such as `plan.headroom=0.2`: read into a record, and told of two records."""

from __future__ import annotations

import json
import types
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from workprof.errors import SettingsError
from workprof.records import Packed, pack, unpack

Record = TypeVar("Record")


def with_settings(record: Record, texts: Sequence[str]) -> Record:
    """Return a record of settings with other values at some paths.

    Args:
        record: to begin with.
        texts: NAME=VALUE each; the value of a text as it is, of several names either A,B or JSON, else JSON.

    Raises:
        SettingsError: for a name that there is not, or a value that it cannot have.
    """
    document = pack(record).document
    known = _leaves(record)
    for text in texts:
        path, value = _split(text, known)
        *within, last = path.split(".")
        place = document
        for name in within:
            place = place[name]
        place[last] = value
    try:
        made = unpack(type(record), Packed(document, {}))
    except (KeyError, TypeError, AttributeError) as error:
        raise _refused(texts) from error
    if not _fits(made, type(record)) or not _alike(pack(made).document, document):
        raise _refused(texts)
    return made


def differences(before: object, after: object) -> tuple[str, ...] | None:
    """Return the texts with which `with_settings` makes one record of another; None where no text can say it."""
    known, wanted = _leaves(before), _leaves(after)
    differ = [path for path, value in wanted.items() if value != known[path]]
    if any(isinstance(known[path], str) and not isinstance(wanted[path], str) for path in differ):
        return None
    return tuple(f"{path}={_text(known[path], wanted[path])}" for path in differ)


def _text(before: object, value: object) -> str:
    return str(value) if isinstance(before, str) else json.dumps(pack(value).document, ensure_ascii=False)


def _split(text: str, known: dict[str, Any]) -> tuple[str, Any]:
    """Return the path and the value, as it is kept, of NAME=VALUE."""
    path, told, value = text.partition("=")
    path = path.strip().replace("-", "_")
    if not told:
        raise SettingsError(f"{text!r} is not NAME=VALUE; names are those that `workprof runs show --json` tells")
    if path not in known:
        raise SettingsError(f"there is no setting {path!r} here; choose from {', '.join(known)}")
    if isinstance(known[path], str):
        return path, value
    if isinstance(known[path], tuple) and not value.lstrip().startswith("["):
        return path, [name.strip() for name in value.split(",") if name.strip()]
    try:
        return path, json.loads(value)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is {value!r}; give a number, true, false, null, or JSON") from error


def _leaves(record: Any, prefix: str = "") -> dict[str, Any]:
    """Return path -> value of every setting that is no record itself."""
    found: dict[str, Any] = {}
    for one in fields(record):
        value = getattr(record, one.name)
        inside = is_dataclass(value) and not isinstance(value, type)
        found |= _leaves(value, f"{prefix}{one.name}.") if inside else {f"{prefix}{one.name}": value}
    return found


def _fits(value: Any, kind: Any) -> bool:
    """Return whether a value is of the kind that its field says; what is read from JSON may be anything."""
    origin, within = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in within)
    if origin is tuple:
        alike = len(within) == 2 and within[1] is Ellipsis  # tuple[X, ...]
        kinds = (within[0],) * len(value) if alike else within
        return len(kinds) == len(value) and all(map(_fits, value, kinds))
    if origin is dict:
        return isinstance(value, dict) and all(_fits(item, within[1]) for item in value.values())
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return isinstance(value, kind) and all(_fits(getattr(value, name), hint) for name, hint in hints.items())
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _alike(made: Any, given: Any) -> bool:
    """Return whether a record was made of all that was given, no more; a whole number may stand for any."""
    if isinstance(given, dict) and isinstance(made, dict):
        return made.keys() == given.keys() and all(_alike(made[name], given[name]) for name in given)
    if isinstance(given, list) and isinstance(made, list):
        return len(made) == len(given) and all(map(_alike, made, given))
    return isinstance(made, bool) == isinstance(given, bool) and bool(made == given)


def _refused(texts: Sequence[str]) -> SettingsError:
    return SettingsError(f"{', '.join(texts)}: a value of another kind than the setting has; see `workprof runs show`")
