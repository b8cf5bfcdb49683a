"""Drift per profile and what jobs need now, for one target."""

from __future__ import annotations

import streamlit as st

from pages._classify.view import View
from pages._parts import figures
from workprof.charts.feedback import drift_bars, drift_table, quantile_table
from workprof.charts.text import label
from workprof.forecasts.estimates import TARGETS
from workprof.forecasts.feedback.drift import FeedbackNow


def drift(view: View, now: FeedbackNow) -> None:
    """Show the drift of one target in every profile, and its quantiles now and at the fit."""
    targets = {label(name): name for name in now.state.targets}
    chosen = st.selectbox("Drift of", list(targets), key="feedback_target", bind="query-params", width=300)
    target = targets[chosen]
    names = view.naming.names
    chart = drift_bars(now.assessment.drift, target, names)
    if len(chart.data):
        figures.show(chart, key=f"feedback_drift_{target}")
    else:
        st.caption(chart.takeaway)
    with st.expander("Every profile and target", icon=":material/table:"):
        table = drift_table(now.assessment.drift, names)
        figures.table(table, "drift", key="feedback_drift_table", alt=f"Drift of {len(table)} pairs")
    st.markdown(f"**What jobs need now**, beside the fit ({chosen}, {TARGETS[target]})")
    quantiles = quantile_table(now, target, names)
    figures.table(quantiles, f"needs-{target}", key="feedback_needs", alt=f"Needs of {len(quantiles)} profiles")
