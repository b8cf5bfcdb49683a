"""Presets of a clustering, and the size of the smallest profile as a slider: both only fill the form."""

from __future__ import annotations

import streamlit as st

from workprof.profiles.settings import default_min_cluster_size, preset
from workprof.store.reports import Dataset

PRESETS = {"default": "Default (0.3 %)", "paper": "Paper (300 rows)", "fine": "Fine (0.1 %)", "coarse": "Coarse (1 %)"}
SIZES = (0, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200, 250, 300, 400, 500, 650, 800, 1000, 1300, 1600, 2000)
SLIDER = "profiles_slider"


def presets(dataset: Dataset) -> None:
    """Show the presets' buttons and the slider."""
    auto = default_min_cluster_size(dataset.finished_rows)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, words in PRESETS.items():
            st.button(words, key=f"preset_{name}", on_click=_apply, args=(name, dataset.finished_rows))
        st.select_slider(
            "Smallest profile, rows (logarithmic)",
            SIZES,
            format_func=lambda size: f"{size:,}" if size else f"auto ({auto:,})",
            key=SLIDER,
            on_change=_slid,
            width=360,
            help="Writes the number below: groups of fewer rows are outliers or a part of a larger profile.",
        )


def sizes_below(n_rows: int, shown: int) -> list[int]:
    """Return the sizes that could part so many rows, and the one that is shown."""
    return sorted({size for size in SIZES if 0 < 2 * size < n_rows} | {shown})


def _apply(name: str, rows: int) -> None:
    changes: dict[str, str | int] = {"scaler": "power", "metric": "euclidean", "min_cluster_size": 0, "min_samples": 0}
    changes = changes if name == "default" else preset(name, rows)
    for field, value in changes.items():
        st.session_state[f"profiles_{field}"] = value


def _slid() -> None:
    st.session_state["profiles_min_cluster_size"] = st.session_state[SLIDER]
