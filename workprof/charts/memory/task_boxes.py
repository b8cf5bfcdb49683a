"""What the runs of every task used, as box plots: all of it, or the small ones close up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workprof.charts.memory.tasks import gb, row_labels, shown
from workprof.charts.shapes import CLASS_LOOKS, NEUTRAL, Chart, figure_of, rows_axis
from workprof.charts.text import counted
from workprof.charts.theme import rows_height
from workprof.memory.assessment import Assessment, TaskAssessment
from workprof.memory.facts import Box

MOST_BOXES = 60
MOST_POINTS = 30
"""Runs beyond the whiskers that are drawn per task; the largest and the smallest are always among them."""


def zoom_end_gb(found: Assessment) -> float:
    """Return where the close-up ends: half of the tasks lie wholly inside."""
    return float(np.median([task.peak_gb.max for task in found.tasks])) * 1.1


def task_boxes(found: Assessment, end_gb: float = 0.0) -> Chart:
    """Return a box per task, the one that wastes most first, with its request as a line.

    Args:
        found: the assessment.
        end_gb: where the axis ends; 0 = it shows everything.

    Source: the load-aware provisioning thesis, Figure 12.
    """
    tasks = found.tasks[:MOST_BOXES]
    rows = row_labels([task.task for task in tasks])
    traces = [_box(task, row) for task, row in zip(tasks, rows, strict=True)]
    traces.append(_requests(tasks, rows))
    axis: dict[str, Any] = {"title": "Memory used (GB)", "rangemode": "tozero"}
    if end_gb > 0:
        axis["range"] = [0, end_gb]
    figure = figure_of(
        traces,
        x=axis,
        y=rows_axis(rows),
        height=rows_height(len(rows)),
    )
    widest = max(tasks, key=lambda task: task.peak_gb.max)
    takeaway = f"{shown(widest.task)} uses most: up to {gb(widest.peak_gb.max)}, half of its runs at most "
    takeaway += f"{gb(widest.peak_gb.p50)}."
    return Chart(
        name="memory-by-task",
        figure=figure,
        takeaway=takeaway,
        alt=f"Box plots of the memory used by {counted(len(tasks), 'task')}, those that waste most at the top, with "
        f"their requests. {takeaway}",
        data=pd.DataFrame([_line(task) for task in found.tasks]),
        note=_note(found, len(tasks), end_gb),
    )


def boxes_axis_box(box: Box, row: str, colour: str) -> dict[str, Any]:
    """Return the box of one line of a figure with horizontal boxes."""
    return {
        "type": "box",
        "y": [row],
        "q1": [box.q1_gb],
        "median": [box.median_gb],
        "q3": [box.q3_gb],
        "lowerfence": [box.low_gb],
        "upperfence": [box.high_gb],
        "orientation": "h",
        "name": row,
        "marker": {"color": colour, "size": 4},
        "line": {"width": 1.6},
        "hoverinfo": "x+name",
    }


def _box(task: TaskAssessment, row: str) -> dict[str, Any]:
    drawn = boxes_axis_box(task.box, row, CLASS_LOOKS[task.size_class][0])
    extremes = task.box.extremes_gb
    if len(extremes):
        places = np.unique(np.linspace(0, len(extremes) - 1, MOST_POINTS).round().astype(np.int64))
        drawn |= {"x": [extremes[places]], "boxpoints": "all", "pointpos": 0, "jitter": 0}
    return drawn


def _requests(tasks: tuple[TaskAssessment, ...], rows: list[str]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [task.requested_gb for task in tasks],
        "y": rows,
        "marker": {"symbol": "line-ns-open", "size": 16, "color": NEUTRAL, "line": {"width": 2}},
        "name": "request",
        "hovertemplate": "%{y}: most runs ask for %{x:.3g} GB<extra></extra>",
    }


def _line(task: TaskAssessment) -> dict[str, object]:
    box = task.box
    return {
        "task": task.task,
        "runs": box.n,
        "requested_gb": task.requested_gb,
        "low_gb": box.low_gb,
        "q1_gb": box.q1_gb,
        "median_gb": box.median_gb,
        "q3_gb": box.q3_gb,
        "high_gb": box.high_gb,
        "max_gb": task.peak_gb.max,
        "beyond_whiskers": box.n_extremes,
        "class": task.size_class,
    }


def _note(found: Assessment, drawn: int, end_gb: float) -> str:
    words = (
        f"{found.n_runs:,} runs. Box: quartiles; whiskers: 1.5 interquartile ranges; dots: runs beyond (thinned, the "
        "extremes kept); grey stroke: what most runs ask for. Green light, orange moderate, red heavy (named in the "
        "table)."
    )
    if drawn < len(found.tasks):
        words += f" The {drawn} tasks that waste most of {len(found.tasks):,}."
    if end_gb > 0:
        outside = sum(task.peak_gb.max > end_gb for task in found.tasks[:drawn])
        words += f" Close up to {gb(end_gb)}: {counted(outside, 'task')} reach beyond the right end."
    return words
