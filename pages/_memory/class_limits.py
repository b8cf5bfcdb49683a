"""Where light and moderate tasks end: by hand, or found."""

from __future__ import annotations

import streamlit as st

from pages._frame import link
from pages._parts.controls import LARGEST_GB, number
from workprof.errors import SettingsError
from workprof.memory.assessment import AUTO, FIXED, LIGHT_GB, MODERATE_GB, ClassSettings

LIGHT, MODERATE, LIMITS = "memory_light", "memory_moderate", "memory_limits"
SMALLEST_GB = 0.001


def kept() -> ClassSettings:
    """Return the limits as they were set last: what needs them stands above their controls."""
    state = st.session_state
    return _settings(
        str(state.get(LIMITS) or link.read(LIMITS, link.one_of(FIXED, AUTO), FIXED)),
        _number(LIGHT, LIGHT_GB),
        _number(MODERATE, MODERATE_GB),
    )


def controls() -> ClassSettings:
    """Show the limits and return them."""
    with st.grid(min_column_width=220, gap="small"):
        limits = st.segmented_control(
            "Limits",
            (FIXED, AUTO),
            default=FIXED,
            required=True,
            key=LIMITS,
            bind="query-params",
            help="fixed: as set here (the thesis has 5 and 20 GB). auto: the three sizes that cover all tasks most "
            "cheaply, weighted by their hours.",
        )
        sizes = [
            number(words, key, value, (SMALLEST_GB, LARGEST_GB), disabled=limits == AUTO)
            for words, key, value in (
                ("Light up to (GB)", LIGHT, LIGHT_GB),
                ("Moderate up to (GB)", MODERATE, MODERATE_GB),
            )
        ]
    if sizes[0] > sizes[1]:
        st.warning(
            "Light must not end above moderate; the thesis' limits of 5 and 20 GB are shown.", icon=":material/info:"
        )
    return _settings(str(limits), *sizes)


def _settings(limits: str, light: float, moderate: float) -> ClassSettings:
    try:
        return ClassSettings(limits, light, moderate)
    except SettingsError:
        return ClassSettings()


def _number(key: str, default: float) -> float:
    given = st.session_state.get(key)
    return link.read(key, _limit, default) if given is None else float(given)


def _limit(text: str) -> float:
    value = link.number(text)
    if not SMALLEST_GB <= value <= LARGEST_GB:
        raise link.Unreadable(f"{link.quoted(text)} is outside {SMALLEST_GB:g} to {LARGEST_GB:,g}")
    return value
