"""Memory held by task, profile, user or group: requested, used and recommended, the largest waste first."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from workprof.answers.tasks import shown
from workprof.charts import shapes
from workprof.charts.memory.tasks import LONGEST_ROW, assessment_sentence, row_labels, task_table
from workprof.charts.shapes import LEGEND_ABOVE, Chart, figure_of, rows_axis
from workprof.charts.text import counted, plotly_text
from workprof.charts.theme import COLOURS, ROW_PX
from workprof.core.units import format_share, gb_h
from workprof.memory.advised_sizes import OUTSIDE, RUN, TASK, Held
from workprof.memory.assessment import Assessment
from workprof.memory.recommend import Recommendation

MOST_ROWS = 10
REQUESTED_COLOUR = "rgba(123, 130, 140, 0.32)"
ABOVE_AND_BELOW_PX = 132
LESS, MORE = "recommended", "recommended, more than requested"
LONGEST = 40
AXIS = {"title": "Memory held (GB·h)", "rangemode": "tozero", "tickformat": "~s", "nticks": 5, "tickangle": 0}
_DETAIL = re.compile(r", [^()]*(?= \(P\d+\)$)")
LEAST_CHANGE = 0.0005
"""Of the request; less is none."""


def held_chart(result: Recommendation, names: Mapping[str, str] | None = None) -> Chart:
    """Return requested, used and recommended GB·h of the keys that leave most of their requests unused.

    Args:
        result: the recommendation.
        names: key -> name; others are shown as they are.
    """
    held, known = result.held[:MOST_ROWS], dict(names or {})
    by = TASK if result.settings.by == RUN else result.settings.by
    rows = _rows(held, known, by)
    hover = [_words(one, row) for one, row in zip(held, rows, strict=True)]
    figure = figure_of(
        [
            _bar("requested", [one.requested_gb_h for one in held], rows, (REQUESTED_COLOUR, 0.82), hover),
            _bar("used", [one.used_gb_h for one in held], rows, (COLOURS[0], 0.44), hover),
            *_recommended(result, held, rows, hover),
        ],
        x=AXIS,
        y=rows_axis(rows),
        height=ABOVE_AND_BELOW_PX + ROW_PX * max(len(rows), 3),
        **LEGEND_ABOVE,
        barmode="overlay",
        yaxis2=_changes(held, rows, unchanged=result.kept),
    )
    more = (
        f" The {len(held)} of {counted(len(result.held), by)} with most waste." if len(held) < len(result.held) else ""
    )
    return Chart(
        name="memory-held",
        figure=figure,
        takeaway=_takeaway(result, known),
        shows=f"Requested, used and recommended GB·h of {counted(len(held), by)}, the largest waste first.",
        data=held_table(result, known),
        note=f"{counted(result.n_judged, 'run')} of the second half of the trace, kills charged.{more}",
    )


def requested_chart(result: Assessment) -> Chart:
    """Return requested and used GB·h of the tasks that leave most unused: what is known before a recommendation."""
    tasks = sorted((one for one in result.tasks if one.requested_gb_h > 0), key=lambda one: -one.wasted_gb_h)
    shown_tasks = tasks[:MOST_ROWS]
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
        height=ABOVE_AND_BELOW_PX + ROW_PX * max(len(rows), 3),
        **LEGEND_ABOVE,
        barmode="overlay",
    )
    more = f"The {len(shown_tasks)} of {counted(len(tasks), 'task')} with most waste." if len(tasks) > MOST_ROWS else ""
    return Chart(
        name="memory-requested",
        figure=figure,
        takeaway=assessment_sentence(result),
        shows=f"Requested and used GB·h of {counted(len(shown_tasks), 'task')}, the largest waste first.",
        data=task_table(result),
        note=more,
    )


def held_table(result: Recommendation, names: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return one line per key, the one that leaves most unused first; GB·h of the second half of the runs."""
    known = dict(names or {})
    return pd.DataFrame(
        [
            {
                "name": _name(one.key, known),
                "runs": one.n_runs,
                "requested_gb_h": one.requested_gb_h,
                "used_gb_h": one.used_gb_h,
                "recommended_gb_h": one.recommended_gb_h,
                "saved_percent": -100 * _change(one),
                "kills": one.kills,
                "kills_with_requests_enforced": one.enforced_kills,
                "full_name": one.key,
            }
            for one in result.held
        ]
    )


