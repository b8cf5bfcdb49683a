"""How the loop stands: drift, outliers, ACQUIRES, and whether another clustering is advised and why."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workprof.profiles.classifier.weighted_samples import effective_size
from workprof.profiles.feedback.drift import DRIFT, Drift, measure_drift
from workprof.profiles.feedback.filing import OUTLIER
from workprof.profiles.feedback.model import SCORED_ROWS, FeedbackModel, acquires_of
from workprof.profiles.feedback.settings import FeedbackSettings
from workprof.profiles.feedback.state import FeedbackState
from workprof.profiles.feedback.windows import RecentJobs


@dataclass(frozen=True)
class Assessment:
    """How the loop stands.

    Attributes:
        drift: per profile and target.
        recent: newest jobs that the rest is measured on.
        outlier_share: of them far from every profile, 0-1; NaN without any.
        outlier_share_at_fit: filed in the same way.
        outlier_probability: of so many by chance.
        acquires: of the clustering on them; NaN where undefined.
        acquires_at_fit: on a sample of the fit's rows, filed in the same way.
        recluster_advised: whether another clustering is advised.
        reasons: why, in words; empty where it is not.
    """

    drift: tuple[Drift, ...]
    recent: int
    outlier_share: float
    outlier_share_at_fit: float
    outlier_probability: float
    acquires: float
    acquires_at_fit: float
    recluster_advised: bool
    reasons: tuple[str, ...]


def assess(state: FeedbackState, model: FeedbackModel, settings: FeedbackSettings) -> Assessment:
    """Return how the loop stands."""
    drift = measure_drift(state.profiles, state.targets, state.until_s, settings)
    recent = state.recent
    share = float((recent.labels == OUTLIER).mean()) if len(recent) else math.nan
    probability = _outlier_probability(recent, share, model, settings)
    newest = slice(-SCORED_ROWS, None)
    target = model.settings.classifier.profiles.target_clusters
    score = acquires_of(recent.points[newest], recent.labels[newest], model.filing.metric, model.n_clusters, target)
    reasons = (
        *_more_outliers(share, model.outlier_share, probability, settings),
        *_drifted(drift, recent, settings),
        *_lower_score(score, model.acquires, settings),
    )
    return Assessment(
        drift=drift,
        recent=len(recent),
        outlier_share=share,
        outlier_share_at_fit=model.outlier_share,
        outlier_probability=probability,
        acquires=score,
        acquires_at_fit=model.acquires,
        recluster_advised=bool(reasons),
        reasons=reasons,
    )


def _outlier_probability(recent: RecentJobs, share: float, model: FeedbackModel, settings: FeedbackSettings) -> float:
    """Return how likely so many outliers are where nothing has changed (one-sided test of two shares)."""
    effective = effective_size(np.ones(len(recent)), recent.units)
    if effective < settings.least_jobs:
        return math.nan
    pooled = (share * effective + model.outlier_share * model.effective_rows) / (effective + model.effective_rows)
    spread = math.sqrt(max(pooled * (1 - pooled), 1e-12) * (1 / effective + 1 / model.effective_rows))
    return 0.5 * math.erfc((share - model.outlier_share) / spread / math.sqrt(2))


def _more_outliers(share: float, before: float, probability: float, settings: FeedbackSettings) -> tuple[str, ...]:
    if probability < settings.alarm_share and share - before >= settings.least_outlier_rise:
        return (f"{share:.0%} of the recent jobs are far from every profile; at the fit it was {before:.0%}",)
    return ()


def _drifted(drift: tuple[Drift, ...], recent: RecentJobs, settings: FeedbackSettings) -> tuple[str, ...]:
    reasons = []
    for what in ("error", "distribution"):
        found = sorted({one.profile for one in drift if getattr(one, what).word == DRIFT})
        share = float(np.isin(recent.labels, found).mean()) if len(recent) else 0.0
        if found and share >= settings.drifted_share:
            named = ", ".join(f"P{profile}" for profile in found[:8]) + (" and more" if len(found) > 8 else "")
            moved = "estimates have moved away from the jobs" if what == "error" else "needs are not those of the fit"
            reasons.append(f"{moved} in {named}, which hold {share:.0%} of the recent jobs")
    return tuple(reasons)


def _lower_score(score: float, before: float, settings: FeedbackSettings) -> tuple[str, ...]:
    if before - score >= settings.acquires_drop:
        return (f"ACQUIRES of the clustering on the recent jobs is {score:.2f}; at the fit it was {before:.2f}",)
    return ()
