"""Drift per profile and target: have the errors moved, have the needs moved, and is it more than chance?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workprof.profiles.classifier.weighted_samples import (
    WeightedSample,
    holm,
    ks_distance,
    ks_probability,
    median_interval,
    shift_probability,
    stability_index,
)
from workprof.profiles.feedback.filing import OUTLIER
from workprof.profiles.feedback.settings import FeedbackSettings
from workprof.profiles.feedback.windows import ProfileState, Sketch

TOO_FEW, NO_DRIFT, SLIGHT, DRIFT = "too few jobs", "no drift", "slight", "drift"
WORDS = (TOO_FEW, NO_DRIFT, SLIGHT, DRIFT)
NAN = float("nan")


@dataclass(frozen=True)
class Shift:
    """How far the errors of a profile have moved.

    Attributes:
        now: median log error of the window; above 0 = under-estimated.
        at_fit: the same at the fit.
        low, high: 95 % interval of their difference.
        probability: of so large a move by chance, adjusted for all tests of the check.
        word: one of `WORDS`.
    """

    now: float = NAN
    at_fit: float = NAN
    low: float = NAN
    high: float = NAN
    probability: float = NAN
    word: str = TOO_FEW

    @property
    def factor(self) -> float:
        """By what the median error has changed; above 1 = needs grew against the estimates."""
        return math.exp(self.now - self.at_fit)


@dataclass(frozen=True)
class Change:
    """How far the needs of a profile lie from those at the fit.

    Attributes:
        distance: Kolmogorov-Smirnov, 0-1.
        stability_index: population stability index over the tenths at the fit.
        probability: of so large a distance by chance, adjusted for all tests of the check.
        word: one of `WORDS`.
    """

    distance: float = NAN
    stability_index: float = NAN
    probability: float = NAN
    word: str = TOO_FEW


@dataclass(frozen=True)
class Drift:
    """Drift of one target in one profile.

    Attributes:
        profile: as filed.
        target: what is estimated.
        jobs: rows in the window with a value.
        effective: independent, undecayed jobs that they are worth.
        error: have the errors moved?
        distribution: have the needs moved?
    """

    profile: int
    target: str
    jobs: int
    effective: float
    error: Shift
    distribution: Change

    @property
    def found(self) -> bool:
        """Whether either drifts."""
        return DRIFT in (self.error.word, self.distribution.word)


def measure_drift(
    profiles: Mapping[str, ProfileState], targets: Sequence[str], now_s: float, settings: FeedbackSettings
) -> tuple[Drift, ...]:
    """Return the drift of every profile and target; jobs far from every profile are no profile and left out.

    A test is made where both sides are worth `least_jobs` independent jobs; Holm's method keeps the share of checks
    with a false alarm anywhere below `alarm_share`. What is beyond chance but too small to matter is called slight.
    """
    measured = [
        _measured(state, target, place, now_s, settings)
        for state in profiles.values()
        if state.profile != OUTLIER
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
    """Return the move of the median with its interval.

    Source:
        Interval of a difference from the intervals of its parts: Zou and Donner 2008; nothing differs.
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
