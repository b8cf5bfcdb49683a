"""Tasks and their memory: amounts and names as people read them, headlines, the tables of tasks, the classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.tasks import shown, task_labels
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, Chart, Headline, figure_of, rows_axis, vertical
from workprof.charts.text import counted, plotly_text, shortened
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.stats import FEWEST_RUNS
from workprof.core.table import Column, frame
from workprof.core.units import GB, format_share, gb, gb_h
from workprof.memory.assessment import (
    CLASSES,
    HEAVY,
    LIGHT,
    MODERATE,
    Assessment,
    ClassSettings,
    TaskAssessment,
    Utilisation,
    task_classes,
)
from workprof.memory.usage import excluded_words

CLASS_LOOKS = {LIGHT: (COLOURS[2], "circle"), MODERATE: (COLOURS[1], "square"), HEAVY: (COLOURS[4], "diamond")}
"""Colour and symbol of a class of tasks."""

LONGEST_ROW = 24


def row_labels(tasks: Sequence[str]) -> list[str]:
    """Return names for the rows of a figure: the ends of long ones, a number where two would look alike."""
    labels = {task: label for label, task in task_labels(tasks).items()}
    ends = [labels[task] for task in tasks]
    ends = [end if len(end) <= LONGEST_ROW else f"…{end[1 - LONGEST_ROW :]}" for end in ends]
    return [
        plotly_text(f"{end} ({place + 1})" if ends.count(end) > 1 else end, 2 * LONGEST_ROW)
        for place, end in enumerate(ends)
    ]


def assessment_headlines(result: Assessment) -> tuple[Headline, ...]:
    """Return utilisation by count and by time, GB·h, and the runs that are too large already: four figures."""
    over = sum(task.n_over_request for task in result.tasks)
    return (
        Headline(
            "Memory utilisation",
            format_share(result.memory.utilisation_by_time) if result.memory.n else "no data",
            "GB·h used over GB·h requested; below it every run counts as one, however long it ran. "
            f"{counted(result.memory.n, 'run')}.",
            f"mean of runs {format_share(result.memory.utilisation)}" if result.memory.n else "no such pairs",
        ),
        Headline(
            "Requested",
            gb_h(result.requested_gb_h),
            f"Requests times run time of {counted(result.n_requesting, 'finished run')} with a request; below it uses "
            f"times run time of {counted(result.n_runs, 'finished run')} with a use. GB = 1e9 bytes.",
            f"used {gb_h(result.used_gb_h)} by {counted(result.n_runs, 'run')}",
        ),
        Headline(
            "Runs above request",
            f"{over:,}",
            "Runs that used more than they requested: too small already, whatever is saved elsewhere.",
            f"{format_share(over / result.n_runs)} of {counted(result.n_runs, 'finished run')}",
        ),
        _used("CPU utilisation", result.cpu, "CPU use over requested cores, weighted by run time."),
    )


def assessment_sentence(result: Assessment) -> str:
    """Return in one sentence where the memory goes."""
    if not result.memory.n:
        return f"None of {counted(result.n_runs, 'run')} has a request, so nothing can be called wasted yet."
    wasted = result.wasted_gb_h
    worst = result.tasks[0]
    share = worst.wasted_gb_h / wasted if wasted else 0.0
    return (
        f"{gb_h(wasted)} of the {gb_h(result.requested_gb_h)} that {counted(result.n_requesting, 'finished run')} "
        f"request are not used (judged by {counted(result.n_judged, 'run')}); "
        f"{shown(worst.task)} alone wastes {gb_h(worst.wasted_gb_h)} ({format_share(share)})."
    )


def left_out_words(left_out: dict[str, int]) -> str:
    """Return the rows that are in no figure."""
    excluded = excluded_words(left_out)
    return f"Runs excluded: {excluded}." if excluded else "No run is excluded."


def _used(label: str, result: Utilisation, meaning: str) -> Headline:
    if not result.n:
        return Headline(label, "no data", f"{meaning} The table has no such pairs.", "no such pairs")
    return Headline(
        label,
        format_share(result.utilisation_by_time),
        f"{meaning} Below it every run counts as one. {counted(result.n, 'run')}.",
        f"mean of runs {format_share(result.utilisation)}",
    )


MOST_NAMED = 3
TASK_COLUMNS = (
    Column("task", value=lambda task: shown(task.task), pinned=True, width="medium"),
    Column("class", "size_class", help="Light, moderate or heavy, by the limits below."),
    Column(
        "evidence",
        lambda task: f"fewer than {FEWEST_RUNS} runs" if task.too_few else "enough runs",
        help="A task with too few runs is too thin for advice.",
    ),
    Column("runs", "n"),
    Column("wasted_gb_h", heading="wasted (GB·h)", form="%,.2f", help="Requested and not used, times run time."),
    Column("requested_gb_h", heading="requested (GB·h)", form="%,.2f"),
    Column("requested_gb", heading="request", form="%.3g GB", help="Of most runs; GB = 1e9 bytes."),
    Column("p50_gb", "peak_gb.p50", heading="median use", form="%.3g GB"),
    Column("p95_gb", "peak_gb.p95", heading="p95 use", form="%.3g GB"),
    Column("max_gb", "peak_gb.max", heading="largest use", form="%.3g GB"),
    Column(
        "used_percent",
        lambda one: 100 * one.utilisation,
        heading="memory used",
        form="%.1f %%",
        help="Every run counting as one.",
    ),
    Column(
        "used_by_time_percent",
        lambda one: 100 * one.utilisation_by_time,
        heading="by time",
        form="%.1f %%",
        help="Memory used, weighted by hours.",
    ),
    Column("cpu_used_percent", lambda task: 100 * task.cpu_utilisation, heading="CPU used", form="%.1f %%"),
    Column("over_request", "n_over_request", heading="above request", help="Runs that used more than they requested."),
    Column("without_request", "n_without_request", heading="no request", help="Runs without a request."),
    Column("full_name", "task", heading="full name", width="large"),
)
"""A line per task."""

_TASK_COLUMN = {column.name: column for column in TASK_COLUMNS}
GROUP_COLUMNS = (
    _TASK_COLUMN["requested_gb"],
    Column("requested_cores", heading="cores", form="%.3g"),
    Column("tasks", lambda group: len(group.tasks)),
    Column("runs", "n_runs"),
    _TASK_COLUMN["used_percent"],
    _TASK_COLUMN["used_by_time_percent"],
    _TASK_COLUMN["wasted_gb_h"],
    Column("names", lambda group: _named(group.tasks), heading="tasks in it", width="large"),
)
"""A line per group of tasks that request the same."""


def task_table(result: Assessment) -> pd.DataFrame:
    """Return one line per task, the one that wastes most GB·h first; shares in per cent."""
    return frame(TASK_COLUMNS, result.tasks).assign(task=list(task_labels([task.task for task in result.tasks])))


def group_table(result: Assessment) -> pd.DataFrame:
    """Return one line per group of tasks that request the same, the one that wastes most GB·h first.

    Source: the load-aware provisioning thesis, Table 4.
    """
    return frame(GROUP_COLUMNS, result.groups)


def _named(tasks: tuple[str, ...]) -> str:
    names = ", ".join(shortened(shown(task), 24) for task in tasks[:MOST_NAMED])
    return names if len(tasks) <= MOST_NAMED else f"{names} and {len(tasks) - MOST_NAMED} more"


MOST_TASKS = 60


def with_limits(result: Assessment, settings: ClassSettings) -> Assessment:
    """Return an assessment with other limits set by hand: nothing else in it depends on them.

    Args:
        result: under any limits.
        settings: 'fixed' ones; automatic ones need the runs themselves.
    """
    most = np.array([task.peak_gb.max * GB for task in result.tasks])
    classes = task_classes(most, np.ones(len(most)), settings)
    tasks = tuple(replace(task, size_class=name) for task, name in zip(result.tasks, classes.classes, strict=True))
    return replace(result, settings=replace(result.settings, classes=settings), tasks=tasks, classes=classes)


def classes_chart(result: Assessment) -> Chart:
    """Return the largest use of every task on a logarithmic axis, marked by class, with the limits.

    Source: the load-aware provisioning thesis, Figure 13.
    """
    tasks = sorted(result.tasks, key=lambda task: -task.peak_gb.max)[:MOST_TASKS]
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
    return Chart(
        name="memory-classes",
        figure=figure,
        takeaway=_sentence(result),
        shows=f"Largest use of {counted(len(tasks), 'task')}, marked as light, moderate or heavy.",
        data=pd.DataFrame(
            [
                {"task": t.task, "class": t.size_class, "largest_use_gb": t.peak_gb.max, "requested_gb": t.requested_gb}
                for t in sorted(result.tasks, key=lambda task: -task.peak_gb.max)
            ]
        ),
        note=f"Light: the largest use + {result.settings.classes.headroom * 100:g} % is within the light limit."
        + ("" if len(tasks) == len(result.tasks) else f" The {MOST_TASKS} largest of {len(result.tasks):,} tasks."),
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


def _sentence(result: Assessment) -> str:
    counts, classes = result.classes.counts, result.classes
    how = "found" if result.settings.classes.limits == "auto" else "set"
    moderate = gb(classes.moderate_bytes / GB)
    if counts["heavy"] == len(result.tasks):
        return f"All {counted(len(result.tasks), 'task')} are heavy (over {moderate} at peak; limits {how})."
    return (
        f"{counted(counts['light'], 'light task')} (up to {gb(classes.light_bytes / GB)}), {counts['moderate']} "
        f"moderate (up to {moderate}), {counts['heavy']} heavy (limits {how})."
    )


MOST_REQUESTED = 10
REQUESTED_COLOUR = "rgba(123, 130, 140, 0.32)"
AXIS = {"title": "Memory held (GB·h)", "rangemode": "tozero", "tickformat": "~s", "nticks": 5, "tickangle": 0}


def requested_chart(result: Assessment) -> Chart:
    """Return requested and used GB·h of the tasks that leave most unused: what is known before a verdict."""
    tasks = sorted((one for one in result.tasks if one.requested_gb_h > 0), key=lambda one: -one.wasted_gb_h)
    shown_tasks = tasks[:MOST_REQUESTED]
    rows = row_labels([one.task for one in shown_tasks])
    within = [one.requested_gb_h - one.wasted_gb_h for one in shown_tasks]
    hover = [
        f"<b>{row}</b>, {counted(one.n, 'run')}<br>requested {gb_h(one.requested_gb_h)}"
        f"<br>not used {gb_h(one.wasted_gb_h)} ({format_share(one.wasted_gb_h / one.requested_gb_h)})"
        for one, row in zip(shown_tasks, rows, strict=True)
    ]
    figure = figure_of(
        [
            _bar("requested", [one.requested_gb_h for one in shown_tasks], rows, (REQUESTED_COLOUR, 0.82), hover),
            _bar("used, up to the request", within, rows, (COLOURS[0], 0.44), hover),
        ],
        x=AXIS,
        y=rows_axis(rows),
        height=rows_height(max(len(rows), 3)),
        **LEGEND_ABOVE,
        barmode="overlay",
    )
    most = f"The {len(shown_tasks)} of {counted(len(tasks), 'task')} with most waste."
    return Chart(
        name="memory-requested",
        figure=figure,
        takeaway=assessment_sentence(result),
        shows=f"Requested and used GB·h of {counted(len(shown_tasks), 'task')}, the largest waste first.",
        data=task_table(result),
        note=most if len(tasks) > MOST_REQUESTED else "",
    )


def _bar(name: str, values: list[float], rows: list[str], look: tuple[str, float], hover: list[str]) -> dict[str, Any]:
    colour, width = look
    return shapes.bars(values, rows, name=name, colour=colour, width=width, hover="%{customdata}", customdata=hover)
