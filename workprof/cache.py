"""Content-addressed results: one computation per key, bounded memory over bounded disk, no pickles.

An entry is a folder (see `workprof.store.entry_files`). It is written aside and renamed into place, so a killed process
leaves no half entry. An entry that cannot be read is removed and computed again. A pinned entry holds an empty file
`pinned`; it stays when the disk's share is full and others go. A result for which there is no room on the disk, or that
may not be written there, is kept in memory, and `unkept` says so.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from workprof.errors import SettingsError
from workprof.records import digest, pack
from workprof.store.disk import is_full, no_room, room_in
from workprof.store.entry_files import (
    ABOUT,
    ARRAYS,
    DOCUMENT,
    UNREADABLE,
    About,
    read_about,
    read_entry,
    write_entry,
)

__all__ = ["ABOUT", "ARRAYS", "DOCUMENT", "About", "KeptEntry", "ResultCache", "read_entry", "write_entry"]

Record = TypeVar("Record")

LOG = logging.getLogger(__name__)
PINNED = "pinned"
MOST_PINNED_SHARE = 0.5
"""Of the disk's share: what is pinned leaves the other half to what comes and goes."""


@dataclass(frozen=True)
class KeptEntry:
    """An entry on disk: what it holds, its bytes there, and whether it stays when others go."""

    about: About
    size_bytes: int
    pinned: bool


