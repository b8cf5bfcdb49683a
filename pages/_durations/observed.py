"""The observed curves: per group, with bands, a percentile cursor and an SLO."""

from __future__ import annotations

import streamlit as st

from pages._durations import chosen_clustering
from pages._durations.asking import Asked, limit
from pages._frame.errors import guard
from pages._parts import figures, tables, terms
from pages._parts.controls import choice
from pages._parts.downloads import csv
from workprof.charts.durations.observed import (
    ObservedView,
    group_curve,
    group_names,
    observed_ecdf,
    quantile_table,
    quantile_words,
)
from workprof.charts.text import markdown_text
from workprof.forecasts.durations import EVERYTHING, GROUPINGS, PROFILE, DurationSettings, ObservedDurations
from workprof.inputs import safe_name

TOGETHER, EACH = "together", "one each"
LAYOUTS = (TOGETHER, EACH)


def observed(asked: Asked) -> None:
    """Show the curves of the chosen groups; without profiles, of all jobs."""
    present = {column.name for column in asked.visit.workbench.columns(asked.dataset.hash)}
    groupings = tuple(name for name in GROUPINGS if name in (PROFILE, EVERYTHING) or name in present)
    with st.grid(min_column_width=220, gap="small"):
        by = choice("Groups by", "durations_by", groupings, "The 12 largest groups; the rest together as 'other'.")
        layout = choice("Curves", "durations_layout", LAYOUTS, "In one picture, or a small one for each group.")
        slo = limit(asked.target)
    view = _view(asked, slo)
    if by == PROFILE and asked.fit() is None:
        chosen_clustering.missing(asked.visit, asked.dataset, asked.clustering, "Curves per profile")
        by = EVERYTHING
    with guard():
        settings = DurationSettings(by=by, target=asked.target)
        found = asked.visit.workbench.observed_durations(asked.dataset.hash, settings, fit=asked.clustering)
        _curves(asked, found, view, layout)


def _view(asked: Asked, slo: float) -> ObservedView:
    with st.container(horizontal=True):
        log = st.toggle("Logarithmic axis", value=True, key="durations_log", bind="query-params")
        complementary = st.toggle(
            "Complementary", key="durations_complement", bind="query-params", help="The share above instead of below."
        )
        bands = st.toggle(
            "Bands", value=True, key="durations_bands", bind="query-params", help="95 % for the whole curve."
        )
    return ObservedView(log_x=log, complementary=complementary, percentile=asked.percentile, limit=slo, bands=bands)


def _curves(asked: Asked, found: ObservedDurations, view: ObservedView, layout: str) -> None:
    names = group_names(found, asked.names() if found.settings.by == PROFILE else {})
    chart = observed_ecdf(found, names, view)
    if layout == TOGETHER or not found.groups:
        figures.show(chart, key="durations_observed")
    else:
        st.markdown(f"**{markdown_text(chart.takeaway, figures.LONGEST_SENTENCE)}**")
        _each(found, names, view)
        st.caption(markdown_text(chart.note, figures.LONGEST_SENTENCE))
    st.header("Quantiles")
    table = quantile_table(found, names, view)
    tables.show(
        quantile_words(table, found.settings.target),
        hide_index=True,
        key="durations_quantiles",
        alt=f"Quantiles of {len(table)} groups",
        column_config=terms.columns(table.columns, {"rows": st.column_config.NumberColumn(format="localized")}),
    )
    csv(
        table,
        f"{safe_name(asked.dataset.name)}-{chart.name}-quantiles",
        "durations_quantiles_csv",
        f"CSV, all {len(table)} lines",
    )


def _each(found: ObservedDurations, names: tuple[str, ...], view: ObservedView) -> None:
    with st.grid(min_column_width=320, gap="small"):
        for position, name in enumerate(names):
            with st.container(border=True):
                st.markdown(f"**{markdown_text(name)}**")
                figures.small(group_curve(found, names, position, view), key=f"durations_each_{position}")