def _takeaway(result: Recommendation, names: Mapping[str, str]) -> str:
    requested, worst = result.requested, result.held[0]
    share = format_share(requested.wasted_gb_h / requested.charged_gb_h) if requested.charged_gb_h > 0 else "no data"
    spare = worst.requested_gb_h - worst.used_gb_h
    words = f"{share} of {gb_h(requested.charged_gb_h)} requested are not used"
    if len(result.held) == 1 or not spare > 0:
        return f"{words}."
    return f"{words}; the largest part by {_name(worst.key, names)}."


def _name(key: str, names: Mapping[str, str]) -> str:
    return names.get(key) or ("Unclustered" if key == OUTSIDE else shown(key))


def _rows(held: tuple[Held, ...], names: Mapping[str, str], by: str) -> list[str]:
    """Return the labels of the rows, each another one."""
    if by == TASK:
        return row_labels([one.key for one in held])
    return [plotly_text(_short(_name(one.key, names)), LONGEST) for one in held]


def _short(name: str) -> str:
    """Return 'bert · worker (P9)' of 'bert · worker, large GPU memory (P9)', where that is long."""
    return _DETAIL.sub("", name) if len(name) > LONGEST_ROW else name


def _bar(name: str, values: list[float], rows: list[str], look: tuple[str, float], hover: list[str]) -> dict[str, Any]:
    colour, width = look
    return shapes.bars(values, rows, name=name, colour=colour, width=width, hover="%{customdata}", customdata=hover)


def _recommended(
    result: Recommendation, held: tuple[Held, ...], rows: list[str], hover: list[str]
) -> list[dict[str, Any]]:
    """Return the marks of what is recommended, green where it saves and red where it needs more."""
    looks = {LESS: COLOURS[2], MORE: COLOURS[4]}
    parts: dict[str, list[int]] = {name: [] for name in looks}
    for at, one in enumerate(held):
        parts[MORE if _change(one) > LEAST_CHANGE else LESS].append(at)
    return [
        shapes.points(
            [held[at].recommended_gb_h for at in parts[name]] or [None],
            [rows[at] for at in parts[name]] or [rows[0]],
            name="recommended: the request" if result.kept else name,
            colour=colour,
            symbol="line-ns",
            size=20,
            hover="%{customdata}",
            customdata=[hover[at] for at in parts[name]],
            marker={"symbol": "line-ns", "size": 20, "color": colour, "line": {"width": 4, "color": colour}},
            yaxis="y2",
        )
        for name, colour in looks.items()
        if parts[name] or name == LESS
    ]


def _changes(held: tuple[Held, ...], rows: list[str], *, unchanged: bool) -> dict[str, Any]:
    """Return the axis at the right, which says what changes and how many runs are killed."""
    return rows_axis(rows) | {
        "overlaying": "y",
        "side": "right",
        "automargin": True,
        "title": {"text": ""},
        "ticks": "",
        "tickmode": "array",
        "tickvals": rows,
        "ticktext": [f"{_used(one)} used" if unchanged else _row_words(one) for one in held],
        "zeroline": False,
    }


def _change(one: Held) -> float:
    """Return recommended over requested less 1; NaN where nothing is requested."""
    return one.recommended_gb_h / one.requested_gb_h - 1 if one.requested_gb_h > 0 else math.nan


def _signed(change: float) -> str:
    if not math.isfinite(change):
        return "no request"
    if abs(change) < LEAST_CHANGE:
        return "±0 %"
    return f"{'+' if change > 0 else '−'}{abs(100 * change):.0f} %"


def _row_words(one: Held) -> str:
    return _signed(_change(one)) + (f" · {_killed(one.kills)}" if one.kills else "")


def _used(one: Held) -> str:
    return f"{100 * one.used_gb_h / one.requested_gb_h:.0f} %" if one.requested_gb_h > 0 else "–"


def _killed(n: int) -> str:
    return counted(n, "kill")


def _words(one: Held, row: str) -> str:
    share = format_share(one.used_gb_h / one.requested_gb_h) if one.requested_gb_h > 0 else "no data"
    return (
        f"<b>{row}</b>, {counted(one.n_runs, 'run')}<br>requested {gb_h(one.requested_gb_h)}"
        f"<br>used {gb_h(one.used_gb_h)} ({share})"
        f"<br>recommended {gb_h(one.recommended_gb_h)} ({_signed(_change(one))}), {_killed(one.kills)}"
        f"<br>requests enforced: {_killed(one.enforced_kills)}"
    )
