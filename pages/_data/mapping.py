"""The mapping screen of a generic file: guesses are shown, and nothing is taken before the user's yes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import tables
from workprof.charts.data import column_kind
from workprof.charts.text import label, markdown_text, unit, visible
from workprof.formats.fields import FIELDS
from workprof.inputs import Spooled, discard, discarded_if_refused
from workprof.store.reports import FieldSource, IngestOptions, Suggestion
from workprof.units import DURATION_FACTORS, MEMORY_FACTORS, PERCENT_FACTORS

Start = Callable[[Visit, Spooled, IngestOptions], None]

UNITS = {
    "s": tuple(sorted(DURATION_FACTORS, key=lambda name: name != "s")),
    "bytes": tuple(MEMORY_FACTORS),
    "percent": tuple(PERCENT_FACTORS),
}
WAITING = "data_waiting"
IDENTITY = ("job_name", "task_name")
MOST_LINES = 6
FIRST = ("job_name", "task_name", "duration_s", "start_time_s", "end_time_s")


def screen(visit: Visit, source: Spooled, options: IngestOptions, start: Start) -> None:
    """Show the columns with guesses; import once the required fields are there and the user says so."""
    st.session_state.pop(WAITING, None)  # a file that cannot be looked at is not waiting for a mapping
    with discarded_if_refused(source):
        suggestion = visit.workbench.suggest(source.path, options)
    st.session_state[WAITING] = source
    st.markdown(f"**{markdown_text(source.label)}** has columns that workprof does not know. Which is what?")
    _samples(suggestion)
    first = tuple(dict.fromkeys([*FIRST, *suggestion.mapping]))
    mapping = _fields(first, suggestion)
    with st.expander("Further fields", icon=":material/add:"):
        mapping |= _fields(tuple(name for name in FIELDS if name not in first), suggestion)
    st.caption("Until you import it, the file is this page's alone: loading the page again drops it.")
    missing = _missing(mapping)
    _ticks(mapping)
    with st.container(horizontal=True):
        if st.button("Import with this mapping", type="primary", disabled=bool(missing), key="map_import"):
            start(visit, source, replace(options, format="generic", mapping=mapping))
        if st.button("Cancel", key="map_cancel"):
            discard(source)
            st.session_state.pop(WAITING, None)
            st.rerun()
    if missing:
        st.caption(f"Still missing: {'; '.join(missing)}.")


def _samples(suggestion: Suggestion) -> None:
    rows = [
        {
            "column": name,
            "type": column_kind(suggestion.types.get(name, "")),
            "first values": ", ".join(suggestion.sample.get(name, ())),
        }
        for name in suggestion.columns
    ]
    tables.show(
        rows,
        hide_index=True,
        key="map_sample",
        alt="Columns of the file with their first values",
        height=220 if len(rows) > MOST_LINES else "content",
    )


def _fields(names: tuple[str, ...], suggestion: Suggestion) -> dict[str, FieldSource]:
    return {name: found for name in names if (found := _field(name, suggestion)) is not None}


def _field(name: str, suggestion: Suggestion) -> FieldSource | None:
    guess = suggestion.mapping.get(name)
    units = UNITS.get(unit(name), ())
    columns: list[str] = ["", *suggestion.columns]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        column = st.selectbox(
            f"{label(name)} ({name})",
            columns,
            index=columns.index(guess.column) if guess and guess.column in columns else 0,
            format_func=lambda text: visible(text) or "not in this file",
            key=f"map_{name}",
        )
        chosen = ""
        if units:
            start = units.index(guess.unit) if guess and guess.unit in units else 0
            chosen = st.selectbox(f"unit of {label(name)}", units, index=start, key=f"map_unit_{name}", width=190)
    return FieldSource(column, chosen) if column else None


def _missing(mapping: dict[str, FieldSource]) -> list[str]:
    found = []
    if not any(name in mapping for name in IDENTITY):
        found.append("a name (job or task)")
    if not _timed(mapping):
        found.append("the duration, or start and end")
    return found


def _timed(mapping: dict[str, FieldSource]) -> bool:
    return "duration_s" in mapping or {"start_time_s", "end_time_s"} <= mapping.keys()


def _ticks(mapping: dict[str, FieldSource]) -> None:
    for words, there in (
        ("a name of the job or task", any(name in mapping for name in IDENTITY)),
        ("the duration, or start and end", _timed(mapping)),
    ):
        icon = ":material/check_circle: there" if there else ":material/error: missing"
        st.markdown(f"{icon} · {words} (required)")
