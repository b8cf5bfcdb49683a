"""What every figure function returns, and the shapes that figures are put together from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.help.terms import explained


@dataclass(frozen=True)
class Chart:
    """A figure with its words and its numbers.

    Attributes:
        name: stem of every file saved from it.
        figure: the Plotly figure.
        takeaway: what it says, in one sentence.
        alt: what it shows, for those who cannot see it.
        data: the numbers that it draws, one row per mark.
        note: what it rests on (rows, sampling, definitions); '' = nothing to add.
    """

    name: str
    figure: go.Figure
    takeaway: str
    alt: str
    data: pd.DataFrame
    note: str = ""


@dataclass(frozen=True)
class Headline:
    """One figure of a headline row: label, value as text, what it means, and an optional second line."""

    label: str
    value: str
    meaning: str
    detail: str = ""

    @property
    def help(self) -> str:
        """What it means here, and what the glossary says of its label."""
        return explained(self.label, self.meaning)


NEUTRAL = "#7b828c"


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
        "xaxis": _titled(x),
        "yaxis": _titled(y),
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


def _titled(given: dict[str, Any]) -> dict[str, Any]:
    title = given.get("title", "")
    return {"automargin": True, **given, "title": {"text": title}}


NEAR_ACROSS = 0.15
"""Of the axis: about the length of a label."""
NEAR_UP = 0.05
"""Of a power of ten on a logarithmic axis of one to two of them: about the height of a line."""


def stacked_labels(across: Sequence[float], up: Sequence[float], names: Sequence[str]) -> list[str]:
    """Return the label of every mark; of marks that stand close, the middle one bears all names, the highest first.

    Args:
        across: (n_marks,) horizontal places as shares of the axis.
        up: (n_marks,) vertical places in powers of ten.
        names: (n_marks,) '' = no label.
    """
    labels = [""] * len(names)
    stacks: list[list[int]] = []
    for at in sorted((at for at, name in enumerate(names) if name), key=lambda at: -up[at]):
        near = next((stack for stack in stacks if _near(across, up, stack[-1], at)), None)
        if near is None:
            stacks.append([at])
        else:
            near.append(at)
    for stack in stacks:
        labels[stack[len(stack) // 2]] = "<br>".join(names[at] for at in stack)
    return labels


def _near(across: Sequence[float], up: Sequence[float], one: int, other: int) -> bool:
    return abs(across[one] - across[other]) < NEAR_ACROSS and abs(up[one] - up[other]) < NEAR_UP


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
