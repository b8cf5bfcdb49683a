"""What hdbscan says of the runs of a clustering: soft membership, outlier scores, typical runs, and its own trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.core.shown import Shown
from workprof.core.units import format_count
from workprof.profiles.features import Prepared, prepare
from workprof.profiles.fit import grow_tree, warm_kernels
from workprof.profiles.metadata import NOT_GIVEN
from workprof.profiles.settings import ProfileSettings, refuse_unweighed
from workprof.profiles.summary import feature_spread
from workprof.profiles.tree import numbered_cut, to_hdbscan

if TYPE_CHECKING:
    import pandas as pd
    from hdbscan import HDBSCAN

NAMING = ("job_name", "workload", "task_name", "user", "group")
"""Metadata that a listed run is told by."""
MERGES = 40
"""Of the single linkage tree that are drawn: the last ones."""
STEPS = {"scale": 0.03, "neighbours": 0.5, "spanning tree": 0.8, "membership": 1.0}


@settings
class MembershipSettings:
    """Settings of the membership of runs."""

    fit: Annotated[
        ProfileSettings,
        Setting("The clustering whose runs are weighed: options of `profiles fit`, as A=1;B=2."),
    ] = field(default_factory=ProfileSettings)
    unusual: Annotated[
        int,
        Setting("Runs with the highest outlier scores that are listed.", least=1, label="Unusual runs"),
    ] = 20
    typical: Annotated[
        int, Setting("Exemplars that are listed for each profile.", least=1, label="Typical runs of a profile")
    ] = 3


@dataclass(frozen=True)
class WeighedRun:
    """One run beside the profiles."""

    row_id: int
    profile: int  # of the clustering; -1 = outlier
    nearest: int  # profile of the highest membership; -1 without any profile
    membership: float  # in that one, 0-1
    outlier_score: float  # GLOSH, 0-1
    feature: str  # with a value that lies farthest from the median of its nearest profile; '' without any
    deviation: float  # how far, in scaled units; NaN without any
    named: dict[str, str]  # its metadata


@dataclass(frozen=True)
class Branches:
    """The condensed tree as `hdbscan` draws it, in its own coordinates (lambda = 1 / distance)."""

    bars: Floats  # (n_bars, 4) centre, bottom, top (lambda) and width (runs) of each bar
    lines: Floats  # (n_lines, 4) x, lambda, x, lambda of each join
    profiles: Floats  # (n_profiles, 4) left, right, bottom and top of the box around each profile, by label


@dataclass(frozen=True, repr=False)
class Membership(Shown):
    """How strongly each run belongs to each profile, and how unusual it is."""

    settings: MembershipSettings  # as given, the clustering's sizes resolved to rows
    row_ids: Ints  # (n_rows,) of the clustered rows
    labels: Ints  # (n_rows,) profile, -1 = outlier
    membership: Floats  # (n_rows, n_profiles) 0-1, hdbscan.all_points_membership_vectors
    outlier_scores: Floats  # (n_rows,) GLOSH, 0-1, hdbscan's outlier_scores_
    unusual: tuple[WeighedRun, ...]  # the highest outlier scores first
    typical: tuple[WeighedRun, ...]  # exemplars, by profile and falling membership
    n_exemplars: Ints  # (n_profiles,) that hdbscan names
    branches: Branches
    linkage: Floats  # (n_merges, 8) four corners x, distance of each of the last merges, as scipy's dendrogram has them
    notes: tuple[str, ...]  # what a reader must know
    seconds: float  # time of the computation


def membership(
    frames: Mapping[str, pd.DataFrame], settings: MembershipSettings, progress: Progress = silent
) -> Membership:
    """What hdbscan says of the rows that `settings.fit` clusters.

    Raises:
        SettingsError: for a clustering by OPTICS, or one with pairs of named runs.
        ColumnMissing, NotEnoughData: as `fit_profiles`.

    Source: hdbscan (McInnes, Healy & Astels 2017): all_points_membership_vectors, outlier_scores_ (GLOSH, Campello et
    al. 2015), exemplars_, condensed_tree_, single_linkage_tree_; over the spanning tree of the clustering.
    """
    refuse_unweighed(settings.fit)
    progress(0.0, "Getting ready")
    warm_kernels(settings.fit)
    watch = Stopwatch(progress, STEPS)
    with watch.step("scale", "Scaling the features"):
        prepared = prepare(frames["jobs"], settings.fit)
    tree, fit = grow_tree(prepared, watch), prepared.settings
    with watch.step("membership", "Weighing the runs"):
        labels = numbered_cut(tree, fit)[0].labels
        theirs = to_hdbscan(prepared.points, tree, fit.min_cluster_size, fit.method, fit.epsilon, predicts=False)
        own = numbering(theirs, labels)
        weights = soft_membership(theirs, own)
        scores = np.asarray(theirs.outlier_scores_, dtype=np.float64)
        weighed = _Weighed(prepared, labels, weights, scores)
        exemplars = [exemplar_rows(theirs, int(label)) for label in own]
        found = weighed.listed(np.argsort(-scores, kind="stable")[: settings.unusual])
        typical = [
            weighed.listed(rows[np.argsort(-weights[rows, profile], kind="stable")][: settings.typical])
            for profile, rows in enumerate(exemplars)
        ]
    return Membership(
        settings=replace(settings, fit=fit),
        row_ids=prepared.row_ids,
        labels=labels,
        membership=weights,
        outlier_scores=scores,
        unusual=found,
        typical=tuple(run for runs in typical for run in runs),
        n_exemplars=np.array([len(rows) for rows in exemplars], dtype=np.int64),
        branches=_branches(theirs, own),
        linkage=_last_merges(theirs),
        notes=_notes(prepared),
        seconds=watch.seconds,
    )


def numbering(theirs: HDBSCAN, labels: Ints) -> Ints:
    """(n_profiles,) hdbscan's label of each profile; (n_rows,) `labels` are ours of the same partition."""
    result = np.full(int(labels.max(initial=-1)) + 1, -1, dtype=np.int64)
    inside = labels >= 0
    result[labels[inside]] = theirs.labels_[inside]
    return result


