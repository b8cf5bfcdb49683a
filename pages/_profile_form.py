"""The settings of a clustering: presets, the form, and how long it will take."""

from __future__ import annotations

import streamlit as st

from pages import _shell
from workprof.charts.fields import label
from workprof.charts.text import markdown_text
from workprof.profiles.settings import (
    ALGORITHMS,
    FEATURE_SETS,
    METHODS,
    METRICS,
    MODES,
    SCALERS,
    SILHOUETTES,
    ProfileSettings,
    clustered_rows,
    default_min_cluster_size,
    preset,
)
from workprof.store.reports import Dataset
from workprof.units import format_duration

AUTO, OWN = "by mode", "own choice"
SETS = (AUTO, *FEATURE_SETS, OWN)
SET_WORDS = {
    AUTO: "by mode (corrected: the 10 sensors)",
    "sensors10": "the 10 sensor columns",
    "all17": "the 17 published columns",
    OWN: "own choice (below)",
}
SCALER_WORDS = {
    "none": "none",
    "standard": "standard",
    "minmax": "min–max",
    "robust": "robust (median, quartiles)",
    "power": "power (Yeo–Johnson)",
}
MODE_WORDS = {"corrected": "corrected (ours)", "faithful": "faithful (as published)"}
PRESETS = {"default": "Default (0.3 %)", "paper": "Paper (300 rows)", "fine": "Fine (0.1 %)", "coarse": "Coarse (1 %)"}
SIZES = (0, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200, 250, 300, 400, 500, 650, 800, 1000, 1300, 1600, 2000)
SECONDS_PER_CELL = 1.6e-5
"""Of rows × features, fit and scores together, on one core of a small machine (100,001 × 10: about 16 s)."""
STARTING_S = 2.0
LARGEST = 10_000_000


def form(visit: _shell.Visit, dataset: Dataset) -> tuple[ProfileSettings, bool]:
    """Return the settings as last submitted, and whether they were submitted now."""
    with st.expander("Settings", icon=":material/tune:", key="profiles_settings"):
        _presets(dataset)
        with st.form("profiles_form", border=False):
            settings = _fields(visit, dataset)
            run_now = st.form_submit_button(
                "Find profiles with these settings", type="primary", icon=":material/play_arrow:"
            )
        st.caption(estimate(settings, dataset))
    return settings, run_now


def estimate(settings: ProfileSettings, dataset: Dataset) -> str:
    """Return how much there is to do and about how long it takes."""
    rows, columns = clustered_rows(settings, dataset.finished_rows), len(_feature_names(settings))
    seconds = format_duration(estimated_seconds(rows, columns))
    return f"{rows:,} rows × {columns} features: about {seconds} in the background; the pages stay usable meanwhile."


def estimated_seconds(rows: int, columns: int) -> float:
    """Return a guess of how long fit and scores take."""
    return float(round(STARTING_S + SECONDS_PER_CELL * rows * columns))


def _feature_names(settings: ProfileSettings) -> tuple[str, ...]:
    chosen = settings.features or ("all17" if settings.mode == "faithful" else "sensors10",)
    return FEATURE_SETS.get(chosen[0], chosen)


def _presets(dataset: Dataset) -> None:
    auto = default_min_cluster_size(dataset.finished_rows)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, words in PRESETS.items():
            st.button(words, key=f"preset_{name}", on_click=_apply, args=(name, dataset.finished_rows))
        st.select_slider(
            "Smallest profile, rows (logarithmic)",
            SIZES,
            format_func=lambda size: f"{size:,}" if size else f"auto ({auto:,})",
            key="profiles_slider",
            on_change=_slid,
            width=360,
        )


def _apply(name: str, rows: int) -> None:
    changes: dict[str, str | int] = {"scaler": "power", "metric": "euclidean", "min_cluster_size": 0, "min_samples": 0}
    changes = changes if name == "default" else preset(name, rows)
    for field, value in changes.items():
        st.session_state[f"profiles_{field}"] = value


def _slid() -> None:
    st.session_state["profiles_min_cluster_size"] = st.session_state["profiles_slider"]


def _fields(visit: _shell.Visit, dataset: Dataset) -> ProfileSettings:
    auto = default_min_cluster_size(dataset.finished_rows)
    with st.grid(min_column_width=240, gap="small"):
        chosen_set = _select("features", "set", SETS, SET_WORDS, "What the jobs are compared by.")
        scaler = _select("scaler", "scaler", SCALERS, SCALER_WORDS, "Transform of the features.", index=4)
        metric = _select("distance", "metric", METRICS)
        algorithm = _select("algorithm", "algorithm", ALGORITHMS, {}, "OPTICS runs on a stated sample of many rows.")
        size = _number(
            "smallest profile (rows, 0 = auto)", "min_cluster_size", 0, f"Auto is 0.3 %, here {auto:,} rows."
        )
        samples = _number("min_samples (0 = same)", "min_samples", 0, "Neighbours that make a point's density.")
        method = _select("selection", "method", METHODS, {"eom": "excess of mass", "leaf": "leaves"})
        epsilon = st.number_input(
            "Epsilon",
            min_value=0.0,
            value=0.0,
            step=0.05,
            key="profiles_epsilon",
            bind="query-params",
            help="Clusters closer than this (scaled units) are merged.",
        )
        mode = _select(
            "mode", "mode", MODES, MODE_WORDS, "Faithful keeps the paper's definitions and flags everything."
        )
        target = _number(
            "target profiles (ACQUIRES)", "target_clusters", 26, "26 is the paper's; it rewards this count."
        )
        sample = _number("sample rows (0 = all)", "sample_rows", 0, "Rows drawn before clustering.")
        seed = _number("seed", "seed", 0, "Of every random draw.")
        exact = _select("silhouette", "silhouette", ("by size", *SILHOUETTES))
    own = _own_features(visit, dataset)
    return ProfileSettings(
        features=tuple(own) if chosen_set == OWN else () if chosen_set == AUTO else (chosen_set,),
        scaler=scaler,
        metric=metric,
        algorithm=algorithm,
        min_cluster_size=size,
        min_samples=samples,
        method=method,
        epsilon=epsilon,
        mode=mode,
        target_clusters=target,
        silhouette="" if exact == "by size" else exact,
        sample_rows=sample,
        seed=seed,
    )


def feature_words(name: str) -> str:
    """Return a feature as the form and the address write it."""
    return f"{markdown_text(label(name))} ({name})"


def _own_features(visit: _shell.Visit, dataset: Dataset) -> list[str]:
    numeric = [column.name for column in visit.workbench.columns(dataset.hash) if column.numeric]
    return st.multiselect(
        "Own choice of features (used when Features is 'own choice')",
        [name for name in numeric if not name.startswith("truth_")],
        format_func=feature_words,
        key="profiles_features",
        bind="query-params",
        placeholder="At least two numeric columns",
    )


def _select(
    words: str,
    name: str,
    options: tuple[str, ...],
    option_words: dict[str, str] | None = None,
    meaning: str | None = None,
    *,
    index: int = 0,
) -> str:
    chosen: str = st.selectbox(
        f"{words[:1].upper()}{words[1:]}",
        options,
        index=index,
        format_func=lambda option: (option_words or {}).get(option, option),
        key=f"profiles_{name}",
        bind="query-params",
        help=meaning,
    )
    return chosen


def _number(words: str, name: str, value: int, meaning: str) -> int:
    return int(
        st.number_input(
            f"{words[:1].upper()}{words[1:]}",
            min_value=0,
            max_value=LARGEST,
            value=value,
            key=f"profiles_{name}",
            bind="query-params",
            help=meaning,
        )
    )
