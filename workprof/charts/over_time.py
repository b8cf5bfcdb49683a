"""Memory over time in figures: requested and used by day above a heat map of what every profile leaves unused."""

import datetime as dt
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.answers.over_time import cells_table, left_out_words, moment, over_time_sentence
from workprof.answers.tasks import PATH_SIGN
from workprof.charts import shapes
from workprof.charts.shapes import Chart, drawn_once, figure_of
from workprof.charts.theme import COLOURS
from workprof.core.arrays import Floats
from workprof.core.units import DAY_S, HOUR_S, MINUTE_S, compact
from workprof.core.words import counted, distinct, listed, plotly_text, shortened
from workprof.memory.demand import Demand
from workprof.memory.over_time import BIN_WORDS, OTHERS, OverTime

MOST_DRAWN = 12
"""Rows of the heat map; the others are added up in the last one."""
ROW_PX, GAP_PX, BARS_PX = 19, 10, 90
"""Of the plot: a row of the heat map, what lies above the rows, and the bars over it."""
MARGIN = {"l": 8, "r": 52, "t": 56, "b": 122}
YEAR_PX = 26
"""Below the days of an axis of dates: their year takes a line of its own."""
DECADES = 4
"""Of the colours: less than this below the largest cell is as pale as the ground."""
IDLE_RGB = "201,96,31"
IDLE_SCALE = [
    [0.0, f"rgba({IDLE_RGB},0.06)"],
    [0.5, f"rgba({IDLE_RGB},0.35)"],
    [1.0, f"rgba({IDLE_RGB},1)"],
]
"""One hue that begins at the ground of the page, light or dark."""
LONGEST_ROW = 20
_PROFILE_ENDING = re.compile(r"^(.*?)(?:, .*)?( \(P\d+\))$")
USED_COLOUR, REQUESTED_COLOUR = COLOURS[0], f"rgba({IDLE_RGB},0.45)"


def _clock(result: OverTime | Demand) -> tuple[float, str]:
    """Return the unit of the axis of a clock without dates: seconds and name."""
    span = float(result.edges_s[-1] - result.edges_s[0])
    if span > 3 * DAY_S:
        return float(DAY_S), "day"
    return (float(HOUR_S), "hour") if span > 3 * HOUR_S else (float(MINUTE_S), "minute")


@dataclass(frozen=True)
class _Drawn:
    """The rows of the heat map: names from top to bottom, (rows, bins) each, and the first that stands for several."""

    keys: tuple[str, ...]
    names: tuple[str, ...]
    unused: Any
    n_runs: Any


def _drawn(result: OverTime, names: Mapping[str, str]) -> _Drawn:
    n = len(result.rows)
    own = n if n <= MOST_DRAWN else MOST_DRAWN - 1
    keys = result.rows[:own]
    labels = [_label(names[row]) for row in keys]
    for other in (_both_ends, lambda name: shortened(name, 40)):  # where two are alike
        labels = [one if labels.count(one) == 1 else other(names[row]) for one, row in zip(labels, keys, strict=True)]
    unused, n_runs = result.unused[:own], result.n_runs[:own]
    if n > own:
        keys, labels = (*keys, ""), [*labels, f"{n - own:,} others"]
        if result.rows[-1] == OTHERS:
            labels[-1] = "all others"
        unused = np.vstack([unused, result.unused[own:].sum(axis=0)])
        n_runs = np.vstack([n_runs, result.n_runs[own:].sum(axis=0)])
    return _Drawn(keys, tuple(distinct([plotly_text(one, 40) for one in labels])), unused, n_runs)


def _both_ends(name: str) -> str:
    """Return the beginning and the end of a long name."""
    first = LONGEST_ROW * 2 // 3
    return name if len(name) <= LONGEST_ROW else f"{name[:first]}…{name[first + 1 - LONGEST_ROW :]}"


def _label(name: str) -> str:
    """Return a name for an axis; of a profile its first words and its number: 'rl · worker (P15)'."""
    parts = _PROFILE_ENDING.match(name)
    if parts is None and PATH_SIGN in name and len(name) > LONGEST_ROW:
        return f"…{shortened(name, 200)[1 - LONGEST_ROW :]}"  # the last part says what the task does
    if parts is None:
        return shortened(name, LONGEST_ROW)
    return f"{shortened(parts[1], LONGEST_ROW - len(parts[2]))}{parts[2]}"


