"""Profiles with and without an autoencoder: how distinct they are, and what they say of runs of jobs not seen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints, numbers_if_present
from workprof.core.errors import SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.core.shown import Shown
from workprof.forecasts.classifier import ClassifierSettings, most_probable
from workprof.forecasts.classifier_evaluation import profiles_of
from workprof.forecasts.splits import make_folds
from workprof.profiles.features import prepare
from workprof.profiles.fit import STEPS, grow_tree, warm_kernels
from workprof.profiles.scores import adjusted_rand
from workprof.profiles.settings import EXACT_SILHOUETTE_ROWS, ProfileSettings
from workprof.profiles.silhouettes import exact_silhouettes, sampled_silhouettes
from workprof.profiles.tree import numbered_cut

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("none", "autoencoder")
FORECAST = ("duration_s", "peak_memory_bytes")
N_PARTS = 5
"""Parts of the jobs, of which one is tested in each fold."""


@settings
class EmbeddingSettings:
    """The clustering that is compared, and how often."""

    fit: Annotated[
        ProfileSettings,
        Setting("Clustered without and with an autoencoder: options of `profiles fit`, as A=1;B=2."),
    ] = field(default_factory=ProfileSettings)
    folds: Annotated[
        int,
        Setting("Fifths of the jobs that are predicted, one after the other.", least=1, most=N_PARTS),
    ] = 2


@dataclass(frozen=True)
class EmbeddingScores:
    """One of the two."""

    embedding: str  # 'none' or 'autoencoder'
    n_clusters: int  # of all runs
    clustered_share: float
    silhouette: float  # without outliers, of the scaled features in both cases, so that they compare
    truth_adjusted_rand: float  # of the runs in a profile; NaN where no truth is planted
    errors: dict[str, Floats]  # target -> (n_folds,) median factor by which a forecast is wrong
    seconds: float  # of the clustering of all runs


@dataclass(frozen=True, repr=False)
class Embeddings(Shown):
    """Both, without one first."""

    settings: EmbeddingSettings  # as given
    methods: tuple[EmbeddingScores, ...]
    n_rows: int
    seconds: float


def compare_embeddings(
    frames: Mapping[str, pd.DataFrame], settings: EmbeddingSettings, progress: Progress = silent
) -> Embeddings:
    """Both clusterings of `frames["jobs"]`, and forecasts of runs of jobs that neither clustering nor classifier saw.

    A forecast is the median of the training runs in the profile that the classifier finds likeliest for the run's
    metadata; where the training runs lie in a single profile, or in none, it is the median of those.

    Raises SettingsError for OPTICS, else as `fit_profiles`, `make_folds` and `most_probable`.
    """
    if not settings.fit.by_density:
        raise SettingsError(f"new runs have no profile by {settings.fit.algorithm}; compare with hdbscan")
    started = time.perf_counter()
    jobs = frames["jobs"].reset_index(drop=True)
    warm_kernels(settings.fit)
    folds = make_folds(jobs, "by_job", N_PARTS, settings.fit.seed)[: settings.folds]
    steps, methods = len(KINDS) * (1 + len(folds)), []
    for place, kind in enumerate(KINDS):
        progress(place * (1 + len(folds)) / steps, f"Clustering: {kind}")
        chosen = replace(settings.fit, embedding=kind)
        scores = _clustered(jobs, chosen)
        found: dict[str, list[float]] = {name: [] for name in FORECAST if name in jobs.columns}
        for done, fold in enumerate(folds, 1):
            progress((place * (1 + len(folds)) + done) / steps, f"Forecasting: {kind}, fold {done}")
            labels = profiles_of(jobs, fold.train, chosen)
            told = most_probable(
                jobs.iloc[fold.train], labels[fold.train], jobs.iloc[fold.test], ClassifierSettings(chosen)
            )
            for name, errors in found.items():
                errors.append(_error(jobs[name].to_numpy(dtype=float), labels, fold.train, fold.test, told))
        methods.append(replace(scores, errors={name: np.array(errors) for name, errors in found.items()}))
    return Embeddings(settings, tuple(methods), len(jobs), time.perf_counter() - started)


def _clustered(jobs: pd.DataFrame, settings: ProfileSettings) -> EmbeddingScores:
    watch = Stopwatch(silent, STEPS)
    prepared = prepare(jobs, settings)
    labels = numbered_cut(grow_tree(prepared, watch), prepared.settings, prepared.pairs)[0].labels
    seconds, points, metric = watch.seconds, prepared.scaled_features, settings.metric
    of = (
        exact_silhouettes(points, labels, metric)
        if len(labels) <= EXACT_SILHOUETTE_ROWS
        else sampled_silhouettes(points, labels, metric, settings.seed)
    )
    truth, inside = numbers_if_present(prepared.jobs, "truth_profile"), labels >= 0
    agreed = adjusted_rand(labels, truth.astype(np.int64)) if truth is not None else float("nan")
    n_clusters, share = int(labels.max(initial=-1)) + 1, float(inside.mean())
    return EmbeddingScores(settings.embedding, n_clusters, share, of.clustered_mean, agreed, {}, seconds)


def _error(values: Floats, labels: Ints, train: Ints, test: Ints, told: Ints) -> float:
    """The median factor by which the medians of the profiles that are told are wrong, of runs that needed anything.

    A forecast of 0 is wrong by an infinite factor. NaN where nothing is known.
    """
    whole = float(np.nanmedian(values[train]))
    medians = {
        profile: float(np.nanmedian(known))
        for profile in np.unique(told).tolist()
        if np.isfinite(known := values[train][labels[train] == profile]).any()
    }
    forecast = np.array([medians.get(profile, whole) for profile in told.tolist()])
    true = values[test]
    usable = (true > 0) & np.isfinite(forecast)
    with np.errstate(divide="ignore"):
        away = np.abs(np.log(forecast[usable] / true[usable]))
    return float(np.exp(np.median(away))) if usable.any() else float("nan")
