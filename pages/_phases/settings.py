"""How phases are found and fingerprints compared: the same controls for every view."""

from __future__ import annotations

import streamlit as st

from pages._frame import header
from pages._frame.visit import Visit
from pages._parts.controls import choice
from pages._phases.search_form import AUTO, change_points, number, toggle
from workprof.phases.changepoints import MODES
from workprof.phases.fingerprints import DISTRIBUTIONS, NORMALISATIONS, FingerprintSettings
from workprof.phases.library import LibrarySettings, faithful_library
from workprof.phases.similarity import SCALES, MatchSettings
from workprof.store.reports import Dataset

ALL = "all"


def library(visit: Visit, dataset: Dataset) -> LibrarySettings:
    """Show the controls and return the settings."""
    with (
        st.expander("Settings", icon=":material/tune:", key="phases_settings"),
        st.grid(min_column_width=190, gap="small"),
    ):
        mode = choice(
            "Mode",
            "phases_mode",
            MODES,
            "corrected: ours. faithful: the published definitions (the deviation of each run by itself, no sign, "
            "two-sided thresholds of one sd, flat DTW); the other settings do not apply then.",
        )
        counters = _counter_set(visit, dataset)
        faithful = mode == "faithful"
        found = faithful_library(counters) if faithful else LibrarySettings(counters, _fingerprints(), _match(), mode)
    if faithful or found.match.two_sided:
        header.published_flag()
    return found


def _counter_set(visit: Visit, dataset: Dataset) -> tuple[str, ...]:
    asked = choice(
        "Counter set",
        "phases_set",
        (AUTO, ALL),
        "auto: the 72 system-wide counters of workprof where the dataset has them, else all but proc.*. all: every "
        "counter, those of the command's own processes too.",
    )
    if asked == AUTO:
        return ()
    columns = visit.workbench.columns(dataset.hash)
    return tuple(one.name for one in columns if one.numeric and not one.truth and one.name not in ("t", "run"))


def _fingerprints() -> FingerprintSettings:
    normalise = choice(
        "Normalisation",
        "phases_normalise",
        NORMALISATIONS,
        "Mean and deviation of a counter over: train = all runs; run = this run (levels are erased, only the shape is "
        "left); mixed = phases by run, statistics by train.",
    )
    distribution = choice(
        "Distribution", "phases_distribution", DISTRIBUTIONS, "Quantiles or a histogram as statistics of a phase."
    )
    with st.container():
        absolute = toggle("Absolute values", "phases_abs", "As published; a step with equal halves vanishes.", on=False)
        log = toggle("Logarithm first", "phases_log", "log(1 + x): rates span orders of magnitude.", on=True)
    return FingerprintSettings(normalise, absolute, log, distribution, change_points())


def _match() -> MatchSettings:
    scale = choice(
        "Scale of distances",
        "phases_scale",
        SCALES,
        "standard: each statistic in its deviations over the library. none: as they are, as published.",
    )
    c = number(
        "Threshold c (sd)",
        "phases_c",
        "A run is known up to mean + c standard deviations. Empty: chosen on the known runs, each against the rest.",
        0.0,
        100.0,
    )
    two_sided = toggle(
        "Two-sided",
        "phases_two_sided",
        "Also reject runs that are closer than mean - c sd; the literal rule.",
        on=False,
    )
    return MatchSettings(scale=scale, c=c, two_sided=two_sided)
