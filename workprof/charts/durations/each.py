"""One group's curve by itself, with all jobs behind it: one of the small multiples."""

from __future__ import annotations

import plotly.graph_objects as go

from workprof.charts.durations.groups import Look, look
from workprof.charts.durations.lines import MOST_DRAWN, band_area, cursors, curve_line, scaled_axes, span
from workprof.charts.durations.readouts import quantile_table
from workprof.charts.durations.view import NEUTRAL, ObservedView, limit_words, within_words
from workprof.charts.shapes import Chart
from workprof.charts.text import label
from workprof.charts.theme import laid_out
from workprof.forecasts.durations import ObservedDurations, share_within, value_at
from workprof.units import format_share

HEIGHT_PX = 230


def group_curve(found: ObservedDurations, names: tuple[str, ...], position: int, view: ObservedView) -> Chart:
    """Return the curve of the group at a position; every small chart has the same axes."""
    curve, name, target = found.groups[position], names[position], found.settings.target
    own = look(found, position)
    figure = go.Figure()
    if view.bands:
        figure.add_trace(band_area(curve, view, own, name))
    points = MOST_DRAWN // (2 * len(found.groups))
    behind = Look(NEUTRAL, "dot", 1.4)
    figure.add_trace(curve_line(found.everything, view, behind, target, "all jobs", points))
    figure.add_trace(curve_line(curve, view, own, target, name, points))
    laid_out(figure, x="", y="", height=HEIGHT_PX)
    scaled_axes(figure, view, target, *span([found.everything, *found.groups], view.limit))
    cursors(figure, view, target, NEUTRAL)
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        axis.title = {"text": None, "standoff": 0}  # the big picture names the axes; here there is no room
    figure.update_layout(margin={"t": 28, "b": 0})
    words = f"{curve.n_rows:,} rows{' (few: mostly chance)' if curve.few else ''}: "
    words += f"{view.percentile:g} % {within_words(target, value_at(curve, view.share))}"
    if view.limit > 0:
        words += f"; {format_share(share_within(curve, view.limit))} within the {limit_words(target, view.limit)}"
    return Chart(
        name=f"observed-{target}-{position}",
        figure=figure,
        takeaway=f"{words}.",
        alt=f"Cumulative distribution of {label(target)} of {name}, with all jobs dotted. {words}.",
        data=quantile_table(found, names, view).iloc[[position]],
    )
