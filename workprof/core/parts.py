"""Parts of one long computation, kept as they are done, so that one that was killed goes on where it was."""

import contextlib
import contextvars
import os
import shutil
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from workprof.core.records import Arrays, digest

PARTS = "parts"
"""Folder of a home that holds them: by dataset, then by computation; gone when its result is made."""
MAX_AGE_S = 7 * 86_400
"""After this time nobody goes on with them."""

_folder: contextvars.ContextVar[Path | None] = contextvars.ContextVar("parts", default=None)


def parts_of(home: Path, key: str) -> Path:
    """The folder for the parts of a result, whose key begins with the hash of the dataset or of a scope of it."""
    return home / PARTS / key.partition(":")[0].partition("?")[0] / digest(key)


def sweep_parts(home: Path) -> None:
    """Remove what nobody goes on with."""
    for folder in (home / PARTS).glob("*/*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > MAX_AGE_S:
                shutil.rmtree(folder)


@contextlib.contextmanager
def parts_in(folder: Path | None) -> Iterator[None]:
    """Have the parts of the computation inside this context kept in a folder; None = nowhere."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def has_part(name: str) -> bool:
    """Whether a part is there, whole; a damaged one is removed."""
    folder = _folder.get()
    if folder is None:
        return False
    place = folder / f"{name}.npz"
    try:
        with zipfile.ZipFile(place) as stored:
            whole = stored.testzip() is None
    except (OSError, zipfile.BadZipFile):
        whole = False
    if not whole:
        place.unlink(missing_ok=True)
    return whole


def read_part(name: str) -> Arrays:
    """The arrays of a part that `has_part`."""
    with np.load((_folder.get() or Path()) / f"{name}.npz", allow_pickle=False) as stored:
        return dict(stored)


def write_part(name: str, arrays: Arrays) -> None:
    """Keep the arrays of a part, whole or not at all; where there is no room for it, it would be computed again."""
    folder = _folder.get()
    if folder is None or (folder / f"{name}.npz").exists():
        return
    aside = folder / f"{name}.{os.getpid()}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
                np.savez(stream, allow_pickle=False, **arrays)
            aside.replace(folder / f"{name}.npz")
        finally:
            aside.unlink(missing_ok=True)
