"""Which clusterings a sweep runs: the paper's grid (Table III), a group of runs that share their work at a time."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.errors import SettingsError
from workprof.profiles.settings import ALGORITHMS, METRICS, PUBLISHED_TARGET_CLUSTERS, ProfileSettings, default_features

GRID_SCALERS = ("standard", "minmax", "robust", "power")
GRID_METRICS = METRICS
GRID_SIZES = (50, 100, 200, 300, 400, 600, 1000)
"""Table III: 4 transforms x 7 sizes x 2 metrics = 56 runs per algorithm."""

COUPLED = 0
"""min_samples = min_cluster_size, as in the paper."""

PRESET_DECIDES = -1
QUICK_MIN_SAMPLES = 50
"""The quick preset's one value: the smallest of the grid, so that small profiles keep their shape."""

OPTICS_SWEEP_ROWS = 4_000
"""Rows of OPTICS in a sweep; the grid's sizes shrink with the sample, so that they stay the same share of the rows."""

SMALLEST_OPTICS_SIZE = 5
PRESETS = ("paper", "quick")


@dataclass(frozen=True)
class GroupSettings:
    """The runs of a sweep that share one transform, one metric and one search of the neighbours.

    Attributes:
        algorithm: 'hdbscan' or 'optics'.
        scaler, metric, features, mode, sample_rows, seed, silhouette: as in `ProfileSettings`.
        sizes: values of min_cluster_size.
        min_samples: one value for all runs, or 0 = coupled to the size, as in the paper.
    """

    algorithm: str = "hdbscan"
    scaler: str = "power"
    metric: str = "euclidean"
    features: tuple[str, ...] = ()
    mode: str = "corrected"
    sizes: tuple[int, ...] = GRID_SIZES
    min_samples: int = COUPLED
    silhouette: str = "sampled"
    sample_rows: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 2:
            raise SettingsError(f"sizes are {self.sizes}; give at least one, of 2 rows or more")
        if self.silhouette not in ("exact", "sampled"):
            raise SettingsError(f"silhouette is {self.silhouette!r}; use exact or sampled")
        self.of_size(self.sizes[0])

    def of_size(self, size: int) -> ProfileSettings:
        """Return the settings of one run."""
        return ProfileSettings(
            features=self.features,
            scaler=self.scaler,
            metric=self.metric,
            algorithm=self.algorithm,
            min_cluster_size=size,
            min_samples=self.min_samples or size,
            mode=self.mode,
            silhouette=self.silhouette,
            sample_rows=self.sample_rows,
            seed=self.seed,
        )


@dataclass(frozen=True)
class SweepSettings:
    """Settings of a sweep.

    Attributes:
        preset: 'paper' (coupled, exact silhouettes) or 'quick' (one min_samples, sampled silhouettes); the grid of
            transforms, metrics and sizes is the same.
        algorithms: 'hdbscan', 'optics' or both; empty = the preset's: paper both, quick HDBSCAN alone.
        min_samples: one value, 0 = coupled to the size, -1 = the preset's.
        silhouette: 'exact', 'sampled', or '' = the preset's.
        features, mode, target_clusters, sample_rows, seed: as in `ProfileSettings`.
    """

    preset: str = "quick"
    algorithms: tuple[str, ...] = ()
    min_samples: int = PRESET_DECIDES
    silhouette: str = ""
    features: tuple[str, ...] = ()
    mode: str = "corrected"
    target_clusters: int = PUBLISHED_TARGET_CLUSTERS
    sample_rows: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise SettingsError(f"preset is {self.preset!r}; use one of {', '.join(PRESETS)}")
        unknown = sorted(set(self.algorithms) - set(ALGORITHMS))
        if unknown:
            raise SettingsError(f"algorithm {unknown[0]!r} is not known; use {' or '.join(ALGORITHMS)}")
        if self.min_samples < PRESET_DECIDES:
            raise SettingsError(f"min_samples is {self.min_samples}; give at least 1, or coupled")
        self.groups()

    def groups(self) -> tuple[GroupSettings, ...]:
        """Return the groups of the grid, HDBSCAN first, in the order of Table III."""
        paper = self.preset == "paper"
        one = COUPLED if paper else QUICK_MIN_SAMPLES
        return tuple(
            GroupSettings(
                algorithm=algorithm,
                scaler=scaler,
                metric=metric,
                features=self.features or default_features(self.mode),
                mode=self.mode,
                min_samples=one if self.min_samples == PRESET_DECIDES else self.min_samples,
                silhouette=self.silhouette or ("exact" if paper else "sampled"),
                sample_rows=self.sample_rows,
                seed=self.seed,
            )
            for algorithm in self.algorithms or (ALGORITHMS if paper else ALGORITHMS[:1])
            for scaler in GRID_SCALERS
            for metric in GRID_METRICS
        )
