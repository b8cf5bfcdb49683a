"""When the jobs of one profile start: hour of day and weekday."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.shapes import Chart
from workprof.charts.text import plotly_text
from workprof.charts.theme import mark
from workprof.profiles.summary import ProfileCard
from workprof.units import format_share

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HEIGHT_PX = 170
LEFT, RIGHT = (0.0, 0.57), (0.71, 1.0)
"""Parts of the width that the hours and the weekdays take."""


def arrivals(card: ProfileCard, name: str) -> Chart:
    """Return bars of starts by hour (left) and by weekday (right)."""
    return Chart(
        name=f"arrivals-{card.profile}",
        figure=_bars(card),
        takeaway=_takeaway(card),
        alt=f"Starts of {plotly_text(name)} by hour of day and by weekday. {_takeaway(card)}",
        data=pd.DataFrame({"hour": np.arange(24), "rows": card.arrivals_by_hour}),
    )


def _bars(card: ProfileCard) -> go.Figure:
    """Return the figure, made as one specification: a page shows a dozen, and Plotly checks every update anew."""
    look = mark(card.profile)
    style = {"color": look.colour, "pattern": {"shape": look.pattern, "fillmode": "overlay", "size": 5}}
    by_hour = {"x": np.arange(24), "y": card.arrivals_by_hour, "hovertemplate": "%{x} h: %{y:,} rows<extra></extra>"}
    by_weekday = {"x": WEEKDAYS, "y": card.arrivals_by_weekday, "hovertemplate": "%{x}: %{y:,} rows<extra></extra>"}
    drawn = {"type": "bar", "marker": style}
    weekdays = {"tickangle": 0, "tickvals": [0, 3, 6], "ticktext": ["Mon", "Thu", "Sun"]}
    spec = {
        "data": [
            {**drawn, **by_hour, "xaxis": "x", "yaxis": "y"},
            {**drawn, **by_weekday, "xaxis": "x2", "yaxis": "y2"},
        ],
        "layout": {
            "xaxis": {
                "anchor": "y",
                "domain": LEFT,
                "dtick": 6,
                "title": {"text": "Hour of start"},
                "automargin": True,
            },
            "yaxis": {"anchor": "x", "nticks": 3, "title": {"text": "Rows"}, "automargin": True},
            "xaxis2": {"anchor": "y2", "domain": RIGHT, "title": {"text": "Weekday"}, **weekdays},
            "yaxis2": {"anchor": "x2", "nticks": 3},
            "height": HEIGHT_PX,
            "margin": {"l": 8, "r": 8, "t": 8, "b": 4},
            "bargap": 0.15,
            "showlegend": False,
            "uirevision": "keep",
            "hoverlabel": {"align": "left"},
        },
    }
    return go.Figure(spec)


def _takeaway(card: ProfileCard) -> str:
    total = int(card.arrivals_by_hour.sum())
    if total == 0:
        return "No start times."
    hour, day = int(card.arrivals_by_hour.argmax()), int(card.arrivals_by_weekday.argmax())
    share = format_share(float(card.arrivals_by_hour[hour] / total))
    return f"Most start at {hour:02d} h ({share}) and on {WEEKDAYS[day]}."
