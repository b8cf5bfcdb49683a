"""What decides on a profile: the SHAP values of a sample of runs, from one matrix."""

import streamlit as st

from pages._classify.training import View
from pages._parts import controls, figures
from workprof.charts.classify.effects import beeswarm, dependence, interaction_heatmap, profile_bars
from workprof.charts.downloads import parquet_bytes
from workprof.core.words import label
from workprof.forecasts.explain import GlobalExplanation

LIKELIEST = "likeliest"


def effects(view: View, result: GlobalExplanation) -> None:
    """Show the SHAP values for one profile, or for the most likely class of each run."""
    words = {LIKELIEST: "Most likely of each run"} | {str(one): view.naming.name(int(one)) for one in result.classes}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        meaning = "Whose odds are explained."
        chosen = controls.choice("Profile", "classify_shap_profile", tuple(words), meaning, shown=words)
        shown = {field: label(field) for field in result.fields}
        meaning = "What it contributes at each of its values."
        field = controls.choice("Field", "classify_shap_field", result.fields, meaning, shown=shown)
    profile = None if chosen == LIKELIEST else int(chosen)
    swarm = beeswarm(result, view.naming, profile)
    figures.show(swarm, key="classify_shap_swarm")
    figures.show(profile_bars(result, view.naming, profile), key="classify_shap_profile_bars")
    figures.show(dependence(result, view.naming, field, profile), key="classify_shap_dependence")
    together = interaction_heatmap(result, view.naming)
    if together is not None:
        figures.show(together, key="classify_shap_interactions")
    st.download_button(
        f"SHAP values of {result.n_sampled:,} runs (Parquet)",
        data=lambda: parquet_bytes(swarm.data),
        file_name="shap-values.parquet",
        on_click="ignore",
        icon=":material/download:",
    )
