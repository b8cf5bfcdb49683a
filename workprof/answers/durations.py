"""What is said of observed durations: the runs that count, and what a curve reads."""

from __future__ import annotations

import math

from workprof.core.words import counted, formatted
from workprof.forecasts.durations import PROFILE, DurationCurve, ObservedDurations, value_at


def value_words(curve: DurationCurve, target: str, share: float) -> str:
    """Return the value that a share of the runs does not exceed; 'over 2 h' where runs were cut short before."""
    value = value_at(curve, share)
    return f"over {formatted(target, float(curve.points[-1]))}" if math.isinf(value) else formatted(target, value)


def left_out_words(result: ObservedDurations) -> str:
    """Return the runs, and how many were excluded for which reason."""
    counts = {
        "without a value": result.n_missing,
        "below zero": result.n_negative,
        "of zero seconds": result.n_zero,
        "that did not finish": result.n_unfinished,
    }
    reasons = ", ".join(f"{count:,} {words}" for words, count in counts.items() if count)
    out = f"; excluded: {reasons}" if reasons else "; none excluded"
    n_censored = result.everything.n_censored
    cut = f" and {n_censored:,} cut short" if n_censored else ""
    why = " (profiles are of finished runs)" if result.settings.by == PROFILE and n_censored else ""
    nowhere = f"; {result.n_without_group:,} are in no group{why}" if result.n_without_group else ""
    return f"{counted(result.n_rows - n_censored, 'finished run')}{cut}{out}{nowhere}."


def censored_words(result: ObservedDurations, share: float) -> str:
    """Return what the runs that were cut short change; empty where none is censored."""
    whole, target = result.everything, result.settings.target
    if whole.finished is None:
        return ""
    alone = value_words(whole.finished, target, share)
    return (
        f"Runs that timed out, were cancelled or still run take at least as long as they did (Kaplan-Meier). "
        f"Finished runs alone would say {alone} at {share * 100:g} %."
    )
