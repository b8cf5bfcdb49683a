"""Black or white: the words on a cell of the colour scale."""

from __future__ import annotations

from workprof.charts.contrast import ink_on_rgb
from workprof.charts.theme import SCALE


def ink(share: float) -> str:
    """Return the colour of words on the colour scale at a share of it (0-1): at least 4.5:1 everywhere."""
    from plotly.colors import sample_colorscale, unlabel_rgb  # noqa: PLC0415  only where a heat map is drawn

    return ink_on_rgb(unlabel_rgb(sample_colorscale(SCALE, [share])[0]))
