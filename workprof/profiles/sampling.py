"""Samples: the paper's stratified sizes (Table I), and seeded draws of rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workprof.arrays import Ints
from workprof.errors import SettingsError


def stratified_sizes(strata: Mapping[str, int], size: int) -> dict[str, int]:
    """Return how many rows to draw from each stratum: round(N_k / N * size), never more than there are.

    Rounding each stratum by itself means that the total can differ from `size` by a few rows (100,001 in the paper).

    Args:
        strata: stratum -> rows in it.
        size: rows wanted in all.

    Raises:
        SettingsError: for a negative size.

    Source:
        PolarisProfiler, Table I; the half-to-even rounding of Python as in the authors' notebook.
    """
    if size < 0:
        raise SettingsError(f"the sample size is {size}; give 0 or more")
    total = sum(strata.values())
    return {name: min(rows, round(rows / total * size)) if total else 0 for name, rows in strata.items()}


def draw_rows(n_rows: int, size: int, seed: int) -> Ints:
    """Return (min(size, n_rows),) row positions in rising order, drawn without replacement."""
    if size >= n_rows:
        return np.arange(n_rows, dtype=np.int64)
    drawn = np.random.default_rng(seed).choice(n_rows, size=size, replace=False)
    return np.sort(drawn).astype(np.int64)


def draw_per_group(codes: Ints, size: int, seed: int) -> Ints:
    """Return row positions in rising order: about `size` in all, each group in proportion and at least two of it.

    Args:
        codes: (n_rows,) group of each row, 0 .. n_groups - 1.
        size: rows wanted in all.
        seed: of the draw.
    """
    counts = np.bincount(codes)
    wanted = np.minimum(counts, np.maximum(2, np.rint(counts * min(1.0, size / max(1, len(codes)))))).astype(np.int64)
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    rank = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[rank < wanted[codes[order]]]).astype(np.int64)
