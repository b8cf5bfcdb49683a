"""Unusual and typical runs, and hdbscan's own trees of the clustering."""

import streamlit as st

from pages._parts import figures, tables
from pages._profiles.clusterability import computed
from pages._profiles.views import View
from workprof.answers.membership import membership_answer
from workprof.charts.downloads import parquet_bytes
from workprof.charts.profiles.membership import hdbscan_tree, outlier_histogram, runs_frame, single_linkage
from workprof.inputs import safe_name
from workprof.profiles.questions import MEMBERSHIP
from workprof.profiles.settings import ALGORITHM_WORDS


def unusual_runs(view: View) -> None:
    """Show the runs that lie apart, the exemplars of each profile, and the trees; computed on request."""
    if not view.fit.settings.weighed:
        fit = view.fit.settings
        found = "with named pairs" if fit.by_density else f"by {ALGORITHM_WORDS[fit.algorithm]}"
        st.info(f"Only HDBSCAN weighs runs; these profiles were found {found}.", icon=":material/info:")
        return
    result = computed(view, MEMBERSHIP, "Unusual and typical runs", "unusual", {"fit": view.settings})
    if result is None:
        return
    answer, stem = membership_answer(result, view.names), safe_name(view.dataset.name)
    figures.headline_row(answer.figures)
    figures.show(outlier_histogram(result), key="profiles_outlier_scores")
    for table in answer.tables:
        st.subheader(table.title)
        tables.saved(table, f"{stem}-{table.name}", key=f"profiles_{table.name}_runs", alt=table.title)
    st.download_button(
        "Membership and outlier score of each run (Parquet)",
        data=lambda: parquet_bytes(runs_frame(result)),
        file_name=f"{stem}-membership.parquet",
        on_click="ignore",
        icon=":material/download:",
    )
    st.subheader("Trees of hdbscan")
    figures.show(hdbscan_tree(result, view.names), key="profiles_hdbscan_tree")
    figures.show(single_linkage(result), key="profiles_single_linkage")
