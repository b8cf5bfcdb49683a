"""Stated probability against what came true."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.classify.job import Naming
from workprof.charts.classify.split_words import SPLIT_WORDS
from workprof.charts.shapes import Chart
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, laid_out
from workprof.forecasts.classifier_evaluation import SplitScores

LARGEST_DOT_PX, SMALLEST_DOT_PX = 32, 8
GOOD_ERROR = 0.05


def reliability_diagram(scores: SplitScores, naming: Naming) -> Chart:
    """Return the share that was right against the probability that was stated, in ten bins."""
    held = scores.reliability
    filled = held.rows > 0
    table = pd.DataFrame(
        {
            "from": held.edges[:-1],
            "to": held.edges[1:],
            "rows": held.rows,
            "stated": held.stated,
            "observed": held.observed,
        }
    )
    sizes = SMALLEST_DOT_PX + (LARGEST_DOT_PX - SMALLEST_DOT_PX) * np.sqrt(
        held.rows[filled] / max(int(held.rows.max()), 1)
    )
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"dash": "dot", "color": OUTLIER_COLOUR}, hoverinfo="skip"
    )
    figure.add_scatter(
        x=held.stated[filled],
        y=held.observed[filled],
        mode="lines+markers",
        marker={"size": sizes, "color": COLOURS[0]},
        line={"color": COLOURS[0], "width": 1},
        customdata=held.rows[filled],
        hovertemplate="stated %{x:.2f}, right %{y:.2f}, %{customdata:,} rows<extra></extra>",
    )
    laid_out(figure, x="Stated probability", y="Share that was right", height=400)
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(range=[-0.03, 1.05], tickformat=".0%")
    takeaway = _takeaway(scores)
    return Chart(
        name=f"calibration-{scores.split.replace('_', '-')}",
        figure=figure,
        takeaway=takeaway,
        alt=f"Stated probability against the share that was right in {int(filled.sum())} bins. {takeaway}",
        data=table,
        note=naming.note(
            f"Of the most likely class, 'no profile' included; tested on {SPLIT_WORDS[scores.split]}, "
            f"{scores.n_test:,} rows. Larger dots have more rows; on the dotted line a probability means what it says."
        ),
    )


def _takeaway(scores: SplitScores) -> str:
    held = scores.reliability
    if not np.isfinite(held.error):
        return "There are no test rows to compare probabilities with."
    filled = held.rows > 0
    gap = float(np.average(held.stated[filled] - held.observed[filled], weights=held.rows[filled]))
    if held.error <= GOOD_ERROR:
        return f"Probabilities hold: they are off by {held.error:.2f} on average (expected calibration error)."
    side = "too confident" if gap > 0 else "too cautious"
    return f"The classifier is {side} here: probabilities are off by {held.error:.2f} on average."
