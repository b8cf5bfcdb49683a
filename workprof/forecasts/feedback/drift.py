"""How the loop stands: drift beyond chance, advice to cluster again, and estimates moved by the recent errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Floats
from workprof.core.stats import holm
from workprof.core.units import format_share
from workprof.forecasts.feedback.model import SCORED_ROWS, FeedbackModel, acquires_of, scale_of
from workprof.forecasts.feedback.windows import FeedbackState, ProfileState, RecentJobs, Sketch
from workprof.forecasts.weighted_samples import (
    WeightedSample,
    effective_size,
    ks_distance,
    ks_probability,
    median_interval,
    merged,
    shift_probability,
    stability_index,
    weighted_quantiles,
)
from workprof.profiles.names import OUTLIERS

if TYPE_CHECKING:
    from workprof.forecasts.feedback.loop import FeedbackSettings

TOO_FEW, NO_DRIFT, SLIGHT, DRIFT = "too few jobs", "no drift", "slight", "drift"
NAN = float("nan")


@dataclass(frozen=True)
class Shift:
    """How far the errors of a profile have moved."""

    now: float = NAN  # median log error of the window; above 0 = under-estimated
    at_fit: float = NAN  # the same at the fit
    low: float = NAN  # 95 % interval of their difference
    high: float = NAN  # 95 % interval of their difference
    probability: float = NAN  # of so large a move by chance, adjusted for all tests of the check
    word: str = TOO_FEW  # TOO_FEW, NO_DRIFT, SLIGHT or DRIFT

    @property
    def factor(self) -> float:
        """By what the median error has changed; above 1 = needs grew against the estimates."""
        return math.exp(self.now - self.at_fit)


@dataclass(frozen=True)
class Change:
    """How far the needs of a profile lie from those at the fit."""

    distance: float = NAN  # Kolmogorov-Smirnov, 0-1
    stability_index: float = NAN  # population stability index over the tenths at the fit
    probability: float = NAN  # of so large a distance by chance, adjusted for all tests of the check
    word: str = TOO_FEW  # TOO_FEW, NO_DRIFT, SLIGHT or DRIFT


@dataclass(frozen=True)
class Drift:
    """Drift of one target in one profile."""

    profile: int  # that jobs are assigned to
    target: str  # what is estimated
    jobs: int  # rows in the window with a value
    effective: float  # independent, undecayed jobs that they are worth
    error: Shift  # have the errors moved?
    distribution: Change  # have the needs moved?

    @property
    def is_drifting(self) -> bool:
        """Whether either drifts."""
        return DRIFT in (self.error.word, self.distribution.word)


def measure_drift(
    profiles: Mapping[str, ProfileState], targets: Sequence[str], now_s: float, settings: FeedbackSettings
) -> tuple[Drift, ...]:
    """The drift of every profile and target; jobs far from every profile are no profile and left out.

    A test is made where both sides are worth `least_jobs` independent jobs; Holm's method keeps the share of checks
    with a false alarm anywhere below `alarm_share`. What is beyond chance but too small to matter is called slight.
    """
    measured = [
        _measured(state, target, place, now_s, settings)
        for state in profiles.values()
        if state.profile != OUTLIERS
        for place, target in enumerate(targets)
    ]
    tests = [one.error.probability for one in measured] + [one.distribution.probability for one in measured]
    tested = [at for at, probability in enumerate(tests) if math.isfinite(probability)]
    for at, adjusted in zip(tested, holm([tests[at] for at in tested]), strict=True):
        tests[at] = adjusted
    n = len(measured)
    return tuple(_judged(one, tests[at], tests[at + n], settings) for at, one in enumerate(measured))


def _measured(state: ProfileState, target: str, place: int, now_s: float, settings: FeedbackSettings) -> Drift:
    window, reference = state.window, state.reference
    values = window.sample(window.values[:, place], now_s, settings.half_life_days)
    errors = window.sample(window.errors[:, place], now_s, settings.half_life_days)
    return Drift(
        profile=state.profile,
        target=target,
        jobs=len(values),
        effective=values.effective,
        error=_shift(errors, reference.errors[place], settings.least_jobs),
        distribution=_change(values, reference.values[place], settings.least_jobs),
    )


def _shift(now: WeightedSample, reference: Sketch, least: int) -> Shift:
    """The move of the median with its interval.

    Source: Interval of a difference from the intervals of its parts: Zou and Donner 2008; nothing differs.
    """
    if min(now.effective, reference.effective) < least:
        return Shift()
    before = reference.sample()
    low, middle, high = median_interval(now)
    low_then, then, high_then = median_interval(before)
    move = middle - then
    return Shift(
        now=middle,
        at_fit=then,
        low=move - math.hypot(middle - low, high_then - then),
        high=move + math.hypot(high - middle, then - low_then),
        probability=shift_probability(now, before),
        word=NO_DRIFT,
    )


def _change(now: WeightedSample, reference: Sketch, least: int) -> Change:
    if min(now.effective, reference.effective) < least:
        return Change()
    before = reference.sample()
    distance = ks_distance(now, before)
    return Change(distance, stability_index(now, before), ks_probability(distance, now, before), NO_DRIFT)


def _judged(one: Drift, error: float, distribution: float, settings: FeedbackSettings) -> Drift:
    moved = abs(one.error.now - one.error.at_fit) >= math.log(settings.least_factor)
    apart = one.distribution.distance >= settings.least_distance
    return replace(
        one,
        error=replace(one.error, probability=error, word=_word(error, moved, settings)),
        distribution=replace(one.distribution, probability=distribution, word=_word(distribution, apart, settings)),
    )


def _word(probability: float, matters: bool, settings: FeedbackSettings) -> str:
    if not math.isfinite(probability):
        return TOO_FEW
    if probability >= settings.alarm_share:
        return NO_DRIFT
    return DRIFT if matters else SLIGHT


@dataclass(frozen=True)
class Assessment:
    """How the loop stands."""

    drift: tuple[Drift, ...]  # per profile and target
    recent: int  # newest jobs that the rest is measured on
    outlier_share: float  # of them far from every profile, 0-1; NaN without any
    outlier_share_at_fit: float  # assigned in the same way
    outlier_probability: float  # of so many by chance
    acquires: float  # of the clustering on them; NaN where undefined
    acquires_at_fit: float  # on a sample of the fit's rows, assigned in the same way
    recluster_advised: bool  # whether another clustering is advised
    reasons: tuple[str, ...]  # why, in words; empty where it is not


def assess(state: FeedbackState, model: FeedbackModel, settings: FeedbackSettings) -> Assessment:
    """How the loop stands."""
    drift = measure_drift(state.profiles, state.targets, state.until_s, settings)
    recent = state.recent
    share = float((recent.labels == OUTLIERS).mean()) if len(recent) else math.nan
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
    """How likely so many outliers are where nothing has changed (one-sided test of two shares)."""
    effective = effective_size(np.ones(len(recent)), recent.units)
    if effective < settings.least_jobs:
        return math.nan
    pooled = (share * effective + model.outlier_share * model.effective_rows) / (effective + model.effective_rows)
    spread = math.sqrt(max(pooled * (1 - pooled), 1e-12) * (1 / effective + 1 / model.effective_rows))
    return 0.5 * math.erfc((share - model.outlier_share) / spread / math.sqrt(2))


def _more_outliers(share: float, before: float, probability: float, settings: FeedbackSettings) -> tuple[str, ...]:
    if probability < settings.alarm_share and share - before >= settings.least_outlier_rise:
        now, then = format_share(share, 0), format_share(before, 0)
        return (f"{now} of the recent jobs are far from every profile; at the fit it was {then}",)
    return ()


def _drifted(drift: tuple[Drift, ...], recent: RecentJobs, settings: FeedbackSettings) -> tuple[str, ...]:
    reasons = []
    for what in ("error", "distribution"):
        profiles = sorted({one.profile for one in drift if getattr(one, what).word == DRIFT})
        share = float(np.isin(recent.labels, profiles).mean()) if len(recent) else 0.0
        if profiles and share >= settings.drifted_share:
            named = ", ".join(f"P{profile}" for profile in profiles[:8]) + (" and more" if len(profiles) > 8 else "")
            moved = "estimates have moved away from the jobs" if what == "error" else "needs are not those of the fit"
            reasons.append(f"{moved} in {named}, which hold {format_share(share, 0)} of the recent jobs")
    return tuple(reasons)


def _lower_score(score: float, before: float, settings: FeedbackSettings) -> tuple[str, ...]:
    if before - score >= settings.acquires_drop:
        return (f"ACQUIRES of the clustering on the recent jobs is {score:.2f}; at the fit it was {before:.2f}",)
    return ()


LEVELS = np.array([0.1, 0.5, 0.9])


@dataclass(frozen=True)
class CurrentQuantiles:
    """What jobs of a profile need now, in the target's unit."""

    levels: Floats  # (n_levels,) probabilities
    now: Floats  # (n_levels,) from the window with decay; up to `least_jobs` the jobs of the fit stand in
    at_fit: Floats  # (n_levels,)
    effective: float  # independent, undecayed jobs that the window is worth


