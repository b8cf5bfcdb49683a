"""Content-addressed results: one computation per key, bounded memory over bounded disk, no pickles.

An entry is a folder (see `workprof.store.entry_files`). It is written aside and renamed into place, so a killed process
leaves no half entry. An entry that cannot be read is removed and computed again. A pinned entry holds an empty file
`pinned`; it stays when the disk's share is full and others go. A result for which there is no room on the disk, or that
may not be written there, is kept in memory until it can be, and `unsaved` says so.
"""

import contextlib
import errno
import logging
import os
import shutil
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from workprof.core.errors import SettingsError
from workprof.core.progress import Progress
from workprof.core.records import Packed, digest, pack, unpack
from workprof.store.claims import Claim, claim, claimed
from workprof.store.entries import (
    ABOUT,
    ARRAYS,
    DOCUMENT,
    EVERY,
    PINNED,
    UNREADABLE,
    About,
    InMemory,
    ResultsInMemory,
    bytes_in_memory,
    entries_of,
    folder_bytes,
    is_pinned,
    read_about,
    read_entry,
    read_packed,
    remove_damaged,
    trim,
    write_entry,
)
from workprof.store.home import FILE, free_bytes, is_full, make_folder, no_room, room_in

__all__ = ["ABOUT", "ARRAYS", "DOCUMENT", "About", "CachedEntry", "ResultCache", "read_entry", "write_entry"]

Record = TypeVar("Record")

LOG = logging.getLogger(__name__)
MOST_PINNED_SHARE = 0.5
"""Of the disk's share: what is pinned leaves the other half to what comes and goes."""
UNTIL_THEN = "give another home with --home or WORKPROF_HOME; until there is room it is in this process's memory alone"
TRY_AGAIN_S = 2.0
"""Between two looks whether the disk takes by now what it did not take."""


@dataclass(frozen=True)
class CachedEntry:
    """An entry on disk: what it holds, its bytes there, and whether it stays when others go."""

    about: About
    size_bytes: int
    pinned: bool


