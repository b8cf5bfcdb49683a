"""How phases are found and fingerprints compared: the same controls for every view."""

from __future__ import annotations

import streamlit as st

from pages import _header, _shell
from pages._controls import choice
from workprof.phases.changepoint_settings import METHODS, MODES, PHASES, READOUTS, ChangePointSettings
from workprof.phases.phase_settings import (
    DISTRIBUTIONS,
    NORMALISATIONS,
    SCALES,
    FingerprintSettings,
    LibrarySettings,
    MatchSettings,
    faithful_library,
)
from workprof.store.reports import Dataset

AUTO, ALL = "auto", "all"
LARGEST = 1e6


def library(visit: _shell.Visit, dataset: Dataset) -> LibrarySettings:
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
        _header.published_flag()
    return found


def _counter_set(visit: _shell.Visit, dataset: Dataset) -> tuple[str, ...]:
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
        absolute = _toggle(
            "Absolute values", "phases_abs", "As published; a step with equal halves vanishes.", on=False
        )
        log = _toggle("Logarithm first", "phases_log", "log(1 + x): rates span orders of magnitude.", on=True)
    return FingerprintSettings(normalise, absolute, log, distribution, _change_points())


def _change_points() -> ChangePointSettings:
    method = choice(
        "Change points",
        "phases_method",
        METHODS,
        "bcpd: Bayesian, ours. pelt, binseg, kernel: searches with a penalty, by ruptures.",
    )
    bayesian = method == "bcpd"
    phases = choice(
        "Phases", "phases_phases", PHASES, "per_counter: each counter has its own. joint: one set for all counters."
    )
    readout, hazard, penalty = None, None, None
    if bayesian:
        readout = choice(
            "Read-out",
            "phases_readout",
            (AUTO, *READOUTS),
            "exact: the most probable phases of the whole run. path: back along the run lengths. drop: as seen live.",
        )
        hazard = _number(
            "Expected phase (samples)", "phases_hazard", "The hazard is 1 over it. Empty: by length.", 1.001
        )
    else:
        penalty = _number("Penalty per change", "phases_penalty", "Empty: by the length of the run.", 1e-6)
    least = st.number_input(
        "Shortest phase (samples)",
        min_value=1,
        max_value=10_000,
        value=ChangePointSettings.min_samples,
        key="phases_least",
        bind="query-params",
        help="Shorter phases join the neighbour with the closer mean.",
    )
    return ChangePointSettings(
        method=method,
        readout=None if readout in (None, AUTO) else readout,
        phases=phases,
        hazard_samples=hazard,
        min_samples=int(least),
        penalty=penalty,
    )


def _match() -> MatchSettings:
    scale = choice(
        "Scale of distances",
        "phases_scale",
        SCALES,
        "standard: each statistic in its deviations over the library. none: as they are, as published.",
    )
    c = _number(
        "Threshold c (sd)",
        "phases_c",
        "A run is known up to mean + c standard deviations. Empty: chosen on the known runs, each against the rest.",
        0.0,
        100.0,
    )
    two_sided = _toggle(
        "Two-sided",
        "phases_two_sided",
        "Also reject runs that are closer than mean - c sd; the literal rule.",
        on=False,
    )
    return MatchSettings(scale=scale, c=c, two_sided=two_sided)


def _toggle(words: str, key: str, meaning: str, *, on: bool) -> bool:
    chosen: bool = st.toggle(words, value=on, key=key, bind="query-params", help=meaning)
    return chosen


def _number(words: str, key: str, meaning: str, least: float, most: float = LARGEST) -> float | None:
    value: float | None = st.number_input(
        words,
        min_value=least,
        max_value=most,
        value=None,
        format="%g",
        key=key,
        bind="query-params",
        placeholder="automatic",
        help=meaning,
    )
    return value
