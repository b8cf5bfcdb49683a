"""Runs of a sweep: scores, the best run, the published means, what stands, and the winner per target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, figure_of
from workprof.charts.theme import rows_height
from workprof.core.units import format_share
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep import GroupSettings, ScoreSummary, SweepGroup, SweepRun, TargetWinner

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
    "silhouette_clustered": Score("Silhouette (without outliers)", HIGHER, 3, "Among the runs in a profile."),
    "avg_silhouette": Score(
        "Silhouette (paper)", HIGHER, 3, "Outliers as one cluster, then the mean over the runs in profiles alone."
    ),
    "davies_bouldin": Score("Davies–Bouldin", LOWER, 3, "As published, with the outliers as one group."),
    "relative_validity": Score("Relative validity", HIGHER, 3, "hdbscan's quick stand-in for DBCV."),
    "ccpm": Score("CCPM", HIGHER, 3, "Published silhouette + 1 / Davies–Bouldin."),
    "n_clusters": Score("Profiles", NEITHER, 0, "Groups found, outliers not counted."),
    "outlier_share": Score("Unclustered (share of runs)", LOWER, 3, "Runs in no dense group."),
    "truth_adjusted_rand": Score("Agreement with ground truth", HIGHER, 3, "Adjusted Rand index; synthetic data only."),
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


PUBLISHED_ROWS = 100_001
BEST_RUN = "HDBSCAN, power, Euclidean, 300"
BEST_ROW = 48
BEST_ACQUIRES = 0.717785
BEST_CLUSTERS = 26
BEST_OUTLIERS = 24_603

TABLE_IV_MEANS = {
    "n_outliers": 40_331.0,
    "n_clusters": 68.6,
    "mean_cluster_size": 1_993.6,
    "avg_silhouette": 0.44,
    "davies_bouldin": 1.52,
}
"""HDBSCAN line of Table IV."""

TARGET_WINNERS = {
    10: ("power, Manhattan, 1000", 11, 0.6767),
    20: ("power, Manhattan, 400", 20, 0.7231),
    26: ("power, Euclidean, 300", 26, 0.7178),
    50: ("power, Manhattan, 200", 53, 0.7096),
    100: ("robust, Euclidean, 100", 104, 0.6846),
}
"""Target -> best HDBSCAN run of the published grid, its clusters, its ACQUIRES (recomputed from the published file)."""

REFERENCE = (
    f"Published, on another sample of {PUBLISHED_ROWS:,} rows and 17 features: row {BEST_ROW} of the grid "
    f"({BEST_RUN}) wins with ACQUIRES {BEST_ACQUIRES}, {BEST_CLUSTERS} profiles and {BEST_OUTLIERS:,} outliers. "
    "It was not repeated here; compare orders, not values."
)


ALGORITHM_WORDS = {"hdbscan": "HDBSCAN", "optics": "OPTICS"}
SCALER_WORDS = {"none": "none", "standard": "standard", "minmax": "min–max", "robust": "robust", "power": "power"}
METRIC_WORDS = {"euclidean": "Euclidean", "manhattan": "Manhattan"}
ALWAYS = tuple(name for name in SCORES if name != "truth_adjusted_rand")


def run_name(settings: ProfileSettings, grid_size: int) -> str:
    """Return 'HDBSCAN, power, Euclidean, 300': unique within a grid."""
    return f"{ALGORITHM_WORDS[settings.algorithm]}, {place(settings)}, {grid_size}"


def setting_words(settings: ProfileSettings, grid_size: int) -> str:
    """Return 'power scaling, Euclidean, minimum size 50'; the algorithm where it is not the usual one."""
    words = f"{SCALER_WORDS[settings.scaler]} scaling, {METRIC_WORDS[settings.metric]}, minimum size {grid_size:,}"
    return words if settings.algorithm == "hdbscan" else f"{ALGORITHM_WORDS[settings.algorithm]}, {words}"


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
    table = pd.DataFrame([_runs_line(run, i == best, shown) for i, run in enumerate(runs)])
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
    """Return which setting is best, its score beside the next, and what it finds."""
    if best < 0:
        return "No setting has a score: each found fewer than two profiles."
    run = runs[best]
    others = [value(other, "acquires") for i, other in enumerate(runs) if i != best]
    second = max((number for number in others if math.isfinite(number)), default=math.nan)
    beside = f" (next {written('acquires', second)})" if math.isfinite(second) else ""
    so_far = "" if complete else " so far"
    return (
        f"Best{so_far}: {setting_words(run.settings, run.grid_size)}: ACQUIRES "
        f"{written('acquires', value(run, 'acquires'))}{beside}, {run.scores.n_clusters} profiles, "
        f"{format_share(value(run, 'outlier_share'))} of the runs unclustered."
    )


def _runs_line(run: SweepRun, is_best: bool, shown: Sequence[str]) -> dict[str, object]:
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


Pairs = Sequence[tuple[GroupSettings, SweepGroup | None]]


@dataclass(frozen=True)
class Standing:
    """How far a sweep is.

    Attributes:
        groups, groups_done: of the grid.
        runs, runs_done: of the grid; left-out sizes count as neither done nor open.
        runs_left_out: sizes that the rows cannot hold.
    """

    groups: int
    groups_done: int
    runs: int
    runs_done: int
    runs_left_out: int

    @classmethod
    def of(cls, pairs: Pairs) -> Standing:
        """Return the standing of a grid's groups, each with its result or None."""
        results = [result for _, result in pairs if result is not None]
        left_out = sum(len(result.left_out) for result in results)
        request = sum(len(settings.sizes) for settings, _ in pairs)
        return cls(len(pairs), len(results), request - left_out, sum(len(result.runs) for result in results), left_out)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.groups_done == self.groups

    def fraction(self, of_running_group: float | None) -> float:
        """Return the share of the groups that is done, 0-1, the part of the running one included."""
        return min(1.0, (self.groups_done + (of_running_group or 0.0)) / max(1, self.groups))

    def words(self) -> str:
        """Return '21 of 56 settings'."""
        left_out = f" ({self.runs_left_out:,} excluded)" if self.runs_left_out else ""
        return f"{self.runs_done:,} of {self.runs:,} settings{left_out}"


