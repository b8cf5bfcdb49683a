"""Observed durations drawn: the curves of all runs and of groups, together or in small multiples."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from workprof.answers.durations import (
    ALL_RUNS,
    MOST_BANDS,
    ObservedView,
    cursor_words,
    limit_words,
    observed_notes,
    observed_sentence,
    quantile_table,
    small_words,
)
from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, drawn_once, figure_of
from workprof.charts.theme import COLOURS, SHARE_TICKS, text_px
from workprof.core.arrays import Floats, Ints
from workprof.core.units import format_bytes, format_share
from workprof.core.words import counted, formatted, label, plotly_text, title
from workprof.forecasts.durations import EVERYTHING, FEWEST_ROWS, PROFILE, DurationCurve, ObservedDurations, value_at
from workprof.profiles.names import OUTLIERS, UNCLUSTERED, fitted


@dataclass(frozen=True)
class ValueAxis:
    """Ticks and title of an axis of values in the target's unit."""

    title: str
    ticks: tuple[float, ...]
    words: tuple[str, ...]


_SECONDS = (0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36_000, 86_400, 864_000, 8_640_000)
_WORDS = ("1 ms", "10 ms", "0.1 s", "1 s", "10 s", "1 min", "10 min", "1 h", "10 h", "1 d", "10 d", "100 d")
_BYTES = tuple(10.0**power for power in range(3, 15))
_BYTE_WORDS = tuple(format_bytes(size) for size in _BYTES)


def value_axis(target: str, *, log: bool) -> ValueAxis:
    """Return the axis of a target; without ticks of its own where plain numbers read well."""
    scale = ", logarithmic" if log else ""
    if target == "duration_s":
        return ValueAxis(f"Duration (time{scale})", *((_SECONDS, _WORDS) if log else ((), ())))
    if target.endswith("_bytes"):
        return ValueAxis(f"{title(target, 'decimal units')}{scale}", *((_BYTES, _BYTE_WORDS) if log else ((), ())))
    return ValueAxis(f"{title(target)}{scale}", (), ())


LONGEST_LABEL, SHORTEST_LABEL, ON_A_PHONE_PX = 28, 8, 150
_DASHES = ("solid", "longdashdot", "dashdot", "longdash")
"""One per turn through the colours."""


@dataclass(frozen=True)
class Look:
    """Colour, dash and width of a group's line."""

    colour: str
    dash: str
    width: float


