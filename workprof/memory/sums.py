"""Sums by code, part by part of a table."""

from __future__ import annotations

import numpy as np

from workprof.core.arrays import Floats, Ints


class Sums:
    """Several sums of each code; codes may be new."""

    def __init__(self) -> None:
        self._room, self._n = np.zeros((0, 0)), 0

    def add(self, codes: Ints, values: Floats) -> None:
        """Add (sums, m) to those of (m,) different codes."""
        self._n = max(self._n, int(codes.max(initial=-1)) + 1)
        if self._n > self._room.shape[1]:
            room = np.zeros((len(values), max(self._n, self._room.shape[1] * 5 // 4)))
            room[: len(self._room), : self._room.shape[1]] = self._room
            self._room = room
        self._room[:, codes] += values

    @property
    def of(self) -> Floats:
        """(sums, codes)."""
        return self._room[:, : self._n]
