"""Which of the changes found stay: phases of two samples at least, and no more of them than asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from workprof.phases.kernels.run_lengths import Belief  # numba


@dataclass(frozen=True)
class Kept:
    """The changes that stay.

    Attributes:
        changes: (n,) rising.
        n_merged: phases that were too short, or a change that no longer paid once they had joined a neighbour.
        n_weakest: changes left out because there were too many.
    """

    changes: Ints
    n_merged: int
    n_weakest: int


class Evidence:
    """Log evidence of any stretch of a series, and what a change between two of them gains."""

    def __init__(self, values: Floats, belief: Belief, log_odds_of_change: float) -> None:
        """Sum up the series (n_counters, T), which is less the prior mean."""
        self._values = values
        self._belief = belief
        self._log_odds = log_odds_of_change
        self.n_samples = values.shape[1]
        self._sum_up(np.ones(self.n_samples, dtype=bool))

    def without(self, samples: Bools) -> Evidence:
        """Return the same with the samples (T,) left out of every stretch."""
        result = Evidence(self._values, self._belief, self._log_odds)
        result._sum_up(~samples)
        return result

    def means(self, edges: Ints) -> Floats:
        """Return the means (n_counters, n_edges - 1) of the stretches between the edges."""
        result: Floats = np.diff(self._sums[:, edges], axis=1) / np.diff(edges)
        return result

    def gains(self, edges: Ints) -> Floats:
        """Return what each inner edge adds to the log score of the segmentation (n_edges - 2,)."""
        split = self._of(edges[:-2], edges[1:-1]) + self._of(edges[1:-1], edges[2:])
        result: Floats = split + self._log_odds - self._of(edges[:-2], edges[2:])
        return result

    def _sum_up(self, counted: Bools) -> None:
        zero, inner = np.zeros((len(self._values), 1)), np.where(counted, self._values, 0.0)
        self._counts = np.concatenate([[0], np.cumsum(counted)])
        self._sums = np.concatenate([zero, np.cumsum(inner, axis=1)], axis=1)
        self._squares = np.concatenate([zero, np.cumsum(inner**2, axis=1)], axis=1)

    def _of(self, first: Ints, end: Ints) -> Floats:
        n, belief = self._counts[end] - self._counts[first], self._belief
        total = self._sums[:, end] - self._sums[:, first]
        squares = self._squares[:, end] - self._squares[:, first]
        beta = belief.beta0 + 0.5 * np.maximum(squares - total**2 / (belief.kappa0 + n), 0.0)
        result: Floats = belief.evidence[n] - (belief.alpha0 + n / 2) * np.log(beta).sum(axis=0)
        return result


def kept_changes(changes: Ints, evidence: Evidence, *, min_samples: int, max_phases: int, must_pay: bool) -> Kept:
    """Return the changes that stay.

    A phase below `min_samples` joins the neighbour with the closer mean. Where that happened, changes go too that do
    not raise the score of the segmentation of the other samples (`must_pay`): what a lone spike left behind. Of more
    than `max_phases` phases, the change that adds least to the score goes, again and again.

    Args:
        changes: (n,) rising; repeats count once.
        evidence: of the series.
        min_samples: of a phase.
        max_phases: at most.
        must_pay: whether a change must raise the score once phases have been merged.
    """
    edges = np.concatenate([[0], np.unique(changes), [evidence.n_samples]]).astype(np.int64)
    n_found = len(edges) - 2
    short = np.repeat(np.diff(edges) < min_samples, np.diff(edges))
    if short.any():
        edges = _without_short(edges, evidence, min_samples)
    if short.any() and must_pay:
        edges = _without_weak(edges, evidence.without(short), max_changes=n_found, enough=0.0)
    n_left = len(edges) - 2
    edges = _without_weak(edges, evidence, max_changes=max_phases - 1, enough=-np.inf)
    return Kept(edges[1:-1], n_found - n_left, n_left - (len(edges) - 2))


def _without_short(edges: Ints, evidence: Evidence, min_samples: int) -> Ints:
    while len(edges) > 2:
        lengths = np.diff(edges)
        shortest = int(lengths.argmin())
        if lengths[shortest] >= min_samples:
            break
        means = evidence.means(edges)
        steps = np.sqrt((np.diff(means, axis=1) ** 2).sum(axis=0))  # across each inner edge
        sides = [side for side in (shortest - 1, shortest) if 0 <= side < len(steps)]
        edges = np.delete(edges, min(sides, key=lambda side: steps[side]) + 1)
    return edges


def _without_weak(edges: Ints, evidence: Evidence, *, max_changes: int, enough: float) -> Ints:
    """Return the edges less the weakest, one by one, until at most `max_changes` are left and each gains `enough`."""
    gains = evidence.gains(edges)
    while len(gains):
        weakest = int(gains.argmin())
        if len(gains) <= max_changes and gains[weakest] >= enough:
            break
        edges, gains = np.delete(edges, weakest + 1), np.delete(gains, weakest)
        first = max(weakest - 1, 0)
        near = evidence.gains(edges[first : weakest + 3])  # only the changes on either side gain anything else now
        gains[first : first + len(near)] = near
    return edges
