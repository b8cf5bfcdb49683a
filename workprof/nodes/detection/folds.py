"""Folds of the training part: dealt out within each stratum, or cut by time."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Ints


def dealt_folds(strata: Ints, n_folds: int, seed: int) -> Ints:
    """Return (n,) fold numbers: each stratum is shuffled and dealt out, one stratum going on where the last ended."""
    rng = np.random.default_rng(seed)
    fold = np.zeros(len(strata), dtype=np.int64)
    dealt = 0
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        fold[members] = (dealt + np.arange(len(members))) % n_folds
        dealt += len(members)
    return fold


def later_folds(cells: Ints, order: Ints, n_folds: int) -> Ints:
    """Return (n,) blocks of time within each cell: 0 is only learned from, block k is judged by all blocks before it.

    Args:
        cells: (n,) node, benchmark and parameters of each run.
        order: (n,) rank of each run in time.
        n_folds: judged blocks, of about equal size; block 0 has as many runs as two of them.
    """
    block = np.zeros(len(cells), dtype=np.int64)
    for cell in np.unique(cells):
        members = np.flatnonzero(cells == cell)
        members = members[np.argsort(order[members], kind="stable")]
        share = (np.arange(len(members)) + 0.5) / len(members)
        block[members] = np.clip(np.floor(share * (n_folds + 2)) - 1, 0, n_folds)
    return block
