"""What the classifier looks at: SHAP values over a sample of the jobs."""

from __future__ import annotations

import streamlit as st

from pages._classify.view import View
from pages._parts import figures
from workprof.charts.classify.model import beeswarm, field_bars, value_bars
from workprof.charts.downloads import parquet_bytes
from workprof.forecasts.explain import MOST_SAMPLE_ROWS, GlobalExplanation
from workprof.forecasts.forecaster import ExplanationSettings

SAMPLE = "classify_sample"


def explanation(view: View) -> GlobalExplanation | None:
    """Return the global SHAP values if they are kept; else the button that computes them, with progress."""
    n_sampled = st.number_input(
        "Jobs in the sample",
        min_value=1,
        max_value=MOST_SAMPLE_ROWS,
        value=1_000,
        step=500,
        key=SAMPLE,
        bind="query-params",
        width=220,
        help="Drawn at random with the seed of the settings. More jobs, steadier means.",
    )
    settings = ExplanationSettings(view.settings, int(n_sampled))
    kept = view.visit.workbench.global_explanation.cached(view.dataset.hash, settings).result
    if kept is not None or not st.button(f"Explain {n_sampled:,} jobs", icon=":material/play_arrow:"):
        return kept
    bar = st.progress(0.0, text="Explaining a sample of the jobs")

    def tell(share: float | None, words: str) -> None:
        bar.progress(share or 0.0, text=words)

    view.visit.workbench.global_explanation(view.dataset.hash, settings, tell)
    st.rerun()


def importance(view: View, found: GlobalExplanation) -> None:
    """Show what weighs most, by field, by value and job by job."""
    if not found.additive:
        st.warning(
            f"The SHAP values do not add up (largest gap {found.additivity_error:.1e}); the figures would be wrong and "
            "are left out.",
            icon=":material/warning:",
        )
        return
    fields, values, swarm = (figure(found, view.naming) for figure in (field_bars, value_bars, beeswarm))
    figures.show(fields, key="classify_shap_fields")
    figures.show(values, key="classify_shap_values")
    figures.show(swarm, key="classify_shap_swarm")
    st.download_button(
        f"SHAP values of {found.n_sampled:,} jobs (Parquet)",
        data=lambda: parquet_bytes(swarm.data),
        file_name="shap-values.parquet",
        on_click="ignore",
        icon=":material/download:",
    )
