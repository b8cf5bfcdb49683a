"""The settings of a sweep: which grid, on which rows, and how long it will take."""

from __future__ import annotations

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import earlier_result
from pages._parts.controls import AUTO, MODES_MEANING, OWN, SETS, SETS_MEANING, choice, count, features, own_features
from workprof.charts.estimate import sweep_estimate
from workprof.profiles.questions import GROUP
from workprof.profiles.settings import ALGORITHMS, MODES, PUBLISHED_TARGET_CLUSTERS, SILHOUETTES
from workprof.profiles.sweep import COUPLED, PRESET_DECIDES, PRESETS, QUICK_MIN_SAMPLES, SweepSettings
from workprof.store.reports import Dataset

CHOICES: dict[str, tuple[str, ...]] = {
    AUTO: (),
    **{name: (name,) for name in ALGORITHMS},
    "both": ALGORITHMS,
}
SAMPLES = (AUTO, "coupled", "one")


def form(visit: Visit, dataset: Dataset, *, folded: bool) -> SweepSettings:
    """Return the settings; nothing runs by changing them, what is kept for them is shown at once."""
    with st.expander("Settings", icon=":material/tune:", expanded=not folded, key="sweep_settings"):
        settings = _fields(visit, dataset)
    st.caption(sweep_estimate(settings, dataset.finished_rows, earlier_result.runs(visit, GROUP.name)))
    return settings


def target_clusters() -> int:
    """Return the number of profiles that ACQUIRES rewards; moving it scores the finished runs again, nothing more."""
    return int(
        st.number_input(
            "Target number of profiles",
            min_value=1,
            max_value=10_000,
            value=PUBLISHED_TARGET_CLUSTERS,
            key="sweep_target_clusters",
            bind="query-params",
            width=220,
            help="ACQUIRES rewards this count; 26 is the paper's. Moving it only scores the finished runs again.",
        )
    )


def _fields(visit: Visit, dataset: Dataset) -> SweepSettings:
    with st.grid(min_column_width=240, gap="small"):
        preset = choice(
            "Preset",
            "sweep_preset",
            tuple(reversed(PRESETS)),
            "Both run 4 transforms × 2 metrics × 7 sizes. quick takes minutes; paper (Table III): min_samples coupled, "
            "exact silhouettes, OPTICS, too.",
        )
        algorithms = choice(
            "Algorithms", "sweep_algorithms", tuple(CHOICES), "auto: by preset, quick hdbscan, paper both."
        )
        samples = choice(
            "min_samples", "sweep_min_samples", SAMPLES, "auto: by preset. coupled: to the size. one: one tree."
        )
        one = count("One value of min_samples", "sweep_one_min_samples", QUICK_MIN_SAMPLES, "Used by 'one'.", least=1)
        silhouette = choice(
            "Silhouette", "sweep_silhouette", (AUTO, *SILHOUETTES), "auto: by preset. sampled ones carry their error."
        )
        chosen_set = choice("Feature set", "sweep_set", SETS, SETS_MEANING)
        mode = choice("Mode", "sweep_mode", MODES, MODES_MEANING)
        sample_rows = count("Sample rows (0 = all)", "sweep_sample_rows", 0, "Rows drawn before clustering.")
        seed = count("Seed", "sweep_seed", 0, "Of every random draw.")
    own = own_features(visit, dataset, "sweep_features") if chosen_set == OWN else []
    return SweepSettings(
        preset=preset,
        algorithms=CHOICES[algorithms],
        min_samples={AUTO: PRESET_DECIDES, "coupled": COUPLED}.get(samples, one),
        silhouette="" if silhouette == AUTO else silhouette,
        features=features(chosen_set, own),
        mode=mode,
        sample_rows=sample_rows,
        seed=seed,
    )
