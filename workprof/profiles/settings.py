"""Settings of a clustering: the record that is the cache key, the form, the command's options and the link."""

import math
from dataclasses import replace
from typing import Annotated, Any

from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings

METRICS = ("euclidean", "manhattan")
ALGORITHMS = ("hdbscan", "optics")
METHODS = ("eom", "leaf")
METRIC_WORDS = {"euclidean": "Euclidean", "manhattan": "Manhattan"}
PACKAGE = "package"
ALGORITHM_WORDS = {"hdbscan": "HDBSCAN", PACKAGE: "HDBSCAN of its package", "optics": "OPTICS", "dbscan": "DBSCAN"}
ENGINES = {"workprof": "hdbscan", "hdbscan": PACKAGE}
"""What builds the spanning tree -> the algorithm that says so."""
METHOD_WORDS = {"eom": "Excess of mass", "leaf": "Leaves"}
MODE_WORDS = {"corrected": "Default", "faithful": "As published"}
PRESETS = ("paper", "fine", "coarse", "google-2011")

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

GOOGLE9 = (
    *("cpu_usage_percent", "cpu_rate_sd", "mean_memory_bytes", "canonical_memory_sd", "local_disk_mean"),
    *("local_disk_sd", "active_tasks_mean", "active_tasks_sd", "duration_s"),
)
"""What the extended paper clustered of Google's trace of 2011; `borg-2011-usage` makes them of its windows."""

FEATURE_SETS = {"sensors10": SENSORS10, "all17": ALL17}

PUBLISHED_TARGET_CLUSTERS = 26
"""The 'optimal' number of the paper: its own winner's count, never justified."""


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


Features = Annotated[
    tuple[str, ...],
    Setting(
        "Columns that the jobs are compared by, A,B,..., or a set: sensors10, the 10 sensor columns; all17, the 17 "
        "published columns, missing values as 0.",
        columns="numeric",
        named={"auto": ()} | {name: (name,) for name in FEATURE_SETS},
        shown={"auto": "Automatic", "sensors10": "10 sensors", "all17": "17 published columns", "own": "Own columns"},
        empty="by mode: the 10 sensors, as published the 17 columns",
        own="own",
        named_key="set",
    ),
]
Scaler = Annotated[
    str,
    Setting(
        "Transform of the features before distances are taken.",
        choices={
            "none": "as they are",
            "standard": "mean 0, standard deviation 1",
            "minmax": "to 0-1",
            "robust": "by median and quartiles",
            "power": "Yeo-Johnson",
            "quantile": "to the share of runs below",
        },
        shown={
            "none": "None",
            "standard": "Standard (z-score)",
            "minmax": "Min–max",
            "robust": "Robust (median, IQR)",
            "power": "Power (Yeo–Johnson)",
            "quantile": "Quantiles (0–1)",
        },
    ),
]
Embedding = Annotated[
    str,
    Setting(
        "What distances are taken of.",
        choices={"none": "the scaled features", "autoencoder": "the middle layer of a network that gives them back"},
        shown={"none": "None", "autoencoder": "Autoencoder (16-3-16)"},
    ),
]
Metric = Annotated[str, Setting("Distance between runs.", choices=METRICS, shown=METRIC_WORDS, label="Distance")]
Mode = Annotated[
    str,
    Setting(
        "Whose definitions hold.",
        choices={"corrected": "those of workprof", "faithful": "the paper's, flagged everywhere"},
        shown=MODE_WORDS,
    ),
]
Silhouette = Annotated[
    str,
    Setting(
        "How silhouettes are computed.",
        choices={"exact": "every pair of rows", "sampled": "a sample, with its standard error"},
        named={"auto": ""},
        shown={"auto": "Automatic", "exact": "Exact", "sampled": "Sampled"},
        empty="exact up to 20,000 rows and as published, else sampled",
    ),
]
MOST_FITTED_ROWS = 200_000
"""Runs that are clustered as they are; the time of a clustering rises with about the square of the runs."""
FITTED_ROWS = 100_000
"""Runs that are drawn of a larger trace; every other one is assigned."""
SampleRows = Annotated[
    int,
    Setting(
        "Runs that are drawn before clustering; the others are assigned to the profiles found.",
        unit="runs",
        least=0,
        empty=f"all up to {MOST_FITTED_ROWS:,} runs, above {FITTED_ROWS:,} of them",
        label="Sample size",
    ),
]
TargetClusters = Annotated[
    int,
    Setting(
        f"Number of profiles that ACQUIRES rewards; {PUBLISHED_TARGET_CLUSTERS} is the paper's.",
        least=1,
        label="Target profiles (ACQUIRES)",
    ),
]
Seed = Annotated[int, Setting("Of every random draw.", least=0)]
NAMED_RUNS = "A run is the name of its job, or the number of its row. In a form or link: A+B, C+D."


