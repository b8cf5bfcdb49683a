"""What predictors are tested on, and how their errors are looked at."""

from __future__ import annotations

import streamlit as st

from pages._durations.asking import Asked
from pages._parts.controls import MODES_MEANING, choice
from workprof.charts.durations.errors import MEASURES, ErrorView
from workprof.forecasts.estimates import EstimateEvaluationSettings, EstimateSettings
from workprof.forecasts.splits import SPLITS
from workprof.profiles.settings import MODES


def controls(asked: Asked) -> tuple[EstimateEvaluationSettings, ErrorView]:
    """Show the controls and return what is tested, and how it is looked at."""
    with st.grid(min_column_width=220, gap="small"):
        split = choice(
            "Test on",
            "durations_split",
            tuple(SPLITS),
            "random: rows of one job stand on both sides, so errors flatter. by_job: new jobs. by_group: new "
            "templates. by_time: the last 30 % of the time.",
            index=tuple(SPLITS).index(EstimateSettings.split),
        )
        mode = choice("Mode", "durations_mode", MODES, MODES_MEANING)
        measure = choice(
            "Error measure",
            "durations_measure",
            tuple(MEASURES),
            "ratio: what the paper computes and reads as per cent. percent: the same times 100. factor: how many times "
            "too high or too low. signed: below 0 promised too little.",
        )
    estimates = EstimateSettings(asked.target, mode=mode, split=split)
    with st.container(horizontal=True):
        baselines = st.toggle("Baselines", value=True, key="durations_baselines", bind="query-params")
        published = st.toggle(
            "Published run",
            value=True,
            key="durations_published",
            bind="query-params",
            help="Ratio and percent only. Other jobs and another model: a reference, not a comparison.",
        )
    view = ErrorView(measure, asked.percentile, baselines, published)
    return EstimateEvaluationSettings(estimates, asked.clustering), view
