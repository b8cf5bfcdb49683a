"""What is said of the membership of runs: which are unusual, and which are typical of their profile."""

import math
from collections.abc import Mapping

import numpy as np

from workprof.answers.profiles import Names, together
from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import begun, counted, label
from workprof.profiles.membership import Membership, WeighedRun
from workprof.profiles.names import OUTLIERS, UNCLUSTERED

UNUSUAL_FROM = 0.9
"""An outlier score from which a run is called unusual; GLOSH has no bound of its own."""
SURE_FROM = 0.5
"""A membership from which a run belongs to a profile more than to all else."""
ADVICE = "The scores order runs; they are no probability that something is wrong."

UNUSUAL = Column(
    "n_unusual",
    lambda one: int((one.outlier_scores >= UNUSUAL_FROM).sum()),
    "Unusual runs",
    "%,.0f",
    f"Runs with an outlier score of {UNUSUAL_FROM} or more (GLOSH: 0 = as dense as its cluster, 1 = far outside).",
)
SURE = Column(
    "sure_share",
    lambda one: float((one.membership.max(axis=1, initial=0.0) >= SURE_FROM).mean()),
    "Belong mostly to one profile",
    unit="share",
    help=f"Share of the runs whose membership in one profile is {SURE_FROM} or more.",
)
EXEMPLARS = Column(
    "n_exemplars",
    lambda one: int(one.n_exemplars.sum()),
    "Exemplars",
    "%,.0f",
    "Runs in the densest part of their profile, which hdbscan names.",
)


def _profile(names: Names, number: int) -> str:
    if number == OUTLIERS:
        return UNCLUSTERED
    return names[number] if names else f"P{number}"


def _metadata(name: str) -> Column:
    return Column(f"of_{name}", lambda run: run.named[name], begun(label(name)))


def _away(run: WeighedRun) -> str:
    return f"{label(run.feature)} {run.deviation:+.1f}" if run.feature else ""


def _columns(result: Membership, names: Names, *, first: bool) -> tuple[Column, ...]:
    """Of a list of runs; `first` = the profile stands first."""
    metadata = dict.fromkeys(name for run in (*result.unusual, *result.typical) for name in run.named)
    profile = Column("profile_name", lambda run: _profile(names, run.profile), "Profile")
    nearest = Column("nearest_name", lambda run: _profile(names, run.nearest), "Nearest profile")
    score = Column("outlier_score", "", "Outlier score", "%.3f", "GLOSH: 0 = as dense as its cluster, 1 = far outside.")
    weight = Column("membership", "", "Membership", "%.3f", "In the nearest profile, 0 to 1 (hdbscan).")
    away = Column(
        "farthest",
        _away,
        "Farthest from the median in",
        help="Feature, and how far in scaled units from the median of the nearest profile.",
    )
    told = [_metadata(name) for name in metadata]
    aside = tuple(Column(name, aside=True) for name in ("profile", "nearest", "feature", "deviation"))
    run = Column("row_id", heading="Row", form="%d")
    order = (profile, run, weight, score) if first else (run, score, profile, nearest, weight)
    return (*order, away, *told, *aside)


def unusual_table(result: Membership, names: Names) -> Table:
    """The runs with the highest outlier scores."""
    return Table("unusual", "Unusual runs", _columns(result, names, first=False), result.unusual)


def typical_table(result: Membership, names: Names) -> Table:
    """The exemplars of each profile."""
    return Table("typical", "Typical runs", _columns(result, names, first=True), result.typical)


def unusual_sentence(result: Membership) -> str:
    """How many runs are unusual."""
    n_rows, found = len(result.row_ids), UNUSUAL.of(result)
    if not found:
        top = float(result.outlier_scores.max(initial=0.0))
        return f"No run of {n_rows:,} is unusual: the highest outlier score is {top:.2f}."
    return (
        f"{found:,} of {counted(n_rows, 'run')} ({format_share(found / n_rows)}) are unusual: outlier score "
        f"{UNUSUAL_FROM} or more."
    )


def membership_answer(result: Membership, names: Names = ()) -> Answer:
    """Which runs are unusual, and which are typical of each profile."""
    strongest = result.membership.max(axis=1, initial=0.0)
    median = float(np.median(strongest)) if len(strongest) else math.nan
    return Answer(
        unusual_sentence(result),
        (
            Figure(UNUSUAL, result),
            Figure(SURE, result, f"median membership {median:.2f}"),
            Figure(EXEMPLARS, result, f"of {counted(result.membership.shape[1], 'profile')}"),
        ),
        (unusual_table(result, names), typical_table(result, names)),
        (ADVICE, *together(result.notes)),
        {
            "settings": result.settings,
            "n_rows": len(result.row_ids),
            "exemplars": {f"P{profile}": int(count) for profile, count in enumerate(result.n_exemplars)},
            "seconds": result.seconds,
        },
    )


def tree_sentence(result: Membership, names: Mapping[int, str]) -> str:
    """Which profile persists over the longest range of density."""
    boxes = result.branches.profiles
    if not len(boxes):
        return "The condensed tree of hdbscan selects no profile."
    spans = boxes[:, 3] - boxes[:, 2]
    longest = int(np.nan_to_num(spans, posinf=0.0).argmax())
    return f"{_profile(dict(names), longest)} persists over the widest range of density in hdbscan's condensed tree."


def linkage_sentence(result: Membership) -> str:
    """At which distances the last groups of the single linkage tree merge."""
    if not len(result.linkage):
        return "The single linkage tree has no merge."
    heights = np.sort(result.linkage[:, 3])
    return f"The last {counted(len(heights), 'merge')} lie at distances {heights[0]:.2g} to {heights[-1]:.2g}."


def tree_shown(result: Membership) -> str:
    """What the condensed tree of hdbscan draws."""
    bars, profiles = len(result.branches.bars), len(result.branches.profiles)
    return f"Condensed tree of hdbscan: {counted(bars, 'bar')} hanging from the root, {counted(profiles, 'profile')}."


def scores_shown(result: Membership) -> str:
    """What the histogram of outlier scores draws."""
    return f"Histogram of the outlier scores of {counted(len(result.row_ids), 'run')}."