@settings
class ProfileSettings:
    """Settings of one clustering."""

    features: Features = ()
    scaler: Scaler = "power"
    metric: Metric = "euclidean"
    algorithm: Annotated[
        str,
        Setting(
            "How profiles are found.",
            choices={
                "hdbscan": "by density",
                PACKAGE: "by density, with the package hdbscan itself: the same but for ties, and slower",
                "optics": f"on at most {OPTICS_ROWS:,} runs, and says so",
                "dbscan": "by one density, that of `epsilon`",
            },
            shown=ALGORITHM_WORDS,
        ),
    ] = "hdbscan"
    min_cluster_size: Annotated[
        int,
        Setting(
            "Runs of the smallest profile.",
            unit="runs",
            least=0,
            empty="0.3 % of the runs, at least 20",
            label="Minimum profile size",
        ),
    ] = 0
    min_samples: Annotated[
        int,
        Setting(
            "Neighbours that make a run's density (its core distance; `min_samples` of HDBSCAN).",
            least=0,
            empty="as the minimum profile size, the paper's coupling",
            label="Minimum samples",
        ),
    ] = 0
    method: Annotated[
        str,
        Setting(
            "Selection from the condensed tree.",
            choices={"eom": "the branches that persist longest", "leaf": "the leaves, more and smaller"},
            shown=METHOD_WORDS,
            label="Selection",
        ),
    ] = "eom"
    epsilon: Annotated[
        float,
        Setting(
            "Profiles closer than this, in scaled units, are merged; the radius of DBSCAN, 0 = knee of the distances.",
            least=0,
        ),
    ] = 0.0
    mode: Mode = "corrected"
    target_clusters: TargetClusters = PUBLISHED_TARGET_CLUSTERS
    silhouette: Silhouette = ""
    sample_rows: SampleRows = 0
    seed: Seed = 0
    must: Annotated[
        tuple[tuple[str, ...], ...],
        Setting(
            f"Runs that are alike: they end in one profile. {NAMED_RUNS}", label="Runs alike", also=("--together",)
        ),
    ] = ()
    must_not: Annotated[
        tuple[tuple[str, ...], ...],
        Setting(
            f"Runs that are unlike: no two of them share a profile. {NAMED_RUNS}",
            label="Runs unlike",
            also=("--apart",),
        ),
    ] = ()
    embedding: Embedding = "none"

    def __post_init__(self) -> None:
        if self.min_cluster_size == 1:
            raise SettingsError("min_cluster_size is 1; give at least 2, or 0 for 0.3 % of the rows")

    @property
    def by_density(self) -> bool:
        """Whether it is HDBSCAN, which has a tree and takes further rows."""
        return self.algorithm in ("hdbscan", PACKAGE)

    @property
    def weighed(self) -> bool:
        """Whether the package hdbscan cuts these profiles too, and so can weigh their runs: it knows no pairs."""
        return self.by_density and not (self.must or self.must_not)


def refuse_unweighed(settings: ProfileSettings) -> None:
    """Raise SettingsError where the package hdbscan does not cut these profiles."""
    if not settings.by_density:
        raise SettingsError(f"a clustering by {settings.algorithm} has no HDBSCAN tree; fit with hdbscan")
    if not settings.weighed:
        raise SettingsError("the package hdbscan knows no pairs of runs; fit without must and must_not for this")


