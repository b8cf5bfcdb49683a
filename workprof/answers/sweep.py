"""What is said of a sweep: the best setting, its scores beside the others', each target's winner, and two settings."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from workprof.answers.profiles import (
    ACQUIRES,
    AGREEMENT as TRUE_GROUPS,
    CCPM,
    DAVIES_BOULDIN,
    MEAN_SIZE,
    N_OUTLIERS,
    N_PROFILES,
    PAPERS_SILHOUETTE,
    SILHOUETTE,
    V3,
)
from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column, printed
from workprof.core.units import format_share
from workprof.core.words import counted, listed
from workprof.profiles.fit import ProfileFit
from workprof.profiles.names import name_at
from workprof.profiles.settings import ALGORITHM_WORDS, METRIC_WORDS, ProfileSettings
from workprof.profiles.sweep import (
    LEAST_CLUSTERED,
    GroupSettings,
    Pairs,
    RunComparison,
    ScoreSummary,
    Standing,
    Sweep,
    SweepRun,
    TargetWinner,
    clustered_share,
)

OF_GRID = ("features", "mode", "sample_rows")
"""What all settings of a grid share."""
IN_GRID = ("algorithm", "scaler", "metric", "min_cluster_size")
HIGHER, LOWER, NEITHER = "higher is better", "lower is better", "neither high nor low is better"
SCALER_WORDS = {"none": "none", "standard": "standard", "minmax": "min–max", "robust": "robust", "power": "power"}


@dataclass(frozen=True)
class Score:
    """A score of a run: its column, and which way is better."""

    column: Column
    better: str

    @property
    def label(self) -> str:
        """What it is called."""
        return self.column.words

    def of(self, run: SweepRun) -> float:
        """NaN where it is undefined."""
        return float(self.column.of(run))

    def written(self, number: float) -> str:
        """A value of it, or of several runs together."""
        return format_share(number) if self.column.unit == "share" else printed(number, self.column.shown_form)


def _score(column: Column, better: str = HIGHER) -> Score:
    value = column.value or f"scores.{column.name}"
    return Score(replace(column, value=value, help=f"{column.help} {better.capitalize()}."), better)


def _unclustered(run: SweepRun) -> float:
    return run.scores.n_outliers / run.scores.n_rows if run.scores.n_rows else math.nan


SCORES = {
    one.column.name: one
    for one in (
        _score(SILHOUETTE),
        _score(ACQUIRES),
        _score(replace(V3, aside=True)),
        _score(PAPERS_SILHOUETTE),
        _score(DAVIES_BOULDIN, LOWER),
        _score(
            Column(
                "relative_validity",
                "",
                "Density contrast",
                "%.3f",
                "Relative validity, hdbscan's quick stand-in for DBCV.",
            )
        ),
        _score(replace(CCPM, aside=True)),
        _score(N_PROFILES, NEITHER),
        _score(Column("outlier_share", _unclustered, "Unclustered", "", "In no dense group.", unit="share"), LOWER),
        _score(replace(TRUE_GROUPS, optional=True)),
    )
}
"""By name."""

PLACE = (
    Column("algorithm", lambda one: ALGORITHM_WORDS[one.settings.algorithm], "Algorithm"),
    Column("scaler", lambda one: SCALER_WORDS[one.settings.scaler], "Transform"),
    Column("metric", lambda one: METRIC_WORDS[one.settings.metric], "Distance"),
)
SIZE = Column("grid_size", "", "Minimum size", "%,.0f", "Minimum profile size of the grid, in runs.")
OUTLIERS = replace(N_OUTLIERS, value="scores.n_outliers", aside=True)
SIZES = replace(MEAN_SIZE, value="scores.mean_cluster_size")
SECONDS = Column("seconds", "", "Time", "", "With its share of what several settings have in common.", unit="s")
FURTHER = (
    OUTLIERS,
    SIZES,
    *(Column(name, f"scores.{name}", aside=True) for name in ("silhouette_method", "silhouette_se")),
    Column("min_cluster_size", "settings.min_cluster_size", aside=True),
    Column("min_samples", "settings.min_samples", "Minimum samples", "%,.0f"),
    Column("n_rows", "scores.n_rows", aside=True),
    SECONDS,
)
LEFT_OUT = (*PLACE, replace(SIZE, value="size"), Column("reason", "", "Reason"))


@dataclass(frozen=True)
class _LeftOut:
    """A size that was left out."""

    settings: GroupSettings
    size: int
    reason: str


def ranked(runs: Sequence[SweepRun]) -> list[int]:
    """The positions of the runs, highest overall score first; those without it last."""
    return sorted(range(len(runs)), key=lambda i: -np.nan_to_num(runs[i].scores.acquires, nan=-np.inf))


def runs_table(runs: Sequence[SweepRun], best: int, chosen: int) -> Table:
    """One line per run in the order of `ranked`; the chosen one and the best overall score are marked in words."""

    def mark(run: SweepRun) -> str:
        told = (("★ chosen", chosen), ("highest overall score", best))
        return ", ".join(words for words, place in told if place >= 0 and run is runs[place])

    verdict = Column("verdict", mark, "Verdict", pinned=True, width="medium")
    scores = [score.column for score in SCORES.values()]
    rows = [runs[i] for i in ranked(runs)]
    return Table("runs", "Settings", (verdict, *PLACE, SIZE, *scores, *FURTHER), rows)


def left_out_table(pairs: Pairs) -> Table:
    """One line per size that was left out, with the reason."""
    rows = [
        _LeftOut(settings, int(size), reason)
        for settings, result in pairs
        if result is not None
        for size, reason in result.left_out.items()
    ]
    return Table("excluded", f"Excluded: {counted(len(rows), 'size')}", LEFT_OUT, rows)


TABLE_IV_MEANS = {
    "n_outliers": 40_331.0,
    "n_clusters": 68.6,
    "mean_cluster_size": 1_993.6,
    "avg_silhouette": 0.44,
    "davies_bouldin": 1.52,
}
"""HDBSCAN line of Table IV."""
PUBLISHED_MEANS = "Published means: HDBSCAN in the paper's Table IV, of another sample; they were not repeated here."
SUMMARISED = {one.name: one for one in (*(score.column for score in SCORES.values()), OUTLIERS, SIZES)}


def _published(one: ScoreSummary) -> float:
    return TABLE_IV_MEANS.get(one.score, math.nan) if one.algorithm == "hdbscan" else math.nan


SPREAD = {"mean": "Mean", "std": "Standard deviation", "min": "Least", "median": "Median", "max": "Most"}
SUMMARY = (
    Column("algorithm", lambda one: ALGORITHM_WORDS[one.algorithm], "Algorithm"),
    Column("score", lambda one: SUMMARISED[one.score].words, "Score"),
    Column("settings", "runs", "Settings", "%,.0f"),
    *(
        Column(name, {"min": "minimum", "max": "maximum"}.get(name, name), heading, "%,.3g")
        for name, heading in SPREAD.items()
    ),
    Column("published_mean", _published, "Published mean", "%,.3g"),
)
"""Table IV; the last column is the paper's mean, of another sample."""


