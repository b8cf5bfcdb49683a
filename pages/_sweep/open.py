"""From a run of a sweep to the Profiles page with the same settings."""

from __future__ import annotations

from pages._frame import cross_link, datasets
from pages._frame.cross_link import Link
from pages._parts import controls
from workprof.profiles.settings import FEATURE_SETS
from workprof.profiles.sweep import SweepRun
from workprof.store.reports import Dataset


def open_in_profiles(dataset: Dataset, run: SweepRun, name: str) -> None:
    """Show a link that opens the Profiles page with the settings of a run."""
    meaning = "The Profiles page opens with these settings; the profiles are computed there."
    words = f"Open {name} in Profiles"
    link = Link(words, "profiles", dataset.hash, parameters(dataset, run), "bubble_chart", meaning)
    cross_link.follow(link, "sweep_open")


def parameters(dataset: Dataset, run: SweepRun) -> dict[str, str | list[str]]:
    """Return a run's settings as the address of the Profiles page writes them."""
    settings = run.settings
    own = settings.features[0] not in FEATURE_SETS
    return {
        datasets.PARAMETER: dataset.hash,
        "profiles_set": controls.OWN if own else settings.features[0],
        **({"profiles_features": list(settings.features)} if own else {}),
        "profiles_scaler": settings.scaler,
        "profiles_metric": settings.metric,
        "profiles_algorithm": settings.algorithm,
        "profiles_min_cluster_size": str(settings.min_cluster_size),
        "profiles_min_samples": str(settings.min_samples),
        "profiles_mode": settings.mode,
        "profiles_target_clusters": str(settings.target_clusters),
        "profiles_sample_rows": str(settings.sample_rows),
        "profiles_seed": str(settings.seed),
        "profiles_silhouette": settings.silhouette,
    }
