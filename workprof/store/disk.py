"""The disk below a folder: told apart from other faults when it is full, in words that say what to do."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from workprof.errors import DiskFull
from workprof.units import format_bytes

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""No space, no quota, and a file longer than this process may write."""

WORDS = tuple(os.strerror(number) for number in FULL)
"""How DuckDB tells the same: it passes on what the operating system says."""


def is_full(error: BaseException) -> bool:
    """Tell whether an error of Python's or DuckDB's says that there was no room to write."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in FULL
    return any(words in str(error) for words in WORDS)


def free_bytes(folder: Path) -> int:
    """Return the free bytes of the disk that a folder is (or would be) on."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    return shutil.disk_usage(place).free


def no_room(folder: Path, what: str, instead: str = "give another home with --home or WORKPROF_HOME") -> DiskFull:
    """Return the refusal of something that found no room: what, how much is free, what to do."""
    free = format_bytes(free_bytes(folder))
    return DiskFull(f"{what}: no room on the disk of {folder} ({free} free); free some space, or {instead}")


@contextlib.contextmanager
def room_in(folder: Path, what: str) -> Iterator[None]:
    """Turn the error of a full disk into a refusal; every other error passes.

    Args:
        folder: that the body writes into.
        what: became of the work, such as 'x.csv was not loaded'.

    Raises:
        DiskFull: says what, how much is free and what to do.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, DiskFull) or not is_full(error):
            raise
        raise no_room(folder, what) from error