class ResultCache:
    """Results by key; safe to share between threads, and its folder between processes."""

    def __init__(self, folder: Path, *, memory_bytes: int, disk_bytes: int, sweep: bool = True) -> None:
        """Take a folder, made where absent; results in memory and on disk have their bytes.

        A sweep removes what killed processes left; only where no other process writes there.
        """
        self._folder, self._claims = folder, folder / "claims"
        self._disk_bytes = disk_bytes
        self._memory = ResultsInMemory(memory_bytes)
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()
        self._unsaved, self._tried = "", 0.0
        with contextlib.suppress(OSError):  # a home that cannot be written: what is there is read all the same
            make_folder(folder)
        if sweep:
            self._sweep()

    @property
    def unsaved(self) -> str:
        """Why some result could not be kept on disk, for people; empty when all are, or were let go.

        Who asks has it tried again, now and then: a page that only waits for room asks for nothing else.
        """
        if self._memory.unsaved() and time.monotonic() - self._tried > TRY_AGAIN_S:
            self.save_rest()
        return self._unsaved if self._memory.unsaved() else ""

    def get(self, key: str, cls: type[Record]) -> Record | None:
        """The record of a key, or None where nothing readable is kept."""
        in_memory = self._memory.get(key)
        if in_memory is None:
            return self._from_disk(key, cls)
        if isinstance(in_memory.record, Packed):
            in_memory = replace(in_memory, record=unpack(cls, in_memory.record))
            self._memory.remember(key, in_memory)
        if in_memory.unsaved is not None and time.monotonic() - self._tried > TRY_AGAIN_S:
            self.save_rest()
        return cast(Record, in_memory.record)

    def put(self, key: str, record: object, about: About) -> None:
        """Keep a record under its key, replacing what was there; where the disk does not take it, in memory."""
        try:
            self._write(key, record, about)
        except OSError as error:
            packed = record if isinstance(record, Packed) else pack(record)
            self._memory.remember(key, InMemory(record, bytes_in_memory(packed), about))
            self._note_unsaved(about, error)

    def save_rest(self) -> None:
        """Write to the disk what it did not take, as far as it does by now."""
        self._tried = time.monotonic()
        for key, one in self._memory.unsaved().items():
            if one.unsaved is None or free_bytes(self._folder) < one.size_bytes:
                return
            try:
                self._write(key, one.record, one.unsaved)
            except OSError:
                return

    def take(self, key: str, entry: Path) -> None:
        """Take over an entry folder that another process wrote; where the disk does not take it, in memory."""
        try:
            self.adopt(key, entry)
        except OSError as error:
            packed, about = read_packed(entry), read_about(entry)
            self._memory.remember(key, InMemory(packed, bytes_in_memory(packed), about))
            self._note_unsaved(about, error)

    def take_all(self, other: "ResultCache") -> None:
        """Take over what another cache holds on disk, which is then empty."""
        for place, about in entries_of(other._folder):
            self.take(about.key, place)

    def _write(self, key: str, record: object, about: About) -> None:
        aside = self._folder / f"aside-{uuid.uuid4().hex}"
        try:
            write_entry(aside, record, about)
            self.adopt(key, aside)
        except OSError:
            shutil.rmtree(aside, ignore_errors=True)
            raise

    def _note_unsaved(self, about: About, error: OSError) -> None:
        lost = f"the result of {about.step} is shown, but could not be kept"
        self._unsaved = str(no_room(self._folder, lost, UNTIL_THEN) if is_full(error) else f"{lost} ({error})")
        LOG.warning("%s", self._unsaved)

    def adopt(self, key: str, entry: Path) -> None:
        """Take over an entry folder that another process wrote on the same disk; nothing where there is none."""
        if not entry.is_dir():
            return
        place = self._place(key)
        make_folder(place.parent)
        with self._guard:
            if (place / PINNED).exists():
                (entry / PINNED).touch(FILE)
            if place.is_dir():
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink(missing_ok=True)
            try:
                entry.rename(place)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                shutil.rmtree(entry, ignore_errors=True)  # another process has just written the same
            self._memory.forget(key)
        trim(self._folder, self._disk_bytes, spared=place)

    def forget(self, dataset_hash: str) -> int:
        """Remove every entry of a dataset and of its scopes, and return how many there were."""
        own = (f"{dataset_hash}:", f"{dataset_hash}?")
        gone = [place for place, about in entries_of(self._folder) if about.key.startswith(own)]
        for place in gone:
            shutil.rmtree(place, ignore_errors=True)
        self._memory.forget_beginning(own)
        return len(gone)

    def abouts(self) -> tuple[About, ...]:
        """What is kept on disk, newest first."""
        return tuple(
            sorted((about for _, about in entries_of(self._folder)), key=lambda about: about.created, reverse=True)
        )

    @property
    def empty(self) -> bool:
        """Whether nothing is kept on disk."""
        return next(entries_of(self._folder), None) is None

    def entries(self, beginning: str = "") -> tuple[CachedEntry, ...]:
        """The same with size and pin; only those whose key's digest begins so (2 hexadecimal digits or more)."""
        places = entries_of(self._folder, f"{beginning[:2]}/{beginning}*" if beginning else EVERY)
        result = [CachedEntry(about, folder_bytes(place), is_pinned(place)) for place, about in places]
        return tuple(sorted(result, key=lambda entry: entry.about.created, reverse=True))

    def pin(self, key: str, pinned: bool) -> bool:
        """Keep an entry whatever comes, or let it go with the others; return whether there is such an entry.

        Raises SettingsError when more than half of the disk's share would be pinned.
        """
        place = self._place(key)
        if not place.is_dir():
            return False
        if not pinned:
            (place / PINNED).unlink(missing_ok=True)
            return True
        others = [entry.size_bytes for entry in self.entries() if entry.pinned and entry.about.key != key]
        most = MOST_PINNED_SHARE * self._disk_bytes
        if sum(others) + folder_bytes(place) > most:
            raise SettingsError(f"more than {most / 1e6:,.0f} MB of results would be pinned; unpin others first")
        with room_in(self._folder, "it was not pinned"):
            (place / PINNED).touch(FILE)
        return True

    def remove(self, key: str) -> bool:
        """Remove one entry, pinned or not; return whether there was one."""
        place = self._place(key)
        with self._guard:
            self._memory.forget(key)
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

    def claim(self, key: str) -> Claim:
        """Take the claim on a key against other processes and jobs, or learn who has it."""
        return claim(self._claims / digest(key))

    @contextlib.contextmanager
    def claimed(self, key: str, progress: Progress) -> Iterator[None]:
        """Hold the claim on a key; `progress` is told while it is waited for."""
        with claimed(self._claims / digest(key), partial(progress, None)):
            yield

    def has(self, key: str) -> bool:
        """Whether the disk holds something under a key."""
        return self._place(key).is_dir()

    def _from_disk(self, key: str, cls: type[Record]) -> Record | None:
        place = self._place(key)
        if not place.is_dir():
            return None
        try:
            record, size = read_entry(place, cls)
        except UNREADABLE as error:
            remove_damaged(place, error)
            return None
        with contextlib.suppress(OSError):  # it may be read and not written
            os.utime(place)
        self._memory.remember(key, InMemory(record, size))
        return record

    def _place(self, key: str) -> Path:
        name = digest(key)
        return self._folder / name[:2] / name

    def _sweep(self) -> None:
        for left in (*self._folder.glob("aside-*"), self._claims):
            shutil.rmtree(left, ignore_errors=True)