def default_features(mode: str) -> tuple[str, ...]:
    """The feature set of a mode: what the paper clustered on, or the sensors alone."""
    return ("all17",) if mode == "faithful" else ("sensors10",)


def preset(name: str, n_rows: int) -> dict[str, Any]:
    """The settings that a preset changes; the features stay as they are, but for 'google-2011'.

    Source: 'paper' is the run that the PolarisProfiler paper chose (power transform, Euclidean, 300 rows); 'fine' and
    'coarse' are ours. 'google-2011' is the extended paper's: quantiles, autoencoder, DBSCAN(100) at the knee.

    Raises SettingsError for an unknown name.
    """
    if name not in PRESETS:
        raise SettingsError(f"preset is {name!r}; choose from {', '.join(PRESETS)}")
    if name == "google-2011":
        return {
            **{"features": GOOGLE9, "scaler": "quantile", "embedding": "autoencoder", "metric": "euclidean"},
            **{"algorithm": "dbscan", "epsilon": 0.0, "min_cluster_size": 0, "min_samples": 100},
        }
    size = PAPER_MIN_CLUSTER_SIZE if name == "paper" else max(SMALLEST_PRESET_SIZE, round(PRESET_SHARES[name] * n_rows))
    return {"scaler": "power", "metric": "euclidean", "min_cluster_size": size, "min_samples": 0}


def default_min_cluster_size(n_rows: int) -> int:
    """0.3 % of the rows, at least 20: 300 at the paper's 100,001 rows."""
    return max(SMALLEST_DEFAULT_SIZE, round(DEFAULT_SHARE * n_rows))


def with_sample(settings: ProfileSettings, n_rows: int) -> ProfileSettings:
    """The settings with the size of the sample that a trace of `n_rows` rows needs, where they leave it open."""
    whole = settings.sample_rows or not settings.by_density or settings.mode == "faithful"
    return settings if whole or n_rows <= MOST_FITTED_ROWS else replace(settings, sample_rows=FITTED_ROWS)


def clustered_rows(settings: ProfileSettings, n_rows: int) -> int:
    """How many of `n_rows` rows the settings let the clustering see."""
    settings, limits = with_sample(settings, n_rows), [n_rows]
    if settings.sample_rows:
        limits.append(settings.sample_rows)
    elif settings.algorithm == "optics":
        limits.append(OPTICS_ROWS)
    return min(limits)


def resolve(settings: ProfileSettings, n_rows: int) -> ProfileSettings:
    """The settings with nothing left open: feature set named, sizes in rows, kind of silhouette chosen.

    Raises NotEnoughData as `refuse_few`.
    """
    refuse_few(settings, n_rows)
    return settled(settings, n_rows)


def refuse_few(settings: ProfileSettings, n_rows: int) -> None:
    """Refuse rows that no two profiles can be found in.

    Raises NotEnoughData when there are not more than twice `min_cluster_size` rows.
    """
    size = settings.min_cluster_size or default_min_cluster_size(n_rows)
    if n_rows <= 2 * size:
        least = math.ceil(n_rows / 2)
        smaller = f", or take a smallest profile (min_cluster_size) below {least:,}" if least > 2 else ""
        raise NotEnoughData(
            f"{n_rows:,} rows cannot hold two profiles of {size:,}. More than {2 * size:,} would do: add rows{smaller}"
        )


def settled(settings: ProfileSettings, n_rows: int) -> ProfileSettings:
    """As `resolve`, of however few rows."""
    size = settings.min_cluster_size or default_min_cluster_size(n_rows)
    exact = settings.mode == "faithful" or n_rows <= EXACT_SILHOUETTE_ROWS
    return replace(
        settings,
        features=settings.features or default_features(settings.mode),
        min_cluster_size=size,
        min_samples=settings.min_samples or size,
        silhouette=settings.silhouette or ("exact" if exact else "sampled"),
    )
