"""Results in memory: bounded bytes, those used last; the ones for which the disk had no room are let go last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from workprof.store.entry_files import About


@dataclass(frozen=True)
class InMemory:
    """A result, or its packed form, in memory.

    Attributes:
        size_bytes: of its arrays, and some for the rest.
        unkept: its catalogue line where it is nowhere else; None where it is on disk.
    """

    record: object
    size_bytes: int
    unkept: About | None = None


class ResultsInMemory:
    """Results by key; safe to share between threads."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, InMemory] = OrderedDict()
        self._guard = threading.Lock()

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them."""
        with self._guard:
            return sum(one.size_bytes for one in self._kept.values())

    def get(self, key: str) -> InMemory | None:
        """Return what is there under a key, which is then the one used last."""
        with self._guard:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def remember(self, key: str, one: InMemory) -> None:
        """Keep a result under its key; others go when there are too many bytes, the last one never."""
        with self._guard:
            self._kept[key] = one
            self._kept.move_to_end(key)
            while sum(kept.size_bytes for kept in self._kept.values()) > self._most_bytes and len(self._kept) > 1:
                others = list(self._kept)[:-1]
                on_disk = (name for name in others if self._kept[name].unkept is None)
                del self._kept[next(on_disk, others[0])]

    def forget(self, key: str) -> None:
        """Let a result go."""
        with self._guard:
            self._kept.pop(key, None)

    def forget_beginning(self, beginning: str) -> None:
        """Let go of every result whose key begins so."""
        with self._guard:
            for key in [key for key in self._kept if key.startswith(beginning)]:
                del self._kept[key]

    def unkept(self) -> dict[str, InMemory]:
        """Return what is nowhere else, by key."""
        with self._guard:
            return {key: one for key, one in self._kept.items() if one.unkept is not None}