class ResultCache:
    """Results by key; safe to share between threads of one process."""

    def __init__(self, folder: Path, *, memory_bytes: int, disk_bytes: int) -> None:
        self._folder = folder
        self._memory_bytes = memory_bytes
        self._disk_bytes = disk_bytes
        self._memory: OrderedDict[str, tuple[object, int]] = OrderedDict()
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()
        self._unkept = ""
        with contextlib.suppress(OSError):  # a home that cannot be written: what is there is read all the same
            folder.mkdir(parents=True, exist_ok=True)
        self._sweep()

    @property
    def unkept(self) -> str:
        """Why the last result could not be kept on disk, for people; empty when it was."""
        return self._unkept

    def get(self, key: str, cls: type[Record]) -> Record | None:
        """Return the record of a key, or None where nothing readable is kept."""
        with self._guard:
            kept = self._memory.get(key)
            if kept is not None:
                self._memory.move_to_end(key)
                return cast(Record, kept[0])
        return self._from_disk(key, cls)

    def put(self, key: str, record: object, about: About) -> None:
        """Keep a record under its key, replacing what was there; where the disk does not take it, in memory."""
        aside = self._aside()
        try:
            write_entry(aside, record, about)
            self.adopt(key, aside)
            self._unkept = ""
        except OSError as error:
            shutil.rmtree(aside, ignore_errors=True)
            self._remember(key, record, sum(array.nbytes for array in pack(record).arrays.values()) + 4096)
            lost = f"the result of {about.step} is shown, but could not be kept"
            self._unkept = str(no_room(self._folder, lost) if is_full(error) else f"{lost} ({error})")
            LOG.warning("%s", self._unkept)

    def adopt(self, key: str, entry: Path) -> None:
        """Take over an entry folder that another process wrote on the same disk; nothing where there is none."""
        if not entry.is_dir():
            return
        place = self._place(key)
        place.parent.mkdir(parents=True, exist_ok=True)
        with self._guard:
            self._memory.pop(key, None)
            if (place / PINNED).exists():
                (entry / PINNED).touch()
            if place.is_dir():
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink(missing_ok=True)
            entry.rename(place)
        self._trim_disk(keep=place)

    def forget(self, dataset_hash: str) -> int:
        """Remove every entry of a dataset and return how many there were."""
        gone = [place for place, about in self._entries() if about.key.startswith(f"{dataset_hash}:")]
        for place in gone:
            shutil.rmtree(place, ignore_errors=True)
        with self._guard:
            for key in [key for key in self._memory if key.startswith(f"{dataset_hash}:")]:
                del self._memory[key]
        return len(gone)

    def abouts(self) -> tuple[About, ...]:
        """Return what is kept on disk, newest first."""
        return tuple(sorted((about for _, about in self._entries()), key=lambda about: about.created, reverse=True))

    def kept(self, beginning: str = "") -> tuple[KeptEntry, ...]:
        """Return the same with size and pin; only those whose key's digest begins so (2 hexadecimal digits or more)."""
        entries = self._entries(f"{beginning[:2]}/{beginning}*" if beginning else "??/*")
        found = [KeptEntry(about, _folder_bytes(place), _is_pinned(place)) for place, about in entries]
        return tuple(sorted(found, key=lambda entry: entry.about.created, reverse=True))

    def pin(self, key: str, pinned: bool) -> bool:
        """Keep an entry whatever comes, or let it go with the others; return whether there is such an entry.

        Raises:
            SettingsError: when more than half of the disk's share would be pinned.
        """
        place = self._place(key)
        if not place.is_dir():
            return False
        if not pinned:
            (place / PINNED).unlink(missing_ok=True)
            return True
        others = [entry.size_bytes for entry in self.kept() if entry.pinned and entry.about.key != key]
        most = MOST_PINNED_SHARE * self._disk_bytes
        if sum(others) + _folder_bytes(place) > most:
            raise SettingsError(f"more than {most / 1e6:,.0f} MB of results would be pinned; unpin others first")
        with room_in(self._folder, "it was not pinned"):
            (place / PINNED).touch()
        return True

    def remove(self, key: str) -> bool:
        """Remove one entry, pinned or not; return whether there was one."""
        place = self._place(key)
        with self._guard:
            self._memory.pop(key, None)
            there = place.is_dir()
            shutil.rmtree(place, ignore_errors=True)
        return there

    @contextlib.contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Hold the one lock of a key."""
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            yield

    def _from_disk(self, key: str, cls: type[Record]) -> Record | None:
        place = self._place(key)
        if not place.is_dir():
            return None
        try:
            record, size = read_entry(place, cls)
        except UNREADABLE as error:
            _remove_damaged(place, error)
            return None
        with contextlib.suppress(OSError):  # it may be read and not written
            os.utime(place)
        self._remember(key, record, size)
        return record

    def _remember(self, key: str, record: object, size: int) -> None:
        with self._guard:
            self._memory[key] = (record, size)
            self._memory.move_to_end(key)
            while sum(kept for _, kept in self._memory.values()) > self._memory_bytes and len(self._memory) > 1:
                self._memory.popitem(last=False)

    def _place(self, key: str) -> Path:
        name = digest(key)
        return self._folder / name[:2] / name

    def _aside(self) -> Path:
        return self._folder / f"aside-{uuid.uuid4().hex}"

    def _entries(self, pattern: str = "??/*") -> Iterator[tuple[Path, About]]:
        for path in self._folder.glob(f"{pattern}/{ABOUT}"):
            try:
                yield path.parent, read_about(path.parent)
            except UNREADABLE as error:
                _remove_damaged(path.parent, error)

    def _trim_disk(self, keep: Path) -> None:
        places = [place for place in self._folder.glob("??/*") if place.is_dir()]
        sizes = {place: _folder_bytes(place) for place in places}
        total = sum(sizes.values())
        for place in sorted(places, key=_last_use):
            if total <= self._disk_bytes:
                return
            if place != keep and not _is_pinned(place):
                shutil.rmtree(place, ignore_errors=True)
                total -= sizes[place]

    def _sweep(self) -> None:
        for left in self._folder.glob("aside-*"):
            shutil.rmtree(left, ignore_errors=True)


def _remove_damaged(place: Path, error: BaseException) -> None:
    """Remove an entry that cannot be read, unless only this process cannot: for lack of memory, files or rights."""
    if isinstance(error, FileNotFoundError) or not isinstance(error, (OSError, MemoryError)):
        shutil.rmtree(place, ignore_errors=True)


def _folder_bytes(place: Path) -> int:
    total = 0
    for path in place.glob("*"):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total


def _is_pinned(place: Path) -> bool:
    return (place / PINNED).exists()


def _last_use(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0