def look(result: ObservedDurations, position: int) -> Look:
    """Return how a group is drawn: dashed with few jobs, grey for the sums and the outliers."""
    group = result.groups[position]
    if group.n_merged:
        return Look(NEUTRAL, "dash" if group.few else "dashdot", 1.8)
    number = int(group.name) if result.settings.by == PROFILE else position
    if number == OUTLIERS and result.settings.by == PROFILE:
        return Look(NEUTRAL, "dash" if group.few else "dot", 2.0)
    dash = _DASHES[number // len(COLOURS) % len(_DASHES)]
    return Look(COLOURS[number % len(COLOURS)], "dash" if group.few else dash, 1.5 if group.few else 2.2)


MOST_DRAWN = 10_000
"""Points of all lines of a figure together."""

BAND_POINTS = 120
TAIL_DRAWN = 40
_BAND_OPACITY = 0.14


def curve_line(
    curve: DurationCurve, view: ObservedView, look: Look, target: str, name: str, points: int
) -> dict[str, Any]:
    """Return the step line of a curve, from share 0 at its smallest value to its last share at its largest."""
    drawn = _drawn_positions(len(curve.points), points)
    x = np.concatenate([curve.points[:1], curve.points[drawn]])
    share = np.concatenate([[0.0], curve.shares[drawn]])
    return shapes.line(
        _drawable(x, view),
        _turned(share, view),
        name=plotly_text(name),
        colour=look.colour,
        width=look.width,
        dash=look.dash,
        shape="hv",
        hover="%{fullData.name}: %{y:.1%} at %{customdata}",
        legendgroup=plotly_text(name),
        customdata=[formatted(target, value) for value in x],
    )


def band_area(curve: DurationCurve, view: ObservedView, look: Look, name: str) -> dict[str, Any]:
    """Return the band of a curve as one closed area."""
    drawn = _drawn_positions(len(curve.points), BAND_POINTS)
    x, share = _stepped(_drawable(curve.points[drawn], view), curve.shares[drawn])
    widening = np.ones(len(curve.points)) if curve.widening is None else curve.widening
    half = curve.band * np.repeat(widening[drawn], 2)[:-1]
    low, high = np.clip(share - half, 0, 1), np.clip(share + half, 0, 1)
    return shapes.area(
        np.concatenate([x, x[::-1]]),
        _turned(np.concatenate([high, low[::-1]]), view),
        fill=_translucent(look.colour),
        legendgroup=plotly_text(name),
        showlegend=False,
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


def scaled_axes(view: ObservedView, target: str, low: float, high: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the axis of values from low to high and the axis of shares."""
    axis = value_axis(target, log=view.log_x)
    values: dict[str, Any] = {"title": axis.title}
    if view.log_x:
        values |= {"type": "log", "range": [float(np.log10(low)) - 0.05, float(np.log10(high)) + 0.05]}
    if axis.ticks:
        named = dict(zip(axis.ticks, axis.words, strict=True))
        if not any(low <= at <= high for at in named):
            named = {at: formatted(target, at) for at in (low, high)}
        values |= {"tickvals": list(named), "ticktext": list(named.values())}
    elif target == "duration_s" or target.endswith("_bytes"):
        ticks = np.linspace(0, high, 5).tolist()
        values |= {"tickvals": ticks, "ticktext": [formatted(target, value) for value in ticks]}
    return values, {"title": _shares_title(view), "range": [-0.02, 1.02], "tickformat": ".0%"}


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


def _drawn_positions(count: int, points: int) -> Ints:
    """Return the positions that are drawn: all, or both tails and an even choice between them."""
    if count <= points:
        return np.arange(count, dtype=np.int64)
    tail = min(TAIL_DRAWN, points // 4)
    inner = np.linspace(tail, count - 1 - tail, points - 2 * tail).round().astype(np.int64)
    return np.unique(np.concatenate([np.arange(tail), inner, np.arange(count - tail, count)])).astype(np.int64)


def _translucent(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{_BAND_OPACITY})"


PLOT_PX = 420
LEGEND_PX = 14
"""Per entry: about two stand side by side on a phone."""


def observed_name(result: ObservedDurations) -> str:
    """Return the name of the chart's files."""
    return f"observed-{result.settings.target}-by-{result.settings.by}"


@drawn_once
def observed_ecdf(result: ObservedDurations, names: tuple[str, ...], view: ObservedView) -> Chart:
    """Return the curves of every group and of all jobs."""
    target = result.settings.target
    traces: list[dict[str, Any]] = []
    alone = not result.groups
    whole = Look(COLOURS[0], "solid", 2.4) if alone else Look(NEUTRAL, "solid", 1.6)
    if view.bands and len(result.groups) <= MOST_BANDS:
        for position, curve in enumerate(result.groups):
            traces.append(band_area(curve, view, look(result, position), names[position]))
    if view.bands and (alone or len(result.groups) > MOST_BANDS):
        traces.append(band_area(result.everything, view, whole, EVERYTHING))
    points = MOST_DRAWN // (1 + len(result.groups))
    for position, curve in enumerate(result.groups):
        legend = f"{names[position]} (n < {FEWEST_ROWS})" if curve.few else names[position]
        traces.append(curve_line(curve, view, look(result, position), target, legend, points))
    traces.append(curve_line(result.everything, view, whole, target, ALL_RUNS, points))
    alone_too = result.everything.finished
    if alone_too is not None:
        dotted = replace(whole, dash="dot", width=1.4)
        traces.append(curve_line(alone_too, view, dotted, target, "finished runs alone", points))
    low, high = span([result.everything, *result.groups], view.limit)
    values, shares = scaled_axes(view, target, low, high)
    figure = figure_of(traces, x=values, y=shares, height=PLOT_PX + LEGEND_PX * len(result.groups))
    cursors(figure, view, target, NEUTRAL)
    figure.update_layout(
        showlegend=bool(result.groups) or alone_too is not None,
        legend={"orientation": "h", "y": -0.2, "yanchor": "top"},
        margin={"t": 36},
    )
    return Chart(
        name=observed_name(result),
        figure=figure,
        takeaway=observed_sentence(result, names, view),
        shows=f"Cumulative distribution of {label(target)} for {counted(max(1, len(result.groups)), 'group')}, with "
        "confidence bands.",
        data=quantile_table(result, names, view).frame(),
        note=" ".join(observed_notes(result, names, view)),
    )


def _axes_note(result: ObservedDurations, view: ObservedView) -> str:
    """Return what the small charts draw: there is no room for titles in them."""
    axis = value_axis(result.settings.target, log=view.log_x).title
    alone = "" if result.everything.finished is None else "; dotted in colour: finished runs of the group alone"
    share = _shares_title(view)
    lower = (f"{one[:1].lower()}{one[1:]}" for one in (share, axis))
    return "Vertical: {}; horizontal: {}. Dotted: all runs{}.".format(*lower, alone)


def _shares_title(view: ObservedView) -> str:
    return f"Share of runs {'above' if view.complementary else 'at or below'}"


BESIDE, BESIDE_ON_A_PHONE = 4, 2
"""Small charts in a row."""
ROW_PX, PLOT_PX_SMALL, TICKS_PX, LEFT_PX = 146, 92, 26, 44
"""Height of a row of small charts, of the plot in it and of the ticks below; room for the ticks on the left."""
PLOT_SHARE = 0.92
"""Of the width of a column; the rest parts it from the next one."""
SMALL_DRAWN = 160
"""Points of a line in a small chart, which is about as many pixels wide; both ends have all of theirs."""
MOST_TICKS = 4
"""On the axis of a small chart."""
_GRID = "rgba(123,130,140,0.25)"


@dataclass(frozen=True)
class _Places:
    """Where the small charts stand in the one pair of axes that they share: columns across, pixels upwards.

    Plotly's time goes with the number of its axes and traces: a plot of its own for every group takes ten times as
    long to draw as all groups in one.
    """

    columns: int
    rows: int
    low: float
    high: float
    log: bool

    @property
    def height(self) -> int:
        return ROW_PX * self.rows + TICKS_PX

    def across(self, position: int, values: Any) -> Floats:
        """Return where values of the chart at a position stand."""
        low, high = (math.log10(self.low) - 0.05, math.log10(self.high) + 0.05) if self.log else (0.0, self.high)
        given = np.asarray(values, dtype=np.float64)
        scaled = np.log10(np.maximum(given, 1e-12)) if self.log else given
        inside = np.clip((scaled - low) / (high - low), 0, 1)
        return np.asarray(position % self.columns + PLOT_SHARE * inside, dtype=np.float64)

    def up(self, position: int, shares: Any) -> Floats:
        """Return where shares of the chart at a position stand."""
        floor = self.height - ROW_PX * (position // self.columns + 1)
        return np.asarray(floor + PLOT_PX_SMALL * np.asarray(shares, dtype=np.float64), dtype=np.float64)


@drawn_once
def group_curves(
    result: ObservedDurations, names: tuple[str, ...], view: ObservedView, *, narrow: bool = False
) -> Chart:
    """Return a small chart of every group, labelled in the figure, all with the same axes.

    `narrow`: two stand beside each other on a phone, with fewer ticks and shorter labels.
    """
    target, count = result.settings.target, len(result.groups)
    columns = min(BESIDE_ON_A_PHONE if narrow else BESIDE, count)
    at = _Places(columns, -(-count // columns), *span([result.everything, *result.groups], view.limit), view.log_x)
    points = min(SMALL_DRAWN, MOST_DRAWN // (2 * count))
    drawn: dict[tuple[str, str], list[tuple[Floats, Floats, list[str]]]] = {}
    bands: dict[str, list[tuple[Floats, Floats, list[str]]]] = {}
    behind, alone, labels, marks = [], [], [], []
    for position, (curve, name) in enumerate(zip(result.groups, names, strict=True)):
        colour = NEUTRAL if curve.n_merged or name == UNCLUSTERED else COLOURS[0]
        own = Look(colour, "dash" if curve.few else "solid", 2.2)
        behind.append(_placed(curve_line(result.everything, view, own, target, ALL_RUNS, points), at, position))
        if curve.finished is not None:
            alone.append(_placed(curve_line(curve.finished, view, own, target, name, points), at, position))
        drawn.setdefault((colour, own.dash), []).append(
            _placed(curve_line(curve, view, own, target, name, points), at, position)
        )
        if view.bands:
            bands.setdefault(colour, []).append(_placed(band_area(curve, view, own, name), at, position))
        reads = value_at(curve, view.share)
        marks.append((reads, colour, cursor_words(name, curve, target, view)))
        shown = plotly_text(_beside(name) if narrow else fitted(name, LONGEST_LABEL))
        labels.append(f"<b>{shown}</b><br>{small_words(curve, target, view)}")
    everyone = range(count)
    level = 1 - view.share if view.complementary else view.share
    traces = [
        _frames(at, count),
        *(shapes.area(*_joined(parts)[:2], fill=_translucent(colour)) for colour, parts in bands.items()),
        _curves(behind, NEUTRAL, "dot", 1.2, "all runs: "),
        *([_curves(alone, COLOURS[1], "dot", 1.4, "finished runs alone: ")] if alone else []),
        *(_curves(parts, colour, dash, 2.2, "") for (colour, dash), parts in drawn.items()),
        shapes.points(
            [float(at.across(one, marks[one][0])) for one in everyone],
            [float(at.up(one, level)) for one in everyone],
            colour=[colour for _, colour, _ in marks],
            size=9,
            hover=None,
            hovertext=[plotly_text(words, 200) for *_, words in marks],
            hoverinfo="text",
        ),
        shapes.texts(
            [one % columns for one in everyone],
            [float(at.up(one, 1.0)) + 22 for one in everyone],
            labels,
            textposition="middle right",
            cliponaxis=False,
        ),
        _ticks(at, count, view, target, MOST_TICKS - narrow),
    ]
    if view.limit > 0:
        ends = [(at.across(one, [view.limit] * 2), at.up(one, [0, 1]), [""] * 2) for one in everyone]
        x, y, _ = _joined(ends)
        traces.append(shapes.line(x, y, colour=NEUTRAL, dash="dot", width=1.6))
    figure = figure_of(
        traces,
        x={"title": "", "range": [0, columns], "showticklabels": False, **_BARE},
        y={
            "title": "",
            "range": [0, at.height],
            "tickvals": [float(at.up(row * columns, share)) for row in range(at.rows) for share in (0, 0.5, 1)],
            "ticktext": SHARE_TICKS["ticktext"] * at.rows,
            "showgrid": False,
            **_BARE,
        },
        height=at.height + 8,
        dragmode=False,
    )
    figure.update_layout(margin={"l": LEFT_PX, "r": 0, "t": 4, "b": 4})
    return Chart(
        name=observed_name(result),
        figure=figure,
        takeaway=observed_sentence(result, names, view),
        shows=f"Small multiples: cumulative distribution of {label(target)} of {counted(count, 'group')}, each with "
        "all runs dotted behind.",
        data=quantile_table(result, names, view).frame(),
        note=" ".join([_axes_note(result, view), *observed_notes(result, names, view, alone=True)]),
    )


_BARE: dict[str, Any] = {"automargin": False, "fixedrange": True, "zeroline": False}


def _placed(trace: dict[str, Any], at: _Places, position: int) -> tuple[Floats, Floats, list[str]]:
    """Return the points of a trace in the chart at a position, and their words."""
    shares = np.asarray(trace["y"])
    words = [f"{format_share(y)} at {x}" for x, y in zip(trace.get("customdata", ()), shares, strict=False)]
    return at.across(position, trace["x"]).round(4), at.up(position, shares).round(1), words


def _joined(parts: list[tuple[Floats, Floats, list[str]]]) -> tuple[Floats, Floats, list[str]]:
    """Return lines as one with gaps between them."""
    gap = np.array([np.nan])
    x, y = (np.concatenate([piece for part in parts for piece in (part[axis], gap)]) for axis in (0, 1))
    return x, y, [word for part in parts for word in (*part[2], "")]


def _curves(
    parts: list[tuple[Floats, Floats, list[str]]], colour: str, dash: str, width: float, whose: str
) -> dict[str, Any]:
    x, y, words = _joined(parts)
    options: dict[str, Any] = {"customdata": words, "hover": f"{whose}%{{customdata}}", "connectgaps": False}
    return shapes.line(x, y, colour=colour, dash=dash, width=width, shape="hv", **options)


def _frames(at: _Places, count: int) -> dict[str, Any]:
    """Return the lines of the shares 0, 50 and 100 % of every small chart."""
    ends = [
        (one % at.columns + np.array([0, PLOT_SHARE]), at.up(one, [share] * 2), [""] * 2)
        for one in range(count)
        for share in (0, 0.5, 1)
    ]
    x, y, _ = _joined(ends)
    return shapes.line(x, y, colour=_GRID, width=1)


def _beside(name: str) -> str:
    """Return a name that leaves room for another beside it on a phone."""
    longest = LONGEST_LABEL
    while longest > SHORTEST_LABEL and text_px(fitted(name, longest)) > ON_A_PHONE_PX:
        longest -= 1
    return fitted(name, longest)


def _ticks(at: _Places, count: int, view: ObservedView, target: str, most: int) -> dict[str, Any]:
    """Return the ticks of values below the last chart of each column."""
    axis = _few_ticks(scaled_axes(view, target, at.low, at.high)[0], at.low, at.high, most)
    values = axis.get("tickvals") or _round_ticks(at, most)
    words = axis.get("ticktext") or [f"{value:g}" for value in values]
    last = range(max(0, count - at.columns), count)
    return shapes.texts(
        [float(x) for one in last for x in at.across(one, values)],
        [float(at.up(one, 0)) - 12 for one in last for _ in values],
        list(words) * len(last),
        textposition="middle center",
        cliponaxis=False,
    )


def _round_ticks(at: _Places, most: int) -> list[float]:
    """Return round values within the axis of a quantity without ticks of its own."""
    if not at.log:
        step = 10.0 ** math.floor(math.log10(at.high))
        step = next(one for one in (step / 5, step / 2, step, 2 * step, 5 * step) if at.high / one < most)
        return [step * place for place in range(math.floor(at.high / step) + 1)]
    powers = range(math.ceil(math.log10(at.low)), math.floor(math.log10(at.high)) + 1)
    thinned = powers[:: max(1, -(-len(powers) // most))]
    return [10.0**power for power in thinned] or [at.low, at.high]


def _few_ticks(axis: dict[str, Any], low: float, high: float, most: int) -> dict[str, Any]:
    """Return an axis with at most so many of the ticks that it names between its ends."""
    if "tickvals" not in axis:
        return axis | {"nticks": most}
    inside = [(at, words) for at, words in zip(axis["tickvals"], axis["ticktext"], strict=True) if low <= at <= high]
    thinned = inside[:: max(1, -(-len(inside) // most))]
    return axis | {"tickvals": [at for at, _ in thinned], "ticktext": [words for _, words in thinned]}
