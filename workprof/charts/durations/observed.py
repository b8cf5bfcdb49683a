"""The observed curves of all groups in one picture, with their bands, a percentile cursor and an SLO."""

from __future__ import annotations

import plotly.graph_objects as go

from workprof.charts.durations.groups import Look, look
from workprof.charts.durations.lines import MOST_DRAWN, band_area, cursors, curve_line, scaled_axes, span
from workprof.charts.durations.readouts import observed_sentence, quantile_table
from workprof.charts.durations.view import NEUTRAL, ObservedView, percent
from workprof.charts.shapes import Chart
from workprof.charts.text import counted, label
from workprof.charts.theme import COLOURS, laid_out
from workprof.forecasts.durations import EVERYTHING, FEWEST_ROWS, ObservedDurations
from workprof.units import format_share

MOST_BANDS = 4
"""More of them in one picture hide each other; then only that of all jobs is drawn."""

PLOT_PX = 420
LEGEND_PX = 14
"""Per entry: about two stand side by side on a phone."""


def observed_ecdf(found: ObservedDurations, names: tuple[str, ...], view: ObservedView) -> Chart:
    """Return the curves of every group and of all jobs."""
    target = found.settings.target
    figure = go.Figure()
    alone = not found.groups
    whole = Look(COLOURS[0], "solid", 2.4) if alone else Look(NEUTRAL, "solid", 1.6)
    if view.bands and len(found.groups) <= MOST_BANDS:
        for position, curve in enumerate(found.groups):
            figure.add_trace(band_area(curve, view, look(found, position), names[position]))
    if view.bands and (alone or len(found.groups) > MOST_BANDS):
        figure.add_trace(band_area(found.everything, view, whole, EVERYTHING))
    points = MOST_DRAWN // (1 + len(found.groups))
    for position, curve in enumerate(found.groups):
        legend = f"{names[position]} (few)" if curve.few else names[position]
        figure.add_trace(curve_line(curve, view, look(found, position), target, legend, points))
    figure.add_trace(curve_line(found.everything, view, whole, target, "all jobs", points))
    low, high = span([found.everything, *found.groups], view.limit)
    laid_out(figure, x="", y="", height=PLOT_PX + LEGEND_PX * len(found.groups))
    scaled_axes(figure, view, target, low, high)
    cursors(figure, view, target, NEUTRAL)
    figure.update_layout(
        showlegend=bool(found.groups), legend={"orientation": "h", "y": -0.2, "yanchor": "top"}, margin={"t": 36}
    )
    sentence = observed_sentence(found, names, view)
    return Chart(
        name=f"observed-{target}-by-{found.settings.by}",
        figure=figure,
        takeaway=sentence,
        alt=f"Cumulative distribution of {label(target)} for {counted(max(1, len(found.groups)), 'group')} with "
        f"{percent(found.settings.confidence)} bands. {sentence}",
        data=quantile_table(found, names, view),
        note=" ".join(
            word for word in (left_out_words(found), band_words(found), few_words(found), grid_words(found)) if word
        ),
    )


def left_out_words(found: ObservedDurations) -> str:
    """Return the rows, and how many were left out for which reason."""
    counts = {"without a value": found.n_missing, "below zero": found.n_negative, "of zero seconds": found.n_zero}
    reasons = ", ".join(f"{count:,} {words}" for words, count in counts.items() if count)
    out = f"; left out: {reasons}" if reasons else "; none left out"
    nowhere = f"; {found.n_without_group:,} are in no group" if found.n_without_group else ""
    return f"{counted(found.n_rows, 'finished row')}{out}{nowhere}."


def band_words(found: ObservedDurations) -> str:
    """Return what the bands promise, and where those of many groups are."""
    many = " The groups' own bands: curves 'one each'." if len(found.groups) > MOST_BANDS else ""
    return (
        f"Bands: {percent(found.settings.confidence)} Dvoretzky-Kiefer-Wolfowitz for the whole curve; rows of one job "
        "count as copies of each other, so "
        f"{found.n_rows:,} rows are worth {found.everything.n_effective:,.0f} jobs here.{many}"
    )


def few_words(found: ObservedDurations) -> str:
    """Return which curves are mostly chance."""
    few = sum(curve.few for curve in found.groups)
    return f"Dashed: {counted(few, 'group')} worth fewer than {FEWEST_ROWS} jobs." if few else ""


def grid_words(found: ObservedDurations) -> str:
    """Return how exact the curves are."""
    step = max([found.everything.grid_step, *(curve.grid_step for curve in found.groups)])
    return f"Curves of many values are thinned to 2,000 points: shares exact to {format_share(step)}." if step else ""
