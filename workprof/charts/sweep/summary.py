"""Table IV: every score over the runs of every algorithm, beside the means that the paper prints."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from workprof.charts.sweep.published import TABLE_IV_MEANS
from workprof.charts.sweep.runs import ALGORITHM_WORDS
from workprof.profiles.sweep import ScoreSummary

SCORE_WORDS = {
    "n_outliers": "outliers (rows)",
    "n_clusters": "profiles",
    "mean_cluster_size": "mean size (rows)",
    "avg_silhouette": "silhouette (published)",
    "davies_bouldin": "Davies–Bouldin",
    "acquires": "ACQUIRES",
}


def summary_table(summary: Sequence[ScoreSummary]) -> pd.DataFrame:
    """Return Table IV; the last column is the paper's mean, of another sample."""
    return pd.DataFrame([_line(line) for line in summary])


def summary_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return Table IV with its numbers as text, whole where they count rows."""
    told = table.copy()
    for name in told.columns[3:]:
        told[name] = [
            _written(number, large=row.startswith(("outliers", "mean size")))
            for number, row in zip(told[name], told["score"], strict=True)
        ]
    return told


def _written(number: float, *, large: bool) -> str:
    if not math.isfinite(number):
        return "–"
    return f"{number:,.0f}" if large else f"{number:,.3g}"


def summary_sentence(summary: Sequence[ScoreSummary]) -> str:
    """Return what Table IV says about the number of profiles."""
    counts = [line for line in summary if line.score == "n_clusters" and line.runs]
    if not counts:
        return "No run is finished."
    parts = [
        f"{ALGORITHM_WORDS[line.algorithm]} finds {line.minimum:,.0f} to {line.maximum:,.0f} profiles "
        f"(median {line.median:,.0f}) over {line.runs} runs"
        for line in counts
    ]
    return "; ".join(parts) + "."


def _line(line: ScoreSummary) -> dict[str, object]:
    published = TABLE_IV_MEANS.get(line.score, math.nan) if line.algorithm == "hdbscan" else math.nan
    return {
        "algorithm": ALGORITHM_WORDS[line.algorithm],
        "score": SCORE_WORDS[line.score],
        "runs": line.runs,
        "mean": line.mean,
        "std": line.std,
        "min": line.minimum,
        "median": line.median,
        "max": line.maximum,
        "published mean": published,
    }
