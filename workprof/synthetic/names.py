"""Anonymised names as the trace has them: hexadecimal strings of a fixed length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

JOB_DIGITS, INSTANCE_DIGITS, USER_DIGITS, GROUP_DIGITS, MACHINE_DIGITS = 24, 60, 12, 32, 24
"""Digits of job_name; of inst_id, inst_name and worker_name; of user; of group; of machine (trace)."""


def hex_names(rng: np.random.Generator, count: int, digits: int) -> Any:
    """Return a string array of `count` random hexadecimal names of `digits` digits (an even number).

    Names are built in one buffer, since a Python loop over 10 million of them would take minutes.
    """
    text = rng.bytes(count * digits // 2).hex().encode("ascii")
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(digits)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text))


def take_names(names: Any, indices: NDArray[Any]) -> Any:
    """Return the string array of `names` at `indices`, one per row."""
    return names.take(pa.array(indices))
