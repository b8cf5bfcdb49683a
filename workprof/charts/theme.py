"""One look for every figure: colours that hold on white and on near-black, marks for profiles, ink on a ground."""

import hashlib
import html
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from workprof.profiles.names import OUTLIERS, fitted

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
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")

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
    cycle = profile // len(COLOURS) % len(_PATTERNS)
    return Mark(COLOURS[profile % len(COLOURS)], _PATTERNS[cycle], SYMBOLS[cycle])


FONT = '"Source Sans", sans-serif'
"""Of the pages' other words."""
SMALL_PX, TITLE_PX = 12, 14
WIDE_ONLY = "wide"
"""Name of a note that a phone has no room for: its words stand in the text beside the figure, too."""


def readable(figure: go.Figure, *, dark: bool, narrow: bool = False) -> go.Figure:
    """Return a copy in the look of the pages: its words stand out on their background (at least 4.5:1).

    It is made as one specification: Plotly checks every update of a figure anew, which costs more than the figure. It
    has no template, its arrays as lists, and a revision made of its traces: Streamlit's front end gives every chart to
    Plotly twice, and otherwise Plotly takes the second time for a change and draws everything again. `narrow` is for a
    phone: a title of an axis takes as many lines as it needs beside the labels.
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
        if not axis["title"].get("text"):  # Plotly keeps room for an empty title, and none for one that is not given
            axis["title"].pop("text", None)
    for note in layout.get("annotations", ()):
        note.setdefault("font", {}).setdefault("color", words)
    for trace in traces:
        if trace.get("type") == "scatter" and "marker" in trace:  # Plotly outlines marks of several sizes
            trace["marker"].setdefault("line", {}).setdefault("width", 0)
    if narrow:
        layout["annotations"] = [one for one in layout.get("annotations", ()) if one.get("name") != WIDE_ONLY]
        _short_labels(axes, traces, _named_columns(axes, traces))
    margin = layout["margin"]
    margin |= {side: max(px, margin.get(side) or 0) for side, px in room(traces, layout).items()}
    if narrow:
        lines = _folded_titles(axes, PHONE_PX - margin["l"] - margin["r"])
        margin["b"] = (margin.get("b") or 0) + _LINE_PX * (lines - 1)
        _under_titles(traces, layout, lines)
    made = go.Figure({"data": traces, "layout": layout}, _validate=False)  # it has been checked as a figure
    made.layout.template = None  # of which a new figure has the default
    return made


MOST_LEFT_PX = 260
"""Of labels on the left: more would leave a phone no room for the plot; Plotly then finds what it can give."""
_LINE_PX, _TITLE_PX, _LEGEND_PX, _OVER_PX, _BESIDE_PX = 17, 18, 42, 20, 16
_NEAR = 0.9
"""Of the height: an axis that ends above has its upper label at the margin."""
_PAD_PX = 12
"""What Plotly keeps free at most beyond all that it finds."""
_LINES, _MARKUP = re.compile("<br ?/?>"), re.compile("<[^>]*>")


def room(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> dict[str, int]:
    """Return margins in pixels that hold the labels and titles of the axes and the legend: side -> pixels.

    Plotly finds them by drawing everything, and where the margins that it was given are too small it draws everything
    again, which takes half of its time. Where labels turn out wider than is thought here it still does so.
    """
    result = {"l": 0.0, "r": 0.0, "t": 0.0, "b": 0.0}
    axes = {name: axis for name, axis in layout.items() if _AXIS.match(name)}
    for name, axis in axes.items():
        letter = name[0]
        other = axes.get(f"{'xy'.replace(letter, '')}axis{str(axis.get('anchor', ''))[1:]}", {})
        first, last = other.get("domain", (0, 1))
        far = axis.get("side") in ("right", "top")
        hidden = axis.get("visible") is False or axis.get("showticklabels") is False or not axis.get("automargin")
        if hidden or (last < 1 if far else first > 0):
            continue
        titled = bool(axis["title"].get("text"))
        words = _labels(letter, name, axis, traces)
        if letter == "x":
            lines = max((len(_lines(text)) for text in words), default=1)
            px: float = _LINE_PX * lines + _PAD_PX + (axis["title"]["standoff"] + _TITLE_PX if titled else 8)
            result["r"] = max(result["r"], _BESIDE_PX)
        else:
            px = max((text_px(line, axis["tickfont"]["size"]) for text in words for line in _lines(text)), default=24)
            px = min(px + _PAD_PX + (axis["title"]["standoff"] + _TITLE_PX if titled else 8), MOST_LEFT_PX)
            result["t"] = max(result["t"], _OVER_PX if axis.get("domain", (0, 1))[1] > _NEAR else 0)
        side = {"x": "tb", "y": "rl"}[letter][0 if far else 1]
        result[side] = max(result[side], px)
    legend = layout["legend"]
    if layout.get("showlegend") and legend.get("orientation") == "h":
        y = legend.get("y", 1)
        if y >= 1:
            result["t"] = max(result["t"], _LEGEND_PX)
        elif y < 0 and layout.get("height"):  # as far below the axis as a share of the plot's height
            above = max(result["t"], layout["margin"].get("t") or 0)
            result["b"] = max(result["b"], (_LEGEND_PX - y * (layout["height"] - above)) / (1 - y))
    return {side: math.ceil(px) for side, px in result.items() if px}


PHONE_PX = 358
"""Of a chart on the narrowest phone: 390 pixels without the page's edges."""


