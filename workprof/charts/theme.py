"""One look for every figure: colours that hold on white and on near-black, marks for profiles, ink on a ground."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

OUTLIERS = -1

COLOURS = ("#3079cf", "#c9601f", "#2a8f57", "#9560cc", "#cf4a45", "#17879a", "#a3721a", "#c4508f")
"""Each at least 3:1 against both page backgrounds (a test computes it)."""

OUTLIER_COLOUR = "#7b828c"
LIGHT_BACKGROUND = "#ffffff"
DARK_BACKGROUND = "#0e1117"
SCALE = "Cividis"
LIGHT_SCALE = [[0.0, "rgba(48,121,207,0)"], [1.0, "rgba(48,121,207,0.5)"]]
"""One hue: 0 is the page's own ground, and words stand out at every share of it in both themes."""
LIGHT_GREY = [[0.0, "rgba(123,130,140,0)"], [1.0, "rgba(123,130,140,0.3)"]]
"""The same without a hue, for what is there to compare with."""
DIVERGING = (
    (0.0, "rgba(48,121,207,1)"),
    (0.5, "rgba(48,121,207,0)"),
    (0.5, "rgba(207,74,69,0)"),
    (1.0, "rgba(207,74,69,1)"),
)
"""Blue to red over nothing: the middle is the page's own background, light or dark."""

_PATTERNS = ("", "/", "x", "-", "|", "+", ".", "\\")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")

ROW_PX = 26
CHROME_PX = 120
SMALLEST_PX = 260


@dataclass(frozen=True)
class Mark:
    """How one profile looks: colour, and a pattern and a symbol that change once the colours have been used up."""

    colour: str
    pattern: str
    symbol: str


def mark(profile: int) -> Mark:
    """Return the mark of a profile; the outliers have one of their own."""
    if profile == OUTLIERS:
        return Mark(OUTLIER_COLOUR, "x", "circle-open")
    turn = profile // len(COLOURS) % len(_PATTERNS)
    return Mark(COLOURS[profile % len(COLOURS)], _PATTERNS[turn], _SYMBOLS[turn])


FONT = '"Source Sans", sans-serif'
"""Of the pages' other words."""
SMALL_PX, TITLE_PX = 12, 14


def readable(figure: go.Figure, *, dark: bool) -> go.Figure:
    """Return a copy in the look of the pages: its words stand out on their background (at least 4.5:1).

    It is made as one specification: Plotly checks every update of a figure anew, which costs more than the figure. It
    has no template, its arrays as lists, and a revision made of its traces: Streamlit's front end gives every chart to
    Plotly twice, and otherwise Plotly takes the second time for a change and draws everything again.
    """
    words, grid, ground = ("#d5dae2", "#2c3442", DARK_BACKGROUND) if dark else ("#3d4654", "#e3e7ed", LIGHT_BACKGROUND)
    traces = [_plain(trace.to_plotly_json()) for trace in figure.data]
    layout = _with(figure.layout.to_plotly_json(), _look(words, grid, ground))
    layout["datarevision"] = hashlib.sha256(repr(traces).encode()).hexdigest()[:16]
    axes = {name: _with(axis, _axis(name, words, grid)) for name, axis in layout.items() if _AXIS.match(name)}
    layout |= {"xaxis": _axis("xaxis", words, grid), "yaxis": _axis("yaxis", words, grid)} | axes
    for one in (layout, layout["legend"], *(axis["title"] for axis in axes.values())):
        one["font"]["color"] = words
    for axis in axes.values():
        axis["gridcolor"] = grid
    for note in layout.get("annotations", ()):
        note.setdefault("font", {}).setdefault("color", words)
    for trace in traces:
        if trace.get("type") == "scatter" and "marker" in trace:  # Plotly outlines marks of several sizes
            trace["marker"].setdefault("line", {}).setdefault("width", 0)
    made = go.Figure({"data": traces, "layout": layout}, _validate=False)  # it has been checked as a figure
    made.layout.template = None  # of which a new figure has the default
    return made


_AXIS = re.compile(r"[xy]axis\d*$")


def _look(words: str, grid: str, ground: str) -> dict[str, Any]:
    small = {"color": words, "size": SMALL_PX}
    return {
        "font": {"family": FONT, **small},
        "legend": {"font": dict(small), "title": {"font": dict(small), "side": "top"}, "borderwidth": 0},
        "paper_bgcolor": ground,
        "plot_bgcolor": ground,
        "colorway": list(COLOURS),
        "margin": {"pad": 8, "l": 0, "r": 0},
        "hoverlabel": {"bgcolor": ground, "bordercolor": grid, "font": {"family": FONT, **small}},
    }


def _axis(name: str, words: str, grid: str) -> dict[str, Any]:
    across = name.startswith("x")
    return {
        "gridcolor": grid,
        "zerolinecolor": grid,
        "tickfont": {"color": words, "size": SMALL_PX},
        "title": {"font": {"color": words, "size": TITLE_PX}, "standoff": 20 if across else 24},
        "automargin": True,
        **({"showgrid": False, "zeroline": False} if across else {}),
    }


def _with(given: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return what is given, and the defaults of what is not."""
    both = {name: _with(given[name], value) for name, value in defaults.items() if isinstance(given.get(name), dict)}
    return {**defaults, **given, **both}


def _plain(value: Any) -> Any:
    """Return a part of a trace with its arrays as lists: Plotly takes every binary array for a change."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if not isinstance(value, np.ndarray) or value.dtype.kind == "M":
        return value
    if value.dtype.kind == "f" and np.isnan(value).any():
        value = np.where(np.isnan(value), np.array(None), value)
    return value.tolist()


def rows_height(rows: int) -> int:
    """Return the height in pixels of a figure with one line per row."""
    return max(SMALLEST_PX, CHROME_PX + ROW_PX * rows)


BLACK, WHITE = "#000000", "#ffffff"


def ink_on(colour: str) -> str:
    """Return the colour of words on '#rrggbb': at least 4.5:1 on every colour (WCAG 2, contrast)."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return ink_on_rgb((red, green, blue))


def ink_on_rgb(rgb: tuple[float, float, float]) -> str:
    """Return the same for red, green and blue, 0-255."""
    luminance = relative_luminance(rgb)
    return BLACK if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else WHITE


def relative_luminance(rgb: tuple[float, float, float]) -> float:
    """Return the relative luminance of a colour, 0-1 (WCAG 2)."""
    parts = [value / 255 for value in rgb]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink(share: float) -> str:
    """Return the colour of words on the colour scale at a share of it (0-1): at least 4.5:1 everywhere."""
    from plotly.colors import sample_colorscale, unlabel_rgb  # noqa: PLC0415  only where a heat map is drawn

    return ink_on_rgb(unlabel_rgb(sample_colorscale(SCALE, [share])[0]))
