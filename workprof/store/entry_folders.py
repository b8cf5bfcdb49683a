"""The folders of kept results on disk: found, measured, and cleared away by age."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from workprof.store.entry_files import ABOUT, UNREADABLE, About, read_about

EVERY = "??/*"
PINNED = "pinned"
"""Empty file of an entry that stays when others go."""


def entries_of(folder: Path, pattern: str = EVERY) -> Iterator[tuple[Path, About]]:
    """Yield the entries of a cache's folder; damaged ones are removed."""
    for path in folder.glob(f"{pattern}/{ABOUT}"):
        try:
            yield path.parent, read_about(path.parent)
        except UNREADABLE as error:
            remove_damaged(path.parent, error)


def remove_damaged(place: Path, error: BaseException) -> None:
    """Remove an entry that cannot be read, unless only this process cannot: for lack of memory, files or rights."""
    if isinstance(error, FileNotFoundError) or not isinstance(error, (OSError, MemoryError)):
        shutil.rmtree(place, ignore_errors=True)


def trim(folder: Path, most_bytes: int, keep: Path) -> None:
    """Remove the entries used longest ago until the rest fits; pinned ones and `keep` stay."""
    places = [place for place in folder.glob(EVERY) if place.is_dir()]
    sizes = {place: folder_bytes(place) for place in places}
    total = sum(sizes.values())
    for place in sorted(places, key=_last_use):
        if total <= most_bytes:
            return
        if place != keep and not is_pinned(place):
            shutil.rmtree(place, ignore_errors=True)
            total -= sizes[place]


def folder_bytes(place: Path) -> int:
    """Return the bytes of an entry's files."""
    total = 0
    for path in place.glob("*"):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total


def is_pinned(place: Path) -> bool:
    """Tell whether an entry stays when others go."""
    return (place / PINNED).exists()


def _last_use(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0
