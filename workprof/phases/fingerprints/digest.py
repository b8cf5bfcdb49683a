"""A fingerprint as a row of fixed length, whatever its number of phases: what the models compare."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats
from workprof.phases.fingerprints.fingerprints import Fingerprint

MEAN, VARIANCE = 0, 2
"""Where these stand among the statistics of a phase."""


def digest_of(one: Fingerprint) -> Floats:
    """Return the digest of a fingerprint (n_features,): of every counter its mean, then its deviation over the run.

    Both come from the phases, each by the share of the run that it takes; the deviation holds what lies within phases
    and what lies between them. Padding takes no part, so runs with other numbers of phases can be compared.
    """
    means, deviations = np.zeros((2, len(one.n_phases)))
    for counter, n in enumerate(one.n_phases):
        weights, own = one.weights_of(counter), one.values[counter, :n]
        means[counter] = weights @ own[:, MEAN]
        between = weights @ (own[:, MEAN] - means[counter]) ** 2
        deviations[counter] = np.sqrt(weights @ own[:, VARIANCE] + between)
    return np.concatenate([means, deviations])


def digests_of(prints: tuple[Fingerprint, ...]) -> Floats:
    """Return the digests of fingerprints (n_runs, n_features)."""
    return np.array([digest_of(one) for one in prints])
