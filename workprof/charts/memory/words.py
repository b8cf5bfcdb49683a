"""Amounts of memory and names of tasks as people read them. GB are 1e9 bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workprof.charts.text import plotly_text

LONGEST_ROW = 24
PATH_SIGN = ":"
"""Between the parts of a task's name in a Nextflow trace; the last part says what it does."""


def number(value: float) -> str:
    """Return a number with about three digits: '0.31', '12.3', '8,724'."""
    if not math.isfinite(value):
        return "no data"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def gb(value: float) -> str:
    """Return '12.3 GB'."""
    return f"{number(value)} GB" if math.isfinite(value) else "no data"


def gb_h(value: float) -> str:
    """Return '8,724 GB·h'."""
    return f"{number(value)} GB·h" if math.isfinite(value) else "no data"


def saved(share: float) -> str:
    """Return '31.3 % less', or '12.0 % more' where a saving is none."""
    if not math.isfinite(share):
        return "an unknown share less"
    return f"{share * 100:.1f} % less" if share >= 0 else f"{-share * 100:,.1f} % more"


def task_labels(tasks: Sequence[str]) -> dict[str, str]:
    """Return shown name -> task: the last part of a path, more parts where two tasks end alike."""
    found: dict[str, str] = {}
    for task in tasks:
        found[_shortest(task, tasks)] = task
    return found


def shown(task: str) -> str:
    """Return the last part of a task's path."""
    return task.rsplit(PATH_SIGN, 1)[-1] or task


def row_labels(tasks: Sequence[str]) -> list[str]:
    """Return names for the rows of a figure: the ends of long ones, a number where two would look alike."""
    labels = {task: label for label, task in task_labels(tasks).items()}
    ends = [labels[task] for task in tasks]
    ends = [end if len(end) <= LONGEST_ROW else f"…{end[1 - LONGEST_ROW :]}" for end in ends]
    return [
        plotly_text(f"{end} ({place + 1})" if ends.count(end) > 1 else end, 2 * LONGEST_ROW)
        for place, end in enumerate(ends)
    ]


def _shortest(task: str, tasks: Sequence[str]) -> str:
    parts = task.split(PATH_SIGN)
    for kept in range(1, len(parts)):
        ending = PATH_SIGN.join(parts[-kept:])
        if ending and sum(other == ending or other.endswith(PATH_SIGN + ending) for other in tasks) == 1:
            return ending
    return task
