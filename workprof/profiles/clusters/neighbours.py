"""The nearest rows of every row, searched once for all `min_samples`: core distances and short neighbour lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints, Positions
from workprof.errors import NotEnoughData, SettingsError

ROWS_PER_BLOCK = 128
LISTED = 32
"""Neighbours kept by name: enough for most rows to find one in a denser place (see `spanning_tree`)."""

BLOCKS_PER_CHUNK = 8
DIMS_AT_ONCE = 4
"""Columns that the compiled loops take in one step."""


@dataclass(frozen=True)
class Blocks:
    """Rows in blocks of neighbours: a balanced k-d tree's leaves, nothing else of the tree.

    Attributes:
        order: (n,) row number at each position.
        points: (n, d) values in block order; d is a multiple of four, padded with zeros.
        lanes: (d, n) the same, transposed.
        starts: (n_blocks + 1,) first position of each block.
        low: (d, n_blocks) lower corner of each block's bounding box.
        high: (d, n_blocks) upper corner.
    """

    order: Ints
    points: Floats
    lanes: Floats
    starts: Ints
    low: Floats
    high: Floats

    def space(self, metric: str) -> tuple[Floats, Floats, Ints, Floats, Floats, bool]:
        """Return the arrays as compiled loops take them."""
        return self.points, self.lanes, self.starts, self.low, self.high, metric == "manhattan"


@dataclass(frozen=True)
class Neighbours:
    """Nearest rows, in block order, as reduced distances (squared for Euclidean).

    Attributes:
        blocks: the rows.
        metric: 'euclidean' or 'manhattan'.
        sizes: rising values of min_samples that were searched.
        core: (n_sizes, n) reduced distance to the size-th other row.
        nearest: (n, n_listed) positions of the nearest other rows, nearest first.
        distance: (n, n_listed) their reduced distances.
    """

    blocks: Blocks
    metric: str
    sizes: tuple[int, ...]
    core: Floats
    nearest: Positions
    distance: Floats

    def core_of(self, min_samples: int) -> Floats:
        """Return (n,) reduced core distances for one of the searched sizes.

        Raises:
            SettingsError: when that size was not searched.
        """
        size = min(min_samples, self.core.shape[1] - 1)
        if size not in self.sizes:
            raise SettingsError(f"min_samples {min_samples} was not searched; searched are {self.sizes}")
        core: Floats = self.core[self.sizes.index(size)]
        return core


def find_neighbours(
    points: Floats, metric: str, sizes: tuple[int, ...], report: Callable[[float], None] | None = None
) -> Neighbours:
    """Return core distances for every size and the nearest rows of every row, exact.

    A size of n_rows or more is taken as n_rows - 1, as in hdbscan.

    Args:
        points: (n_rows, n_dims) finite scaled values.
        metric: 'euclidean' or 'manhattan'.
        sizes: values of min_samples; the row itself does not count.
        report: told the share that is done.

    Raises:
        NotEnoughData: with fewer than two rows.
    """
    from workprof.compiled import share_out  # noqa: PLC0415  numba
    from workprof.profiles.kernels.neighbours import nearest_rows  # noqa: PLC0415

    n = len(points)
    if n < 2:
        raise NotEnoughData(f"{n} row(s) have no neighbours; at least 2 are needed")
    blocks = make_blocks(points)
    wanted = tuple(sorted({min(max(1, size), n - 1) for size in sizes}))
    counts = np.array(wanted, dtype=np.int64)
    core = np.empty((len(wanted), n))
    listed = min(LISTED, wanted[0])
    nearest, distance = np.empty((n, listed), dtype=np.int32), np.empty((n, listed))
    space = blocks.space(metric)

    def work(first: int, last: int) -> None:
        nearest_rows(space, counts, first, last, (core, nearest, distance))

    share_out(work, len(blocks.starts) - 1, BLOCKS_PER_CHUNK, report)
    return Neighbours(blocks, metric, wanted, core, nearest, distance)


def make_blocks(points: Floats) -> Blocks:
    """Return the rows in blocks of at most 128.

    Args:
        points: (n_rows, n_dims) finite values, n_rows >= 1.
    """
    from workprof.profiles.kernels.blocks import split_rows  # noqa: PLC0415  numba

    padded = np.ascontiguousarray(np.pad(points, ((0, 0), (0, -points.shape[1] % DIMS_AT_ONCE))))
    order = np.arange(len(padded), dtype=np.int64)
    levels = max(0, int(np.ceil(np.log2(len(padded) / ROWS_PER_BLOCK))))
    starts = split_rows(padded, order, levels)
    ordered = np.ascontiguousarray(padded[order])
    low = np.minimum.reduceat(ordered, starts[:-1], axis=0)
    high = np.maximum.reduceat(ordered, starts[:-1], axis=0)
    lanes, low, high = (np.ascontiguousarray(corner.T) for corner in (ordered, low, high))
    return Blocks(order, ordered, lanes, starts, low, high)
