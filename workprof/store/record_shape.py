"""Whether a record that was read holds what its annotations say: a file may hold any JSON.

`records.unpack` takes each value as it comes; a count that is a text would be noticed only where it is shown.
"""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any, Union

import numpy as np

MOST_SHOWN = 60
LARGEST = 2**63 - 1
"""No count of ours is larger, and neither Arrow nor a browser takes one that is."""


def misfit(kind: Any, value: Any, where: str = "it") -> str:
    """Return what is wrong with a value that should be of an annotated kind; '' where it fits.

    Args:
        kind: a class, or an annotation of a record's field.
        value: as unpacked.
        where: the value stands, for people.
    """
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return ""
    if origin in (Union, types.UnionType):
        return "" if any(not misfit(one, value) for one in inner) else _wrong(where, value)
    if isinstance(kind, type) and is_dataclass(kind):
        return _misfit_of_fields(kind, value, where)
    if origin is tuple:
        return _misfit_of_tuple(inner, value, where)
    if origin is dict:
        return _misfit_of_dict(inner[1], value, where)
    return "" if _is(origin or kind, value) else _wrong(where, value)


def _misfit_of_fields(kind: type, value: Any, where: str) -> str:
    if not isinstance(value, kind):
        return _wrong(where, value)
    hints = typing.get_type_hints(kind)
    found = (misfit(hints[one.name], getattr(value, one.name), one.name) for one in fields(kind))
    return next(filter(None, found), "")


def _misfit_of_tuple(kinds: tuple[Any, ...], value: Any, where: str) -> str:
    if not isinstance(value, tuple):
        return _wrong(where, value)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        return _wrong(where, value)
    return next(filter(None, (misfit(kind, one, where) for kind, one in zip(kinds, value, strict=True))), "")


def _misfit_of_dict(kind: Any, value: Any, where: str) -> str:
    if not isinstance(value, dict) or not all(_is(str, key) for key in value):
        return _wrong(where, value)
    return next(filter(None, (misfit(kind, one, f"{where} {key}") for key, one in value.items())), "")


def _is(kind: Any, value: Any) -> bool:
    if kind is typing.Literal:
        return isinstance(value, (str, int))
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
    if kind is str:
        return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)
    return isinstance(value, np.ndarray if kind is np.ndarray else kind)


def _wrong(where: str, value: Any) -> str:
    shown = ascii(value)
    return f"{where} is {shown if len(shown) <= MOST_SHOWN else shown[:MOST_SHOWN] + '...'}"
