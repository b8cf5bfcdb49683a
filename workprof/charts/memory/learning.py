"""How waste grows while the policies learn: the prequential curve."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workprof.charts.memory.policies import OURS, policy_name
from workprof.charts.memory.tasks import gb_h
from workprof.charts.shapes import NEUTRAL, Chart, figure_of
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.memory.replay import PolicyFigures, ReplayResult

MOST_LINES = 6
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def learning_curve(found: ReplayResult) -> Chart:
    """Return waste so far against runs so far: ours, the request of now, and the best of the others."""
    lines = _lines(found)
    figure = figure_of(
        [_trace(one, place) for place, one in enumerate(lines)],
        x={"title": "Runs so far", "rangemode": "tozero"},
        y={"title": "Wasted so far (GB·h)", "rangemode": "tozero"},
        height=400,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=True,
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
    )
    best = min(lines, key=lambda one: one.wasted_gb_h)
    takeaway = f"After {counted(found.n_test, 'run')} {policy_name(best.policy)} has wasted least: "
    takeaway += f"{gb_h(best.wasted_gb_h)}."
    cold = f" The first runs of each task ({found.n_cold:,} in all) start at their request." if found.n_cold else ""
    return Chart(
        name="memory-learning",
        figure=figure,
        takeaway=takeaway,
        alt=f"Lines of cumulative waste of {len(lines)} policies. {takeaway}",
        data=pd.concat([_table(one) for one in lines], ignore_index=True),
        note=f"Each run is sized from the runs before it, then added to them.{cold} The {len(lines)} policies of "
        "interest; the table above has all.",
    )


def _lines(found: ReplayResult) -> list[PolicyFigures]:
    every = sorted(found.policies.values(), key=lambda one: one.wasted_gb_h)
    wanted = [one for one in every if one.policy.startswith(OURS) or one.policy == "preset"]
    others = [one for one in every if one not in wanted]
    return sorted([*wanted, *others[: max(MOST_LINES - len(wanted), 0)]], key=lambda one: one.wasted_gb_h)


def _trace(one: PolicyFigures, place: int) -> dict[str, Any]:
    ours = one.policy.startswith(OURS)
    colour = NEUTRAL if one.policy == "preset" else COLOURS[place % len(COLOURS)]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": one.curve.runs_seen,
        "y": one.curve.wasted_gb_h,
        "name": policy_name(one.policy),
        "line": {"color": colour, "dash": DASHES[place % len(DASHES)], "width": 2.8 if ours else 1.6},
        "hovertemplate": "%{fullData.name}: %{y:,.4g} GB·h after %{x:,} runs<extra></extra>",
    }


def _table(one: PolicyFigures) -> pd.DataFrame:
    curve = one.curve
    return pd.DataFrame(
        {"policy": policy_name(one.policy), "runs_seen": curve.runs_seen, "wasted_gb_h": curve.wasted_gb_h}
    )