def summary_table(summary: Sequence[ScoreSummary]) -> Table:
    """Each score over all runs of an algorithm."""
    return Table("summary", "Each score over all settings", SUMMARY, summary)


TARGET_WINNERS = {
    10: ("power, Manhattan, 1000", 11, 0.6767),
    20: ("power, Manhattan, 400", 20, 0.7231),
    26: ("power, Euclidean, 300", 26, 0.7178),
    50: ("power, Manhattan, 200", 53, 0.7096),
    100: ("robust, Euclidean, 100", 104, 0.6846),
}
"""Target -> best HDBSCAN run of the published grid, its clusters, its ACQUIRES (recomputed from the published file)."""
REFERENCE = (
    "Published winner: row 48 of the grid (HDBSCAN, power, Euclidean, 300), overall score 0.717785. It has 26 "
    "profiles and "
    "24,603 outliers of 100,001 rows with 17 features. Compare orders, not values: the sample is another."
)
TARGETS_NOTE = (
    "Above each bar: overall score · transform, metric, size: profiles found. The paper calls 26 optimal without "
    "a reason; "
    "it is the count of its own winner. Published winners are of another sample (100,001 rows, 17 features)."
)


def targets_table(winners: Sequence[TargetWinner], runs: Sequence[SweepRun]) -> Table:
    """The winner of each target number of profiles, the published one apart."""

    def won(one: TargetWinner) -> SweepRun | None:
        return runs[one.run] if one.run >= 0 else None

    def published(name: str, heading: str, form: str = "") -> Column:
        place = ("winner", "profiles", "acquires").index(name)
        found = lambda one: TARGET_WINNERS.get(one.target_clusters, ("", math.nan, math.nan))[place]  # noqa: E731
        return Column(f"published_{name}", found, heading, form)

    columns = (
        Column("target", "target_clusters", "Target", "%.0f"),
        Column("winner", lambda one: run_name(run) if (run := won(one)) else "", "Winner"),
        Column("n_clusters", lambda one: run.scores.n_clusters if (run := won(one)) else math.nan, "Profiles", "%,.0f"),
        ACQUIRES,
        published("winner", "Published winner"),
        published("profiles", "Published profiles", "%.0f"),
        published("acquires", "Published overall score", "%.3f"),
    )
    return Table("winners_by_target", "The winner by target", columns, winners)


