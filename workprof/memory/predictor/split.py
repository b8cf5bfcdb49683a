"""Training, validation and test runs of one task, each with its share of small and large runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints

BLOCK = 10
"""Runs that follow each other by use and are dealt out together."""


@dataclass(frozen=True)
class TwoParts:
    """Positions of rows, rising: those that stay and those that are held out."""

    kept: Ints
    held_out: Ints


def split_by_bin(bins: Ints, share: float, seed: int) -> TwoParts:
    """Return rows split so that every bin gives its share; a bin of one row keeps it, and none gives all its rows."""
    random = np.random.default_rng(seed)
    held = np.zeros(len(bins), dtype=np.bool_)
    for b in np.unique(bins):
        rows = random.permutation(np.flatnonzero(bins == b))
        held[rows[: min(round(share * len(rows)), len(rows) - 1)]] = True
    return TwoParts(np.flatnonzero(~held), np.flatnonzero(held))


def split_by_use(used_bytes: Floats, share: float, seed: int) -> TwoParts:
    """Return rows split so that small and large uses give the same share, before any bin is known.

    Rows are put in order of use and dealt out in blocks of ten, the last one smaller.
    """
    random = np.random.default_rng(seed)
    order = np.lexsort((random.permutation(len(used_bytes)), used_bytes))
    held = np.zeros(len(used_bytes), dtype=np.bool_)
    due = 0.0
    for first in range(0, len(order), BLOCK):
        block = order[first : first + BLOCK]
        due += share * len(block)
        count = min(round(due), len(block))
        held[random.permutation(block)[:count]] = True
        due -= count
    return TwoParts(np.flatnonzero(~held), np.flatnonzero(held))


def folds_by_bin(bins: Ints, n_folds: int, seed: int) -> Ints:
    """Return (n_rows,) numbers of folds; every bin is dealt out evenly over them."""
    random = np.random.default_rng(seed)
    order = np.lexsort((random.permutation(len(bins)), bins))
    folds = np.empty(len(bins), dtype=np.int64)
    folds[order] = np.arange(len(bins)) % n_folds
    return folds
