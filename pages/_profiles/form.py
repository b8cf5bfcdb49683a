"""The settings of a clustering: the form, and how long it will take."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._frame import reset
from pages._frame.visit import Visit
from pages._parts import earlier_result
from pages._parts.controls import (
    AUTO,
    LARGEST_AMOUNT,
    MODES_MEANING,
    SETS,
    SETS_MEANING,
    choice,
    count,
    features,
    number,
    own_features,
)
from pages._profiles import presets
from workprof.charts.estimate import fit_estimate
from workprof.profiles.questions import FIT
from workprof.profiles.settings import (
    ALGORITHMS,
    METHODS,
    METRICS,
    MODES,
    OPTICS_ROWS,
    PUBLISHED_TARGET_CLUSTERS,
    SCALERS,
    SILHOUETTES,
    ProfileSettings,
    default_min_cluster_size,
)
from workprof.store.reports import Dataset


def form(visit: Visit, dataset: Dataset) -> tuple[ProfileSettings, bool]:
    """Return the settings as last submitted, and whether they were submitted now."""
    reset.reset("profiles")
    with st.expander(
        "Settings", icon=":material/tune:", key="profiles_settings", on_change="rerun", bind="query-params"
    ) as expander:
        presets.presets(dataset)
        with st.form("profiles_form", border=False):
            settings = _fields(visit, dataset)
            run_now = st.form_submit_button(
                "Find profiles with these settings", type="primary", icon=":material/play_arrow:"
            )
        if expander.open:  # it reads what earlier runs took: nothing to do for a closed form
            st.caption(estimate(visit, dataset, settings))
    return settings, run_now


def estimate(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> str:
    """Return how much there is to do and about how long it takes."""
    return fit_estimate(settings, dataset.finished_rows, earlier_result.runs(visit, FIT.name))


def _fields(visit: Visit, dataset: Dataset) -> ProfileSettings:
    with st.grid(min_column_width=240, gap="small"):
        chosen_set = choice("Feature set", "profiles_set", SETS, SETS_MEANING)
        own = own_features(visit, dataset, "profiles_features")
        settings = _words(features(chosen_set, own))
        return _numbers(settings, default_min_cluster_size(dataset.finished_rows))


def _words(chosen: tuple[str, ...]) -> ProfileSettings:
    """Return the settings that are chosen from lists."""
    exact = choice(
        "Silhouette", "profiles_silhouette", (AUTO, *SILHOUETTES), "auto: exact up to 20,000 rows, else sampled."
    )
    return ProfileSettings(
        features=chosen,
        silhouette="" if exact == AUTO else exact,
        scaler=choice(
            "Scaler",
            "profiles_scaler",
            SCALERS,
            "Transform of the features. minmax: to 0-1; robust: by median and quartiles; power: Yeo-Johnson.",
            index=SCALERS.index(ProfileSettings.scaler),
        ),
        metric=choice("Distance", "profiles_metric", METRICS),
        algorithm=choice(
            "Algorithm", "profiles_algorithm", ALGORITHMS, f"optics runs on at most {OPTICS_ROWS:,} rows, and says so."
        ),
        method=choice(
            "Selection", "profiles_method", METHODS, "From the tree. eom: excess of mass; leaf: the leaves, smaller."
        ),
        mode=choice("Mode", "profiles_mode", MODES, MODES_MEANING),
    )


def _numbers(settings: ProfileSettings, auto: int) -> ProfileSettings:
    """Return the settings with the numbers of the form."""
    return replace(
        settings,
        min_cluster_size=count(
            "Smallest profile (rows, 0 = auto)", "profiles_min_cluster_size", 0, f"Auto is 0.3 %, here {auto:,} rows."
        ),
        min_samples=count(
            "min_samples (0 = same)", "profiles_min_samples", 0, "Neighbours that make a point's density."
        ),
        epsilon=number(
            "Epsilon",
            "profiles_epsilon",
            0.0,
            (0.0, LARGEST_AMOUNT),
            "Clusters closer than this (scaled units) are merged.",
            step=0.05,
        ),
        target_clusters=count(
            "Target profiles (ACQUIRES)",
            "profiles_target_clusters",
            PUBLISHED_TARGET_CLUSTERS,
            "26 is the paper's; it rewards this count.",
        ),
        sample_rows=count("Sample rows (0 = all)", "profiles_sample_rows", 0, "Rows drawn before clustering."),
        seed=count("Seed", "profiles_seed", 0, "Of every random draw."),
    )
