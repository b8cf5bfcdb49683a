"""Memory over time in figures: requested and used by day above a heat map of what every profile leaves unused."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.tasks import PATH_SIGN, task_labels
from workprof.charts import shapes
from workprof.charts.shapes import Chart, drawn_once, figure_of
from workprof.charts.text import counted, listed, plotly_text, shortened
from workprof.charts.theme import COLOURS
from workprof.core.table import Column
from workprof.core.units import DAY_S, HOUR_S, MINUTE_S, compact, format_share
from workprof.memory.ledger_runs import NOT_SEEN, UNCLUSTERED
from workprof.memory.ledger_settings import PROFILE, TASK
from workprof.memory.over_time import BIN_WORDS, OTHERS, OverTime, OverTimeRuns
from workprof.profiles.names import name_of

MOST_DRAWN = 12
"""Rows of the heat map; the others are added up in the last one."""
ROW_PX, BARS_PX, CHROME_PX = 19, 110, 120
BARS_FROM = 0.06
"""Of the height of the plot, between bars and heat map."""
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
BURSTS_NAMED = 2
_PROFILE_ENDING = re.compile(r"^(.*?)(?:, .*)?( \(P\d+\))$")
USED_COLOUR, REQUESTED_COLOUR = COLOURS[0], f"rgba({IDLE_RGB},0.45)"


def row_names(result: OverTime, profiles: Sequence[str]) -> dict[str, str]:
    """Return name of a row in the result -> what is shown: the profile's name, 'Unclustered', the task's last part.

    Args:
        result: memory over time.
        profiles: names by label, as `Workbench.profile_names` has them.
    """
    by = result.settings.by
    if by == PROFILE:
        known = {UNCLUSTERED: "Unclustered", NOT_SEEN: "Not clustered"}
        return {row: known.get(row) or name_of(row, profiles) for row in result.rows}
    if by == TASK:
        return {task: name for name, task in task_labels(result.rows).items()}
    return {row: row for row in result.rows}


def moment(result: OverTime, place: int) -> str:
    """Return when a bin begins: '6 Mar', '6 Mar 14:00'; years where the trace has several.

    Of a clock without dates it is the number of its day, 'day 61'.
    """
    local = float(result.edges_s[place]) + result.utc_offset_s
    date = dt.datetime.fromtimestamp(local, dt.UTC)
    if not result.dated:
        day = f"day {math.floor(local / DAY_S) + 1:,}"
        return day if result.width_s >= DAY_S else f"{day} {date:%H:%M}"
    years = {dt.datetime.fromtimestamp(float(edge), dt.UTC).year for edge in result.edges_s[[0, -1]]}
    text = f"{date.day} {date:%b}" + (f" {date.year}" if len(years) > 1 else "")
    return text if result.width_s >= DAY_S else f"{text} {date:%H:%M}"


def _clock(result: OverTime) -> tuple[float, str]:
    """Return the unit of the axis of a clock without dates: seconds and name."""
    span = float(result.edges_s[-1] - result.edges_s[0])
    if span > 3 * DAY_S:
        return float(DAY_S), "day"
    return (float(HOUR_S), "hour") if span > 3 * HOUR_S else (float(MINUTE_S), "minute")


def bursts_words(result: OverTime, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the bursts by name, one text per bin, the largest first: '6 Mar: bert · worker (P0)'."""
    rows: dict[int, list[str]] = {}
    for one in result.bursts:
        rows.setdefault(one.bin, []).append(names.get(one.row, one.row))
    return tuple(f"{moment(result, place)}: {listed(named)}" for place, named in rows.items())


def over_time_sentence(result: OverTime, names: Mapping[str, str]) -> str:
    """Return which rows leave most unused and which bursts there are, in one or two sentences."""
    idle = result.unused.sum(axis=1)
    if not idle.sum() > 0:
        return "No run leaves requested memory unused."

    def amount(row: int) -> str:
        return f"{compact(float(idle[row]))} GB·h ({format_share(float(idle[row] / idle.sum()), 0)})"

    first = largest_named(result)
    text = f"{names[result.rows[first]]} leaves most unused, {amount(first)}"
    text += f"; unclustered runs {amount(0)}." if first != 0 and result.rows[0] == UNCLUSTERED else "."
    if not result.bursts:
        return text
    named = bursts_words(result, names)
    message = "; ".join(
        [*named[:BURSTS_NAMED], *([f"{len(named) - BURSTS_NAMED:,} more"] if named[BURSTS_NAMED:] else [])]
    )
    share = format_share(sum(one.share for one in result.bursts), 0)
    gone = " (excluded)" if result.settings.leave_out_bursts else ""
    return f"{text} Burst{'s' * (len(named) > 1)}{gone} on {message}, {share} of all unused memory."


def largest_named(result: OverTime) -> int:
    """Return the place of the row that leaves most unused; one that stands for no group only where it is alone."""
    idle = result.unused.sum(axis=1)
    of_none = (UNCLUSTERED, NOT_SEEN, OTHERS)
    named = [row for row, name in enumerate(result.rows) if name not in of_none and idle[row] > 0]
    return max(named, key=lambda row: float(idle[row])) if named else int(idle.argmax())


