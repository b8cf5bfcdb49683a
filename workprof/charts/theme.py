"""One look for every figure: colours that hold on white and on near-black, marks for profiles, ink on a ground."""

from __future__ import annotations

from dataclasses import dataclass

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


def readable(figure: go.Figure, *, dark: bool) -> go.Figure:
    """Return a copy whose words stand out on the page's background (at least 4.5:1).

    It is made as one specification: Plotly checks every update of a figure anew, which costs more than the figure.
    """
    colour = "#d5dae2" if dark else "#3d4654"
    grid = "#2c3442" if dark else "#e3e7ed"
    spec = figure.to_dict()
    layout = spec["layout"]
    axes = [axis for name, axis in layout.items() if name.startswith(("xaxis", "yaxis"))]
    for words in (layout, layout.setdefault("legend", {}), *(axis.setdefault("title", {}) for axis in axes)):
        words.setdefault("font", {})["color"] = colour
    for axis in axes:
        axis["gridcolor"] = grid
        axis.setdefault("tickfont", {})["color"] = colour
    for note in layout.get("annotations", ()):
        note.setdefault("font", {}).setdefault("color", colour)
    return go.Figure(spec, _validate=False)  # it has been checked as a figure


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
