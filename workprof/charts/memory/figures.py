"""How the figures of memory are put together: one specification, one legend, names that fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from workprof.charts.theme import COLOURS
from workprof.memory.assessment import HEAVY, LIGHT, MODERATE

NEUTRAL = "#7b828c"

CLASS_LOOKS = {LIGHT: (COLOURS[2], "circle"), MODERATE: (COLOURS[1], "square"), HEAVY: (COLOURS[4], "diamond")}
"""Colour and symbol of a class of tasks."""


def figure_of(
    traces: Sequence[dict[str, Any]], *, x: dict[str, Any], y: dict[str, Any], height: int, **more: Any
) -> go.Figure:
    """Return a figure made at once: it is drawn anew at every click, and Plotly checks each later change once more.

    Args:
        traces: as dictionaries.
        x: axis; its 'title' as a text.
        y: likewise.
        height: pixels.
        more: of the layout, such as shapes and annotations.
    """
    layout: dict[str, Any] = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
        "xaxis": _axis(x),
        "yaxis": _axis(y),
        "showlegend": False,
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "uirevision": "keep",
        "hoverlabel": {"align": "left"},
    }
    return go.Figure({"data": list(traces), "layout": layout | more})


def rows_axis(rows: Sequence[str], *, grid: bool = False) -> dict[str, Any]:
    """Return the axis of one line per row, the first at the top."""
    return {
        "type": "category",
        "dtick": 1,
        "range": [len(rows) - 0.5, -0.5],
        "categoryorder": "array",
        "categoryarray": list(rows),
        "showgrid": grid,
    }


def vertical(x: float, *, dash: str = "solid", colour: str = NEUTRAL, width: float = 1.4) -> dict[str, Any]:
    """Return a vertical line over the whole height."""
    line = {"color": colour, "dash": dash, "width": width}
    return {"type": "line", "xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": line}


def _axis(given: dict[str, Any]) -> dict[str, Any]:
    title = given.get("title", "")
    return {"automargin": True, **given, "title": {"text": title}}
