"""Bin edges of one's own: numbers in a table, the same numbers in the address."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from pages._frame import link
from pages._frame.errors import refused
from pages._parts import tables
from workprof.charts.memory.bins import bin_table
from workprof.charts.text import shortened
from workprof.memory.bin_search import MOST_BINS
from workprof.memory.bins import GIVEN, Bins
from workprof.units import GB

EDGES = "memory_edges"
MOST_EDGES = 4 * MOST_BINS
TABLE = "memory_edges_table"


def typed() -> tuple[float, ...]:
    """Show the field of one's own edges and return them in bytes; () = the best ones are looked for."""
    link.check(EDGES, _read)
    text = st.text_input(
        "Own edges (GB)",
        key=EDGES,
        bind="query-params",
        placeholder="empty = the best edges; or numbers such as 10, 20, 60",
        help="They are taken as they are, without headroom and steps. The table below edits the same numbers.",
    )
    try:
        return _read(text)
    except ValueError as problem:
        refused(str(problem))
        return ()


def table(found: Bins) -> None:
    """Show the bins; an edited edge takes effect at once."""
    lines = bin_table(found)
    number = st.column_config.NumberColumn
    key = f"{TABLE}_{'_'.join(f'{edge:.0f}' for edge in found.edges_bytes)}"
    tables.edit(
        lines,
        hide_index=True,
        num_rows="dynamic",
        key=key,
        disabled=[name for name in lines.columns if name != "edge_gb"],
        on_change=_edited,
        args=(key, tuple(lines["edge_gb"])),
        column_config={
            "edge_gb": number("edge (GB), editable", min_value=0.001, format="%.4g", required=True),
            "runs": number("runs"),
            "runs_percent": number("of the runs", format="%.1f %%"),
            "hours": number("hours", format="%,.1f"),
            "used_percent": number("of the bin used", format="%.1f %%"),
        },
    )
    if found.search == GIVEN:
        st.button("Back to the best edges", key="memory_edges_clear", icon=":material/undo:", on_click=_clear)


def _edited(key: str, edges: tuple[float, ...]) -> None:
    """Take the edges of the edited table over into the field above it (a callback)."""
    st.session_state[EDGES] = after_edits(edges, st.session_state[key])


def after_edits(edges_gb: tuple[float, ...], changes: dict[str, Any]) -> str:
    """Return the field's text once the changes of the table's editor are made."""
    found = dict(enumerate(edges_gb))
    for row, cells in changes["edited_rows"].items():
        found[int(row)] = cells.get("edge_gb", found.get(int(row)))
    for row in changes["deleted_rows"]:
        found.pop(int(row), None)
    added = [cells.get("edge_gb") for cells in changes["added_rows"]]
    return ", ".join(_written(value) for value in (*found.values(), *added) if value)


def _written(value_gb: float) -> str:
    """Return an edge as text, rounded up to the kB: rounded down, it might leave out the run that it was made for."""
    return f"{math.ceil(round(value_gb * 1e6, 3)) / 1e6:.12g}"


def _clear() -> None:
    st.session_state[EDGES] = ""


def _read(text: str) -> tuple[float, ...]:
    words = [word for word in text.replace(";", ",").split(",") if word.strip()]
    if len(words) > MOST_EDGES:
        raise ValueError(f"{len(words)} edges were given; give at most {MOST_EDGES}")
    edges = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = float("nan")
        if not 0 < value < float("inf"):
            raise ValueError(
                f"{shortened(word.strip(), 20)!r} is no edge; give sizes above 0 in GB, such as 10, 20, 60"
            )
        edges.append(value * GB)
    return tuple(edges)