def sweep_answer(sweep: Sweep) -> Answer:
    """Which setting is best, and every setting with its scores."""
    excluded = left_out_table(sweep.results)
    runs = [
        asdict(run.settings)
        | {"features": list(run.settings.features), "grid_size": run.grid_size}
        | asdict(run.scores)
        | {"seconds": run.seconds}
        for run in sweep.runs
    ]
    return Answer(
        chosen_sentence(sweep.runs, sweep.chosen, sweep.standing.complete),
        tables=(
            runs_table(sweep.runs, sweep.best, sweep.chosen),
            summary_table(sweep.summary),
            targets_table(sweep.winners, sweep.runs),
            *((excluded,) if excluded.rows else ()),
        ),
        notes=(OWN_SPACES,) if len({(run.settings.scaler, run.settings.metric) for run in sweep.runs}) > 1 else (),
        document={
            "runs": runs,
            "chosen": runs[sweep.chosen] if sweep.chosen >= 0 else None,
            "best": runs[sweep.best] if sweep.best >= 0 else None,
            "summary": sweep.summary,
            "winners_by_target": sweep.winners,
            "left_out": [result.left_out for _, result in sweep.results if result],
            "seconds": sweep.seconds,
        },
    )


def place(settings: ProfileSettings) -> str:
    """'power, Euclidean'."""
    return f"{SCALER_WORDS[settings.scaler]}, {METRIC_WORDS[settings.metric]}"


def run_name(run: SweepRun) -> str:
    """'HDBSCAN, power, Euclidean, 300': unique within a grid."""
    return f"{ALGORITHM_WORDS[run.settings.algorithm]}, {place(run.settings)}, {run.grid_size}"


def setting_words(run: SweepRun) -> str:
    """'power scaling, Euclidean, minimum size 50'; the algorithm where it is not the usual one."""
    return _setting(run.settings, run.grid_size)


def _setting(settings: ProfileSettings, size: int) -> str:
    words = f"{SCALER_WORDS[settings.scaler]} scaling, {METRIC_WORDS[settings.metric]}, minimum size {size:,}"
    return words if settings.algorithm == "hdbscan" else f"{ALGORITHM_WORDS[settings.algorithm]}, {words}"


def runner_up(runs: Sequence[SweepRun], best: int) -> int:
    """The position of the run that is second by ACQUIRES; the first other one where no other has a score."""
    others = [i for i in range(len(runs)) if i != best]
    scored = [i for i in others if math.isfinite(runs[i].scores.acquires)]
    return max(scored, key=lambda i: runs[i].scores.acquires) if scored else others[0]


def chosen_sentence(runs: Sequence[SweepRun], chosen: int, complete: bool) -> str:
    """Which setting is chosen, by which rule, and what it finds."""
    if chosen < 0:
        return "No setting is chosen: each found fewer than two profiles."
    run, so_far = runs[chosen], "" if complete else " so far"
    alike = f" {counted(n, 'other setting')} within {ALIKE_WITHIN} of it." if (n := _as_far_apart(runs, run)) else ""
    found = f"{run.scores.n_clusters} profiles, separation {SILHOUETTE.text(run.scores)}"
    if clustered_share(run) >= LEAST_CLUSTERED:
        rule = f"Best separation{so_far} with at least {format_share(LEAST_CLUSTERED, 0)} of runs clustered"
    else:
        rule = f"No setting{so_far} clusters {format_share(LEAST_CLUSTERED, 0)} of the runs; most are clustered"
        found = f"{format_share(clustered_share(run), 0)}, {found}"
    return f"{rule}: {setting_words(run)} ({found}).{alike}"