@drawn_once
def over_time_chart(result: OverTime, names: Mapping[str, str]) -> Chart:
    """Return requested and used GB·h by bin above a heat map of unused GB·h by row and bin.

    A point lies unseen on every cell: it has the words of the cell, and a click on it selects (row, place of the bin).
    """
    drawn = _drawn(result, names)
    starts, width, axis = across(result)
    bin_word = BIN_WORDS[result.settings.bins].lower()
    requested, used = result.requested.sum(axis=0), result.used.sum(axis=0)
    when = [moment(result, place) for place in range(len(requested))]
    top, off = _top(result, requested)
    bars = {"width": width, "xaxis": "x", "yaxis": "y2", "customdata": when}
    rows, bins = np.nonzero(drawn.unused > 0)
    most = float(drawn.unused.max(initial=0.0)) or 1.0
    ceiling = math.log10(most)
    floor = ceiling - DECADES
    with np.errstate(divide="ignore"):
        shade = np.where(drawn.unused > 0, np.maximum(np.log10(drawn.unused), floor), np.nan)
    ticks = list(range(math.ceil(floor), math.floor(ceiling) + 1))
    rows_px = len(drawn.names) * ROW_PX
    plot_px = rows_px + GAP_PX + BARS_PX
    margin = MARGIN | {"b": MARGIN["b"] + YEAR_PX * result.dated}
    traces: list[dict[str, Any]] = [
        shapes.columns(
            starts,
            requested,
            colour=REQUESTED_COLOUR,
            hover="%{customdata}: %{y:,.3s} GB·h requested",
            name="requested",
            **bars,
        ),
        shapes.columns(
            starts, used, colour=USED_COLOUR, hover="%{customdata}: %{y:,.3s} GB·h used", name="used", **bars
        ),
        {
            "type": "heatmap",
            "z": shade,
            "x": starts,
            "y": list(drawn.names),
            "colorscale": IDLE_SCALE,
            "zmin": floor,
            "zmax": ceiling,
            "xgap": 1,
            "ygap": 1,
            "hoverinfo": "skip",
            "colorbar": {
                "orientation": "h",
                "thickness": 8,
                "lenmode": "pixels",
                "len": 200,
                "xref": "paper",
                "x": 1,
                "xanchor": "right",
                "yref": "container",
                "y": 0,
                "yanchor": "bottom",
                "xpad": 8,
                "ypad": 2,
                "tickvals": ticks,
                "ticktext": [compact(10.0**tick) for tick in ticks],
                "tickfont": {"size": 11},
                "title": {"text": "unused GB·h", "side": "bottom", "font": {"size": 11}},
                "outlinewidth": 0,
            },
        },
        shapes.unseen(
            [starts[place] for place in bins.tolist()],
            [drawn.names[row] for row in rows.tolist()],
            [
                f"{drawn.names[row]}, {when[place]}: {compact(float(drawn.unused[row, place]))} GB·h unused, "
                f"{counted(int(drawn.n_runs[row, place]), 'run')}"
                for row, place in zip(rows.tolist(), bins.tolist(), strict=True)
            ],
            [[drawn.keys[row], place] for row, place in zip(rows.tolist(), bins.tolist(), strict=True)],
            name="cells",
            showlegend=False,
        ),
    ]
    figure = figure_of(
        traces,
        x={**axis, "anchor": "y", "showgrid": False, "zeroline": False},
        y={
            "domain": [0, rows_px / plot_px],
            "autorange": "reversed",
            "tickvals": list(drawn.names),
            "showgrid": False,
            "automargin": True,
            "ticks": "",
            "tickfont": {"size": 11},
        },
        height=margin["t"] + margin["b"] + plot_px,
        margin=margin,
        yaxis2={
            "domain": [1 - BARS_PX / plot_px, 1],
            "title": {"text": f"GB·h per<br>{bin_word}"},
            "range": [0, top],
            "automargin": True,
            "nticks": 4,
        },
        barmode="overlay",
        bargap=0.12,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        annotations=[
            shapes.words(
                f"← {compact(float(requested[place]))}",
                size=11,
                x=starts[place],
                y=top,
                xref="x",
                yref="y2",
                xanchor="left",
                yanchor="top",
                xshift=6,
            )
            for place in off
        ]
        + _totals(drawn),
    )
    return Chart(
        name="home-over-time",
        figure=figure,
        takeaway=over_time_sentence(result, names),
        shows=f"Bars of requested and used memory in GB·h per {bin_word}, above a heat map of what each of "
        f"{counted(len(drawn.names), 'row')} leaves unused.",
        data=cells_table(result, names).frame(),
        note=" ".join(
            text
            for text in ("A click on a cell lists its runs.", _off_words(off, when), left_out_words(result))
            if text
        ),
    )


def _totals(drawn: _Drawn) -> list[dict[str, Any]]:
    """Return what each row leaves unused in all, right of it, and the unit above."""
    beside: dict[str, Any] = {"x": 1, "xref": "paper", "xanchor": "left", "yref": "y", "xshift": 4, "size": 11}
    words = [compact(total) for total in drawn.unused.sum(axis=1).tolist()]
    rows = [shapes.words(word, y=name, **beside) for word, name in zip(words, drawn.names, strict=True)]
    return [*rows, shapes.words("unused", y=drawn.names[0], yshift=16, **beside)] if rows else []


def _off_words(off: list[int], when: list[str]) -> str:
    return f"Off the scale: {listed([when[place] for place in off])}." if off else ""


def across(result: OverTime | Demand, edges_s: Floats | None = None) -> tuple[list[Any], float, dict[str, Any]]:
    """Return the middles of the bins (or of others with these edges), their width in the axis's unit, and the axis."""
    edges = (result.edges_s if edges_s is None else edges_s) + result.utc_offset_s
    if result.dated:
        dates, ends = (
            [dt.datetime.fromtimestamp(one, dt.UTC).replace(tzinfo=None).isoformat() for one in of.tolist()]
            for of in ((edges[:-1] + edges[1:]) / 2, edges[[0, -1]])
        )
        axis = {"title": "Date" if result.width_s >= DAY_S else "Time", "type": "date", "range": ends}
        return dates, 1000.0 * result.width_s, axis
    unit, name = _clock(result)
    width = result.width_s / unit
    starts = (edges[:-1] / unit).tolist()
    ends = [starts[0] - width / 2, starts[-1] + width / 2]
    return starts, width, {"title": f"{name.capitalize()} of the trace", "range": ends}


def _top(result: OverTime, requested: Any) -> tuple[float, list[int]]:
    """Return the end of the axis of the bars, and the bins of bursts that reach beyond it."""
    bursts = {one.bin for one in result.bursts}
    usual = [value for place, value in enumerate(requested.tolist()) if place not in bursts]
    most = max(usual, default=0.0) or float(requested.max(initial=0.0))
    top = 1.15 * (most or 1.0)
    return top, [place for place in sorted(bursts) if requested[place] > top]
