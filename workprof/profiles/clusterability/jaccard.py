"""Cluster-wise Jaccard similarity: how much of a profile comes back in another clustering of the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints

DOUBTFUL_FROM = 0.6
STABLE_FROM = 0.75
HIGHLY_STABLE_FROM = 0.85
"""Hennig's reading of the mean Jaccard similarity (help page of `clusterboot` in his R package fpc)."""

DISSOLVED_UP_TO = 0.5
"""Up to this similarity Hennig 2007 calls a cluster dissolved in one resample."""


@dataclass(frozen=True)
class ProfileStability:
    """How well one profile comes back; NaN where no resample held a row of it.

    Attributes:
        profile: label in the reference clustering.
        size: its rows there.
        jaccard: mean over the resamples of the similarity to the most similar cluster, 0-1.
        jaccard_min, jaccard_q25, jaccard_median, jaccard_q75: over the resamples.
        dissolved_share: of the resamples in which the similarity is at most 0.5.
        reading: 'highly stable', 'stable', 'doubtful' or 'not to be trusted'; '' without a value.
    """

    profile: int
    size: int
    jaccard: float
    jaccard_min: float
    jaccard_q25: float
    jaccard_median: float
    jaccard_q75: float
    dissolved_share: float
    reading: str


def best_jaccards(reference: Ints, found: Ints, n_profiles: int) -> Floats:
    """Return (n_profiles,) similarity of each reference profile to its most similar found cluster, 0-1.

    Args:
        reference: (n_rows,) profile 0 .. n_profiles - 1, -1 = outlier.
        found: (n_rows,) cluster of the same rows, -1 = outlier.
        n_profiles: of the reference; NaN for those without a row here, 0 where nothing was found.
    """
    n_found = int(found.max(initial=-1)) + 1
    cells = (reference + 1) * (n_found + 1) + found + 1
    table = np.bincount(cells, minlength=(n_profiles + 1) * (n_found + 1)).reshape(n_profiles + 1, n_found + 1)
    both, ours, theirs = table[1:, 1:], table[1:].sum(axis=1), table[:, 1:].sum(axis=0)
    either = ours[:, None] + theirs[None, :] - both
    best = np.asarray((both / np.maximum(1, either)).max(axis=1, initial=0.0), dtype=np.float64)
    best[ours == 0] = np.nan
    return best


def summarise_jaccards(jaccards: Floats, sizes: Ints) -> tuple[ProfileStability, ...]:
    """Return one record per profile.

    Args:
        jaccards: (n_resamples, n_profiles), NaN where a resample held no row of the profile.
        sizes: (n_profiles,) rows in the reference clustering.
    """
    return tuple(_of_profile(profile, int(size), jaccards[:, profile]) for profile, size in enumerate(sizes))


def stability_reading(jaccard: float) -> str:
    """Return Hennig's word for a mean Jaccard similarity; '' for NaN."""
    if np.isnan(jaccard):
        return ""
    if jaccard >= HIGHLY_STABLE_FROM:
        return "highly stable"
    if jaccard >= STABLE_FROM:
        return "stable"
    return "doubtful" if jaccard >= DOUBTFUL_FROM else "not to be trusted"


def _of_profile(profile: int, size: int, jaccards: Floats) -> ProfileStability:
    seen = jaccards[~np.isnan(jaccards)]
    if not len(seen):
        return ProfileStability(profile, size, *(float("nan"),) * 6, reading="")
    low, q25, median, q75 = (float(value) for value in np.quantile(seen, [0.0, 0.25, 0.5, 0.75]))
    mean, dissolved = float(seen.mean()), float((seen <= DISSOLVED_UP_TO).mean())
    return ProfileStability(profile, size, mean, low, q25, median, q75, dissolved, stability_reading(mean))
