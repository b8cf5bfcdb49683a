"""A curve and its band as lines: steps, thinned to what a picture can show."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from workprof.arrays import Floats, Ints
from workprof.charts.durations.groups import Look
from workprof.charts.durations.view import ObservedView, limit_words, value_axis
from workprof.charts.text import formatted, plotly_text
from workprof.forecasts.durations import DurationCurve

MOST_DRAWN = 10_000
"""Points of all lines of a figure together."""

BAND_POINTS = 120
TAIL_DRAWN = 40
_BAND_OPACITY = 0.14


def curve_line(curve: DurationCurve, view: ObservedView, look: Look, target: str, name: str, points: int) -> go.Scatter:
    """Return the step line of a curve, from share 0 at its smallest value to 1 at its largest."""
    kept = _kept(len(curve.points), points)
    x = np.concatenate([curve.points[:1], curve.points[kept]])
    share = np.concatenate([[0.0], curve.shares[kept]])
    return go.Scatter(
        x=_drawable(x, view),
        y=_turned(share, view),
        mode="lines",
        name=plotly_text(name),
        line={"color": look.colour, "width": look.width, "dash": look.dash, "shape": "hv"},
        legendgroup=plotly_text(name),
        customdata=[formatted(target, value) for value in x],
        hovertemplate="%{fullData.name}: %{y:.1%} at %{customdata}<extra></extra>",
    )


def band_area(curve: DurationCurve, view: ObservedView, look: Look, name: str) -> go.Scatter:
    """Return the band of a curve as one closed area."""
    kept = _kept(len(curve.points), BAND_POINTS)
    x, share = _stepped(_drawable(curve.points[kept], view), curve.shares[kept])
    low, high = np.clip(share - curve.band, 0, 1), np.clip(share + curve.band, 0, 1)
    return go.Scatter(
        x=np.concatenate([x, x[::-1]]),
        y=_turned(np.concatenate([high, low[::-1]]), view),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=_translucent(look.colour),
        legendgroup=plotly_text(name),
        showlegend=False,
        hoverinfo="skip",
    )


def cursors(figure: go.Figure, view: ObservedView, target: str, colour: str) -> None:
    """Draw the percentile cursor and the SLO."""
    level = 1 - view.share if view.complementary else view.share
    figure.add_hline(y=level, line={"color": colour, "dash": "dot", "width": 1.2})
    left = {"xref": "paper", "x": 0.005, "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}}
    figure.add_annotation(y=level, text=f"{view.percentile:g} %", showarrow=False, **left)
    if view.limit > 0:
        figure.add_vline(x=view.limit, line={"color": colour, "dash": "dot", "width": 1.6})
        at = float(np.log10(view.limit)) if view.log_x else view.limit
        figure.add_annotation(
            x=at, yref="paper", y=1, yanchor="bottom", text=limit_words(target, view.limit), showarrow=False
        )


def scaled_axes(figure: go.Figure, view: ObservedView, target: str, low: float, high: float) -> None:
    """Set the axis of values from low to high and the axis of shares."""
    axis = value_axis(target, log=view.log_x)
    figure.update_xaxes(title={"text": axis.title})
    if view.log_x:
        figure.update_xaxes(type="log", range=[float(np.log10(low)) - 0.05, float(np.log10(high)) + 0.05])
    if axis.ticks:
        figure.update_xaxes(tickvals=list(axis.ticks), ticktext=list(axis.words))
    elif target == "duration_s" or target.endswith("_bytes"):
        ticks = np.linspace(0, high, 5)
        figure.update_xaxes(tickvals=ticks, ticktext=[formatted(target, value) for value in ticks])
    words = "Share of jobs above" if view.complementary else "Share of jobs at or below"
    figure.update_yaxes(title={"text": words}, range=[-0.02, 1.02], tickformat=".0%")


def span(curves: list[DurationCurve], limit: float) -> tuple[float, float]:
    """Return the smallest positive and the largest value of some curves, the SLO among them."""
    positive = np.concatenate([curve.points[curve.points > 0] for curve in curves])
    known = np.append(positive, limit) if limit > 0 else positive
    return (float(known.min()), float(known.max())) if len(known) else (0.1, 1.0)


def _drawable(values: Floats, view: ObservedView) -> Floats:
    """Return the values; on a logarithmic axis a zero stands far left of everything."""
    return np.maximum(values, 1e-12) if view.log_x else values


def _turned(shares: Floats, view: ObservedView) -> Floats:
    return 1 - shares if view.complementary else shares


def _stepped(x: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Return the corners of the steps, so that one closed area can follow them."""
    return np.repeat(x, 2)[1:], np.repeat(share, 2)[:-1]


def _kept(count: int, points: int) -> Ints:
    """Return the positions that are drawn: all, or both tails and an even choice between them."""
    if count <= points:
        return np.arange(count, dtype=np.int64)
    tail = min(TAIL_DRAWN, points // 4)
    inner = np.linspace(tail, count - 1 - tail, points - 2 * tail).round().astype(np.int64)
    return np.unique(np.concatenate([np.arange(tail), inner, np.arange(count - tail, count)])).astype(np.int64)


def _translucent(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{_BAND_OPACITY})"
