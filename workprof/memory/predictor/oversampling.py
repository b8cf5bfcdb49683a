"""Rare bins brought up to the size of the largest, in training rows only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.memory.predictor.settings import NONE, RANDOM, SMOTE, WEIGHTED

SMOTE_NEIGHBOURS = 5
"""imbalanced-learn's default, which the thesis keeps; the smallest bin needs one row more than that."""


@dataclass(frozen=True)
class Balanced:
    """Training rows after sampling.

    Attributes:
        inputs: (n_rows, n_columns).
        bins: (n_rows,).
        weights: (n_rows,) of the rows; all 1 unless the sampling is 'weighted'.
        sampling: what was done, which may differ from what was asked for.
    """

    inputs: Floats
    bins: Ints
    weights: Floats
    sampling: str


def balanced(inputs: Floats, bins: Ints, sampling: str, seed: int) -> Balanced:
    """Return training rows with the rarer bins brought up.

    Args:
        inputs: (n_rows, n_columns) of training rows; no value is missing.
        bins: (n_rows,).
        sampling: 'none'; 'random' = rows of rarer bins drawn again; 'smote' = rows made up between neighbours;
            'weighted' = rows of rarer bins weigh more.
        seed: of the draws.

    Source:
        SMOTE: Chawla et al. 2002, by imbalanced-learn. With fewer than 6 rows in the smallest bin its 5 neighbours do
        not exist, and rows are drawn again instead, as 'random' does; `sampling` of the result says so.
    """
    counts = np.bincount(bins)
    present = np.flatnonzero(counts)
    ones = np.ones(len(bins))
    if sampling == NONE or len(present) < 2:
        return Balanced(inputs, bins, ones, NONE)
    if sampling == WEIGHTED:
        return Balanced(inputs, bins, len(bins) / (len(present) * counts[bins]), WEIGHTED)
    if sampling == SMOTE and counts[present].min() > SMOTE_NEIGHBOURS and inputs.shape[1]:
        return _smote(inputs, bins, seed)
    rows = _drawn_again(bins, counts, seed)
    return Balanced(inputs[rows], bins[rows], np.ones(len(rows)), RANDOM)


def _smote(inputs: Floats, bins: Ints, seed: int) -> Balanced:
    from imblearn import over_sampling  # type: ignore[import-untyped]  # noqa: PLC0415  heavy

    made, labels = over_sampling.SMOTE(k_neighbors=SMOTE_NEIGHBOURS, random_state=seed).fit_resample(inputs, bins)
    return Balanced(np.asarray(made, dtype=np.float64), np.asarray(labels, dtype=np.int64), np.ones(len(labels)), SMOTE)


def _drawn_again(bins: Ints, counts: Ints, seed: int) -> Ints:
    """Return all rows, then drawn ones until every bin has as many as the largest."""
    random = np.random.default_rng(seed)
    most = int(counts.max())
    extra = [random.choice(np.flatnonzero(bins == b), most - counts[b]) for b in np.flatnonzero(counts)]
    return np.concatenate([np.arange(len(bins)), *extra]).astype(np.int64)
