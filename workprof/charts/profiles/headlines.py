"""The scores of a clustering as headline figures, each with what it means."""

from __future__ import annotations

import math

from workprof.charts.shapes import Headline
from workprof.profiles.fit import ProfileFit
from workprof.profiles.scores import ProfileScores
from workprof.units import format_count, format_share


def headlines(fit: ProfileFit) -> tuple[Headline, ...]:
    """Return every score, the plain ones first."""
    scores = fit.scores
    return (*_counts(scores), *_silhouettes(scores), *_published(scores, fit.settings.target_clusters), *_truth(scores))


def _counts(scores: ProfileScores) -> tuple[Headline, ...]:
    rows = max(scores.n_rows, 1)
    clustered = 1 - scores.n_outliers / rows
    return (
        Headline(
            "Profiles", format_count(scores.n_clusters), "Groups of jobs that behave alike; outliers not counted."
        ),
        Headline("Clustered", format_share(clustered), "Share of the rows that belong to a profile."),
        Headline(
            "Outliers",
            format_count(scores.n_outliers),
            "Rows in no dense group (label −1). They stay visible everywhere.",
            format_share(scores.n_outliers / rows),
        ),
        Headline("Mean size", format_count(scores.mean_cluster_size), "Rows per profile, outliers left out."),
    )


def _silhouettes(scores: ProfileScores) -> tuple[Headline, ...]:
    error = f"± {scores.silhouette_se:.3f}" if scores.silhouette_method == "sampled" else "exact"
    return (
        Headline(
            "Silhouette",
            _number(scores.silhouette_clustered),
            "The proper one: among the profiles' rows, outliers left out. 1 = well separated, below 0 = misplaced.",
            f"proper, {error}",
        ),
        Headline(
            "Silhouette",
            _number(scores.avg_silhouette),
            "As in the paper: outliers count as one group, then the mean over the rows that are none.",
            "published",
        ),
        Headline(
            "Davies–Bouldin",
            _number(scores.davies_bouldin),
            "Lower is better. As published, with the outliers as one group; without them: "
            f"{_number(scores.davies_bouldin_clustered)}.",
        ),
        Headline("DBCV", _number(scores.dbcv), "Density-based validity, relative; higher is better."),
    )


def _published(scores: ProfileScores, target: int) -> tuple[Headline, ...]:
    return (
        Headline(
            "ACQUIRES",
            _number(scores.acquires),
            f"Mean of the published silhouette, the clustered share and the closeness to {target} profiles. "
            "The paper's best is 0.718.",
        ),
        Headline(
            "scores_v3",
            _number(scores.scores_v3),
            _V3,
        ),
        Headline("CCPM", _number(scores.ccpm), "Published silhouette + 1 / Davies–Bouldin."),
    )


_V3 = "0.4 silhouette + 0.1 closeness to the target + 0.5 clustered share."


def _truth(scores: ProfileScores) -> tuple[Headline, ...]:
    if not math.isfinite(scores.truth_adjusted_rand):
        return ()
    meaning = "Adjusted Rand index against the planted truth, outliers left out: 1 = the same groups, 0 = chance."
    return (Headline("Truth (ARI)", _number(scores.truth_adjusted_rand), meaning),)


def _number(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "no data"
