"""When the jobs of one profile start: hour of day and weekday."""

from __future__ import annotations

import numpy as np
import pandas as pd
from plotly.subplots import make_subplots

from workprof.charts.chart import Chart
from workprof.charts.text import plotly_text
from workprof.charts.theme import laid_out, mark
from workprof.profiles.fit import ProfileCard
from workprof.units import format_share

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HEIGHT_PX = 170


def arrivals(card: ProfileCard, name: str) -> Chart:
    """Return bars of starts by hour (left) and by weekday (right)."""
    look = mark(card.profile)
    figure = make_subplots(cols=2, rows=1, column_widths=[0.66, 0.34], horizontal_spacing=0.14, shared_yaxes=False)
    style = {"color": look.colour, "pattern": {"shape": look.pattern, "fillmode": "overlay", "size": 5}}
    figure.add_bar(
        x=np.arange(24), y=card.arrivals_by_hour, marker=style, hovertemplate="%{x} h: %{y:,} rows<extra></extra>"
    )
    figure.add_bar(
        x=WEEKDAYS,
        y=card.arrivals_by_weekday,
        marker=style,
        hovertemplate="%{x}: %{y:,} rows<extra></extra>",
        col=2,
        row=1,
    )
    laid_out(figure, x="Hour of start", y="Rows", height=HEIGHT_PX, xaxis2={"title": {"text": "Weekday"}}, bargap=0.15)
    figure.update_xaxes(dtick=6, col=1)
    figure.update_xaxes(tickangle=0, tickvals=[0, 3, 6], ticktext=["Mon", "Thu", "Sun"], col=2)
    figure.update_yaxes(nticks=3)
    figure.update_layout(margin={"t": 8, "b": 4})
    return Chart(
        name=f"arrivals-{card.profile}",
        figure=figure,
        takeaway=_takeaway(card),
        alt=f"Starts of {plotly_text(name)} by hour of day and by weekday. {_takeaway(card)}",
        data=pd.DataFrame({"hour": np.arange(24), "rows": card.arrivals_by_hour}),
    )


def _takeaway(card: ProfileCard) -> str:
    total = int(card.arrivals_by_hour.sum())
    if total == 0:
        return "No start times."
    hour, day = int(card.arrivals_by_hour.argmax()), int(card.arrivals_by_weekday.argmax())
    share = format_share(float(card.arrivals_by_hour[hour] / total))
    return f"Most start at {hour:02d} h ({share}) and on {WEEKDAYS[day]}."
