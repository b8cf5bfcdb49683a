"""Tasks and their memory in figures: requested and used, and the classes."""

import math
from collections.abc import Sequence
from typing import Any

from workprof.answers.assessment import TASK_BOXES, assessment_answer, classes_note, classes_sentence
from workprof.answers.tasks import names_of
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, Chart, figure_of, rows_axis, vertical
from workprof.charts.theme import COLOURS, amount_ticks, rows_height
from workprof.core.answer import to_frame
from workprof.core.table import frame
from workprof.core.units import GB, format_share, gb, gb_h
from workprof.core.words import counted, plotly_text
from workprof.memory.assessment import CLASSES, HEAVY, LIGHT, MODERATE, Assessment, TaskAssessment

CLASS_LOOKS = {LIGHT: (COLOURS[2], "circle"), MODERATE: (COLOURS[1], "square"), HEAVY: (COLOURS[4], "diamond")}
"""Colour and symbol of a class of tasks."""

LONGEST_ROW = 24


def row_labels(tasks: Sequence[str]) -> list[str]:
    """Return names for the rows of a figure: the ends of long ones, a number where two would look alike."""
    labels = names_of(tasks)
    ends = [labels[task] for task in tasks]
    ends = [end if len(end) <= LONGEST_ROW else f"…{end[1 - LONGEST_ROW :]}" for end in ends]
    return [
        plotly_text(f"{end} ({place + 1})" if ends.count(end) > 1 else end, 2 * LONGEST_ROW)
        for place, end in enumerate(ends)
    ]


MOST_TASKS = 60


def classes_chart(result: Assessment) -> Chart:
    """Return the largest use of every task on a logarithmic axis, marked by class, with the limits.

    Source: the load-aware provisioning thesis, Figure 13.
    """
    every = sorted(result.tasks, key=lambda task: -task.peak_gb.max)
    tasks = every[:MOST_TASKS]
    rows = row_labels([task.task for task in tasks])
    limits = (result.classes.light_bytes / GB, result.classes.moderate_bytes / GB)
    figure = figure_of(
        [_marks(name, tasks, rows) for name in CLASSES],
        x={"title": "Largest use (GB, log)", "type": "log", "dtick": 1, "range": _range(tasks, limits)},
        y=rows_axis(rows, grid=True),
        height=rows_height(len(rows)) + 30,
        **LEGEND_ABOVE,
        shapes=[vertical(limit, dash="dash") for limit in limits],
        annotations=_limit_words(limits),
    )
    more = "" if len(tasks) == len(every) else f" The {MOST_TASKS} largest of {len(every):,} tasks."
    return Chart(
        name="memory-classes",
        figure=figure,
        takeaway=classes_sentence(result),
        shows=f"Largest use of {counted(len(tasks), 'task')}, marked as light, moderate or heavy.",
        data=frame(TASK_BOXES, every),
        note=f"{classes_note(result)}{more}",
    )


def _range(tasks: list[TaskAssessment], limits: tuple[float, float]) -> list[float]:
    sizes = [*limits, *(task.peak_gb.max for task in tasks)]
    return [math.log10(min(sizes)) - 0.2, math.log10(max(sizes)) + 0.2]


def _marks(name: str, tasks: list[TaskAssessment], rows: list[str]) -> dict[str, Any]:
    colour, symbol = CLASS_LOOKS[name]
    own = [(task.peak_gb.max, row) for task, row in zip(tasks, rows, strict=True) if task.size_class == name]
    return shapes.points(
        [largest for largest, _ in own] or [None],
        [row for _, row in own] or [None],
        name=name,
        colour=colour,
        symbol=symbol,
        size=10,
        hover=f"%{{y}}: %{{x:.3g}} GB, {name}",
    )


def _limit_words(limits: tuple[float, float]) -> list[dict[str, Any]]:
    if limits[0] == limits[1]:
        limits = limits[:1]  # type: ignore[assignment]
    return [
        shapes.words(gb(limit), x=math.log10(limit), y=0, yref="paper", yanchor="bottom", xanchor=anchor)
        for limit, anchor in zip(limits, ("right", "left"), strict=False)
    ]


MOST_REQUESTED = 10
REQUESTED_COLOUR = "rgba(123, 130, 140, 0.32)"
AXIS = {"title": "Memory held (GB·h)", "rangemode": "tozero", "nticks": 5, "tickangle": 0}


def requested_chart(result: Assessment) -> Chart:
    """Return requested and used GB·h of the tasks that leave most unused: what is known before a verdict."""
    told = assessment_answer(result)
    tasks = sorted((one for one in result.tasks if one.judged_gb_h > 0), key=lambda one: -one.wasted_gb_h)
    shown_tasks = tasks[:MOST_REQUESTED]
    rows = row_labels([one.task for one in shown_tasks])
    within = [one.judged_gb_h - one.wasted_gb_h for one in shown_tasks]
    hover = [
        f"<b>{row}</b>, {counted(one.n, 'run')}<br>requested {gb_h(one.judged_gb_h)}"
        f"<br>not used {gb_h(one.wasted_gb_h)} ({format_share(one.wasted_gb_h / one.judged_gb_h)})"
        for one, row in zip(shown_tasks, rows, strict=True)
    ]
    figure = figure_of(
        [
            _bar("requested", [one.judged_gb_h for one in shown_tasks], rows, (REQUESTED_COLOUR, 0.82), hover),
            _bar("used, up to the request", within, rows, (COLOURS[0], 0.44), hover),
        ],
        x=AXIS | amount_ticks(max((one.judged_gb_h for one in shown_tasks), default=0.0)),
        y=rows_axis(rows),
        height=rows_height(max(len(rows), 3)),
        **LEGEND_ABOVE,
        barmode="overlay",
    )
    most = f"The {len(shown_tasks)} of {counted(len(tasks), 'task')} with most waste."
    return Chart(
        name="memory-requested",
        figure=figure,
        takeaway=told.sentence,
        shows=f"Requested and used GB·h of {counted(len(shown_tasks), 'task')}, the largest waste first.",
        data=to_frame(told),
        note=most if len(tasks) > MOST_REQUESTED else "",
    )


def _bar(name: str, values: list[float], rows: list[str], look: tuple[str, float], hover: list[str]) -> dict[str, Any]:
    colour, width = look
    return shapes.bars(values, rows, name=name, colour=colour, width=width, hover="%{customdata}", customdata=hover)