def left_out_words(result: OverTime) -> str:
    """Return the runs that are in no bin, in a sentence; '' = none."""
    parts = []
    if result.n_not_judged:
        parts.append(f"{counted(result.n_not_judged, 'finished run')} without request, use or run time are excluded")
    if result.n_without_time:
        parts.append(f"{counted(result.n_without_time, 'run')} without times are in the sums, in no bin")
    return f"{'; '.join(parts)}." if parts else ""


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
    return _Drawn(keys, tuple(plotly_text(one, 40) for one in labels), unused, n_runs)


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
    starts, width, axis = _across(result)
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
    bottom = (len(drawn.names) * ROW_PX) / (len(drawn.names) * ROW_PX + BARS_PX)
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
            "domain": [0, bottom - BARS_FROM / 2],
            "autorange": "reversed",
            "tickvals": list(drawn.names),
            "showgrid": False,
            "automargin": True,
            "ticks": "",
            "tickfont": {"size": 11},
        },
        height=CHROME_PX + BARS_PX + ROW_PX * len(drawn.names),
        margin={"l": 8, "r": 8, "t": 28, "b": 122},
        yaxis2={
            "domain": [bottom + BARS_FROM / 2, 1],
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
        ],
    )
    return Chart(
        name="home-over-time",
        figure=figure,
        takeaway=over_time_sentence(result, names),
        shows=f"Bars of requested and used memory in GB·h per {bin_word}, above a heat map of what each of "
        f"{counted(len(drawn.names), 'row')} leaves unused.",
        data=over_time_table(result, names),
        note=" ".join(
            text
            for text in ("A click on a cell lists its runs.", _off_words(off, when), left_out_words(result))
            if text
        ),
    )


def _off_words(off: list[int], when: list[str]) -> str:
    return f"Off the scale: {listed([when[place] for place in off])}." if off else ""


def _across(result: OverTime) -> tuple[list[Any], float, dict[str, Any]]:
    """Return the middles of the bins, their width in the unit of the axis, and the axis."""
    edges = result.edges_s + result.utc_offset_s
    if result.dated:
        dates, ends = (
            [dt.datetime.fromtimestamp(one, dt.UTC).replace(tzinfo=None).isoformat() for one in of.tolist()]
            for of in ((edges[:-1] + edges[1:]) / 2, edges[[0, -1]])
        )
        axis = {"title": "Date" if result.width_s >= DAY_S else "Time", "type": "date", "range": ends}
        return dates, 1000.0 * result.width_s, axis
    unit, name = _clock(result)
    width = result.width_s / unit
    starts = (edges[:-1] / unit + 1).tolist()  # the first day of the clock is day 1
    ends = [starts[0] - width / 2, starts[-1] + width / 2]
    return starts, width, {"title": f"{name.capitalize()} of the trace", "range": ends}


def _top(result: OverTime, requested: Any) -> tuple[float, list[int]]:
    """Return the end of the axis of the bars, and the bins of bursts that reach beyond it."""
    bursts = {one.bin for one in result.bursts}
    usual = [value for place, value in enumerate(requested.tolist()) if place not in bursts]
    most = max(usual, default=0.0) or float(requested.max(initial=0.0))
    top = 1.15 * (most or 1.0)
    return top, [place for place in sorted(bursts) if requested[place] > top]


def over_time_table(result: OverTime, names: Mapping[str, str]) -> pd.DataFrame:
    """Return one line per row and bin in which it has runs."""
    rows, bins = np.nonzero(result.n_runs)
    return pd.DataFrame(
        {
            result.settings.by: [names[result.rows[row]] for row in rows.tolist()],
            "from_s": result.edges_s[bins],
            "when": [moment(result, place) for place in bins.tolist()],
            "runs": result.n_runs[rows, bins],
            "requested_gb_h": result.requested[rows, bins],
            "used_gb_h": result.used[rows, bins],
            "unused_gb_h": result.unused[rows, bins],
        }
    )


def cell_sentence(result: OverTime, runs: OverTimeRuns, names: Mapping[str, str]) -> str:
    """Return what the runs of a cell leave unused, in one sentence."""
    settings = runs.settings
    where = f" of {names.get(settings.row, settings.row)}" if settings.row else ""
    time = f", {moment(result, settings.cell)}" if settings.cell is not None else ""
    return f"{counted(runs.n_runs, 'run')}{where}{time}: {compact(runs.unused_gb_h)} GB·h unused."


CELL_COLUMNS = (
    Column("row_id", heading="row", form="%d"),
    Column("task", pinned=True),
    Column("requested_gb", heading="requested", form="%.3g GB"),
    Column("used_gb", heading="used", form="%.3g GB"),
    Column("hours", heading="run time", form="%.3g h"),
    Column("hours_inside", heading="in this time", form="%.3g h"),
    Column("unused_gb_h", heading="unused (GB·h)", form="%,.3g"),
)
"""A line per run of a cell."""


def cell_table(runs: OverTimeRuns) -> pd.DataFrame:
    """Return the listed runs of a cell, the one that leaves most unused first."""
    values = {
        "row_id": runs.row_ids,
        "task": list(runs.tasks),
        "requested_gb": runs.requested_gb,
        "used_gb": runs.used_gb,
        "hours": runs.hours,
        "hours_inside": runs.hours_inside,
        "unused_gb_h": runs.unused_each_gb_h,
    }
    return pd.DataFrame({column.name: values[column.name] for column in CELL_COLUMNS})
