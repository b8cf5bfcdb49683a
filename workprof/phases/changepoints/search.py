"""The search for the changes of one counter, or of several that share them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.phases.changepoints.alternatives import alternative_changes
from workprof.phases.changepoints.kept_changes import Evidence, Kept, kept_changes
from workprof.phases.changepoints.prior import prior_of
from workprof.phases.changepoints.readouts import changes_of
from workprof.phases.changepoints.run_lengths import RunLengths, belief_of
from workprof.phases.changepoints.settings import ChangePointSettings

_PIECE = 256
"""Samples between two words to `report`."""


@dataclass(frozen=True)
class Found(Kept):
    """Changes of counters that share them.

    Attributes:
        log_evidence: of the series in standard units, NaN with the methods of ruptures.
    """

    log_evidence: float


def search_changes(
    values: Floats, settings: ChangePointSettings, n_samples: int, report: Callable[[float], None]
) -> Found:
    """Return the changes of counters that share them (n_counters, T), in standard units.

    Args:
        values: finite.
        settings: of the search.
        n_samples: length of the run, at least T: it sets the hazard, and is longer where samples are missing.
        report: told the share that is done, 0-1; what it raises ends the search.
    """
    prior = prior_of(settings, n_samples, float(np.mean(values**2)))
    belief = belief_of(prior, values.shape[1], len(values))
    if settings.method == "bcpd":
        changes, log_evidence = _bayesian(values, settings, RunLengths(prior, len(values), belief), report)
    else:
        changes, log_evidence = alternative_changes(values, settings), math.nan
    kept = kept_changes(
        changes,
        Evidence(values, belief, -math.log(prior.hazard_samples)),
        min_samples=settings.min_samples,
        max_phases=settings.max_phases,
        must_pay=settings.mode == "corrected",
    )
    return Found(kept.changes, kept.n_merged, kept.n_weakest, log_evidence)


def _bayesian(
    values: Floats, settings: ChangePointSettings, lengths: RunLengths, report: Callable[[float], None]
) -> tuple[Ints, float]:
    n_samples = values.shape[1]
    for first in range(0, n_samples, _PIECE):
        lengths.take(values[:, first : first + _PIECE])
        report(min(1.0, (first + _PIECE) / n_samples))
    return changes_of(lengths.trail, settings.chosen_readout), float(lengths.trail.evidence[-1])


def nothing_found() -> Found:
    """Return the answer for counters in which no change can be looked for."""
    return Found(np.zeros(0, np.int64), 0, 0, math.nan)