LONGEST_ON_A_PHONE = 26
"""Characters of a row's name there, if it is on one line; a profile keeps its number."""


LEAST_ON_A_PHONE = 12
"""Characters of a row's name there where many columns need the room."""
_COLUMN_PX, _LETTER_PX = 12, 6.5
"""Of the name of a column that stands upright, and of a letter in the name of a row."""


def _named_columns(axes: Mapping[str, Any], traces: Sequence[Mapping[str, Any]]) -> int:
    """Return how many characters of rows leave room for the name of each column; columns beyond that are not all named.

    Where there is no room for all, Plotly names as many as there is room for.
    """
    longest = LONGEST_ON_A_PHONE
    for name, axis in axes.items():
        columns = {one for trace in traces for one in _values(trace, "x") if isinstance(one, str)}
        if name[0] == "x" and axis.get("dtick") == 1 and columns:
            left_px = PHONE_PX - _COLUMN_PX * len(columns) - _PAD_PX - _BESIDE_PX
            if left_px < LEAST_ON_A_PHONE * _LETTER_PX:
                del axis["dtick"]
            longest = min(longest, max(int(left_px / _LETTER_PX), LEAST_ON_A_PHONE))
    return longest


def _under_titles(traces: Sequence[Mapping[str, Any]], layout: dict[str, Any], lines: int) -> None:
    """Move a legend that stands below its plot under the further lines of the axis' title."""
    legend, margin = layout["legend"], layout["margin"]
    if lines > 1 and layout.get("showlegend") and layout.get("height") and (legend.get("y") or 0) < 0:
        shown = sum(trace.get("showlegend") is not False for trace in traces)  # at most a line each
        plot_px = layout["height"] - margin["b"] - (margin.get("t") or 0) - _LINE_PX * (shown - 1)
        legend["y"] -= _LINE_PX * (lines - 1) / max(plot_px, layout["height"] / 3)


def _short_labels(axes: Mapping[str, Any], traces: Sequence[Mapping[str, Any]], longest: int) -> None:
    """Shorten the names of rows that would leave a phone little room for the plot; the data below has them whole."""
    for name, axis in axes.items():
        if name[0] == "y" and axis.get("ticktext") is None:
            own = f"y{name[5:]}"
            rows = [row for trace in traces if trace.get("yaxis", "y") == own for row in _values(trace, "y")]
            names = list(dict.fromkeys(row for row in rows if isinstance(row, str)))
            if any(len(row) > longest for row in names) and not any("<" in row for row in names):
                axis["tickvals"] = names
                axis["ticktext"] = [html.escape(fitted(html.unescape(row), longest), quote=False) for row in names]


