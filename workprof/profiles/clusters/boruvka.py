"""Boruvka's rounds: a forest of all rows grows into the minimum spanning tree of the mutual-reachability graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.compiled import share_out
from workprof.profiles.clusters.neighbours import Neighbours
from workprof.profiles.kernels import spanning as kernels

BLOCKS_PER_CHUNK = 16
FIRST_WAVE = 16
"""One block in so many is searched first, so that the others start with a bound for components without listed edges."""


FEW_COMPONENTS = 64
FEW_SHARE, MANY_SHARE = 0.5, 1.0
"""Of few components only the smaller half is searched in a round: the large ones hold most rows."""


@dataclass(frozen=True)
class Edges:
    """Edges in block positions with reduced weights.

    Attributes:
        source, target: (n_edges,) ends.
        weight: (n_edges,) mutual reachability.
        length: (n_edges,) distance.
    """

    source: Ints
    target: Ints
    weight: Floats
    length: Floats

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats, Floats]:
        """The arrays that compiled loops take."""
        return self.source, self.target, self.weight, self.length

    @staticmethod
    def room(count: int) -> Edges:
        """Return room for `count` edges, all infinitely heavy."""
        ends = np.full((2, count), -1, dtype=np.int64)
        return Edges(ends[0], ends[1], np.full(count, np.inf), np.full(count, np.inf))


class Forest:
    """Components of rows and the edges that hold them together.

    Attributes:
        edges: (n_rows - 1,) the first `n_edges` are set.
        n_edges: edges so far.
        n_components: trees in the forest.

    Args:
        neighbours: of the rows.
        core: (n_rows,) reduced core distances.
    """

    def __init__(self, neighbours: Neighbours, core: Floats) -> None:
        n = len(core)
        self.edges = Edges.room(n - 1)
        self._neighbours, self._core = neighbours, core
        self._core_low = np.minimum.reduceat(core, neighbours.blocks.starts[:-1])
        self._parent, self._component = np.arange(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        self._owner = np.empty(len(self._core_low), dtype=np.int64)
        self._found = Edges.room(n)
        near = neighbours
        self.n_edges = kernels.join_denser(self._parent, core, near.nearest, near.distance, self.edges.arrays)
        self.n_components = kernels.number_components(self._parent, self._component)

    def grow(self) -> None:
        """Join components along their best edges: the smaller ones first, the large ones are joined by them."""
        near, best = self._neighbours, Edges.room(self.n_components)
        searched = self._smaller_components()
        kernels.offer_listed(self._component, self._core, near.nearest, near.distance, best.arrays)
        kernels.pure_blocks(self._component, near.blocks.starts, self._owner)
        every = np.arange(len(self._owner), dtype=np.int64)
        for wave in (every[::FIRST_WAVE], every[every % FIRST_WAVE != 0]):
            self._search(wave, searched, best)
        self.n_edges = kernels.join_best(self._parent, best.arrays, searched, self.n_edges, self.edges.arrays)
        self.n_components = kernels.number_components(self._parent, self._component)

    def _smaller_components(self) -> Bools:
        sizes = np.bincount(self._component, minlength=self.n_components)
        share = FEW_SHARE if self.n_components <= FEW_COMPONENTS else MANY_SHARE
        count = max(1, min(self.n_components - 1, int(share * self.n_components)))
        searched = np.zeros(self.n_components, dtype=bool)
        searched[np.argsort(sizes, kind="stable")[:count]] = True
        return searched

    def _search(self, wave: Ints, searched: Bools, best: Edges) -> None:
        space, found = self._neighbours.blocks.space(self._neighbours.metric), self._found
        rows = (self._core, self._core_low, self._component, self._owner)

        def work(first: int, last: int) -> None:
            # Each chunk prunes with its own copy of the bounds: what it finds cannot depend on the other threads.
            bounds = (best.weight.copy(), best.length.copy())
            results = (found.target, found.weight, found.length)
            kernels.search_outside(space, rows, searched, wave[first:last], bounds, results)

        share_out(work, len(wave), BLOCKS_PER_CHUNK)
        kernels.take_found(self._component, (found.target, found.weight, found.length), best.arrays)
