"""One clustering from frame to record: features, clusters, scores, cards.

Re-cut, don't refit: the spanning tree is kept, and a change of size, method or epsilon only cuts it again.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.long_table import LongTable
from workprof.core.parallel import each
from workprof.core.parts import has_part, read_part, write_part
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.core.records import Arrays, Made
from workprof.core.shown import Shown
from workprof.core.units import format_count, format_share
from workprof.core.words import listed
from workprof.profiles.assign import Assigner, make_assigner, make_quick_assigner, settle_rim
from workprof.profiles.features import FittedTransform, Prepared, draw_rows, prepare
from workprof.profiles.metadata import Heatmap
from workprof.profiles.names import typical_names
from workprof.profiles.pairs import PairsHeld, settle
from workprof.profiles.scores import ProfileScores, density_validity, of_all_rows, only_counted, score
from workprof.profiles.settings import ALGORITHM_WORDS, PACKAGE, ProfileSettings, refuse_unweighed
from workprof.profiles.silhouettes import exact_silhouettes
from workprof.profiles.summary import (
    FeatureSpread,
    FlatMap,
    ProfileCard,
    RowResults,
    feature_spread,
    project,
    summarise,
)
from workprof.profiles.tree import (
    Clusters,
    CondensedTree,
    SpanningTree,
    build_spanning_tree,
    cut,
    find_neighbours,
    numbered_cut,
    package_tree,
    run_without_tree,
    to_hdbscan,
)

if TYPE_CHECKING:
    import pandas as pd
    from hdbscan import HDBSCAN

    Clustered = pd.DataFrame | str | os.PathLike[str]

READER = "workprof.library.tables"
"""Module with `jobs_of(table, {})`, which reads a table in memory as a file; the library stands above the methods."""
_WARM_ROWS = 64
_warmed: set[str] = set()


def warm_kernels(settings: ProfileSettings) -> None:
    """Compile (or load from the compiler's cache) the loops that a fit with these settings runs.

    Rows too close for single precision need one more. On a new machine this takes some seconds.
    """
    if settings.metric in _warmed:
        return
    points = np.random.default_rng(0).normal(size=(_WARM_ROWS, 2))
    labels = np.arange(_WARM_ROWS, dtype=np.int64) % 3 - 1
    exact_silhouettes(points, labels, settings.metric)
    cut(build_spanning_tree(find_neighbours(points, settings.metric, (3,)), 3), 5)
    _warmed.add(settings.metric)


def warm_recuts(settings: ProfileSettings) -> None:
    """Load and compile what cutting a kept tree and scoring the cut need, packages included."""
    warm_kernels(settings)
    points = np.random.default_rng(0).normal(size=(_WARM_ROWS, 2))
    density_validity(points, np.arange(_WARM_ROWS, dtype=np.int64) % 2, settings.metric, 0)


MANY_OUTLIERS_SHARE = 0.4
NO_STRUCTURE = 0.25
"""Up to this silhouette Kaufman and Rousseeuw 1990 see no substantial structure."""
NEARLY_ALL, SELDOM = 0.99, 0.5
ONE_PROFILE_SHARE = 0.8


def result_notes(scores: ProfileScores, labels: Ints) -> tuple[str, ...]:
    """What a reader of the scores must know."""
    notes = []
    outliers = scores.n_outliers / scores.n_rows
    if scores.n_clusters == 0:
        notes.append(
            "No profile was found: all runs are outliers. Try a smaller minimum size or fewer minimum samples."
        )
    elif outliers > MANY_OUTLIERS_SHARE:
        notes.append(f"{format_share(outliers)} of the runs are outliers; profiles describe the rest only.")
    sizes = np.bincount(labels[labels >= 0]) if scores.n_clusters else np.zeros(1)
    if sizes.max() > ONE_PROFILE_SHARE * max(1, sizes.sum()):
        notes.append(f"One profile holds {format_share(float(sizes.max() / sizes.sum()))} of the clustered runs.")
    if scores.silhouette_clustered <= NO_STRUCTURE:
        notes.append(
            f"The separation is {scores.silhouette_clustered:.2f}: profiles overlap, or are not round. Up to "
            f"{NO_STRUCTURE} is read as no substantial structure."
        )
    if scores.silhouette_method and np.isnan(scores.silhouette_clustered):
        notes.append("The silhouette without outliers needs at least two profiles.")
    if scores.silhouette_method == "sampled":
        notes.append(
            f"Silhouettes are estimated from {format_count(scores.n_silhouette)} runs, each against all others; "
            f"standard error {scores.silhouette_se:.4f}."
        )
    return tuple(notes)


def missing_notes(missing: Mapping[str, Bools], labels: Ints) -> tuple[str, ...]:
    """Which profiles hold the runs that lack a feature, by (n_rows,) whether each does: that may be no behaviour."""
    notes = []
    for name, lacks in missing.items():
        sizes = np.bincount(labels[labels >= 0], minlength=1)
        shares = np.bincount(labels[(labels >= 0) & lacks], minlength=len(sizes)) / np.maximum(1, sizes)
        inside = np.flatnonzero(shares >= NEARLY_ALL).tolist()
        if 0 < len(inside) < len(sizes) and lacks.mean() <= SELDOM:
            named = listed([f"P{label}" for label in inside])
            notes.append(f"{named}: nearly all runs lack {name}. What parts them from the others may be that alone.")
    return tuple(notes)


STEPS = {
    **{"scale": 0.03, "neighbours": 0.4, "spanning tree": 0.7, "cut": 0.72, "scores": 0.9},
    **{"assign": 0.94, "summary": 1.0},
}
"""Steps of a fit and the share of the whole that is done when each ends (times of the 100,001-row sample)."""

ROWS_AT_ONCE = 65_536
"""Rows that are scaled and assigned together, and kept until all are."""

MOST_RIM_ROWS = 200_000
"""Rows at the rims that join the tree; of more, so many are drawn, and the others follow the distances found."""

ASSIGNED_SHARE = 0.8
"""Of the step 'assign', when the rims are left."""


@dataclass(frozen=True, repr=False)
class ProfileFit(Shown):
    """A clustering with all that a page shows of it."""

    settings: ProfileSettings  # as given, with sizes resolved to rows
    features: tuple[str, ...]  # names that were used
    left_out: dict[str, str]  # name -> reason of the features that were named but could not be used
    imputed: dict[str, int]  # name -> rows whose missing value was filled in
    notes: tuple[str, ...]
    """Warnings (over 40 % outliers, one profile over 80 %, a constant feature, a sample, ...)."""
    row_ids: Ints  # (n_rows,) of the store: every row of the table, unless OPTICS leaves some without a profile
    labels: Ints  # (n_rows,) profile, numbered as `numbered_cut` does (the usual size: 0 is the largest), -1 = outlier
    probabilities: Floats  # (n_rows,) membership strength 0-1
    silhouettes: Floats  # (n_rows,) as published definition; NaN where not computed
    map_xy: Floats  # (n_rows, 2) principal components of the scaled features
    map_explained: Floats  # (2,) share of variance
    scores: ProfileScores
    cards: tuple[ProfileCard, ...]
    spread: FeatureSpread
    tree: CondensedTree | None
    heatmaps: tuple[Heatmap, ...]
    seconds: float  # time of the computation, scores included
    step_seconds: dict[str, float]  # the same by step
    silhouettes_clustered: Floats | None = None
    """(n_rows,) among the non-outliers only; NaN for outliers and where not computed."""
    transform: FittedTransform | None = None  # the fitted transform of the features, to be applied to new rows
    digest: str = ""  # of features, scaler and the clustered rows; '' of a fit of the release before
    sample_rows: int = 0
    """Rows that were clustered, where the others were assigned to the profiles found; 0 = all were clustered."""
    pairs: PairsHeld | None = None  # what became of the runs that were named as alike or unlike
    given_names: dict[int, str] = field(default_factory=dict)  # label -> name that people gave; it is not kept with it

    @cached_property
    def typical_names(self) -> dict[int, str]:
        """What the profiles are called by their runs: label -> name."""
        return typical_names(self.cards, self.spread)

    def to_hdbscan(self, jobs: Clustered) -> HDBSCAN:
        """This clustering as a fitted `hdbscan.HDBSCAN`, for `hdbscan.plots` and `hdbscan.approximate_predict`.

        `jobs` is the table that was clustered, or the path of its trace. The spanning tree is built again. Points are
        scaled as in the fit (`transform`); labels are numbered as hdbscan numbers them, not by size.

        Raises SettingsError for OPTICS, which has no such tree, for profiles of named pairs, which hdbscan cannot cut,
        or when the table is another one than was clustered.
        """
        refuse_unweighed(self.settings)
        prepared, tree = self.grown_again(jobs)
        settings = self.settings
        return to_hdbscan(prepared.points, tree, settings.min_cluster_size, settings.method, settings.epsilon)

    def assigner(self, jobs: Clustered) -> Assigner:
        """This clustering in the form that takes runs which it has not seen, say those outside its sample.

        `fit.assigner(jobs).assign(apply_transform(fit.transform, numbers))` gives their profiles, numbered as here, and
        their membership strengths; `numbers` are the columns of `fit.transform.features`. The spanning tree is built
        again.

        Raises SettingsError as `to_hdbscan`.
        """
        prepared, tree = self.grown_again(jobs)
        return make_assigner(prepared.points, tree, numbered_cut(tree, self.settings, prepared.pairs)[1])

    def grown_again(self, jobs: Clustered, tree: SpanningTree | None = None) -> tuple[Prepared, SpanningTree]:
        """The clustered rows, scaled, and their spanning tree (`tree`, if given); raises as `to_hdbscan`."""
        if not self.settings.by_density:
            raise SettingsError(f"a clustering by {self.settings.algorithm} has no HDBSCAN tree; fit with hdbscan")
        prepared, why = self._as_given(jobs)
        if prepared is None or why:
            raise SettingsError(f"{why}; give the table that was clustered")
        return prepared, tree or grow_tree(prepared, Stopwatch(silent, STEPS))

    def _as_given(self, jobs: Clustered) -> tuple[Prepared | None, str]:
        """As `_prepared`, also of what `workprof.profile` takes: another kind of table, or the path of a trace."""
        import pandas as pd  # noqa: PLC0415  heavy

        if isinstance(jobs, pd.DataFrame):
            prepared, why = self._prepared(jobs)
            if not why or "row_id" in jobs.columns:
                return prepared, why
        return self._prepared(importlib.import_module(READER).jobs_of(jobs, {}).finished)

    def _prepared(self, jobs: pd.DataFrame) -> tuple[Prepared | None, str]:
        """The rows of a table to cluster, and why they are not those of this fit; '' = they are."""
        try:
            prepared = prepare(jobs, self.settings)
        except (ColumnMissing, NotEnoughData) as error:
            return None, f"the table cannot be clustered as this fit was ({error})"
        rows = row_ids_of(prepared.table) if self.sample_rows else prepared.row_ids
        if not np.array_equal(rows, self.row_ids):
            return prepared, f"the table gives {len(rows):,} rows to cluster, not the {len(self.row_ids):,} of this fit"
        if prepared.matrix.names != self.features:
            ours, theirs = ", ".join(self.features), ", ".join(prepared.matrix.names)
            return prepared, f"the table has the features {theirs}, and this fit is of {ours}"
        other = bool(self.digest) and prepared.digest != self.digest
        return prepared, "the table has as many rows as this fit, but other numbers in them" if other else ""


def fit_profiles(
    frames: Mapping[str, pd.DataFrame], settings: ProfileSettings, progress: Progress = silent
) -> ProfileFit:
    """The clustering of `frames["jobs"]` with its scores and cards.

    A row is a job: the features, and whatever of row_id, metadata, start_time_s and duration_s there is.
    `truth_profile`, where present, is used for `truth_adjusted_rand` only. `jobs.attrs["utc_offset_s"]` is added to
    start_time_s for hours and weekdays. Compiling is done before the clock starts, so `seconds` is the computation
    alone.

    Raises:
        ColumnMissing: when a feature that was named by itself is absent.
        NotEnoughData: with fewer than two usable features, or not more than twice min_cluster_size rows.
    """
    result: ProfileFit = fit_keeping_tree(frames, settings, progress).record
    return result


def grow_tree(prepared: Prepared, watch: Stopwatch) -> SpanningTree:
    """The spanning tree of the prepared rows; it depends on features, scaler, metric and min_samples only."""
    resolved = prepared.settings
    if resolved.algorithm == PACKAGE:
        with watch.step("spanning tree", "Building the spanning tree with hdbscan"):
            return package_tree(prepared.points, resolved.min_cluster_size, resolved.min_samples, resolved.metric)
    with watch.step("neighbours", "Finding the nearest rows") as report:
        neighbours = find_neighbours(prepared.points, resolved.metric, (resolved.min_samples,), report)
    with watch.step("spanning tree", "Building the spanning tree") as report:
        return build_spanning_tree(neighbours, resolved.min_samples, report)


def describe(
    prepared: Prepared, clusters: Clusters, tree: SpanningTree | None, watch: Stopwatch, *, scored: bool = True
) -> ProfileFit:
    """The record of a clustering: scores, cards, spread, map, heat maps, notes.

    Rows of the table that were left out of a sample are assigned to the profiles; the scores that need distances and
    the spread of the features are the sample's. Scores take most of the time: without them, silhouettes are NaN.
    """
    with watch.step("scores", "Scoring the profiles") as report:
        found = score(prepared, clusters.labels, tree, report) if scored else only_counted(clusters.labels)
    names, settings = prepared.matrix.names, prepared.settings
    spread = feature_spread(prepared.scaled_features[:, : len(names)], prepared.matrix.numbers, clusters.labels, names)
    flat = project(prepared.points)
    silhouettes = RowResults(clusters.labels, found.silhouettes.published, found.silhouettes.clustered)
    every = _Every(prepared.row_ids, silhouettes, clusters.probabilities, flat.xy)
    scores, jobs, sampled = found.scores, prepared.jobs, tree is not None and not prepared.whole
    if tree is not None and sampled:
        with watch.step("assign", "Assigning the other runs") as report:
            every, jobs = _assign(prepared, tree, every, flat, report), prepared.table
            scores = of_all_rows(scores, every.rows.labels, jobs, settings.target_clusters)
    columns = dict(zip(names, np.isnan(prepared.matrix.numbers).T, strict=True))
    marked = {name: columns[name] for name in prepared.transform.indicators}
    with watch.step("summary", "Describing the profiles"):
        summary = summarise(jobs, every.rows, spread, float(jobs.attrs.get("utc_offset_s", 0.0)))
    return ProfileFit(
        settings=settings,
        features=names,
        left_out=prepared.matrix.left_out,
        imputed=prepared.matrix.missing,
        notes=prepared.notes + result_notes(scores, every.rows.labels) + missing_notes(marked, clusters.labels),
        row_ids=every.row_ids,
        labels=every.rows.labels,
        probabilities=every.strength,
        silhouettes=every.rows.published,
        map_xy=every.xy,
        map_explained=flat.explained,
        scores=scores,
        cards=summary.cards,
        spread=spread,
        tree=clusters.tree,
        heatmaps=summary.heatmaps,
        seconds=watch.seconds,
        step_seconds=watch.step_seconds,
        silhouettes_clustered=every.rows.clustered,
        transform=prepared.transform,
        digest=prepared.digest,
        sample_rows=len(prepared.rows) if sampled else 0,
        pairs=clusters.pairs,
    )


Table = TypeVar("Table", "pd.DataFrame", LongTable)


def labelled(jobs: Table, fit: ProfileFit, column: str = "profile") -> Table:
    """The runs with the profile of each, NaN where the clustering did not see it."""
    order = np.argsort(fit.row_ids, kind="stable")
    known, sorted_labels = fit.row_ids[order], fit.labels[order]

    def with_labels(part: pd.DataFrame) -> pd.DataFrame:
        ids = part["row_id"].to_numpy(dtype=np.int64)
        place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        labels, seen = sorted_labels[place], known[place] == ids
        return part.assign(**{column: labels if seen.all() else np.where(seen, labels, np.nan)})

    return jobs.with_column(column, with_labels, "row_id") if isinstance(jobs, LongTable) else with_labels(jobs)


@dataclass(frozen=True)
class _Every:
    """What a clustering says of every row that has a profile, or is an outlier."""

    row_ids: Ints
    rows: RowResults
    strength: Floats
    xy: Floats


def row_ids_of(jobs: pd.DataFrame) -> Ints:
    """(n_rows,) ids of the store, else positions in the table."""
    return jobs["row_id"].to_numpy(dtype=np.int64) if "row_id" in jobs.columns else np.arange(len(jobs))


def _assign(
    prepared: Prepared, tree: SpanningTree, result: _Every, flat: FlatMap, report: Callable[[float], None]
) -> _Every:
    """What is found of the clustered rows and, in the order of the table, of those that are assigned.

    Source: Profiles as `hdbscan.approximate_predict` gives them, but for core distances, in which here the row itself
    does not count, as in the clustering, and but for the rims of the profiles, which are those of all rows
    (`settle_rim`): so a clustered row at a rim may change, too.
    """
    settings, n_rows = prepared.settings, len(prepared.table)
    _, fall = numbered_cut(tree, settings, prepared.pairs)
    assigner = make_quick_assigner(prepared.points, tree, fall)
    labels, strength, xy = np.empty(n_rows, dtype=np.int64), np.empty(n_rows), np.empty((n_rows, 2))
    core, own = np.empty(n_rows), prepared.rows
    clustered = np.zeros(n_rows, dtype=bool)
    clustered[own] = True
    others = np.flatnonzero(~clustered)
    plane = (prepared.points.mean(axis=0), flat.loadings)
    done = 0
    for part in _assigned_parts(prepared, others, assigner, plane):
        rows = others[done : done + len(part["labels"])]
        labels[rows], strength[rows], core[rows], xy[rows] = (part[name] for name in PART)
        done += len(rows)
        report(ASSIGNED_SHARE * done / len(others))
    labels[own], strength[own], xy[own] = result.rows.labels, result.strength, result.xy
    if result.rows.labels.max(initial=-1) >= 0:
        rows = others[assigner.at_rim(labels[others], core[others])]
        rows = rows[draw_rows(len(rows), MOST_RIM_ROWS, settings.seed)]
        rim = settle_rim(prepared.points, tree, fall, prepared.scaled(rows), core[rows])
        labels[rows], strength[rows], labels[own] = rim.labels, rim.strength, rim.fitted
        core[own] = tree.core_distance
        labels[(labels >= 0) & (core > rim.apart[labels])] = -1
        strength[labels < 0] = 0.0
        labels[own], strength[own] = settle(labels[own], strength[own], prepared.pairs)
    silhouettes = RowResults(labels, np.full(n_rows, np.nan), np.full(n_rows, np.nan))
    silhouettes.published[own], silhouettes.clustered[own] = result.rows.published, result.rows.clustered
    return _Every(row_ids_of(prepared.table), silhouettes, strength, xy)


PART = ("labels", "strength", "core", "xy")
Plane = tuple[Floats, Floats]
"""Centre (n_dims,) and loadings (2, n_dims) of the map."""


def _assigned_parts(prepared: Prepared, rows: Ints, assigner: Assigner, plane: Plane) -> Iterator[Arrays]:
    """Yield what `_assign_part` makes, or had made before, of each part of the rows (n_rows,) to assign."""
    whole = (assigner, plane)
    key = assigner.key(rows)
    names = {first: f"{key}-{first}" for first in range(0, len(rows), ROWS_AT_ONCE)}
    missing = [first for first, name in names.items() if not has_part(name)]
    made = each(_assign_part, whole, (prepared.scaled(rows[first : first + ROWS_AT_ONCE]) for first in missing))
    for first, name in names.items():
        part = next(made) if first in missing else read_part(name)
        write_part(name, part)
        yield part


def _assign_part(whole: tuple[Assigner, Plane], points: Floats) -> Arrays:
    """Labels, strengths, core distances and places on the map of scaled rows; on any machine the same."""
    assigner, (centre, loadings) = whole
    labels, strength, core = assigner.assign_with_core(points)
    return {"labels": labels, "strength": strength, "core": core, "xy": (points - centre) @ loadings.T}


TREE = "profiles.tree"
"""Name of the by-product under which the spanning tree of a fit is stored."""


@dataclass(frozen=True)
class TreeSettings:
    """What a spanning tree depends on: the rows, their scaling, the metric and min_samples; nothing else."""

    features: tuple[str, ...]
    scaler: str
    embedding: str
    metric: str
    min_samples: int
    mode: str
    sample_rows: int
    seed: int
    must: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[tuple[str, ...], ...] = ()


def tree_settings(settings: ProfileSettings) -> TreeSettings:
    """The part of resolved settings that the tree depends on; seed and named runs only where something is drawn."""
    return TreeSettings(
        features=settings.features,
        scaler=settings.scaler,
        embedding=settings.embedding,
        metric=settings.metric,
        min_samples=settings.min_samples,
        mode=settings.mode,
        sample_rows=settings.sample_rows,
        seed=settings.seed if settings.sample_rows or settings.embedding != "none" else 0,
        must=settings.must if settings.sample_rows else (),
        must_not=settings.must_not if settings.sample_rows else (),
    )


def fit_keeping_tree(
    frames: Mapping[str, pd.DataFrame], settings: ProfileSettings, progress: Progress = silent
) -> Made:
    """The same record as `fit_profiles`, and the spanning tree as a by-product (HDBSCAN only)."""
    progress(0.0, "Getting ready")
    warm_kernels(settings)
    watch = Stopwatch(progress, STEPS)
    with watch.step("scale", "Scaling the features"):
        prepared = prepare(frames["jobs"], settings)
    if not settings.by_density:
        with watch.step("cut", f"Running {ALGORITHM_WORDS[settings.algorithm]}"):
            clusters, note = run_without_tree(prepared.points, prepared.settings)
        return Made(describe(replace(prepared, notes=prepared.notes + note), clusters, None, watch), {})
    tree = grow_tree(prepared, watch)
    with watch.step("cut", "Cutting the tree"):
        clusters, _ = numbered_cut(tree, prepared.settings, prepared.pairs)
    return Made(describe(prepared, clusters, tree, watch), {TREE: tree} if settings.algorithm == "hdbscan" else {})


def recut(
    frames: Mapping[str, pd.DataFrame],
    settings: ProfileSettings,
    tree: SpanningTree,
    progress: Progress = silent,
    *,
    scored: bool = True,
) -> ProfileFit:
    """The clustering that a kept tree gives at other settings: the same record as a refit, in about a second.

    Not `scored` (see `describe`), it takes a third of that.

    The settings, resolved, differ from the tree's in min_cluster_size, method, epsilon, pairs and what is scored only.

    Raises SettingsError when the tree is not of these rows or this min_samples.
    """
    warm_kernels(settings)
    watch = Stopwatch(progress, STEPS)
    with watch.step("scale", "Scaling the features"):
        prepared = prepare(frames["jobs"], settings)
    _check(tree, len(prepared.row_ids), settings)
    with watch.step("cut", "Cutting the kept tree"):
        clusters, _ = numbered_cut(tree, settings, prepared.pairs)
    return describe(prepared, clusters, tree, watch, scored=scored)


def _check(tree: SpanningTree, n_rows: int, settings: ProfileSettings) -> None:
    min_samples = min(settings.min_samples, n_rows - 1)
    if (tree.n_rows, tree.metric, tree.min_samples) != (n_rows, settings.metric, min_samples):
        raise SettingsError(
            f"the kept tree spans {tree.n_rows:,} rows ({tree.metric}, min_samples {tree.min_samples}), asked is "
            f"{n_rows:,} rows ({settings.metric}, min_samples {min_samples}); fit again"
        )
