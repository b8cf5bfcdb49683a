"""Profiles against the values of one metadata field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.charts.profiles.overview import note
from workprof.charts.shapes import Chart
from workprof.charts.text import label, plotly_text, shortened
from workprof.charts.theme import OUTLIERS, SCALE, laid_out, rows_height
from workprof.profiles.fit import ProfileFit
from workprof.profiles.metadata import Heatmap

MOST_NAMED = 24
"""Up to here every value has its name, also on a phone; of more, Plotly names as many as there is room for."""
BY = ("profile", "value")
_WORDS = {"profile": "of the profile's rows", "value": "of the value's rows"}


def metadata_heatmap(fit: ProfileFit, names: Mapping[int, str], field: str, by: str = "profile") -> Chart:
    """Return shares per profile (each line adds up to 1) or per value (each column does)."""
    heatmap = _outliers_last(_of_field(fit, field))
    share = _shares(heatmap.counts, by)
    lines = [shortened(names.get(int(profile), "")) for profile in heatmap.profiles]
    values = _distinct([shortened(value, 24) for value in heatmap.values])  # noqa: PD011  a record's field
    figure = go.Figure(
        go.Heatmap(
            z=share,
            x=[plotly_text(value) for value in values],
            y=[plotly_text(line) for line in lines],
            customdata=heatmap.counts,
            colorscale=SCALE,
            zmin=0,
            zmax=1,
            colorbar={"title": {"text": "share"}, "tickformat": ".0%", "thickness": 12},
            hovertemplate=f"%{{y}}, %{{x}}: %{{z:.1%}} {_WORDS[by]}, %{{customdata:,}} rows<extra></extra>",
            xgap=1,
            ygap=1,
        )
    )
    laid_out(figure, x=label(field).capitalize(), y="", height=rows_height(len(lines)) + 60)
    figure.update_yaxes(autorange="reversed")
    if len(values) <= MOST_NAMED:
        figure.update_xaxes(dtick=1)
    return Chart(
        name=f"metadata-{field}",
        figure=figure,
        takeaway=_takeaway(heatmap, lines),
        alt=f"Heat map of {label(field)} against {len(lines)} groups, as shares {_WORDS[by]}.",
        data=pd.DataFrame(heatmap.counts, index=lines, columns=values).rename_axis("name").reset_index(),
        note=note(
            fit,
            f"Shares {_WORDS[by]}; the table holds the rows. The last column may pool rarer values.",
        ),
    )


def _of_field(fit: ProfileFit, field: str) -> Heatmap:
    return next(heatmap for heatmap in fit.heatmaps if heatmap.field == field)


def _outliers_last(heatmap: Heatmap) -> Heatmap:
    order = np.argsort(heatmap.profiles == OUTLIERS, kind="stable")
    return replace(heatmap, profiles=heatmap.profiles[order], counts=heatmap.counts[order])


def _shares(counts: NDArray[np.int64], by: str) -> NDArray[np.float64]:
    total = counts.sum(axis=1 if by == "profile" else 0, keepdims=True)
    shares: NDArray[np.float64] = counts / np.maximum(total, 1)
    return shares


def _distinct(values: list[str]) -> list[str]:
    """Return the values with a number behind those that shortening made equal."""
    seen: dict[str, int] = {}
    result = []
    for value in values:
        seen[value] = seen.get(value, 0) + 1
        result.append(value if seen[value] == 1 else f"{value} ({seen[value]})")
    return result


def _takeaway(heatmap: Heatmap, lines: list[str]) -> str:
    inside = [i for i, profile in enumerate(heatmap.profiles) if profile != OUTLIERS]
    if not inside:
        return "No profile was found."
    share = _shares(heatmap.counts, "profile")
    pure = sum(bool(share[i].max(initial=0) >= 0.95) for i in inside)
    return f"{pure} of {len(inside)} profiles have at least 95 % of their rows under one {label(heatmap.field)}."