OWN_SPACES = (
    "Each setting's separation is measured in its own scaling and distance. Between scalings it compares only roughly: "
    "one far run makes it large where nothing tames long tails."
)
ALIKE_WITHIN = 0.01
"""Silhouettes this close, or within two standard errors, do not tell which of two settings is better."""


def _as_far_apart(runs: Sequence[SweepRun], best: SweepRun) -> int:
    """How many settings that cluster enough are as good as the best, which does, too."""
    if clustered_share(best) < LEAST_CLUSTERED:
        return 0
    others = [one.scores for one in runs if one is not best and clustered_share(one) >= LEAST_CLUSTERED]
    top = best.scores
    return sum(
        top.silhouette_clustered - one.silhouette_clustered
        <= max(ALIKE_WITHIN, 2 * math.hypot(one.silhouette_se, top.silhouette_se))
        for one in others
    )


def in_use_sentence(fit: ProfileFit, runs: Sequence[SweepRun]) -> str:
    """What the profiles in use find, where the grid of the same runs and features lacks their setting; else ''."""
    own = fit.settings
    alike = [run for run in runs if all(getattr(run.settings, name) == getattr(own, name) for name in OF_GRID)]
    if not alike or any(all(getattr(run.settings, name) == getattr(own, name) for name in IN_GRID) for run in alike):
        return ""
    found = f"{counted(fit.scores.n_clusters, 'profile')}, separation {SILHOUETTE.text(fit.scores)}"
    return f"Not in this grid: the profiles in use, {_setting(own, own.min_cluster_size)} ({found})."


def standing_words(standing: Standing) -> str:
    """'21 of 56 settings'."""
    left_out = f" ({standing.runs_left_out:,} excluded)" if standing.runs_left_out else ""
    return f"{standing.runs_done:,} of {standing.runs:,} settings{left_out}"


def _range_words(low: float, high: float) -> str:
    return counted(int(low), "profile") if low == high else f"{low:,.0f} to {high:,.0f} profiles"


def summary_sentence(summary: Sequence[ScoreSummary]) -> str:
    """What Table IV says about the number of profiles."""
    parts = [
        f"{ALGORITHM_WORDS[line.algorithm]} finds {_range_words(line.minimum, line.maximum)} "
        f"(median {line.median:,.0f}) over {line.runs} settings"
        for line in summary
        if line.score == "n_clusters" and line.runs
    ]
    return f"{'; '.join(parts)}." if parts else "No setting is finished."


def score_sentence(runs: Sequence[SweepRun], name: str) -> str:
    """The best value of a score and where it stands, of one algorithm; its range where neither end is better."""
    score = SCORES[name]
    known = [(score.of(run), run) for run in runs if math.isfinite(score.of(run))]
    if not known:
        return f"No finished setting has a value of {score.label}."
    low, high = (end(known, key=lambda one: one[0]) for end in (min, max))
    if score.better == NEITHER:
        return f"{score.label}: {score.written(low[0])} to {score.written(high[0])} over the grid."
    number, run = low if score.better == LOWER else high
    return f"{score.label} is best ({score.written(number)}) with {place(run.settings)}, minimum size {run.grid_size}."


def score_note(runs: Sequence[SweepRun], name: str) -> str:
    """What the map of a score holds, of one algorithm."""
    algorithm, column = ALGORITHM_WORDS[runs[0].settings.algorithm], SCORES[name].column
    return (
        f"{algorithm}, {len(runs)} settings. {column.words}: {column.help} "
        "An empty cell: not finished, excluded, or without a score."
    )


LINES_NOTE = (
    "A line is a setting: thick = the highest overall score, medium = the best tenth, thin = the rest. On the "
    "axes of the "
    "scores the better end is at the right (the number of profiles has none). Separation: without outliers."
)


