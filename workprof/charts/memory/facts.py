"""Which facts go with the use of memory: strengths as bars, one fact as points or boxes."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workprof.charts.memory.task_boxes import boxes_axis_box
from workprof.charts.memory.tasks import shown
from workprof.charts.shapes import Chart, figure_of, rows_axis
from workprof.charts.text import counted, plotly_text, shortened
from workprof.charts.theme import COLOURS, rows_height
from workprof.memory.facts import AFTER, BEFORE, NUMBER, UNSURE, FactPoints, MemoryFact, MemoryFacts

MOST_BARS = 15
LONGEST_NAME = 26
LOOKS = {BEFORE: (COLOURS[0], ""), AFTER: (COLOURS[1], "/"), UNSURE: ("#7b828c", ".")}
"""Colour and pattern by when a fact is known."""


def facts_of_task(found: MemoryFacts, task: str, *, after: bool) -> tuple[MemoryFact, ...]:
    """Return the facts of a task ('' = over all tasks), the strongest first; with or without those of afterwards."""
    return tuple(fact for fact in found.facts if fact.task == task and (after or not fact.after_the_run))


def fact_bars(found: MemoryFacts, task: str, *, after: bool) -> Chart | None:
    """Return the strongest facts as bars, or None where a task has none."""
    facts = facts_of_task(found, task, after=after)
    if not facts:
        return None
    drawn = facts[:MOST_BARS]
    rows = [plotly_text(fact.column, LONGEST_NAME) for fact in drawn]
    figure = figure_of(
        [_bars(known, drawn, rows) for known in LOOKS],
        x={"title": "Strength (0 to 1)", "range": [0, 1.02]},
        y=rows_axis(rows),
        height=rows_height(len(rows)) + 30,
        margin={"l": 8, "r": 8, "t": 56, "b": 8},
        barmode="overlay",
        showlegend=True,
    )
    takeaway = _sentence(facts, task)
    return Chart(
        name="memory-facts",
        figure=figure,
        takeaway=takeaway,
        alt=f"Bars of how strongly {counted(len(drawn), 'fact')} go with the use of memory. {takeaway}",
        data=fact_table(facts),
        note="Numbers: Spearman's rank correlation without its sign; categories: root of the share of the ranks' "
        "variance that they explain. Hatched: known only after the run, so no prediction may use it. Dotted: a column "
        "of the trace's own, of which nobody said when it is known."
        + ("" if len(drawn) == len(facts) else f" The {MOST_BARS} strongest of {len(facts)}."),
    )


def fact_table(facts: tuple[MemoryFact, ...]) -> pd.DataFrame:
    """Return one line per fact."""
    return pd.DataFrame(
        [
            {
                "fact": fact.column,
                "known": fact.known,
                "kind": fact.kind,
                "strength": fact.strength,
                "rank_correlation": fact.correlation,
                "low": fact.low,
                "high": fact.high,
                "p_adjusted": fact.p_adjusted,
                "runs": fact.n,
                "values": fact.n_values,
            }
            for fact in facts
        ]
    )


def fact_scatter(found: FactPoints) -> Chart:
    """Return one fact against the use of memory: points of a number, boxes of a category."""
    column = found.settings.column
    values = found.values  # noqa: PD011  a field of the record
    if found.kind == NUMBER:
        points = {
            "type": "scatter",
            "mode": "markers",
            "x": values,
            "y": found.used_gb,
            "marker": {"size": 6, "opacity": 0.55, "color": LOOKS[found.known][0]},
            "hovertemplate": "%{x:.4g}: %{y:.3g} GB<extra></extra>",
        }
        figure = figure_of(
            [points],
            x={"title": f"{plotly_text(column)} ({found.known})"},
            y={"title": "Memory used (GB)", "rangemode": "tozero"},
            height=360,
        )
        data = pd.DataFrame({column: values, "used_gb": found.used_gb})
    else:
        rows = [plotly_text(box.task, LONGEST_NAME) for box in found.boxes]
        figure = figure_of(
            [boxes_axis_box(box, row, LOOKS[found.known][0]) for box, row in zip(found.boxes, rows, strict=True)],
            x={"title": "Memory used (GB)", "rangemode": "tozero"},
            y=rows_axis(rows),
            height=rows_height(len(rows)),
        )
        data = pd.DataFrame(
            [
                {"value": box.task, "runs": box.n, "q1_gb": box.q1_gb, "median_gb": box.median_gb, "q3_gb": box.q3_gb}
                for box in found.boxes
            ]
        )
    takeaway = f"{shortened(column)} against the memory of {counted(found.n, 'run')}; it is known {_when(found.known)}."
    missing = f" {found.n_missing:,} runs have no value." if found.n_missing else ""
    drawn = f" {len(values):,} runs are drawn." if len(values) else ""
    return Chart("memory-fact", figure, takeaway, takeaway, data, f"{found.n:,} runs.{drawn}{missing}")


def _bars(known: str, facts: tuple[MemoryFact, ...], rows: list[str]) -> dict[str, Any]:
    colour, pattern = LOOKS[known]
    own = [(fact, row) for fact, row in zip(facts, rows, strict=True) if fact.known == known]
    return {
        "type": "bar",
        "orientation": "h",
        "x": [fact.strength for fact, _ in own] or [None],
        "y": [row for _, row in own] or [None],
        "name": known,
        "marker": {"color": colour, "pattern": {"shape": pattern}},
        "customdata": [_hover(fact) for fact, _ in own],
        "hovertemplate": "%{y}: %{customdata}<extra></extra>",
    }


def _hover(fact: MemoryFact) -> str:
    if fact.kind == NUMBER:
        return f"rank correlation {fact.correlation:.2f} ({fact.low:.2f} to {fact.high:.2f}), {fact.n:,} runs"
    return f"{fact.n_values} values, strength {fact.strength:.2f}, {fact.n:,} runs"


def _sentence(facts: tuple[MemoryFact, ...], task: str) -> str:
    before = [fact for fact in facts if fact.known == BEFORE]
    where = f"of {shown(task)}" if task else "over all tasks"
    if not before:
        return f"No fact known before the run goes with the memory {where}."
    best = before[0]
    return f"The strongest fact known before the run, {where}, is {best.column} (strength {best.strength:.2f} of 1)."


def _when(known: str) -> str:
    return f"{known}, so nothing may be predicted from it" if known == AFTER else known
