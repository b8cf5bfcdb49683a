"""Settings of a clustering: the record that is the cache key, the form, the command's options and the link."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from workprof.errors import NotEnoughData, SettingsError

SCALERS = ("none", "standard", "minmax", "robust", "power")
METRICS = ("euclidean", "manhattan")
ALGORITHMS = ("hdbscan", "optics")
METHODS = ("eom", "leaf")
MODES = ("corrected", "faithful")
SILHOUETTES = ("exact", "sampled")
PRESETS = ("paper", "fine", "coarse")

SENSORS10 = (
    "cpu_usage_percent",
    "gpu_usage_percent",
    "mean_memory_bytes",
    "peak_memory_bytes",
    "mean_gpu_memory_bytes",
    "peak_gpu_memory_bytes",
    "read_bytes",
    "write_bytes",
    "read_count",
    "write_count",
)
"""What a job did, by its sensors: the corrected mode's features."""

ALL17 = (
    "instances",
    "start_time_s",
    "end_time_s",
    "requested_cpu_percent",
    "requested_memory_bytes",
    "requested_gpu_percent",
    *SENSORS10,
    "duration_s",
)
"""The published set: requests, times and sensors together."""

FEATURE_SETS = {"sensors10": SENSORS10, "all17": ALL17}

PUBLISHED_TARGET_CLUSTERS = 26
"""The 'optimal' number of the paper: its own winner's count, never justified."""


@dataclass(frozen=True)
class ProfileSettings:
    """Settings of one clustering.

    Attributes:
        features: field names, or one of the sets 'sensors10' and 'all17'; empty = the mode's default
            (corrected: sensors10; faithful: all17 with NULL as 0).
        scaler: transform of the features before distances are taken.
        metric: distance.
        algorithm: 'hdbscan', or 'optics' (on a stated sample where the rows are many).
        min_cluster_size: smallest profile in rows; 0 = 0.3 % of the rows, at least 20.
        min_samples: neighbours for the core distance; 0 = the same as min_cluster_size (the paper's coupling).
        method: selection from the condensed tree, excess of mass or leaves.
        epsilon: clusters closer than this distance (in scaled units) are merged.
        mode: 'corrected', or 'faithful' = as published.
        target_clusters: the number of clusters that ACQUIRES rewards.
        silhouette: 'exact', 'sampled', or '' = exact up to 20,000 rows and in faithful mode, else sampled.
        sample_rows: rows drawn before clustering; 0 = all.
        seed: of every random draw.
    """

    features: tuple[str, ...] = ()
    scaler: str = "power"
    metric: str = "euclidean"
    algorithm: str = "hdbscan"
    min_cluster_size: int = 0
    min_samples: int = 0
    method: str = "eom"
    epsilon: float = 0.0
    mode: str = "corrected"
    target_clusters: int = PUBLISHED_TARGET_CLUSTERS
    silhouette: str = ""
    sample_rows: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        _one_of("scaler", self.scaler, SCALERS)
        _one_of("metric", self.metric, METRICS)
        _one_of("algorithm", self.algorithm, ALGORITHMS)
        _one_of("method", self.method, METHODS)
        _one_of("mode", self.mode, MODES)
        _one_of("silhouette", self.silhouette, ("", *SILHOUETTES))
        if self.min_cluster_size != 0 and self.min_cluster_size < 2:
            raise SettingsError(
                f"min_cluster_size is {self.min_cluster_size}; give at least 2, or 0 for 0.3 % of the rows"
            )
        if self.min_samples < 0:
            raise SettingsError(f"min_samples is {self.min_samples}; give at least 1, or 0 for min_cluster_size")
        if not 0 <= self.epsilon < float("inf"):
            raise SettingsError(f"epsilon is {self.epsilon}; give a distance of 0 or more")
        if self.target_clusters < 1:
            raise SettingsError(f"target_clusters is {self.target_clusters}; give at least 1")
        if self.sample_rows < 0 or self.seed < 0:
            raise SettingsError("sample_rows and seed are 0 or more")


PRESET_SHARES = {"fine": 0.001, "coarse": 0.01}
"""min_cluster_size of the presets as a share of the rows; 'paper' is 300 rows."""

PAPER_MIN_CLUSTER_SIZE = 300
DEFAULT_SHARE = 0.003
SMALLEST_DEFAULT_SIZE = 20
SMALLEST_PRESET_SIZE = 5
EXACT_SILHOUETTE_ROWS = 20_000
"""Up to this many rows (and always in faithful mode) the silhouettes are exact unless the caller says otherwise."""

OPTICS_ROWS = 10_000
"""OPTICS walks the points one by one in Python: more rows than this are sampled, and the result says so."""


def default_features(mode: str) -> tuple[str, ...]:
    """Return the feature set of a mode: what the paper clustered on, or the sensors alone."""
    return ("all17",) if mode == "faithful" else ("sensors10",)


def preset(name: str, n_rows: int) -> dict[str, str | int]:
    """Return the settings that a preset changes; the features stay as they are.

    Source:
        'paper' is the run that the PolarisProfiler paper chose (power transform, Euclidean, 300 rows); 'fine' and
        'coarse' are ours.

    Raises:
        SettingsError: for an unknown name.
    """
    _one_of("preset", name, PRESETS)
    size = PAPER_MIN_CLUSTER_SIZE if name == "paper" else max(SMALLEST_PRESET_SIZE, round(PRESET_SHARES[name] * n_rows))
    return {"scaler": "power", "metric": "euclidean", "min_cluster_size": size, "min_samples": 0}


def default_min_cluster_size(n_rows: int) -> int:
    """Return 0.3 % of the rows, at least 20: 300 at the paper's 100,001 rows."""
    return max(SMALLEST_DEFAULT_SIZE, round(DEFAULT_SHARE * n_rows))


def clustered_rows(settings: ProfileSettings, n_rows: int) -> int:
    """Return how many of `n_rows` rows the settings let the clustering see."""
    limits = [n_rows]
    if settings.sample_rows:
        limits.append(settings.sample_rows)
    elif settings.algorithm == "optics":
        limits.append(OPTICS_ROWS)
    return min(limits)


def resolve(settings: ProfileSettings, n_rows: int) -> ProfileSettings:
    """Return the settings with nothing left open: feature set named, sizes in rows, kind of silhouette chosen.

    Args:
        settings: as given.
        n_rows: rows that are clustered (after any sampling).

    Raises:
        NotEnoughData: when there are not more than twice `min_cluster_size` rows.
    """
    size = settings.min_cluster_size or default_min_cluster_size(n_rows)
    if n_rows <= 2 * size:
        raise NotEnoughData(
            f"{n_rows:,} rows cannot hold two profiles of {size:,} rows: more than {2 * size:,} are needed; "
            f"add rows or set min_cluster_size below {max(2, math.ceil(n_rows / 2)):,}"
        )
    exact = settings.mode == "faithful" or n_rows <= EXACT_SILHOUETTE_ROWS
    return replace(
        settings,
        features=settings.features or default_features(settings.mode),
        min_cluster_size=size,
        min_samples=settings.min_samples or size,
        silhouette=settings.silhouette or ("exact" if exact else "sampled"),
    )


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SettingsError(f"{name} is {value!r}; use one of {', '.join(filter(None, allowed))}")
