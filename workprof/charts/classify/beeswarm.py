"""Every sampled job as a dot per field: how far the field moved the score of the job's likeliest class."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.charts.classify.importance import sample_words
from workprof.charts.classify.job import Naming
from workprof.charts.shapes import Chart
from workprof.charts.text import label, plotly_text
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, laid_out
from workprof.forecasts.explain import GlobalExplanation

BINS = 80
WIDEST = 0.42
"""Half the height of a field's band that its dots may fill."""

MOST_DOTS = 1_000
"""Per field; the sample is in random order of the draw, so its first rows are a sample too."""

SHADES = 21
LINE_PX = 56
AROUND_PX = 110


def beeswarm(found: GlobalExplanation, naming: Naming) -> Chart:
    """Return the contributions of each field to the likeliest class of the sampled jobs."""
    n_dots = min(found.n_sampled, MOST_DOTS)
    rows = np.linspace(0, found.n_sampled - 1, n_dots).astype(np.int64)
    figure = go.Figure()
    for place, field in enumerate(found.fields):
        figure.add_trace(_dots(found, naming, rows, place, field))
    laid_out(figure, x="SHAP value (log-odds)", y="", height=AROUND_PX + LINE_PX * len(found.fields))
    figure.update_yaxes(
        autorange="reversed",
        tickvals=list(range(len(found.fields))),
        ticktext=[label(field) for field in found.fields],
        zeroline=False,
    )
    figure.update_xaxes(zeroline=True, zerolinecolor=OUTLIER_COLOUR)
    takeaway = _takeaway(found)
    return Chart(
        name="shap-beeswarm",
        figure=figure,
        takeaway=takeaway,
        alt=f"Dots of SHAP values of {n_dots:,} jobs for {len(found.fields)} fields. {takeaway}",
        data=beeswarm_table(found, naming),
        note=naming.note(
            f"{sample_words(found)} {n_dots:,} dots per field. For the likeliest class of each job. Numbers "
            "go from blue (lowest in training) to orange (highest); names, and numbers that are not given, are grey."
        ),
    )


def beeswarm_table(found: GlobalExplanation, naming: Naming) -> pd.DataFrame:
    """Return one line per sampled job: its class, and value and contribution of every field."""
    table = pd.DataFrame(
        {"row_id": found.row_ids, "class": found.chosen, "name": [naming.name(int(one)) for one in found.chosen]}
    )
    for place, field in enumerate(found.fields):
        table[field] = found.shown[:, place]
        table[f"shap_{field}"] = found.contributions[:, place]
    return table


def offsets(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n,) heights that keep dots of about the same value apart: the fuller a bin, the wider."""
    span = float(values.max() - values.min()) or 1.0
    bins = np.clip(((values - values.min()) / span * BINS).astype(np.int64), 0, BINS - 1)
    order = np.argsort(bins, kind="stable")
    counts = np.bincount(bins, minlength=BINS)
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(first, counts)
    centred = rank - (counts[bins] - 1) / 2
    heights: NDArray[np.float64] = 2 * WIDEST * centred / max(int(counts.max()), 2)
    return heights


def _dots(found: GlobalExplanation, naming: Naming, rows: NDArray[np.int64], place: int, field: str) -> go.Scattergl:
    values, positions = found.contributions[rows, place], found.positions[rows, place]
    return go.Scattergl(
        x=values,
        y=place + offsets(values),
        mode="markers",
        marker={
            "size": 5,
            "opacity": 0.75,
            "color": _colours(positions),
        },
        text=[
            f"row {found.row_ids[row]}, {naming.shown(int(found.chosen[row]))}: {plotly_text(found.shown[row, place])}"
            for row in rows
        ],
        hovertemplate=f"{label(field)}: %{{x:+.2f}}, %{{text}}<extra></extra>",
    )


def _colours(positions: NDArray[np.float64]) -> list[str]:
    """Return a colour per dot, each visible on both pages' backgrounds; grey where there is no place in a range."""
    from plotly.colors import sample_colorscale  # noqa: PLC0415  only where a beeswarm is drawn

    scale = sample_colorscale([[0.0, COLOURS[0]], [1.0, COLOURS[1]]], np.linspace(0, 1, SHADES).tolist())
    return [scale[round(place * (SHADES - 1))] if np.isfinite(place) else OUTLIER_COLOUR for place in positions]


def _takeaway(found: GlobalExplanation) -> str:
    spread = np.abs(found.contributions).mean(axis=0)
    if not len(spread) or not spread.max():
        return "No field moves the score of a job's own class."
    most = int(spread.argmax())
    return f"{label(found.fields[most]).capitalize()} moves a job's own class most: by {spread[most]:.2f} on average."
