"""What a home holds is for its owner alone, whatever the umask: folders 0700, files 0600.

What DuckDB writes by itself follows the umask; it is narrowed as soon as it is there, and the folder around it is
closed already.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import IO

FOLDER, FILE = 0o700, 0o600
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_folder(path: Path, *, fresh: bool = False) -> None:
    """Make a folder that its owner alone can enter; the ones above it are made as usual, one that is there is kept.

    Raises:
        FileExistsError: when something is there already and must not be (`fresh`), or is no folder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(FOLDER)
    except FileExistsError:
        if fresh or not path.is_dir():
            raise
    else:
        path.chmod(FOLDER)


def open_private(path: Path, mode: str, *, newline: str | None = None, errors: str | None = None) -> IO[str]:
    """Open a text file (UTF-8) to write; a new one is its owner's alone."""
    return open(path, mode, encoding="utf-8", newline=newline, errors=errors, opener=_opener)


def open_private_bytes(path: Path) -> IO[bytes]:
    """Open a file of bytes to write; a new one is its owner's alone."""
    return open(path, "wb", opener=_opener)


def write_private(path: Path, text: str) -> None:
    """Write a text file that is its owner's alone."""
    with open_private(path, "w") as stream:
        stream.write(text)


def narrow(path: Path) -> None:
    """Take a file that another library wrote from everybody but its owner; nothing where there is none."""
    with contextlib.suppress(OSError):  # not there, or not ours: then it is told (see `advice`)
        path.chmod(FILE)


def advice(folder: Path, more: Iterable[Path]) -> str:
    """Return how to close a folder that others can look into, or whose parts they could; '' where nobody can."""
    found = []
    for path in (folder, *more):
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & OTHERS:
                found.append(f"{path.name if path != folder else 'its folder'} {mode:04o}")
    if os.name != "posix" or not found:
        return ""
    return (
        f"home {folder} is open to other users of this machine ({', '.join(found)}); to close it: "
        f"chmod -R go-rwx {shlex.quote(str(folder))}"
    )


def _opener(name: str, flags: int) -> int:
    return os.open(name, flags, FILE)
