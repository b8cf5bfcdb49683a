"""Bounds, not policies: the true use chooses the bin, so only the edges can waste."""

from __future__ import annotations

import numpy as np

from workprof.memory.bins.search import best_edges, needs_of
from workprof.memory.policies.sequence import Sequence
from workprof.memory.policies.thesis_bins import HEADROOM, N_BINS, pinned_edges
from workprof.memory.retry import RetrySettings, Sizes


class OracleBins:
    """The smallest of three edges that covers the true use; the edges come from the initial history.

    Args:
        free_top: the top edge is the largest use seen + 5 % instead of the largest request.

    Source: memory.md 2.6.
    """

    def __init__(self, *, free_top: bool = False) -> None:
        self.name = "oracle_bins_free" if free_top else "oracle_bins"
        self._free_top = free_top

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the sizes of the true bins; a use beyond the top starts at the top and is doubled."""
        if self._free_top:
            needs = needs_of(runs.used_bytes[: runs.n_known], runs.hours[: runs.n_known])
            edges = HEADROOM * best_edges(needs, N_BINS)[-1].edges_bytes
        else:
            edges = pinned_edges(runs, retry, N_BINS)
        place = np.searchsorted(edges, runs.used_bytes[runs.n_known :]).clip(max=len(edges) - 1)
        return Sizes(edges[place], np.tile(edges, (runs.n_sized, 1)))


class OracleExact:
    """Exactly what each run used: nothing is wasted. The spend that no policy can go below."""

    name = "oracle_exact"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the uses."""
        return Sizes(runs.used_bytes[runs.n_known :].copy(), np.empty((runs.n_sized, 0)))
