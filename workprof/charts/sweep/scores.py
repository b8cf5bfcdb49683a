"""The scores of a run as people read them: name, direction, digits, meaning."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workprof.profiles.sweep import SweepRun

HIGHER, LOWER, NEITHER = "higher is better", "lower is better", "neither high nor low is better"


@dataclass(frozen=True)
class Score:
    """One score: its label, which way is better, digits behind the point, and what it means."""

    label: str
    better: str
    digits: int
    meaning: str


SCORES = {
    "acquires": Score("ACQUIRES", HIGHER, 3, "Mean of published silhouette, clustered share, closeness to the target."),
    "scores_v3": Score("scores_v3", HIGHER, 3, "0.4 silhouette + 0.1 closeness to the target + 0.5 clustered share."),
    "silhouette_clustered": Score("Silhouette (proper)", HIGHER, 3, "Among the profiles' rows, outliers left out."),
    "avg_silhouette": Score("Silhouette (published)", HIGHER, 3, "Outliers count as one group, then are left out."),
    "davies_bouldin": Score("Davies–Bouldin", LOWER, 3, "As published, with the outliers as one group."),
    "dbcv": Score("DBCV", HIGHER, 3, "Density-based validity, relative."),
    "ccpm": Score("CCPM", HIGHER, 3, "Published silhouette + 1 / Davies–Bouldin."),
    "n_clusters": Score("Profiles", NEITHER, 0, "Groups found, outliers not counted."),
    "outlier_share": Score("Outliers (share of rows)", LOWER, 3, "Rows in no dense group."),
    "truth_adjusted_rand": Score("Truth (ARI)", HIGHER, 3, "Adjusted Rand index against the planted truth."),
}


def value(run: SweepRun, score: str) -> float:
    """Return one score of a run; NaN where it is undefined."""
    scores = run.scores
    if score == "outlier_share":
        return scores.n_outliers / scores.n_rows if scores.n_rows else math.nan
    return float(getattr(scores, score))


def written(score: str, number: float) -> str:
    """Return a score as text, 'no data' for NaN."""
    return f"{number:,.{SCORES[score].digits}f}" if math.isfinite(number) else "no data"
