"""From a model's scores to a bin: the likeliest one, or the one of least expected cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.memory.retry import Demand, RetrySettings, Sizes, lifted_by, try_sizes

TEMPERATURES = np.geomspace(0.05, 20.0, 49)


@dataclass(frozen=True)
class Calibration:
    """What makes scores probabilities: softmax(scores / temperature + shift).

    Attributes:
        temperature: above 0.
        shift: (n_bins,) logarithm of how much likelier a bin is among all runs than the training rows, once balanced,
            make it look.
    """

    temperature: float
    shift: Floats

    def probabilities(self, scores: Floats) -> Floats:
        """Return (n_rows, n_bins), each row with the sum 1."""
        raised = scores / self.temperature + self.shift
        powers = np.exp(raised - raised.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float64)


def calibrate(scores: Floats, bins: Ints, *, was_balanced: bool) -> Calibration:
    """Return the calibration with the smallest log loss on rows that the scoring models were not trained on.

    Args:
        scores: (n_rows, n_bins).
        bins: (n_rows,) true ones.
        was_balanced: whether training made all bins count alike.
    """
    n_bins = scores.shape[1]
    shares = (np.bincount(bins, minlength=n_bins) + 1.0) / (len(bins) + n_bins)
    shift = np.log(shares * n_bins) if was_balanced else np.zeros(n_bins)
    candidates = [Calibration(float(t), shift) for t in TEMPERATURES]
    rows = np.arange(len(bins))
    losses = [-np.log(np.maximum(c.probabilities(scores)[rows, bins], 1e-12)).mean() for c in candidates]
    return candidates[int(np.argmin(losses))]


@dataclass(frozen=True)
class Ladder:
    """The sizes that failed runs climb.

    Attributes:
        edges_bytes: (n_bins,) rising.
        max_seen_bytes: largest use of the runs that were learned from.
        retry: how failed attempts are lifted and charged.
    """

    edges_bytes: Floats
    max_seen_bytes: float
    retry: RetrySettings

    def sizes(self, bins: Ints) -> Sizes:
        """Return what is asked for when runs start in these bins."""
        own = Sizes(self.edges_bytes[bins], np.broadcast_to(self.edges_bytes, (len(bins), len(self.edges_bytes))))
        return lifted_by(self.retry.rule, own, np.full(len(bins), self.max_seen_bytes))


def chain_costs(ladder: Ladder, hours: Floats, failure_price_gb_h: float) -> Floats:
    """Return (n_bins, n_bins) GB·h of a run that starts at the bin of the row and belongs into that of the column.

    Args:
        ladder: of the task.
        hours: (n_bins,) expected run time in each true bin.
        failure_price_gb_h: of one failed attempt, beside the memory that it held.
    """
    k = len(ladder.edges_bytes)
    started, true = (places.ravel() for places in np.indices((k, k)))
    tried = try_sizes(Demand(ladder.edges_bytes[true], hours[true]), ladder.sizes(started), ladder.retry)
    return np.asarray(tried.charged_gb_h + failure_price_gb_h * tried.failures, dtype=np.float64).reshape(k, k)


def cheapest_bins(probabilities: Floats, costs: Floats) -> Ints:
    """Return (n_rows,) the bin b with the least sum over c of P(c) x cost(chain from b to c).

    Source: memory.md 4.4, the better decision rule.
    """
    return np.asarray((probabilities @ costs.T).argmin(axis=1), dtype=np.int64)
