"""Do the profiles come back when some jobs are left out? Cluster-wise Jaccard stability under resampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints, numbers_if_present
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.parallel import each
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.core.shown import Shown
from workprof.core.units import format_count, format_share
from workprof.core.words import counted
from workprof.profiles.features import Prepared, draw_rows, prepare
from workprof.profiles.fit import grow_tree, warm_kernels
from workprof.profiles.pairs import NO_PAIRS, Pairs
from workprof.profiles.scores import adjusted_rand
from workprof.profiles.settings import ProfileSettings, Seed
from workprof.profiles.tree import build_spanning_tree, cut, find_neighbours, numbered_cut, run_without_tree

if TYPE_CHECKING:
    import pandas as pd

DOUBTFUL_FROM = 0.6
STABLE_FROM = 0.75
HIGHLY_STABLE_FROM = 0.85
"""Hennig's reading of the mean Jaccard similarity (help page of `clusterboot` in his R package fpc)."""

DISSOLVED_UP_TO = 0.5
"""Up to this similarity Hennig 2007 calls a cluster dissolved in one resample."""


@dataclass(frozen=True)
class ProfileStability:
    """How well one profile comes back; NaN where no resample held a row of it."""

    profile: int  # label in the reference clustering
    size: int  # its rows there
    jaccard: float  # mean over the resamples of the similarity to the most similar cluster, 0-1
    jaccard_min: float  # over the resamples
    jaccard_q25: float  # over the resamples
    jaccard_median: float  # over the resamples
    jaccard_q75: float  # over the resamples
    dissolved_share: float  # of the resamples in which the similarity is at most 0.5
    reading: str  # 'highly stable', 'stable', 'doubtful' or 'not to be trusted'; '' without a value


def best_jaccards(reference: Ints, clusters: Ints, n_profiles: int) -> Floats:
    """(n_profiles,) similarity of each reference profile to its most similar cluster, 0-1, of the same rows.

    It is NaN for a profile without a row here, 0 where there is no cluster; -1 = outlier in both.
    """
    n_clusters = int(clusters.max(initial=-1)) + 1
    cells = (reference + 1) * (n_clusters + 1) + clusters + 1
    table = np.bincount(cells, minlength=(n_profiles + 1) * (n_clusters + 1)).reshape(n_profiles + 1, n_clusters + 1)
    both, ours, theirs = table[1:, 1:], table[1:].sum(axis=1), table[:, 1:].sum(axis=0)
    either = ours[:, None] + theirs[None, :] - both
    best = np.asarray((both / np.maximum(1, either)).max(axis=1, initial=0.0), dtype=np.float64)
    best[ours == 0] = np.nan
    return best


def summarise_jaccards(jaccards: Floats, sizes: Ints) -> tuple[ProfileStability, ...]:
    """One record per profile; NaN in (n_resamples, n_profiles) where a resample held no row of the profile."""
    return tuple(_of_profile(profile, int(size), jaccards[:, profile]) for profile, size in enumerate(sizes))


def stability_reading(jaccard: float) -> str:
    """Hennig's word for a mean Jaccard similarity; '' for NaN."""
    if np.isnan(jaccard):
        return ""
    if jaccard >= HIGHLY_STABLE_FROM:
        return "highly stable"
    if jaccard >= STABLE_FROM:
        return "stable"
    return "doubtful" if jaccard >= DOUBTFUL_FROM else "not to be trusted"


def _of_profile(profile: int, size: int, jaccards: Floats) -> ProfileStability:
    seen = jaccards[~np.isnan(jaccards)]
    if not len(seen):
        return ProfileStability(profile, size, *(float("nan"),) * 6, reading="")
    low, q25, median, q75 = (float(value) for value in np.quantile(seen, [0.0, 0.25, 0.5, 0.75]))
    mean, dissolved = float(seen.mean()), float((seen <= DISSOLVED_UP_TO).mean())
    return ProfileStability(profile, size, mean, low, q25, median, q75, dissolved, stability_reading(mean))


PROFILE = "profile"
MOST_RESAMPLES = 1_000
STEPS = {"scale": 0.02, "neighbours": 0.2, "spanning tree": 0.28, "resamples": 1.0}


