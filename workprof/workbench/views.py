"""What every page shows of a dataset's table, read once: a dataset's rows never change under its hash."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, cast

View = TypeVar("View")


class Views:
    """Small summaries of tables by (dataset hash, question), the ones asked for last; safe to share between threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, key: tuple[str, str], read: Callable[[], View]) -> View:
        """Return what is kept under a key, or read and keep it; two who ask at once may both read."""
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast(View, self._kept[key])
        found = read()
        with self._guard:
            self._kept[key] = found
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found
