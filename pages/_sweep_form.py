"""The settings of a sweep: which grid, on which rows, and how long it will take."""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._profile_form import AUTO, MODE_WORDS, OWN, SET_WORDS, SETS
from workprof.charts.sweep import estimate
from workprof.profiles.settings import MODES, PUBLISHED_TARGET_CLUSTERS
from workprof.profiles.sweep_settings import COUPLED, PRESET_DECIDES, PRESETS, QUICK_MIN_SAMPLES, SweepSettings
from workprof.store.reports import Dataset

BY_PRESET = "by preset"
ALGORITHMS: dict[str, tuple[str, ...]] = {
    BY_PRESET: (),
    "HDBSCAN": ("hdbscan",),
    "OPTICS": ("optics",),
    "both": ("hdbscan", "optics"),
}
PRESET_WORDS = {"quick": "quick (minutes)", "paper": "paper (Table III)"}
SAMPLES = (BY_PRESET, "coupled to the size", "one value")
LARGEST = 10_000_000


def form(visit: _shell.Visit, dataset: Dataset, *, folded: bool) -> SweepSettings:
    """Return the settings; nothing runs by changing them, what is kept for them is shown at once."""
    with st.expander("Settings", icon=":material/tune:", expanded=not folded, key="sweep_settings"):
        settings = _fields(visit, dataset)
    st.caption(estimate(settings, dataset.finished_rows))
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


def _fields(visit: _shell.Visit, dataset: Dataset) -> SweepSettings:
    with st.grid(min_column_width=240, gap="small"):
        preset = _select(
            "Preset",
            "preset",
            tuple(reversed(PRESETS)),
            PRESET_WORDS,
            "Both run 4 transforms × 2 metrics × 7 sizes. Paper: min_samples coupled, exact silhouettes, OPTICS, too.",
        )
        algorithms = _select("Algorithms", "algorithms", tuple(ALGORITHMS), {}, "Quick: HDBSCAN. Paper: both.")
        samples = _select(
            "min_samples", "min_samples", SAMPLES, {}, "Paper: coupled to the size. Quick: one value, one tree."
        )
        one = _number("One value of min_samples", "one_min_samples", 1, QUICK_MIN_SAMPLES, "Used by 'one value'.")
        silhouette = _select(
            "Silhouette", "silhouette", (BY_PRESET, "exact", "sampled"), {}, "Sampled ones carry their error."
        )
        chosen_set = _select("Features", "set", SETS, SET_WORDS, "What the jobs are compared by.")
        mode = _select("Mode", "mode", MODES, MODE_WORDS, "Faithful keeps the paper's definitions.")
        sample_rows = _number("Sample rows (0 = all)", "sample_rows", 0, 0, "Rows drawn before clustering.")
        seed = _number("Seed", "seed", 0, 0, "Of every random draw.")
    own = _own_features(visit, dataset) if chosen_set == OWN else []
    return SweepSettings(
        preset=preset,
        algorithms=ALGORITHMS[algorithms],
        min_samples={BY_PRESET: PRESET_DECIDES, SAMPLES[1]: COUPLED}.get(samples, one),
        silhouette="" if silhouette == BY_PRESET else silhouette,
        features=tuple(own) if chosen_set == OWN else () if chosen_set == AUTO else (chosen_set,),
        mode=mode,
        sample_rows=sample_rows,
        seed=seed,
    )


def _own_features(visit: _shell.Visit, dataset: Dataset) -> list[str]:
    numeric = [column.name for column in visit.workbench.columns(dataset.hash) if column.numeric]
    return st.multiselect(
        "Own choice of features",
        [name for name in numeric if not name.startswith("truth_")],
        key="sweep_features",
        bind="query-params",
        placeholder="At least two numeric columns; none = by mode",
    )


def _select(words: str, name: str, options: tuple[str, ...], option_words: dict[str, str], meaning: str) -> str:
    chosen: str = st.selectbox(
        words,
        options,
        format_func=lambda option: option_words.get(option, option),
        key=f"sweep_{name}",
        bind="query-params",
        help=meaning,
    )
    return chosen


def _number(words: str, name: str, least: int, value: int, meaning: str) -> int:
    return int(
        st.number_input(
            words,
            min_value=least,
            max_value=LARGEST,
            value=value,
            key=f"sweep_{name}",
            bind="query-params",
            help=meaning,
        )
    )
