"""A result as one line of text: a pipe has room where a disk has none."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from workprof.records import Packed, pack
from workprof.store.entry_files import About, read_arrays
from workprof.units import MIB

LARGEST_BYTES = 256 * MIB
"""Of the arrays: a larger result would be several times in memory on its way."""


@dataclass(frozen=True)
class Passed:
    """A result that came through a pipe, and its catalogue line."""

    about: About
    packed: Packed


def as_line(record: object, about: About, most_bytes: int = LARGEST_BYTES) -> dict[str, Any] | None:
    """Return what goes through the pipe; None for a result that is too large for that."""
    packed = pack(record)
    if sum(array.nbytes for array in packed.arrays.values()) > most_bytes:
        return None
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **cast(Any, packed.arrays))
    arrays = base64.b64encode(stream.getvalue()).decode("ascii")
    return {"about": vars(about), "record": packed.document, "arrays": arrays}


def from_line(line: dict[str, Any]) -> Passed:
    """Return what came through the pipe; the arrays are read-only.

    Raises:
        ValueError: (or KeyError, TypeError) when it is no such thing.
    """
    arrays = read_arrays(io.BytesIO(base64.b64decode(line["arrays"])))
    return Passed(About(**line["about"]), Packed(line["record"], arrays))
