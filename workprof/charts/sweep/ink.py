"""Black or white: the words on a coloured cell, whichever stands out more."""

from __future__ import annotations

from workprof.charts.theme import SCALE

BLACK, WHITE = "#000000", "#ffffff"


def ink(share: float) -> str:
    """Return the colour of words on the colour scale at a share of it (0-1): at least 4.5:1 everywhere."""
    from plotly.colors import sample_colorscale, unlabel_rgb  # noqa: PLC0415  only where a heat map is drawn

    luminance = relative_luminance(unlabel_rgb(sample_colorscale(SCALE, [share])[0]))
    return BLACK if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else WHITE


def relative_luminance(rgb: tuple[float, float, float]) -> float:
    """Return the relative luminance of a colour, 0-1 (WCAG 2)."""
    parts = [value / 255 for value in rgb]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
