"""Panels over one shared axis of time, and a strip below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

PANEL_PX = 96
STRIP_PX = 58
GAP_PX = 26
MARGIN_PX = 74


@dataclass(frozen=True)
class Panels:
    """Panels from top to bottom; the strip is the last of `domains` and has neither title nor unit here.

    Attributes:
        titles: of the panels.
        units: of their axes.
        domains: (from, to) of each panel and of the strip, 0 = bottom.
        x_range: of the shared axis, seconds.
    """

    titles: Sequence[str]
    units: Sequence[str]
    domains: Sequence[tuple[float, float]]
    x_range: tuple[float, float]


def panel_domains(count: int) -> list[tuple[float, float]]:
    """Return where `count` panels and the strip lie."""
    whole = _plot_height(count)
    result, top = [], float(whole)
    for height in [*[PANEL_PX] * count, STRIP_PX]:
        top -= GAP_PX
        result.append((max(0.0, (top - height) / whole), top / whole))
        top -= height
    return result


def stacked(traces: Sequence[dict[str, Any]], panels: Panels, shapes: Sequence[dict[str, Any]] = ()) -> go.Figure:
    """Return the figure: one axis of time, an axis per panel, titles over the panels."""
    count = len(panels.titles)
    layout: dict[str, Any] = {
        "height": _plot_height(count) + MARGIN_PX,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "showlegend": False,
        "uirevision": "keep",
        "hoverlabel": {"align": "left"},
        "bargap": 0,
        "dragmode": "zoom",
        "xaxis": {
            "title": {"text": "Time since the start of the run (s)"},
            "range": list(panels.x_range),
            "automargin": True,
            "anchor": _name("y", count),
        },
        "shapes": list(shapes),
        "annotations": [
            _title(words, panels.domains[place][1])
            for place, words in enumerate([*panels.titles, "share of counters that change"])
        ],
    }
    for place, (low, high) in enumerate(panels.domains):
        strip = place == count
        layout[_axis(place)] = {
            "domain": [low, high],
            "automargin": True,
            "title": {"text": "share" if strip else panels.units[place]},
            "nticks": 3,
            "anchor": "x",
            **({"range": [0, 1], "tickformat": ".0%"} if strip else {}),
        }
    return go.Figure({"data": list(traces), "layout": layout})


def _plot_height(count: int) -> int:
    return count * (PANEL_PX + GAP_PX) + STRIP_PX + GAP_PX


def _name(letter: str, place: int) -> str:
    return f"{letter}{place + 1}" if place else letter


def _axis(place: int) -> str:
    return f"yaxis{place + 1}" if place else "yaxis"


def _title(words: str, top: float) -> dict[str, Any]:
    return {
        "text": words,
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": top,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12},
    }
