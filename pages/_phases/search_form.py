"""How change points are searched for, and two fields that settings of phases share."""

from __future__ import annotations

import streamlit as st

from pages._parts.controls import choice
from workprof.phases.changepoints import METHODS, PHASES, READOUTS, ChangePointSettings

AUTO = "auto"
LARGEST = 1e6


def change_points() -> ChangePointSettings:
    """Show the controls and return the settings of the search."""
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
        hazard = number(
            "Expected phase (samples)", "phases_hazard", "The hazard is 1 over it. Empty: by length.", 1.001
        )
    else:
        penalty = number("Penalty per change", "phases_penalty", "Empty: by the length of the run.", 1e-6)
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


def toggle(words: str, key: str, meaning: str, *, on: bool) -> bool:
    """Show a switch and return whether it is on."""
    chosen: bool = st.toggle(words, value=on, key=key, bind="query-params", help=meaning)
    return chosen


def number(words: str, key: str, meaning: str, least: float, most: float = LARGEST) -> float | None:
    """Show a field that may stay empty and return its number; None = automatic."""
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
