"""Demand over time in a figure: what was there, what season and level make likely, anomalies, the weeks to come."""

import math

import numpy as np

from workprof.answers.demand import (
    FOLLOWED,
    MOST_WEEKS,
    amount,
    anomaly_words,
    bins_table,
    demand_sentence,
    followed_words,
)
from workprof.answers.over_time import moment
from workprof.charts import shapes
from workprof.charts.over_time import across
from workprof.charts.shapes import LEGEND_ABOVE, Chart, figure_of
from workprof.charts.theme import COLOURS
from workprof.core.units import DAY_S
from workprof.memory.demand import Demand

HEIGHT_PX = 340
BAND = "rgba(201,96,31,0.25)"


def demand_chart(result: Demand, name: str = "") -> Chart:
    """The series of a row, '' = all runs."""
    row = result.row(name)
    bins = range(len(row.amounts))
    at, _, axis = across(result)
    words = [f"{moment(result, place)}: {amount(result, float(row.amounts[place]))}" for place in bins]
    traces = [
        shapes.line(
            at,
            [None if math.isnan(value) else value for value in row.amounts.tolist()],
            colour=COLOURS[0],
            hover="%{customdata}",
            customdata=words,
            name=FOLLOWED[result.settings.of].lower(),
        ),
        shapes.line(at, row.expected.tolist(), colour=shapes.NEUTRAL, dash="dot", name="season and level"),
        shapes.points(
            [at[one.bin] for one in row.anomalies],
            [one.value for one in row.anomalies],
            colour=COLOURS[3],
            size=10,
            symbol="diamond",
            hover="%{customdata}",
            customdata=[anomaly_words(result, one) for one in row.anomalies],
            name="anomaly",
        ),
    ]
    ahead = row.ahead
    if len(ahead.weeks):
        days, _, later = across(result, ahead.from_s + DAY_S * np.arange(len(ahead.days) + 1.0))
        axis = {**axis, "range": [axis["range"][0], later["range"][1]]}
        low, high = np.repeat(ahead.low, 7).tolist(), np.repeat(ahead.high, 7).tolist()
        traces += [
            shapes.area([*days, *days[::-1]], [*low, *high[::-1]], fill=BAND, name=MOST_WEEKS, hover=None),
            shapes.line(days, ahead.days.tolist(), colour=COLOURS[1], name="forecast"),
        ]
    figure = figure_of(
        traces,
        x=axis,
        y={"title": followed_words(result), "rangemode": "tozero"},
        height=HEIGHT_PX,
        **LEGEND_ABOVE,
    )
    return Chart(
        name="memory-demand",
        figure=figure,
        takeaway=demand_sentence(result, row),
        shows=f"{FOLLOWED[result.settings.of]} by {result.settings.bins}, with what season and level make likely.",
        data=bins_table(result, row).frame(),
    )