def current_quantiles(
    state: FeedbackState,
    model: FeedbackModel,
    profile: int,
    target: str,
    settings: FeedbackSettings,
    levels: Floats = LEVELS,
) -> CurrentQuantiles:
    """The quantiles of a target in a profile, now and at the fit; NaN where nothing is known."""
    place, one = state.targets.index(target), state.profiles[str(profile)]
    sample = one.window.sample(one.window.values[:, place], state.until_s, settings.half_life_days)
    before = one.reference.values[place].sample()
    filled = merged(sample, before, max(0.0, settings.least_jobs - sample.effective))
    back = scale_of(model, target).from_log
    return CurrentQuantiles(
        levels,
        back(weighted_quantiles(filled, levels)),
        back(weighted_quantiles(before, levels)),
        sample.effective,
    )


@dataclass(frozen=True)
class FeedbackNow:
    """The loop for people and scripts."""

    state: FeedbackState  # its memory
    assessment: Assessment  # drift, outliers, ACQUIRES, advice
    quantiles: dict[str, dict[str, CurrentQuantiles]]
    """Profile as text -> target -> what its jobs need now and needed at the fit."""


def feedback_now(state: FeedbackState, model: FeedbackModel, settings: FeedbackSettings) -> FeedbackNow:
    """How the loop stands, with the estimates of every profile."""
    quantiles = {
        name: {target: current_quantiles(state, model, int(name), target, settings) for target in state.targets}
        for name in state.profiles
    }
    return FeedbackNow(state, assess(state, model, settings), quantiles)