def lead_sentence(runs: Sequence[SweepRun], best: int) -> str:
    """The best setting, and how low other sizes of it score."""
    if best < 0:
        return "No setting has a score yet."
    run, acquires = runs[best], SCORES["acquires"]
    same = [acquires.of(other) for other in runs if _same_place(other, run)]
    low, high = (acquires.written(number) for number in (np.nanmin(same), np.nanmax(same)))
    spread = f"; other sizes score as low as {low}" if low != high else ""
    return f"Highest overall score ({high}): {setting_words(run)}{spread}."


def _same_place(one: SweepRun, other: SweepRun) -> bool:
    here, there = one.settings, other.settings
    return (here.algorithm, here.scaler, here.metric) == (there.algorithm, there.scaler, there.metric)


def targets_sentence(winners: Sequence[TargetWinner], runs: Sequence[SweepRun]) -> str:
    """Whether the same setting wins at every target."""
    won = [(one.target_clusters, runs[one.run]) for one in winners if one.run >= 0]
    if not won:
        return "No setting has a score yet."
    names = dict.fromkeys(run_name(run) for _, run in won)
    if len(names) == 1:
        return f"The same setting wins at every target: {next(iter(names))}."
    (first, fewest), (last, most) = won[0], won[-1]
    return (
        f"The winner depends on the target: {len(names)} winners between {first} and {last}, with "
        f"{fewest.scores.n_clusters} to {most.scores.n_clusters} profiles."
    )


def winner_words(one: TargetWinner, runs: Sequence[SweepRun]) -> str:
    """Above the bar of a target: its winner's score and settings."""
    if one.run < 0:
        return "no setting has a score"
    run = runs[one.run]
    return f"{one.acquires:.3f} · {place(run.settings)}, {run.grid_size}: {run.scores.n_clusters:.0f} profiles"


MOST_NAMED = 4
"""Profiles that a sentence lists by their numbers."""
BOTH = "Agreement on the runs that are in a profile both times: 1 = the same groups, 0 = chance."
ALL = "Agreement on all common runs, the outliers as a group of their own."
GONE = "Runs in a profile of the first setting and outliers of the second; whole profiles may go."
OTHER = "Runs that changed group: in the second setting they are not where most of their first group is."
AGREEMENT = Column("adjusted_rand", "", "Adjusted Rand", "%.3f", BOTH)
AGREEMENT_OF_ALL = Column("adjusted_rand_all", "", "Adjusted Rand, all runs", "%.3f", ALL)
TO_OUTLIERS = Column("to_outliers", lambda one: int(one.overlap[1:, 0].sum()), "To outliers", "%,.0f", GONE)
MOVED = Column("moved", lambda one: len(one.row_ids), "Moved", "%,.0f", OTHER)


def comparison_answer(one: RunComparison, before: str, after: str, names: Sequence[str] = ()) -> Answer:
    """How two settings differ, by their names; `names` are those of the first one's profiles."""
    moved, common = len(one.row_ids), one.n_common
    back = int(one.overlap[0, 1:].sum())
    return Answer(
        _moved_sentence(one, names) if before != after else "The same setting twice: nothing moved.",
        (
            Figure(AGREEMENT, one, "without outliers"),
            Figure(AGREEMENT_OF_ALL, one, "outliers as a group"),
            Figure(TO_OUTLIERS, one, f"from outliers {back:,}"),
            Figure(MOVED, one, f"{format_share(moved / common)} of {counted(common, 'run')}"),
        ),
        notes=(
            f"First: {before}; second: {after}. Each line adds up to 100 % of a group of the first; the table holds "
            "the runs. The numbers of the profiles are each setting's own: P3 here and P3 there need not be alike.",
        ),
    )


def _moved_sentence(one: RunComparison, names: Sequence[str]) -> str:
    moved, profiles = len(one.row_ids), len(one.overlap) - 1
    gone = np.flatnonzero(one.overlap[1:].argmax(axis=1) == 0).tolist() if profiles else []
    lost = ""
    if gone:
        named = listed([name_at(names, label) for label in gone[:MOST_NAMED]])
        which = named if len(gone) <= MOST_NAMED else f"{len(gone)} of {profiles} profiles"
        lost = f"; {which} {'becomes' if len(gone) == 1 else 'become'} outliers in the second setting"
    return f"{counted(moved, 'run')} of {one.n_common:,} ({format_share(moved / one.n_common)}) change group{lost}."
