"""The runs of one task in the order in which a replay meets them, and what every policy does with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.memory.retry import RetrySettings, Sizes

REFIT_EACH = 1000
"""Up to so many known runs a policy whose fit looks at all of them is fitted anew for every run."""

REFIT_GROWTH = 0.02
"""Beyond, it is fitted anew whenever the known runs have grown by this share."""


@dataclass(frozen=True)
class Sequence:
    """The runs of one task in order; the first `n_known` are history from the start.

    Attributes:
        task: name.
        used_bytes: (n,) what they used.
        hours: (n,) run times.
        requested_bytes: (n,) what was asked for; NaN where nothing was.
        inputs: (n,) size of the input, all 0 where a replay has none.
        n_known: runs of the initial history, 2 or more; the others are sized one after another.
        mean_run_byte_h: bytes x hours of the mean run of the initial histories of all tasks: the unit of prices.
        seed: for policies that draw.
    """

    task: str
    used_bytes: Floats
    hours: Floats
    requested_bytes: Floats
    inputs: Floats
    n_known: int
    mean_run_byte_h: float
    seed: int = 0

    def __len__(self) -> int:
        return len(self.used_bytes)

    @property
    def n_sized(self) -> int:
        """Runs after the initial history."""
        return len(self) - self.n_known

    @property
    def max_seen_bytes(self) -> Floats:
        """(n_sized,) largest use before each run."""
        return np.maximum.accumulate(self.used_bytes)[self.n_known - 1 : -1]

    def known(self, n: int) -> Sequence:
        """Return the first n runs."""
        return Sequence(
            self.task,
            self.used_bytes[:n],
            self.hours[:n],
            self.requested_bytes[:n],
            self.inputs[:n],
            min(n, self.n_known),
            self.mean_run_byte_h,
            self.seed,
        )


class Policy(Protocol):
    """A way to size runs. A size may depend on earlier runs, and on its own run's request and input only."""

    name: str

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return sizes for the (n_sized,) runs after the initial history."""
        ...


def refits(runs: Sequence) -> Ints:
    """Return the numbers of known runs at which a policy is fitted: every one, later whenever they grew by 2 %."""
    points, n = [], runs.n_known
    while n < len(runs):
        points.append(n)
        n = n + 1 if n < REFIT_EACH else max(n + 1, int(n * (1 + REFIT_GROWTH)))
    return np.array(points, dtype=np.int64)


def held_until_next(values: Floats, points: Ints, runs: Sequence) -> Floats:
    """Return (n_sized, ...) values of the latest fit for every run."""
    latest = np.searchsorted(points, np.arange(runs.n_known, len(runs)), side="right") - 1
    found: Floats = values[latest]
    return found
