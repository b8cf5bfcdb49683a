"""The Hopkins statistic on its scale from 0 to 1, with what is known of the scale."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.profiles.left_out import together
from workprof.charts.shapes import Chart
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, laid_out
from workprof.profiles.hopkins import CLUSTERED_BELOW, PUBLISHED_HOPKINS, REGULAR_ABOVE, Hopkins

CONVENTION = (
    "Convention of the paper: near 0 = clusterable, 0.5 = no more structure than uniform random rows, near 1 = evenly "
    "spaced. Many textbooks print 1 minus this value."
)
PLAIN, POWER = "plain distances", "distances to the power of the dimensions"
HEIGHT_PX = 290
READINGS = {
    "clustered": "the rows are far from uniform: there is something to cluster",
    "no sign of clusters": "the rows are no more clustered than uniform random ones",
    "regularly spaced": "the rows are more evenly spaced than uniform random ones",
}


def hopkins_line(found: Hopkins) -> Chart:
    """Return both variants of the statistic with every draw, the zones of the scale and the published value."""
    figure = go.Figure([_draws(found.draws.tolist(), PLAIN, 0), _draws(found.draws_power.tolist(), POWER, 1)])
    laid_out(figure, x="Hopkins statistic (share, 0 to 1)", y="", height=HEIGHT_PX)
    figure.update_yaxes(
        tickvals=[0, 1],
        ticktext=["plain<br>distances", "to the power<br>of dimensions"],
        range=[1.7, -1.1],
        showgrid=False,
    )
    figure.update_xaxes(range=[-0.03, 1.03], zeroline=False)
    _zones(figure)
    return Chart(
        name="hopkins",
        figure=figure,
        takeaway=_takeaway(found),
        alt=f"Hopkins statistic on a line: 0 is clusterable, 0.5 uniform, 1 evenly spaced. {_takeaway(found)}",
        data=pd.DataFrame({"draw": range(1, len(found.draws) + 1), PLAIN: found.draws, POWER: found.draws_power}),
        note=f"{found.resamples} draws of {found.n_sampled:,} of {found.n_rows:,} rows in {found.n_dims} scaled "
        f"columns, seed {found.seed}. For uniform rows 95 % of the draws of the power variant lie between "
        f"{found.uniform_low:.2f} and {found.uniform_high:.2f}. " + " ".join(together(found.notes)),
    )


def _draws(values: list[float], name: str, row: int) -> go.Scatter:
    return go.Scatter(
        x=values,
        y=[row] * len(values),
        mode="markers",
        marker={"size": 13, "color": COLOURS[row], "symbol": "circle" if row == 0 else "diamond", "opacity": 0.8},
        hovertemplate=f"{name}: %{{x:.4f}}<extra></extra>",
        name=name,
    )


def _zones(figure: go.Figure) -> None:
    """Draw the limits of the readings and the reference values, each with its words."""
    for limit, at, words, anchor in (
        (CLUSTERED_BELOW, 0.0, "clustered", "left"),
        (REGULAR_ABOVE, 1.03, "evenly spaced", "right"),
    ):
        figure.add_vline(x=limit, line={"color": OUTLIER_COLOUR, "dash": "dot", "width": 1})
        figure.add_annotation(x=at, y=-0.9, text=words, showarrow=False, xanchor=anchor, font={"size": 12})
    figure.add_vline(x=0.5, line={"color": OUTLIER_COLOUR, "dash": "dash", "width": 1})
    figure.add_annotation(
        x=0.5, y=-0.55, text="uniform 0.5", showarrow=False, xanchor="left", xshift=4, font={"size": 12}
    )
    figure.add_annotation(
        x=PUBLISHED_HOPKINS,
        y=1.5,
        text=f"◇ published {PUBLISHED_HOPKINS}, not verified",
        showarrow=False,
        xanchor="left",
    )


def _takeaway(found: Hopkins) -> str:
    spread = f" ± {found.hopkins_sd:.3f}" if math.isfinite(found.hopkins_sd) else ""
    return f"Hopkins {found.hopkins:.3f}{spread}: {READINGS.get(found.reading, found.reading)}."
