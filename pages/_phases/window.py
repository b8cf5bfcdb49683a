"""The stretch of the run that is looked at, and boundaries set by hand."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from pages._frame import link
from pages._parts.controls import choice
from pages._phases.asking import FROM, OWN, OWN_OF, TO, Asked
from workprof.charts.text import markdown_text
from workprof.phases.timeline import OwnBoundaries, TimelineSettings

CHART = "phases_timeline"
EVERY_COUNTER = "every counter"
LARGEST_S = 1e12


def settings(asked: Asked) -> TimelineSettings:
    """Show window and boundaries and return what is looked at."""
    with st.grid(min_column_width=150, gap="small"):
        first = _seconds("From (s)", FROM, "Empty: from the start. Or drag a box over the chart.")
        last = _seconds("To (s)", TO, "Empty: to the end.")
        of = choice("Phases of", OWN_OF, (EVERY_COUNTER, *asked.counters), "One of the counters shown, or all.")
        link.check(OWN, _times)
        typed = st.text_input(
            "begin at (s)",
            key=OWN,
            bind="query-params",
            placeholder="as found",
            help="Times at which new phases begin, such as 8, 20.5. Empty: as found.",
        )
    if first is not None or last is not None:
        st.button("Whole run", icon=":material/zoom_out_map:", key="phases_whole", on_click=_whole)
    if first is not None and last is not None and last <= first:
        st.warning("The window ends before it begins; the whole run is shown.", icon=":material/info:")
        first = last = None
    return TimelineSettings(asked.line.name, first, last, _own(of, typed), asked.library)


def dragged() -> None:
    """Make the box that was dragged over the chart the window (a callback)."""
    window = window_of(st.session_state.get(CHART))
    if window is not None:
        st.session_state[FROM], st.session_state[TO] = window


def window_of(event: Any) -> tuple[float, float] | None:
    """Return the ends of the last box of a selection in seconds, to the tenth; None without one."""
    boxes = event["selection"].get("box", []) if event else []
    if not boxes:
        return None
    ends = sorted(float(end) for end in boxes[-1]["x"])
    first, last = round(ends[0], 1), round(ends[-1], 1)
    return (first, last) if first < last else None


def _whole() -> None:
    st.session_state.update({FROM: None, TO: None})


def _own(of: str, typed: str) -> tuple[OwnBoundaries, ...]:
    if not typed.strip():
        return ()
    try:
        at_s = _times(typed)
    except ValueError:
        st.warning(
            f"Boundaries are times in seconds with commas between them, not {markdown_text(typed, 60)}; those found "
            "are shown.",
            icon=":material/info:",
        )
        return ()
    return (OwnBoundaries("" if of == EVERY_COUNTER else of, at_s),)


def _times(typed: str) -> tuple[float, ...]:
    try:
        at_s = tuple(float(part) for part in typed.replace(";", ",").split(",") if part.strip())
    except ValueError:
        at_s = (math.nan,)
    if not all(map(math.isfinite, at_s)):
        raise link.Unreadable(f"{link.quoted(typed)} is not times in seconds with commas between them")
    return at_s


def _seconds(words: str, key: str, meaning: str) -> float | None:
    value: float | None = st.number_input(
        words,
        -LARGEST_S,
        LARGEST_S,
        value=None,
        format="%g",
        key=key,
        bind="query-params",
        placeholder="whole run",
        help=meaning,
    )
    return value
