"""What is said of profiles: a clustering, whether there is anything to cluster, and whether its profiles come back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import counted
from workprof.profiles.baseline import BASELINE_METRICS, Baseline, LabelSilhouette
from workprof.profiles.fit import ProfileFit
from workprof.profiles.hopkins import Hopkins
from workprof.profiles.names import OUTLIERS
from workprof.profiles.part_files import AssignedFiles
from workprof.profiles.stability import DOUBTFUL_FROM, STABLE_FROM, Stability
from workprof.profiles.summary import ProfileCard

Names = Mapping[int, str] | Sequence[str]
"""Of the profiles by label; that of the outliers is at -1."""
LITTLE = 0.5
"""A profile that uses less of its requested memory leaves much idle."""
RUNS = Column("runs", "size", "Runs", unit="runs")
SHARE = Column("share", heading="Of the runs", unit="share")

CARDS = (
    Column("profile", "name", "Profile"),
    RUNS,
    Column("silhouette", "card.silhouette", "Silhouette", "%.3f"),
    Column("purity", "card.purity", "Purity", unit="share", help="Share of the runs with its most frequent workload."),
    Column("takeaway", "card.takeaway", "What it is"),
)
CLUSTERED = Column(
    "clustered_share",
    lambda scores: 1 - scores.n_outliers / max(scores.n_rows, 1),
    "In a profile",
    unit="share",
    help="Share of the runs that belong to a profile.",
)
SILHOUETTE = Column(
    "silhouette_clustered",
    heading="Silhouette (without outliers)",
    form="%.3f",
    help="Among the profiles' runs. 1 = well separated, below 0 = misplaced.",
)
PAPERS_SILHOUETTE = Column(
    "avg_silhouette",
    heading="Silhouette (outliers as a cluster)",
    form="%.3f",
    help="As in the paper: outliers are one cluster, and the mean is over the runs that are none. "
    "scikit-learn averages over the outliers, too.",
)
ACQUIRES = Column(
    "acquires",
    heading="ACQUIRES",
    form="%.3f",
    help="Mean of the published silhouette, the clustered share and the closeness to the target. The paper's best is "
    "0.718.",
)


@dataclass(frozen=True)
class _Named:
    """A profile with its name."""

    name: str
    size: int
    card: ProfileCard


def fit_answer(fit: ProfileFit, names: Names) -> Answer:
    """Which profiles there are, and how distinct they are."""
    scores = fit.scores
    cards = [_card(card) | {"name": names[card.profile]} for card in fit.cards if card.profile != OUTLIERS]
    own = {
        "settings": asdict(fit.settings) | {"features": list(fit.features)},
        **asdict(scores),
        "profiles": cards,
        **{name: getattr(fit, name) for name in ("sample_rows", "left_out", "imputed", "seconds", "step_seconds")},
    }
    error = f"± {scores.silhouette_se:.3f}" if scores.silhouette_method == "sampled" else "exact"
    rows = [_Named(names[card.profile], card.size, card) for card in fit.cards]
    return Answer(
        profiles_sentence(fit, names, {}),
        (
            Figure(CLUSTERED, scores, f"{scores.n_outliers:,} unclustered"),
            Figure(SILHOUETTE, scores, error),
            Figure(PAPERS_SILHOUETTE, scores),
            Figure(ACQUIRES, scores),
        ),
        (Table("profiles", "Profiles", CARDS, rows),),
        tuple(fit.notes),
        own,
    )


def _card(card: ProfileCard) -> dict[str, Any]:
    top: dict[str, dict[str, object]] = {}
    for entry in card.top_metadata:
        top.setdefault(entry.field, {"value": entry.value, "share": entry.share})
    names = ("profile", "size", "share", "silhouette", "purity", "job_purity", "labels")
    return {name: getattr(card, name) for name in names} | {"top_metadata": top, "takeaway": card.takeaway}


def profiles_sentence(fit: ProfileFit, names: Names, used: Mapping[int, float]) -> str:
    """How many profiles there are, of how many runs, and what they leave idle.

    Args:
        fit: the clustering.
        names: of its profiles.
        used: label -> share of the requested memory that its runs use; empty = not known.
    """
    scores = fit.scores
    if not scores.n_clusters:
        return f"No profile was found: all {counted(scores.n_rows, 'run')} are unclustered. Try a smaller minimum size."
    verb = "covers" if scores.n_clusters == 1 else "cover"
    text = f"{counted(scores.n_clusters, 'profile')} {verb} {CLUSTERED.text(scores)} of {counted(scores.n_rows, 'run')}"
    largest = max((card for card in fit.cards if card.profile != OUTLIERS), key=lambda card: card.size)
    text += f"; the largest, {names[largest.profile]}, holds {format_share(largest.share)}"
    known = [share for profile, share in used.items() if profile != OUTLIERS and math.isfinite(share)]
    little = sum(share < LITTLE for share in known)
    if little:
        verb = "uses" if little == 1 else "use"
        text += f", and {little} of {len(known)} {verb} less than half of the memory requested"
    return text + "."


@dataclass(frozen=True)
class _Assigned:
    """The runs of a profile in some files."""

    profile: int
    name: str
    size: int
    share: float


ASSIGNED = (Column("profile", shown=False), Column("name", heading="Profile"), RUNS, SHARE)


def assigned_answer(found: AssignedFiles) -> Answer:
    """How many runs of some files were assigned to which profile."""
    labels = (*range(len(found.names) - 1), OUTLIERS)
    rows = [
        _Assigned(label, name, int(runs), runs / max(found.rows, 1))
        for label, name, runs in zip(labels, found.names, found.runs.tolist(), strict=True)
    ]
    there = f", {found.reused:,} of them there before" if found.reused else ""
    return Answer(
        f"{counted(found.rows, 'run')} of {counted(found.files, 'file')} are assigned and in {found.folder}{there}.",
        tables=(Table("profiles", "Profiles", ASSIGNED, rows),),
        notes=tuple(found.notes),
        document={name: value for name, value in vars(found).items() if name not in {"names", "runs"}},
    )


HOPKINS_READINGS = {
    "clustered": "the runs are far from uniform: there is something to cluster",
    "no sign of clusters": "the runs are no more clustered than uniform random ones",
    "regularly spaced": "the runs are more evenly spaced than uniform random ones",
}


def hopkins_answer(result: Hopkins) -> Answer:
    """Whether there is anything to cluster."""
    spread = f" ± {result.hopkins_sd:.3f}" if math.isfinite(result.hopkins_sd) else ""
    reading = HOPKINS_READINGS.get(result.reading, result.reading)
    return Answer(f"Hopkins {result.hopkins:.3f}{spread}: {reading}.", notes=tuple(result.notes), document=vars(result))


PROFILES, PROFILES_PUBLISHED = "profiles (without outliers)", "profiles (outliers as one group)"
SMALLEST_SEEN = 0.001
"""A difference of silhouettes that a picture shows."""


@dataclass(frozen=True)
class _Grouping:
    """A label, or the profiles, with its silhouettes."""

    name: str
    label: LabelSilhouette


GROUPINGS = (
    Column("grouping", "name", "Runs grouped by"),
    *(Column(one, f"label.{one}", f"{one.capitalize()} silhouette", "%.3f") for one in BASELINE_METRICS),
    Column("method", "label.method", "Method"),
    Column("values", "label.n_values", "Groups", unit="count"),
    Column("missing", "label.n_missing", "Runs without a value", unit="count"),
    Column("reason", "label.reason", "Why there is none", optional=True),
)


def baseline_answer(result: Baseline) -> Answer:
    """Whether the profiles separate behaviour better than the labels that users give."""
    own = {"profiles": result.profiles, "profiles_published": result.profiles_published}
    rows = [_Grouping(*one) for one in groupings(result)]
    return Answer(
        baseline_sentence(result),
        tables=(Table("groupings", "Silhouettes", GROUPINGS, rows),),
        notes=tuple(result.notes),
        document={"labels": result.labels, **own, "n_rows": result.n_rows, "seconds": result.seconds},
    )


def groupings(result: Baseline) -> list[tuple[str, LabelSilhouette]]:
    """The groupings from top to bottom: the profiles first, as published too where that differs."""
    beside = [(PROFILES, result.profiles)] if result.profiles else []
    if result.profiles and result.profiles_published and _differ(result.profiles, result.profiles_published):
        beside.append((PROFILES_PUBLISHED, result.profiles_published))
    return [*beside, *((" and ".join(label.by.split(",")), label) for label in result.labels)]


def _differ(proper: LabelSilhouette, published: LabelSilhouette) -> bool:
    pairs = ((getattr(proper, metric), getattr(published, metric)) for metric in BASELINE_METRICS)
    return any(math.isnan(here) != math.isnan(there) or abs(here - there) > SMALLEST_SEEN for here, there in pairs)


def baseline_sentence(result: Baseline) -> str:
    """The silhouette of the profiles beside that of the best label."""
    labels = [
        (name, label)
        for name, label in groupings(result)
        if math.isfinite(label.euclidean) and not name.startswith("profiles")
    ]
    if not labels:
        return "No metadata label of this dataset has a silhouette."
    name, best = max(labels, key=lambda item: item[1].euclidean)
    text = f"the best label, {name}, reaches {best.euclidean:.2f}"
    if result.profiles is None or not math.isfinite(result.profiles.euclidean):
        return f"{text[0].upper()}{text[1:]} (Euclidean silhouette)."
    verdict = "better than" if result.profiles.euclidean > best.euclidean else "no better than"
    return (
        f"The profiles separate behaviour {verdict} metadata labels: Euclidean silhouette "
        f"{result.profiles.euclidean:.2f}, {text}."
    )


STABLE = Column(
    "stable_profiles",
    lambda one: f"{sum(each.jaccard >= STABLE_FROM for each in one.per_profile)} of {len(one.per_profile)}",
    "Stable profiles",
    help="Mean Jaccard similarity of 0.75 or more.",
)
RAND = Column(
    "adjusted_rand",
    heading="Adjusted Rand",
    form="%.3f",
    help="Agreement on the runs that are in a profile both times: 1 = the same groups.",
)
TWICE = Column(
    "shared_share",
    heading="Clustered twice",
    unit="share",
    help="In a profile both times: mean share of the runs.",
)
FOUND = Column(
    "profiles_found",
    lambda one: f"{int(one.n_found.min())} to {int(one.n_found.max())}" if len(one.n_found) else "",
    "Profiles found",
    help="In the resamples.",
)
PER_PROFILE = (
    Column("profile", lambda one: f"P{one.profile}", "Profile"),
    RUNS,
    Column("jaccard", heading="Mean Jaccard similarity", form="%.3f"),
    Column("jaccard_min", heading="Least", form="%.3f"),
    Column("dissolved_share", heading="Dissolved", unit="share", help="Share of the resamples without the profile."),
    Column("reading", heading="Reading"),
)


def stability_answer(result: Stability) -> Answer:
    """Whether the profiles come back when part of the jobs is clustered by itself."""
    return Answer(
        stability_sentence(result, {}),
        (
            Figure(STABLE, result),
            Figure(RAND, result),
            Figure(TWICE, result),
            Figure(FOUND, result, f"{len(result.per_profile)} in the clustering"),
        ),
        (Table("per_profile", "Profiles", PER_PROFILE, result.per_profile),),
        tuple(result.notes),
        vars(result),
    )


MOST_NAMED = 3


def stability_sentence(result: Stability, names: Mapping[int, str]) -> str:
    """How many profiles are stable, and which should not be trusted."""
    rated = sorted((one for one in result.per_profile if one.reading), key=lambda one: one.jaccard)
    if not rated:
        return "There is no profile whose stability could be measured."
    weak = [names.get(one.profile, f"P{one.profile}") for one in rated if one.jaccard < DOUBTFUL_FROM]
    stable = sum(one.jaccard >= STABLE_FROM for one in rated)
    others = " and others" if len(weak) > MOST_NAMED else ""
    tail = f"; {', '.join(weak[:MOST_NAMED])}{others} should not be trusted" if weak else ""
    return f"{stable} of {len(rated)} profiles come back stable in {result.settings.resamples} resamples{tail}."