def left_out_table(pairs: Pairs) -> pd.DataFrame:
    """Return one line per size that was left out, with the reason; no line where none was."""
    return pd.DataFrame(
        [
            {
                "algorithm": ALGORITHM_WORDS[settings.algorithm],
                "scaler": SCALER_WORDS[settings.scaler],
                "metric": METRIC_WORDS[settings.metric],
                "size": int(size),
                "reason": reason,
            }
            for settings, result in pairs
            if result is not None
            for size, reason in result.left_out.items()
        ],
        columns=["algorithm", "scaler", "metric", "size", "reason"],
    )


SCORE_WORDS = {
    "n_outliers": "outliers (runs)",
    "n_clusters": "profiles",
    "mean_cluster_size": "mean size (runs)",
    "avg_silhouette": "silhouette of runs in profiles, outliers as a cluster",
    "davies_bouldin": "Davies–Bouldin",
    "acquires": "ACQUIRES",
}


def summary_table(summary: Sequence[ScoreSummary]) -> pd.DataFrame:
    """Return Table IV; the last column is the paper's mean, of another sample."""
    return pd.DataFrame([_summary_line(line) for line in summary])


def summary_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return Table IV with its numbers as text, whole where they count rows."""
    result = table.copy()
    for name in result.columns[3:]:
        result[name] = [
            _written(number, large=row.startswith(("outliers", "mean size")))
            for number, row in zip(result[name], result["score"], strict=True)
        ]
    return result


def _written(number: float, *, large: bool) -> str:
    if not math.isfinite(number):
        return "–"
    return f"{number:,.0f}" if large else f"{number:,.3g}"


def summary_sentence(summary: Sequence[ScoreSummary]) -> str:
    """Return what Table IV says about the number of profiles."""
    counts = [line for line in summary if line.score == "n_clusters" and line.runs]
    if not counts:
        return "No setting is finished."
    parts = [
        f"{ALGORITHM_WORDS[line.algorithm]} finds {line.minimum:,.0f} to {line.maximum:,.0f} profiles "
        f"(median {line.median:,.0f}) over {line.runs} settings"
        for line in counts
    ]
    return "; ".join(parts) + "."


def _summary_line(line: ScoreSummary) -> dict[str, object]:
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


LINE_PX = 26


def target_bars(winners: Sequence[TargetWinner], runs: Sequence[SweepRun]) -> Chart:
    """Return the best run and its ACQUIRES for each target; above it the run's settings and profiles."""
    table = pd.DataFrame([_targets_line(winner, runs) for winner in winners])
    lines: Any = list(table.itertuples())
    figure = figure_of(
        [
            shapes.bars(
                table["acquires"],
                [f"target {target}" for target in table["target"]],
                colour=NEUTRAL,
                hover="%{y}: %{customdata}, ACQUIRES %{x:.4f}",
                width=0.4,
                customdata=table["winner"],
            )
        ],
        x={"title": "ACQUIRES of the winner (1 = best)", "range": [0, 1]},
        y={"autorange": "reversed", "showgrid": False},
        height=rows_height(len(table)) + LINE_PX * len(table),
    )
    for row in lines:
        words = (
            f"{row.acquires:.3f} · {row.short}: {row.profiles:.0f} profiles" if row.winner else "no setting has a score"
        )
        place = {"x": 0, "y": f"target {row.target}", "xanchor": "left", "yshift": 20}
        figure.add_annotation(text=words, showarrow=False, font={"size": 12}, **place)
    return Chart(
        name="sweep-targets",
        figure=figure,
        takeaway=_takeaway(table),
        shows="Bars of the winner's ACQUIRES per target number of profiles.",
        data=table.drop(columns="short"),
        note="Above each bar: ACQUIRES · transform, metric, size: profiles found. The paper calls 26 optimal without a "
        "reason; it is the count of its own winner. Published winners are of another sample (100,001 rows, "
        "17 features).",
    )


def _targets_line(winner: TargetWinner, runs: Sequence[SweepRun]) -> dict[str, object]:
    result = runs[winner.run] if winner.run >= 0 else None
    published, profiles, acquires = TARGET_WINNERS.get(winner.target_clusters, ("", math.nan, math.nan))
    return {
        "target": winner.target_clusters,
        "winner": run_name(result.settings, result.grid_size) if result else "",
        "short": f"{place(result.settings)}, {result.grid_size}" if result else "",
        "profiles": result.scores.n_clusters if result else math.nan,
        "acquires": winner.acquires,
        "published winner": published,
        "published profiles": profiles,
        "published acquires": acquires,
    }


def _takeaway(table: pd.DataFrame) -> str:
    won = table[table["winner"] != ""]
    if won.empty:
        return "No setting has a score yet."
    names = list(dict.fromkeys(won["winner"]))
    if len(names) == 1:
        return f"The same setting wins at every target: {names[0]}."
    return (
        f"The winner depends on the target: {len(names)} winners between {won['target'].iloc[0]} and "
        f"{won['target'].iloc[-1]}, with {int(won['profiles'].iloc[0])} to {int(won['profiles'].iloc[-1])} profiles."
    )