@settings
class StabilitySettings:
    """Settings of a study of stability."""

    fit: Annotated[
        ProfileSettings,
        Setting("The clustering whose profiles are tested: options of `profiles fit`, as A=1;B=2."),
    ] = field(default_factory=ProfileSettings)
    resamples: Annotated[
        int, Setting("How often rows are drawn and clustered again.", least=1, most=MOST_RESAMPLES)
    ] = 10
    share: Annotated[
        float,
        Setting(
            "Of the rows in each resample, drawn without replacement.",
            unit="share",
            above=0,
            below=1,
            key="profiles_resample_share",
            label="Rows of a resample",
        ),
    ] = 0.8
    sample_rows: Annotated[
        int,
        Setting(
            "Most rows of a resample, so that a large table answers in seconds.",
            unit="rows",
            least=0,
            empty="no limit but the share",
            key="profiles_resample_rows",
            label="Most rows of a resample",
        ),
    ] = 20_000
    seed: Seed = 0


@dataclass(frozen=True, repr=False)
class Stability(Shown):
    """How far the profiles depend on which jobs were seen."""

    settings: StabilitySettings  # as given, the clustering's sizes resolved to rows
    adjusted_rand: float
    """Mean over the resamples, of the rows that are in a profile both times; NaN where a side has fewer than two
    profiles."""
    adjusted_rands: Floats  # (resamples,) the single values
    shared_share: float  # mean share of the resampled rows that are in a profile both times
    per_profile: tuple[ProfileStability, ...]  # in rising order of the label
    jaccards: Floats  # (resamples, n_profiles) similarities, NaN where a resample held no row of the profile
    n_found: Ints  # (resamples,) profiles of each resample
    n_rows: int  # rows of the reference clustering
    n_resampled: int  # rows of each resample
    min_cluster_size: int  # of the resamples, the same share of the rows as in the reference
    min_samples: int  # of the resamples, the same share of the rows as in the reference
    notes: tuple[str, ...]  # what a reader must know
    seconds: float  # time of the computation


@dataclass(frozen=True)
class _Run:
    jaccards: Floats
    adjusted_rand: float
    shared_share: float
    n_found: int


def stability(
    frames: Mapping[str, pd.DataFrame], settings: StabilitySettings, progress: Progress = silent
) -> Stability:
    """How well the profiles of `frames["jobs"]` come back when part of the jobs is clustered by itself.

    The resamples may go to the cluster that the caller has chosen (`workprof.core.parallel`).

    A column `profile` of `frames["jobs"]` (-1 = outlier, missing = not clustered) is the reference clustering, and
    `settings.fit` is what made it; else the rows are clustered here.

    Raises:
        ColumnMissing: when a feature that was named by itself is absent.
        NotEnoughData: when the rows, or those of a resample, cannot hold two profiles.

    Source: Hennig 2007, cluster-wise Jaccard similarity to the most similar cluster on the rows that both saw. Ours
    draws without replacement (a bootstrap's copies of rows would be dense spots that a density-based method takes for
    clusters), shrinks min_cluster_size and min_samples with the rows, so that distances to the min_samples-th neighbour
    stay what they were, and keeps the reference's transform: the clustering is tested, not the scaling.
    """
    progress(0.0, "Getting ready")
    warm_kernels(settings.fit)
    watch = Stopwatch(progress, STEPS)
    with watch.step("scale", "Scaling the features"):
        jobs = frames["jobs"]
        given = numbers_if_present(jobs, PROFILE)  # of a reference clustering, which may not have seen every row
        prepared = prepare(jobs if given is None else jobs.loc[~np.isnan(given)], settings.fit)
    reference = _reference(prepared, watch)
    n_profiles = int(reference.max(initial=-1)) + 1
    n_resampled, fit = _plan(settings, prepared)
    runs: list[_Run] = []
    with watch.step("resamples", "Clustering part of the rows again") as report:
        by_value = np.lexsort(prepared.points.T[::-1])  # so that permuting the jobs changes nothing
        drawn = (draw_rows(len(reference), n_resampled, _seed(settings, i)) for i in range(settings.resamples))
        draws = (np.sort(by_value[places]) for places in drawn)
        for run in each(_resample, (prepared.points, reference, n_profiles, fit, prepared.pairs), draws):
            runs.append(run)
            report(len(runs) / settings.resamples)
    jaccards, rands = np.array([run.jaccards for run in runs]), np.array([run.adjusted_rand for run in runs])
    return Stability(
        settings=replace(settings, fit=prepared.settings),
        adjusted_rand=float(rands[~np.isnan(rands)].mean()) if not np.isnan(rands).all() else float("nan"),
        adjusted_rands=rands,
        shared_share=float(np.mean([run.shared_share for run in runs])),
        per_profile=summarise_jaccards(jaccards, np.bincount(reference[reference >= 0], minlength=n_profiles)),
        jaccards=jaccards,
        n_found=np.array([run.n_found for run in runs], dtype=np.int64),
        n_rows=len(reference),
        n_resampled=n_resampled,
        min_cluster_size=fit.min_cluster_size,
        min_samples=fit.min_samples,
        notes=prepared.notes + _notes(settings, n_resampled, reference, rands),
        seconds=watch.seconds,
    )