def soft_membership(theirs: HDBSCAN, own: Ints) -> Floats:
    """(n_rows, n_profiles) hdbscan's membership vectors, a column per profile in our order (`numbering`).

    Equal rows have no vector there (0 / 0): each counts as wholly of its own profile.
    """
    from hdbscan import all_points_membership_vectors  # noqa: PLC0415  heavy

    if not len(own):
        return np.zeros((len(theirs.labels_), 0))
    with np.errstate(invalid="ignore"):
        vectors = np.asarray(all_points_membership_vectors(theirs), dtype=np.float64).reshape(len(theirs.labels_), -1)
    unknown = np.isnan(vectors).any(axis=1, keepdims=True)
    return np.ascontiguousarray(np.where(unknown, theirs.labels_[:, None] == own, vectors[:, own]))


def exemplar_rows(theirs: HDBSCAN, label: int) -> Ints:
    """(n,) rows that are exemplars of a label; of rows with the same values the first."""
    from scipy.spatial import cKDTree  # noqa: PLC0415  heavy

    points = np.asarray(theirs._raw_data)
    rows = np.flatnonzero(theirs.labels_ == label)
    wanted = np.asarray(theirs.exemplars_[label]).reshape(-1, points.shape[1])
    return np.unique(rows[cKDTree(points[rows]).query(wanted)[1]]).astype(np.int64)


class _Weighed:
    """The rows beside the profiles, to be told one by one."""

    def __init__(self, prepared: Prepared, labels: Ints, weights: Floats, scores: Floats) -> None:
        self.prepared, self.labels, self.weights, self.scores = prepared, labels, weights, scores
        self.features = prepared.matrix.names
        points, numbers = prepared.scaled_features[:, : len(self.features)], prepared.matrix.numbers
        self.scaled = np.where(np.isnan(numbers), np.nan, points)  # of no value nobody says how far away it is
        spread = feature_spread(points, numbers, labels, self.features)
        self.middles = spread.median[spread.profiles >= 0]
        self.named = [name for name in NAMING if name in prepared.jobs.columns]

    def listed(self, rows: Ints) -> tuple[WeighedRun, ...]:
        return tuple(self._run(int(row)) for row in rows)

    def _run(self, row: int) -> WeighedRun:
        nearest, weight, feature, away = -1, 0.0, "", float("nan")
        if self.weights.shape[1]:
            nearest = int(self.weights[row].argmax())
            weight = float(self.weights[row, nearest])
            apart = self.scaled[row] - self.middles[nearest]
            if np.isfinite(apart).any():
                farthest = int(np.nanargmax(np.abs(apart)))
                feature, away = self.features[farthest], float(apart[farthest])
        told = {name: self.prepared.jobs[name].iloc[row] for name in self.named}
        return WeighedRun(
            row_id=int(self.prepared.row_ids[row]),
            profile=int(self.labels[row]),
            nearest=nearest,
            membership=weight,
            outlier_score=float(self.scores[row]),
            feature=feature,
            deviation=away,
            named={name: NOT_GIVEN if value is None or value != value else str(value) for name, value in told.items()},  # noqa: PLR0124
        )


def _branches(theirs: HDBSCAN, own: Ints) -> Branches:
    drawn = theirs.condensed_tree_.get_plot_data()
    bars = np.column_stack([drawn[name] for name in ("bar_centers", "bar_bottoms", "bar_tops", "bar_widths")])
    joins = zip(drawn["line_xs"], drawn["line_ys"], strict=True)
    lines = [(x[0], y[0], x[1], y[1]) for x, y in joins]
    boxes = drawn["cluster_bounds"]
    chosen = theirs.condensed_tree_._select_clusters()  # in the order of the labels
    return Branches(
        bars=np.asarray(bars, dtype=np.float64).reshape(-1, 4),
        lines=np.asarray(lines, dtype=np.float64).reshape(-1, 4),
        profiles=np.array([boxes[chosen[label]] for label in own], dtype=np.float64).reshape(-1, 4),
    )


def _last_merges(theirs: HDBSCAN) -> Floats:
    """The single linkage tree's last merges as scipy draws them, corner by corner."""
    from scipy.cluster.hierarchy import dendrogram  # noqa: PLC0415  heavy

    links = theirs.single_linkage_tree_.to_numpy()
    drawn = dendrogram(links, p=MERGES, truncate_mode="lastp", no_plot=True)
    across, up = np.array(drawn["icoord"], dtype=np.float64), np.array(drawn["dcoord"], dtype=np.float64)
    return np.stack([across, up], axis=2).reshape(len(across), -1)


def _notes(prepared: Prepared) -> tuple[str, ...]:
    if prepared.whole:
        return prepared.notes
    weighed, every = format_count(len(prepared.rows)), format_count(len(prepared.table))
    return (*prepared.notes, f"Weighed are the {weighed} clustered runs of {every}.")
