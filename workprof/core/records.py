"""Records as JSON and arrays, and back; no other kind of file is ever read."""

import functools
import hashlib
import json
import math
import types
import typing
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

Record = TypeVar("Record")
Arrays = dict[str, NDArray[Any]]

_ARRAY = "$array"
_FLOAT = "$float"
_PLAIN = (str, int, bool, type(None))  # most values: looked for first


@dataclass(frozen=True)
class Packed:
    """A record in its stored form."""

    document: Any  # JSON-able tree with references to arrays
    arrays: Arrays  # the arrays by reference


@dataclass(frozen=True)
class Made:
    """A result, and by-products of its making that are worth keeping under keys of their own."""

    record: Any  # the result itself
    extras: dict[str, Any]  # step name -> record


def pack(record: object) -> Packed:
    """The stored form of a record; raises TypeError for a value that has no safe stored form."""
    arrays: Arrays = {}
    return Packed(_to_document(record, "r", arrays), arrays)


def unpack(cls: type[Record], packed: Packed) -> Record:
    """The record of class `cls` that `pack` took apart."""
    result: Record = _from_document(cls, packed.document, packed.arrays)
    return result


def canonical_json(record: object) -> str:
    """One text per value of a settings record: sorted keys, no spaces.

    Raises TypeError when the record holds arrays.
    """
    packed = pack(record)
    if packed.arrays:
        raise TypeError("a settings record holds no arrays")
    return json.dumps(packed.document, sort_keys=True, separators=(",", ":"))


def digest(text: str, *, size: int = 16) -> str:
    """The blake2b of a text as hexadecimal digits (2 per byte)."""
    return hashlib.blake2b(text.encode(), digest_size=size).hexdigest()


def to_json(value: object) -> Any:
    """A plain JSON tree for people and scripts: arrays as lists, NaN and infinities as null."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return [to_json(item) for item in value.tolist()]
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, np.generic):
        return to_json(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _to_document(value: object, path: str, arrays: Arrays) -> Any:
    if type(value) in _PLAIN or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufUSM":
            raise TypeError(f"{path}: an array of {value.dtype} has no safe stored form")
        arrays[path] = value
        return {_ARRAY: path}
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _to_document(getattr(value, f.name), f"{path}.{f.name}", arrays) for f in fields(value)}
    if isinstance(value, dict):
        return {_text_key(key, path): _to_document(item, f"{path}.{key}", arrays) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_to_document(item, f"{path}.{i}", arrays) for i, item in enumerate(value)]
    if isinstance(value, np.generic):
        return _to_document(value.item(), path, arrays)
    if isinstance(value, float) and not math.isfinite(value):
        return {_FLOAT: repr(value)}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"{path}: {type(value).__name__} has no safe stored form")


def _text_key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{path}: key {key!r} is not a text")
    return key


def _from_document(kind: Any, document: Any, arrays: Arrays) -> Any:
    if (kind in _PLAIN and type(document) is not dict) or (kind is float and type(document) is float):
        return document
    if isinstance(document, dict) and _ARRAY in document:
        return arrays[document[_ARRAY]]
    if isinstance(document, dict) and _FLOAT in document:
        return float(document[_FLOAT])
    origin = typing.get_origin(kind)
    if origin in (Union, types.UnionType):
        return _from_union(typing.get_args(kind), document, arrays)
    if isinstance(kind, type) and is_dataclass(kind):
        return _from_fields(kind, document, arrays)
    if origin is tuple:
        return _from_tuple(typing.get_args(kind), document, arrays)
    if origin is dict:
        value_kind = typing.get_args(kind)[1]
        return {key: _from_document(value_kind, item, arrays) for key, item in document.items()}
    if kind is float and isinstance(document, int):
        return float(document)
    return document


def _from_union(kinds: tuple[Any, ...], document: Any, arrays: Arrays) -> Any:
    if document is None:
        return None
    rest = [kind for kind in kinds if kind is not type(None)]
    return _from_document(rest[0], document, arrays)


def _from_fields(kind: type, document: Any, arrays: Arrays) -> Any:
    kinds = _kinds(kind)
    return kind(**{name: _from_document(kinds[name], item, arrays) for name, item in document.items() if name in kinds})


@functools.cache
def _kinds(kind: Any) -> dict[str, Any]:
    """Field -> its type: looked up once, as reading a catalogue makes the same records over and over."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _from_tuple(kinds: tuple[Any, ...], document: Any, arrays: Arrays) -> tuple[Any, ...]:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_from_document(kinds[0], item, arrays) for item in document)
    return tuple(_from_document(kind, item, arrays) for kind, item in zip(kinds, document, strict=True))
