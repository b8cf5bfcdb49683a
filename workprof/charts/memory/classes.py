"""Light, moderate and heavy tasks: the largest use of each against the limits."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from workprof.charts.memory.words import gb, row_labels
from workprof.charts.shapes import CLASS_LOOKS, Chart, figure_of, rows_axis, vertical
from workprof.charts.text import counted
from workprof.charts.theme import rows_height
from workprof.memory.assessment import CLASSES, Assessment, ClassSettings, TaskAssessment, task_classes
from workprof.units import GB

MOST_TASKS = 60


def with_limits(found: Assessment, settings: ClassSettings) -> Assessment:
    """Return an assessment with other limits set by hand: nothing else in it depends on them.

    Args:
        found: under any limits.
        settings: 'fixed' ones; automatic ones need the runs themselves.
    """
    most = np.array([task.peak_gb.max * GB for task in found.tasks])
    classes = task_classes(most, np.ones(len(most)), settings)
    tasks = tuple(replace(task, size_class=name) for task, name in zip(found.tasks, classes.classes, strict=True))
    return replace(found, settings=replace(found.settings, classes=settings), tasks=tasks, classes=classes)


def classes_chart(found: Assessment) -> Chart:
    """Return the largest use of every task on a logarithmic axis, marked by class, with the limits.

    Source: the load-aware provisioning thesis, Figure 13.
    """
    tasks = sorted(found.tasks, key=lambda task: -task.peak_gb.max)[:MOST_TASKS]
    rows = row_labels([task.task for task in tasks])
    limits = (found.classes.light_bytes / GB, found.classes.moderate_bytes / GB)
    figure = figure_of(
        [_marks(name, tasks, rows) for name in CLASSES],
        x={"title": "Largest use (GB, log)", "type": "log", "dtick": 1, "range": _range(tasks, limits)},
        y=rows_axis(rows, grid=True),
        height=rows_height(len(rows)) + 30,
        margin={"l": 8, "r": 8, "t": 56, "b": 8},
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "yref": "paper"},
        shapes=[vertical(limit, dash="dash") for limit in limits],
        annotations=_limit_words(limits),
    )
    takeaway = _sentence(found)
    return Chart(
        name="memory-classes",
        figure=figure,
        takeaway=takeaway,
        alt=f"Largest use of {counted(len(tasks), 'task')}, marked as light, moderate or heavy. {takeaway}",
        data=pd.DataFrame(
            [
                {"task": t.task, "class": t.size_class, "largest_use_gb": t.peak_gb.max, "requested_gb": t.requested_gb}
                for t in sorted(found.tasks, key=lambda task: -task.peak_gb.max)
            ]
        ),
        note=f"A task is light when its largest use and {found.settings.classes.headroom * 100:g} % fit the light size."
        + ("" if len(tasks) == len(found.tasks) else f" The {MOST_TASKS} largest of {len(found.tasks):,} tasks."),
    )


def _range(tasks: list[TaskAssessment], limits: tuple[float, float]) -> list[float]:
    sizes = [*limits, *(task.peak_gb.max for task in tasks)]
    return [math.log10(min(sizes)) - 0.2, math.log10(max(sizes)) + 0.2]


def _marks(name: str, tasks: list[TaskAssessment], rows: list[str]) -> dict[str, Any]:
    colour, symbol = CLASS_LOOKS[name]
    own = [(task.peak_gb.max, row) for task, row in zip(tasks, rows, strict=True) if task.size_class == name]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [largest for largest, _ in own] or [None],
        "y": [row for _, row in own] or [None],
        "name": name,
        "marker": {"color": colour, "symbol": symbol, "size": 10},
        "hovertemplate": f"%{{y}}: %{{x:.3g}} GB, {name}<extra></extra>",
    }


def _limit_words(limits: tuple[float, float]) -> list[dict[str, Any]]:
    if limits[0] == limits[1]:
        limits = limits[:1]  # type: ignore[assignment]
    return [
        {
            "x": math.log10(limit),
            "y": 0,
            "yref": "paper",
            "yanchor": "bottom",
            "xanchor": anchor,
            "text": gb(limit),
            "showarrow": False,
            "font": {"size": 12},
        }
        for limit, anchor in zip(limits, ("right", "left"), strict=False)
    ]


def _sentence(found: Assessment) -> str:
    counts, classes = found.classes.counts, found.classes
    how = "found" if found.settings.classes.limits == "auto" else "set"
    return (
        f"{counted(counts['light'], 'task')} fit {gb(classes.light_bytes / GB)}, {counts['moderate']} more fit "
        f"{gb(classes.moderate_bytes / GB)}, {counts['heavy']} "
        f"{'is' if counts['heavy'] == 1 else 'are'} heavy and {'needs' if counts['heavy'] == 1 else 'need'} bins or a "
        f"model (limits {how})."
    )
