"""The verdict in figures: what each row holds and would hold, and saving against kills."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from workprof.answers.verdict import (
    curve_sentence,
    expected_words,
    figures,
    named,
    plain_point_words,
    plain_sentence,
    plain_words,
    sentence,
    task_names,
    verdict_tables,
    why,
)
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, Chart, Headline, drawn_once, figure_of, rows_axis
from workprof.charts.theme import COLOURS
from workprof.core.units import format_share, gb_h, number
from workprof.core.words import counted, plotly_text
from workprof.memory.resources import MEMORY
from workprof.memory.verdict import CurvePoint, ResourceVerdict, Verdict
from workprof.memory.verdict_rows import KEEP, VerdictRow

MOST_ROWS = 12
ROW_PX, ABOVE_AND_BELOW_PX = 34, 110
CURVE_PX = 340
REQUESTED_COLOUR = "rgba(120, 130, 140, 0.35)"


def verdict_headlines(verdict: Verdict) -> tuple[Headline, ...]:
    """Requested, unused, saved and killed: the same figures on every page."""
    return tuple(map(shapes.headline, figures(verdict)))


@drawn_once
def rows_chart(verdict: Verdict) -> Chart:
    """GB·h of the later runs by row: requested now, and as the verdict sizes them."""
    memory = verdict.memory
    rows = [row for row in memory.rows if row.booked > 0]
    rows.sort(key=lambda row: (row.action == KEEP, -abs(row.saved), -row.booked))
    drawn = rows[:MOST_ROWS]
    names = _distinct(drawn, task_names(memory.rows))
    hover = [
        f"<b>{name}</b>, {counted(row.n_judged, 'later run')}<br>requested {gb_h(row.booked)}"
        f"<br>next {gb_h(row.booked - row.saved)}<br>{plotly_text(why(row, MEMORY, memory.unit))}"
        for name, row in zip(names, drawn, strict=True)
    ]
    figure = figure_of(
        [
            _bars("requested", [row.booked for row in drawn], names, REQUESTED_COLOUR, 0.8, hover),
            _bars("by the verdict", [row.booked - row.saved for row in drawn], names, COLOURS[0], 0.45, hover),
        ],
        x="GB·h of the later runs",
        y=rows_axis(names),
        height=ABOVE_AND_BELOW_PX + ROW_PX * max(len(drawn), 3),
        **LEGEND_ABOVE,
        barmode="overlay",
    )
    return Chart(
        name="memory-verdict",
        figure=figure,
        takeaway=sentence(verdict),
        shows=f"Requested GB·h of {counted(len(drawn), 'row')}, and what the verdict would hold, largest saving first.",
        data=verdict_tables(verdict)[0].frame(),
        note=f"{len(drawn)} of {counted(len(memory.rows), 'row')}; the table has all of them."
        if len(drawn) < len(memory.rows)
        else "",
    )


def _bars(
    name: str, values: list[float], rows: list[str], colour: str, width: float, hover: list[str]
) -> dict[str, Any]:
    return shapes.bars(
        values,
        rows,
        colour=colour,
        hover="%{customdata}<extra></extra>",
        name=name,
        width=width,
        customdata=hover,
        showlegend=True,
    )


def _distinct(rows: list[VerdictRow], tasks: Mapping[str, str]) -> list[str]:
    """Return the rows' labels; where two are alike, with their requests."""
    names = [plotly_text(named(row, tasks), 44) for row in rows]
    told = [
        f"{name}, {number(row.request)} GB" if names.count(name) > 1 else name
        for name, row in zip(names, rows, strict=True)
    ]
    return [f"{name} ({told[:at].count(name) + 1})" if name in told[:at] else name for at, name in enumerate(told)]


@drawn_once
def curve_chart(verdict: Verdict) -> Chart | None:
    """Saving against kills of the later runs, a point for each acceptable share; None where there is no curve."""
    memory = verdict.memory
    if not memory.curve:
        return None
    points = sorted(memory.curve, key=lambda one: one.acceptable_share)
    words = [_point_words(one, memory) for one in points]
    chosen = CurvePoint(
        memory.acceptable_share, memory.judged.saved_share, memory.judged.kills, memory.judged.expected_kills
    )
    notes = [
        "Each point is learned before the runs that it is judged on; killed attempts included.",
        plain_sentence(memory),
    ]
    if memory.decided and memory.decided.left_out:
        notes.append("The line has every row, also those that are left out.")
    x = [100 * one.acceptable_share for one in points]
    figure = figure_of(
        [
            shapes.line(
                x,
                [100 * one.saved_share for one in points],
                colour=COLOURS[0],
                hover="%{customdata}<extra></extra>",
                mode="lines+markers",
                customdata=words,
                name="acceptable kills",
                showlegend=True,
            ),
            shapes.points(
                [100 * chosen.acceptable_share],
                [100 * chosen.saved_share],
                colour=COLOURS[1],
                size=14,
                hover="%{customdata}<extra></extra>",
                customdata=[_point_words(chosen, memory)],
                name="chosen",
                showlegend=True,
                cliponaxis=False,
            ),
            shapes.points(
                [100 * one.kills / memory.judged.n_runs for one in memory.plain],
                [100 * one.saved_share for one in memory.plain],
                colour=COLOURS[2],
                size=9,
                hover="%{customdata}<extra></extra>",
                customdata=[plain_point_words(one, memory) for one in memory.plain],
                name="plain rules, by their kills",
                showlegend=True,
                cliponaxis=False,
            ),
        ],
        x={"title": "Acceptable kills (% of runs)", "rangemode": "tozero"},
        y={"title": "Saved (%)", "rangemode": "tozero"},
        height=CURVE_PX,
        **LEGEND_ABOVE,
    )
    return Chart(
        name="memory-frontier",
        figure=figure,
        takeaway=curve_sentence([*points, chosen]),
        shows="Saving of the later runs against the share of runs that may be killed.",
        data=curve_table(verdict),
        note=" ".join(notes),
    )


def _point_words(one: CurvePoint, memory: ResourceVerdict) -> str:
    return (
        f"at most {format_share(one.acceptable_share)} kills<br>saves {format_share(one.saved_share)}"
        f"<br>{one.kills:,} kills in {memory.judged.n_runs:,} runs, {expected_words(one.expected_kills)} foreseen"
    )


def curve_table(verdict: Verdict) -> pd.DataFrame:
    """One line per acceptable share, and per plain rule."""
    of_plan = [
        {
            "acceptable_percent": 100 * one.acceptable_share,
            "saved_percent": 100 * one.saved_share,
            "kills": one.kills,
            "expected_kills": one.expected_kills,
        }
        for one in verdict.memory.curve
    ]
    plain = [
        {"plain_rule": plain_words(one), "saved_percent": 100 * one.saved_share, "kills": one.kills}
        for one in verdict.memory.plain
    ]
    return pd.DataFrame([*of_plan, *plain])
