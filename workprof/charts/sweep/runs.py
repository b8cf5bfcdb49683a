"""The runs of a sweep as a table, what each is called, and which is best."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from workprof.charts.sweep.scores import SCORES, value, written
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep import SweepRun
from workprof.units import format_share

ALGORITHM_WORDS = {"hdbscan": "HDBSCAN", "optics": "OPTICS"}
SCALER_WORDS = {"none": "none", "standard": "standard", "minmax": "min–max", "robust": "robust", "power": "power"}
METRIC_WORDS = {"euclidean": "Euclidean", "manhattan": "Manhattan"}
SMALLEST_LEAD = 0.0005
"""A smaller lead is written as 0.000: it is none."""
ALWAYS = tuple(name for name in SCORES if name != "truth_adjusted_rand")


def run_name(settings: ProfileSettings, grid_size: int) -> str:
    """Return 'HDBSCAN, power, Euclidean, 300': unique within a grid."""
    return f"{ALGORITHM_WORDS[settings.algorithm]}, {place(settings)}, {grid_size}"


def place(settings: ProfileSettings) -> str:
    """Return 'power, Euclidean'."""
    return f"{SCALER_WORDS[settings.scaler]}, {METRIC_WORDS[settings.metric]}"


def run_names(runs: Sequence[SweepRun]) -> tuple[str, ...]:
    """Return the name of every run, in their order."""
    return tuple(run_name(run.settings, run.grid_size) for run in runs)


def runs_table(runs: Sequence[SweepRun], best: int) -> pd.DataFrame:
    """Return one line per run, highest ACQUIRES first: settings, scores, time; the best is marked in words.

    The index is each run's position in `runs`.
    """
    shown = (*ALWAYS, "truth_adjusted_rand") if has_truth(runs) else ALWAYS
    table = pd.DataFrame([_line(run, i == best, shown) for i, run in enumerate(runs)])
    return table.sort_values("acquires", ascending=False, kind="stable")


def runner_up(runs: Sequence[SweepRun], best: int) -> int:
    """Return the position of the run that is second by ACQUIRES; the first other one where no other has a score."""
    others = [i for i in range(len(runs)) if i != best]
    scored = [i for i in others if math.isfinite(runs[i].scores.acquires)]
    return max(scored, key=lambda i: runs[i].scores.acquires) if scored else others[0]


def has_truth(runs: Sequence[SweepRun]) -> bool:
    """Return whether the rows have planted labels to compare with."""
    return any(math.isfinite(run.scores.truth_adjusted_rand) for run in runs)


def best_sentence(runs: Sequence[SweepRun], best: int, complete: bool) -> str:
    """Return which run is best, by what, and how far ahead of the next."""
    if best < 0:
        return "No run has a score: each found fewer than two groups."
    run = runs[best]
    target = run.settings.target_clusters
    others = [value(other, "acquires") for i, other in enumerate(runs) if i != best]
    second = max((number for number in others if math.isfinite(number)), default=math.nan)
    ahead = _lead(value(run, "acquires") - second)
    so_far = "" if complete else " so far"
    return (
        f"Best{so_far} by ACQUIRES at a target of {target} profiles: {run_name(run.settings, run.grid_size)} with "
        f"{written('acquires', value(run, 'acquires'))}{ahead}: {run.scores.n_clusters} profiles, "
        f"{format_share(value(run, 'outlier_share'))} outliers."
    )


def _lead(ahead: float) -> str:
    """Return how far ahead of the next, NaN = there is none."""
    if not math.isfinite(ahead):
        return ""
    return f", {ahead:.3f} ahead of the next" if ahead >= SMALLEST_LEAD else ", level with the next"


def _line(run: SweepRun, is_best: bool, shown: Sequence[str]) -> dict[str, object]:
    settings, scores = run.settings, run.scores
    return {
        "verdict": "★ best" if is_best else "",
        "algorithm": ALGORITHM_WORDS[settings.algorithm],
        "scaler": SCALER_WORDS[settings.scaler],
        "metric": METRIC_WORDS[settings.metric],
        "size": run.grid_size,
        **{name: value(run, name) for name in shown},
        "n_outliers": scores.n_outliers,
        "mean_cluster_size": scores.mean_cluster_size,
        "silhouette_method": scores.silhouette_method,
        "silhouette_se": scores.silhouette_se,
        "min_cluster_size": settings.min_cluster_size,
        "min_samples": settings.min_samples,
        "n_rows": scores.n_rows,
        "seconds": run.seconds,
    }