def _folded_titles(axes: Mapping[str, Any], plot_px: float) -> int:
    """Break the titles of the axes across that are wider than the plot between words; return the most lines of one."""
    most = 1
    for name, axis in axes.items():
        title = axis["title"]
        first, last = axis.get("domain") or (0, 1)
        if name[0] == "y" or not title.get("text"):
            continue
        lines: list[str] = []
        for word in title["text"].split(" "):
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and text_px(longer, TITLE_PX) <= (last - first) * plot_px:
                lines[-1] = longer
            else:
                lines.append(word)
        title["text"] = "<br>".join(lines)
        most = max(most, len(lines))
    return most


def _lines(text: str) -> list[str]:
    return [_MARKUP.sub("", line) for line in _LINES.split(text)]


def _labels(letter: str, name: str, axis: Mapping[str, Any], traces: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the labels of an axis as far as they are known before it is drawn; of numbers, one as wide."""
    given = axis.get("ticktext")
    if given is not None:
        return [str(text) for text in given]
    own = f"{letter}{name[5:]}"
    values = [one for trace in traces if trace.get(f"{letter}axis", letter) == own for one in _values(trace, letter)]
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        return texts
    if "%" in str(axis.get("tickformat", "")):
        return ["100%"]
    if axis.get("type") != "log":
        values = [*values, *(axis.get("range") or ())]
    sizes = [abs(value) for value in values if isinstance(value, (int, float)) and math.isfinite(value)]
    most, sign = max(sizes, default=0.0), "−" if any(isinstance(v, (int, float)) and v < 0 for v in values) else ""
    whole = "000k" if most >= 10_000 else "0" * len(str(int(most)))
    return [sign + (whole if most >= 5 else "0.00" if most < 0.5 else "0.0")]


def _values(trace: Mapping[str, Any], letter: str) -> Sequence[Any]:
    values = trace.get(letter)
    return values if isinstance(values, (list, tuple)) else ()


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
        "exponentformat": "SI",  # 11 G: Plotly's own B would be read as bytes
        **({"showgrid": False, "zeroline": False} if across else {}),
    }


SHARE_TICKS: dict[str, Any] = {"tickvals": [0, 0.5, 1], "ticktext": ["0 %", "50 %", "100 %"]}
"""Of bars of shares, in the words that stand at their ends: Plotly's own format has no space."""


def amount_ticks(most: float) -> dict[str, Any]:
    """Return the ticks of an axis of amounts from 0 on: 2.5k where they are large, 0.005 and not 5m where small."""
    return {"tickformat": "~s"} if most >= 10 else {}


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


def text_px(text: str, size: int = SMALL_PX) -> float:
    """Return how many pixels a line takes at most, in bold too; a sign that is not Latin takes a square."""
    return size * sum(
        WIDTHS.get(sign, 0.7 if sign.isupper() else 0.59) if ord(sign) < SQUARE else 1.05 for sign in text
    )


_GROUPS = {
    0.2: " ",
    0.31: "ijl|I.,:;'·",
    0.37: '-!f()[]{}/\\"',
    0.4: "rt",
    0.51: "cesxzJL_*?–",
    0.56: "0123456789agkvy",
}
WIDTHS = {sign: width for width, signs in (_GROUPS | {0.84: "mwMW%", 1.0: "@…"}).items() for sign in signs}
"""Of Source Sans in bold, as shares of its size; other letters, and capitals, take what `text_px` says."""
SQUARE = 0x1100
"""From here on scripts have signs as wide as high."""


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
