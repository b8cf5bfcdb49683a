"""The charts of a clustering and its downloads, each with the few controls that it needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import controls, figures, tables
from workprof.answers.profiles import summary_table
from workprof.charts.downloads import labels_table, model_card, parquet_bytes
from workprof.charts.profiles.features import BY, UNITS, feature_boxes, metadata_heatmap
from workprof.charts.profiles.overview import ORDERS, condensed_tree, size_bars
from workprof.core.words import counted, label
from workprof.inputs import safe_name
from workprof.profiles.fit import ProfileFit
from workprof.profiles.membership import Membership, MembershipSettings
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset


@dataclass(frozen=True)
class View:
    """One clustering on the page: where it comes from, its record, its profiles' names and memory."""

    visit: Visit
    dataset: Dataset
    settings: ProfileSettings
    fit: ProfileFit
    names: dict[int, str]
    used: dict[int, float]
    unused: dict[int, float]

    @property
    def scored(self) -> bool:
        """Whether the scores are there; a cut is shown before it is scored."""
        return bool(self.fit.scores.silhouette_method)


ORDER_WORDS = {"std": "Spread", "median": "Median", "size": "Size"}
UNIT_WORDS = {"own": "Own", "scaled": "Scaled"}
BY_WORDS = {"profile": "Profile", "value": "Value"}


def _titles(columns: Sequence[str]) -> dict[str, str]:
    return {name: label(name)[:1].upper() + label(name)[1:] for name in columns}


def boxes(view: View) -> None:
    """Show one feature over all profiles."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=300):
            feature = controls.choice(
                "Feature",
                "profiles_box_feature",
                view.fit.features,
                "Of those that the profiles were found in.",
                shown=_titles(view.fit.features),
            )
        meaning = "Spread: standard deviation of the feature (std); median of the feature; size: runs."
        order = controls.choice("Order by", "profiles_box_order", ORDERS, meaning, shown=ORDER_WORDS, row=True)
        meaning = "Of the axis: the feature's own, or that in which runs are compared."
        units = controls.choice("Unit", "profiles_box_unit", UNITS, meaning, shown=UNIT_WORDS, row=True)
    chart = feature_boxes(view.fit, view.names, feature, order, units)
    figures.show(chart, key=f"profiles_boxes_{feature}_{order}_{units}")


def sizes(view: View) -> None:
    """Show how many rows each profile holds."""
    figures.show(size_bars(view.fit, view.names), key="profiles_sizes")


def tree(view: View) -> None:
    """Show the condensed tree."""
    chart = condensed_tree(view.fit, view.names)
    if chart is None:
        st.info("Only HDBSCAN makes a condensed tree; these profiles were found by OPTICS.", icon=":material/info:")
        return
    figures.show(chart, key="profiles_tree")


def metadata(view: View) -> None:
    """Show profiles against the values of a metadata field."""
    # A field with one value for all rows tells nothing of the profiles: it is there, but not what is shown first.
    fields = [shown.field for shown in sorted(view.fit.heatmaps, key=lambda shown: len(shown.values) == 1)]
    if not fields:
        st.info("This dataset has no metadata columns (workload, task, user, group ...).", icon=":material/info:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=300):
            meaning = "A column of words: workload, task, user, group and the like."
            field = controls.choice("Field", "profiles_map_field", tuple(fields), meaning, shown=_titles(fields))
        meaning = "Profile: the shares of each profile add up to 100 %; value: those of each value do."
        by = controls.choice("Shares of each", "profiles_map_by", BY, meaning, shown=BY_WORDS, row=True)
    figures.show(metadata_heatmap(view.fit, view.names, field, by), key=f"profiles_metadata_{field}_{by}")


def weighed(view: View) -> Membership | None:
    """Return the memberships of the runs, where they were computed."""
    if not view.fit.settings.weighed:
        return None
    compute = view.visit.workbench.membership
    return compute.cached(view.dataset.hash, MembershipSettings(fit=view.settings)).result


def export(view: View) -> None:
    """Show the downloads, and the summary that one of them holds."""
    fit, names, stem = view.fit, view.names, f"{safe_name(view.dataset.name)}-profiles"
    summary = summary_table(fit, names)
    with st.container(horizontal=True):
        st.download_button(
            f"Profile of each of {fit.scores.n_rows:,} runs (Parquet)",
            data=lambda: parquet_bytes(labels_table(fit, names, weighed(view))),
            file_name=f"{stem}-labels.parquet",
            on_click="ignore",
            icon=":material/download:",
        )
        words = f"Summary of {counted(fit.scores.n_clusters, 'profile')} (CSV)"
        tables.csv(summary.frame, f"{stem}-summary", "profiles_summary_file", words)
        st.download_button(
            "Model card (JSON)",
            data=partial(model_card, fit, view.dataset, names),
            file_name=f"{stem}-card.json",
            mime="application/json",
            on_click="ignore",
            icon=":material/download:",
        )
    tables.saved(summary, f"{stem}-table", key="profiles_summary", alt="One line per profile")
