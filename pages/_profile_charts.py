"""The charts of a clustering, each with the few controls that it needs."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages import _figures, _shell
from workprof.charts.fields import label
from workprof.charts.profiles import condensed_tree, feature_boxes, metadata_heatmap, silhouette_boxes, size_bars
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset

ORDER_WORDS = {"std": "standard deviation", "median": "median", "size": "size"}
BY_WORDS = {"profile": "each profile adds up to 100 %", "value": "each value adds up to 100 %"}


@dataclass(frozen=True)
class View:
    """One clustering on the page: where it comes from, its record and its profiles' names."""

    visit: _shell.Visit
    dataset: Dataset
    settings: ProfileSettings
    fit: ProfileFit
    names: dict[int, str]


def boxes(view: View) -> None:
    """Show one feature over all profiles."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        feature = st.selectbox(
            "Feature", view.fit.features, format_func=label, key="profiles_box_feature", persist_state="session"
        )
        order = st.segmented_control(
            "Order by",
            list(ORDER_WORDS),
            default="std",
            required=True,
            format_func=lambda name: ORDER_WORDS[name],
            key="profiles_box_order",
            persist_state="session",
        )
    _figures.show(feature_boxes(view.fit, view.names, feature, order or "std"), key=f"profiles_boxes_{feature}_{order}")


def silhouettes(view: View) -> None:
    """Show how well the rows sit in their profiles."""
    _figures.show(silhouette_boxes(view.fit, view.names), key="profiles_silhouettes")


def sizes(view: View) -> None:
    """Show how many rows each profile holds."""
    _figures.show(size_bars(view.fit, view.names), key="profiles_sizes")


def tree(view: View) -> None:
    """Show the condensed tree."""
    chart = condensed_tree(view.fit, view.names)
    if chart is None:
        st.info("Only HDBSCAN makes a condensed tree; these profiles were found by OPTICS.", icon=":material/info:")
        return
    _figures.show(chart, key="profiles_tree")


def metadata(view: View) -> None:
    """Show profiles against the values of a metadata field."""
    fields = [heatmap.field for heatmap in view.fit.heatmaps]
    if not fields:
        st.info("This dataset has no metadata columns (workload, task, user, group ...).", icon=":material/info:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        field = st.selectbox("Field", fields, format_func=label, key="profiles_map_field", persist_state="session")
        by = st.segmented_control(
            "Shares",
            list(BY_WORDS),
            default="profile",
            required=True,
            format_func=lambda name: BY_WORDS[name],
            key="profiles_map_by",
            persist_state="session",
        )
    _figures.show(metadata_heatmap(view.fit, view.names, field, by or "profile"), key=f"profiles_metadata_{field}_{by}")
