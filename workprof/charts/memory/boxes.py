"""How the memory of tasks is spread: boxes per task, and a field against memory."""

from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.assessment import (
    FACTS,
    TASK_BOXES,
    boxes_note,
    boxes_sentence,
    fact_answer,
    facts_note,
    facts_sentence,
)
from workprof.charts import shapes
from workprof.charts.memory.tasks import CLASS_LOOKS, row_labels
from workprof.charts.shapes import LEGEND_ABOVE, NEUTRAL, Chart, figure_of, rows_axis
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.answer import to_frame
from workprof.core.table import frame
from workprof.core.words import counted, distinct, plotly_text
from workprof.memory.assessment import Assessment, TaskAssessment
from workprof.memory.facts import AFTER, BEFORE, NUMBER, UNSURE, Box, FactPoints, MemoryFact, MemoryFacts

MOST_BOXES = 60
MOST_POINTS = 30
"""Runs beyond the whiskers that are drawn per task; the largest and the smallest are always among them."""


def zoom_end_gb(result: Assessment) -> float:
    """Return where the close-up ends: half of the tasks lie wholly inside."""
    return float(np.median([task.peak_gb.max for task in result.tasks])) * 1.1


def task_boxes(result: Assessment, end_gb: float = 0.0) -> Chart:
    """Return a box per task, the one that wastes most first, with its request as a line; an axis to 0 shows everything.

    Source: the load-aware provisioning thesis, Figure 12.
    """
    tasks = result.tasks[:MOST_BOXES]
    rows = row_labels([task.task for task in tasks])
    traces = [_task_box(task, row) for task, row in zip(tasks, rows, strict=True)]
    traces.append(
        shapes.points(
            [task.requested_gb for task in tasks],
            rows,
            name="request",
            colour=NEUTRAL,
            symbol="line-ns-open",
            size=16,
            outline=2,
            hover="%{y}: most common request %{x:.3g} GB",
        )
    )
    axis: dict[str, Any] = {"title": "Memory used (GB)", "rangemode": "tozero"}
    if end_gb > 0:
        axis["range"] = [0, end_gb]
    figure = figure_of(
        traces,
        x=axis,
        y=rows_axis(rows),
        height=rows_height(len(rows)),
    )
    return Chart(
        name="memory-by-task",
        figure=figure,
        takeaway=boxes_sentence(result, len(tasks)),
        shows=f"Box plots of the memory used by {counted(len(tasks), 'task')}, those that waste most at the top, with "
        f"their requests.",
        data=frame(TASK_BOXES, result.tasks),
        note=boxes_note(result, len(tasks), end_gb),
    )


def _box(box: Box, row: str, colour: str) -> dict[str, Any]:
    ends = (box.low_gb, box.q1_gb, box.median_gb, box.q3_gb, box.high_gb)
    return shapes.box(row, ends, colour=colour, size=4, line={"width": 1.6}, hoverinfo="x+name")


def _task_box(task: TaskAssessment, row: str) -> dict[str, Any]:
    drawn = _box(task.box, row, CLASS_LOOKS[task.size_class][0])
    extremes = task.box.extremes_gb
    if len(extremes):
        places = np.unique(np.linspace(0, len(extremes) - 1, MOST_POINTS).round().astype(np.int64))
        drawn |= {"x": [extremes[places]], "boxpoints": "all", "pointpos": 0, "jitter": 0}
    return drawn


MOST_BARS = 15
LONGEST_NAME = 26
LOOKS = {BEFORE: (COLOURS[0], ""), AFTER: (COLOURS[1], "/"), UNSURE: ("#7b828c", ".")}
"""Colour and pattern by when a fact is known."""


def facts_of_task(result: MemoryFacts, task: str, *, after: bool) -> tuple[MemoryFact, ...]:
    """Return the facts of a task ('' = over all tasks), the strongest first; with or without those of afterwards."""
    return tuple(fact for fact in result.facts if fact.task == task and (after or not fact.after_the_run))


def fact_bars(result: MemoryFacts, task: str, *, after: bool) -> Chart | None:
    """Return the strongest facts as bars, or None where a task has none."""
    facts = facts_of_task(result, task, after=after)
    if not facts:
        return None
    drawn = facts[:MOST_BARS]
    rows = distinct([plotly_text(fact.column, LONGEST_NAME) for fact in drawn])
    figure = figure_of(
        [_bars(known, drawn, rows) for known in LOOKS],
        x={"title": "Strength (0 to 1)", "range": [0, 1.02]},
        y=rows_axis(rows),
        height=rows_height(len(rows)) + 30,
        **LEGEND_ABOVE,
        barmode="overlay",
    )
    return Chart(
        name="memory-facts",
        figure=figure,
        takeaway=facts_sentence(facts, task),
        shows=f"Bars of how strongly {counted(len(drawn), 'fact')} go with the use of memory.",
        data=frame(FACTS, facts),
        note=facts_note(result) + ("" if len(drawn) == len(facts) else f" The {MOST_BARS} strongest of {len(facts)}."),
    )


def fact_scatter(result: FactPoints) -> Chart:
    """Return one fact against the use of memory: points of a number, boxes of a category."""
    told = fact_answer(result)
    column = result.settings.column
    values = result.values  # noqa: PD011  a field of the record
    if result.kind == NUMBER:
        points = shapes.points(
            values, result.used_gb, colour=LOOKS[result.known][0], size=6, opacity=0.55, hover="%{x:.4g}: %{y:.3g} GB"
        )
        figure = figure_of(
            [points],
            x={"title": f"{plotly_text(column)} ({result.known})"},
            y={"title": "Memory used (GB)", "rangemode": "tozero"},
            height=360,
        )
        data = pd.DataFrame({column: values, "used_gb": result.used_gb})
    else:
        rows = distinct([plotly_text(box.task, LONGEST_NAME) for box in result.boxes])
        figure = figure_of(
            [_box(box, row, LOOKS[result.known][0]) for box, row in zip(result.boxes, rows, strict=True)],
            x={"title": "Memory used (GB)", "rangemode": "tozero"},
            y=rows_axis(rows),
            height=rows_height(len(rows)),
        )
        data = to_frame(told)
    return Chart("memory-fact", figure, told.sentence, "", data, " ".join(told.notes))


def _bars(known: str, facts: tuple[MemoryFact, ...], rows: list[str]) -> dict[str, Any]:
    colour, pattern = LOOKS[known]
    own = [(fact, row) for fact, row in zip(facts, rows, strict=True) if fact.known == known]
    return shapes.bars(
        [fact.strength for fact, _ in own] or [None],
        [row for _, row in own] or [None],
        name=known,
        colour=colour,
        pattern=pattern,
        hover="%{y}: %{customdata}",
        customdata=[_hover(fact) for fact, _ in own],
    )


def _hover(fact: MemoryFact) -> str:
    if fact.kind == NUMBER:
        return f"rank correlation {fact.correlation:.2f} ({fact.low:.2f} to {fact.high:.2f}), {fact.n:,} runs"
    return f"{fact.n_values} values, strength {fact.strength:.2f}, {fact.n:,} runs"