def _reference(prepared: Prepared, watch: Stopwatch) -> Ints:
    given = numbers_if_present(prepared.jobs, PROFILE)
    if given is not None:
        return given.astype(np.int64)
    settings = prepared.settings
    if not settings.by_density:
        return _cluster(prepared.points, settings)
    return numbered_cut(grow_tree(prepared, watch), settings, prepared.pairs)[0].labels


def _plan(settings: StabilitySettings, prepared: Prepared) -> tuple[int, ProfileSettings]:
    """The rows of a resample and the settings that cluster them: sizes shrink with the rows."""
    n_rows, fit = len(prepared.points), prepared.settings
    n_resampled = round(settings.share * n_rows)
    if settings.sample_rows:
        n_resampled = min(n_resampled, settings.sample_rows)
    size = max(2, round(fit.min_cluster_size * n_resampled / n_rows))
    if n_resampled <= 2 * size:
        raise NotEnoughData(
            f"{n_resampled:,} rows in a resample cannot hold two profiles of {size:,}; raise share or sample_rows"
        )
    samples = max(1, round(fit.min_samples * n_resampled / n_rows))
    return n_resampled, replace(fit, min_cluster_size=size, min_samples=samples)


def _seed(settings: StabilitySettings, resample: int) -> int:
    """The seed of one draw: neighbouring seeds of the settings share no draw."""
    return int(np.random.SeedSequence([settings.seed, resample]).generate_state(1)[0])


def _cluster(points: Floats, settings: ProfileSettings, pairs: Pairs = NO_PAIRS) -> Ints:
    if not settings.by_density:
        return run_without_tree(points, settings)[0].labels
    neighbours = find_neighbours(points, settings.metric, (settings.min_samples,))
    tree = build_spanning_tree(neighbours, settings.min_samples)
    if pairs:
        return numbered_cut(tree, settings, pairs)[0].labels
    return cut(tree, settings.min_cluster_size, settings.method, settings.epsilon).labels


def _resample(whole: tuple[Floats, Ints, int, ProfileSettings, Pairs], rows: Ints) -> _Run:
    """How one resample compares; everything that it needs is in its arguments, so that another machine can."""
    every, labels, n_profiles, settings, pairs = whole
    points, reference = every[rows], labels[rows]
    clusters = _cluster(points, settings, pairs.among(rows))
    shared = (reference >= 0) & (clusters >= 0)
    here, there = reference[shared], clusters[shared]
    comparable = len(here) > 0 and np.ptp(here) > 0 and clusters.max() > 0
    return _Run(
        jaccards=best_jaccards(reference, clusters, n_profiles),
        adjusted_rand=adjusted_rand(there, here) if comparable else float("nan"),
        shared_share=float(shared.mean()),
        n_found=int(clusters.max(initial=-1)) + 1,
    )


def _notes(settings: StabilitySettings, n_resampled: int, reference: Ints, rands: Floats) -> tuple[str, ...]:
    n_rows, sizes = len(reference), np.bincount(reference[reference >= 0])
    n_profiles = len(sizes)
    drawn = f"{format_count(n_resampled)} of {format_count(n_rows)} rows ({format_share(n_resampled / n_rows)})"
    notes = [f"Each of {settings.resamples} resamples holds {drawn}; min_cluster_size and min_samples shrink alike."]
    if n_resampled < round(settings.share * n_rows):
        notes.append(
            f"sample_rows keeps the resamples below {format_share(settings.share)} of the rows: "
            "profiles look less stable than they would with more."
        )
    if n_profiles < 2:
        notes.append(
            f"The clustering has {counted(n_profiles, 'profile')}: the adjusted Rand index needs at least two."
        )
    elif few := int(np.isnan(rands).sum()):
        notes.append(
            f"{few} of {counted(len(rands), 'resample')} had fewer than two of the profiles: "
            "the adjusted Rand index leaves them out and looks better than it is."
        )
    for profile in np.flatnonzero(sizes >= DOUBTFUL_FROM * n_rows):
        share = sizes[profile] / n_rows
        notes.append(
            f"P{profile} holds {format_share(share)} of the rows: one group of all rows would be {share:.2f} similar "
            "to it. Its stability says little."
        )
    return tuple(notes)
