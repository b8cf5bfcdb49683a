"""JSON documents of the database as records again; a damaged or foreign one is told, never believed."""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from workprof.errors import WorkprofError
from workprof.records import Arrays, Packed, unpack
from workprof.store.entry_files import UNREADABLE
from workprof.store.record_shape import misfit

Record = TypeVar("Record")

LONGEST_REASON = 200
OTHER_SHAPE = "it holds something else"


@dataclass(frozen=True)
class Unreadable:
    """Why something that is kept about a dataset cannot be read, for people."""

    reason: str


def stored(kind: type[Record], document: object, arrays: object = None) -> Record | Unreadable:
    """Return the record that a text of JSON holds (and a blob of arrays, where there is one), or why it is none.

    Args:
        kind: the record's class, or the annotation of a field.
        document: as the database returns it; anything may stand there.
        arrays: npz, where the record has arrays.
    """
    try:
        record = unpack(kind, Packed(_tree(document), _arrays(arrays)))
        wrong = misfit(kind, record)
    except MemoryError:  # that says nothing about the document
        raise
    except UNREADABLE as error:
        wrong = _in_words(error)
    return Unreadable(wrong) if wrong else record


def _in_words(error: BaseException) -> str:
    """Return what a reader said, where it is meant for people."""
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON: {error}"[:LONGEST_REASON]
    told = isinstance(error, (_Odd, WorkprofError))
    return ascii(str(error))[1:-1][:LONGEST_REASON] if told else OTHER_SHAPE


class _Odd(ValueError):
    """A reason for people."""


def _tree(document: object) -> Any:
    if not isinstance(document, str):
        raise _Odd(f"there is {'nothing' if document is None else type(document).__name__} where JSON belongs")
    return json.loads(document, parse_float=_finite, parse_constant=_finite)


def _finite(number: str) -> float:
    """Return a number; ours are never written as NaN or Infinity, nor beyond what a float holds."""
    value = float(number)
    if not math.isfinite(value):
        raise _Odd(f"{number[:20]} is no number that is ever kept")
    return value


def _arrays(blob: object) -> Arrays:
    if blob is None:
        return {}
    if not isinstance(blob, bytes):
        raise _Odd(f"there is {type(blob).__name__} where arrays belong")
    with np.load(io.BytesIO(blob), allow_pickle=False) as kept:
        return {name: kept[name] for name in kept.files}
