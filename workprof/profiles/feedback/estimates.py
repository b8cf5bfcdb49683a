"""Estimates that follow the finished jobs: quantiles per profile now, and forecasts moved by recent errors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.profiles.classifier.weighted_samples import (
    decay_weights,
    median_interval,
    merged,
    weighted_quantiles,
    weighted_sample,
)
from workprof.profiles.estimation.estimates import Estimates
from workprof.profiles.feedback.advice import Assessment, assess
from workprof.profiles.feedback.model import FeedbackModel, scale_of
from workprof.profiles.feedback.settings import FeedbackSettings
from workprof.profiles.feedback.state import FeedbackState

LEVELS = np.array([0.1, 0.5, 0.9])


@dataclass(frozen=True)
class CurrentQuantiles:
    """What jobs of a profile need now, in the target's unit.

    Attributes:
        levels: (n_levels,) probabilities.
        now: (n_levels,) from the window with decay; up to `least_jobs` the jobs of the fit stand in.
        at_fit: (n_levels,).
        effective: independent, undecayed jobs that the window is worth.
    """

    levels: Floats
    now: Floats
    at_fit: Floats
    effective: float


def current_quantiles(
    state: FeedbackState,
    model: FeedbackModel,
    profile: int,
    target: str,
    settings: FeedbackSettings,
    levels: Floats = LEVELS,
) -> CurrentQuantiles:
    """Return the quantiles of a target in a profile, now and at the fit; NaN where nothing is known."""
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
    """The loop for people and scripts.

    Attributes:
        state: its memory.
        assessment: drift, outliers, ACQUIRES, advice.
        quantiles: profile as text -> target -> what its jobs need now and needed at the fit.
    """

    state: FeedbackState
    assessment: Assessment
    quantiles: dict[str, dict[str, CurrentQuantiles]]


def feedback_now(state: FeedbackState, model: FeedbackModel, settings: FeedbackSettings) -> FeedbackNow:
    """Return how the loop stands, with the estimates of every profile."""
    quantiles = {
        name: {target: current_quantiles(state, model, int(name), target, settings) for target in state.targets}
        for name in state.profiles
    }
    return FeedbackNow(state, assess(state, model, settings), quantiles)


def follow(
    state: FeedbackState, model: FeedbackModel, estimates: Estimates, predicted: Ints, settings: FeedbackSettings
) -> Estimates:
    """Return forecasts moved by what the recent errors of their predicted profile have become.

    Args:
        state: of the loop.
        model: what jobs are compared with.
        estimates: of new jobs.
        predicted: (n_rows,) their predicted profiles; -1 = none, moved by the errors of all jobs without one.
        settings: windows.
    """
    moves = {int(one): log_move(state, model, int(one), estimates.target, settings) for one in np.unique(predicted)}
    factor = np.exp(np.array([moves[int(one)] for one in predicted], dtype=np.float64))
    moved = {name: getattr(estimates, name) * factor for name in ("point", "low", "high")}
    return replace(estimates, quantiles=estimates.quantiles * factor[:, None], **moved)


def log_move(
    state: FeedbackState, model: FeedbackModel, predicted: int, target: str, settings: FeedbackSettings
) -> float:
    """Return by how much (log) forecasts of a predicted profile are to be moved; 0 unless the errors say so surely.

    Errors are taken by predicted profile, the only one that is known before a job runs. The move is the nearer end of
    the median's 95 % interval against the median at the fit: chance moves nothing.
    """
    place = state.targets.index(target)
    windows = [one.window for one in state.profiles.values() if len(one.window)]
    before = model.overall[target]
    if not windows or not len(before):
        return 0.0
    mine = [window.predicted == predicted for window in windows]
    pairs = list(zip(windows, mine, strict=True))
    times = np.concatenate([window.times_s[rows] for window, rows in pairs])
    errors = np.concatenate([window.errors[rows, place] for window, rows in pairs])
    units = np.concatenate([window.units[rows] for window, rows in pairs])
    sample = weighted_sample(errors, decay_weights(times, state.until_s, settings.half_life_days), units)
    if sample.effective < settings.least_jobs:
        return 0.0
    low, _, high = median_interval(sample)
    then = float(np.median(before))
    return max(0.0, low - then) + min(0.0, high - then)
