"""The plane of waste and failures: policies as marks, our settings as a line, the pick of a price outlined."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from workprof.charts.memory.policies import OURS, Candidate, picked, policy_name
from workprof.charts.memory.tasks import gb_h, number
from workprof.charts.shapes import NEUTRAL, Chart, figure_of, stacked_labels
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.memory.replay import PolicyFigures, ReplayResult

_TICKS = (0, 1, 5, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000)
_LEAST_DRAWN = 1e-6


def frontier_chart(found: ReplayResult, price_gb_h: float) -> Chart:
    """Return waste against failures: policies as marks, our settings as a line, the pick of the price outlined."""
    best = picked(found, price_gb_h)
    peers = [one for one in found.policies.values() if not one.policy.startswith(OURS)]
    ours = [one for one in found.policies.values() if one.policy.startswith(OURS)]
    most = max(best.failures, *(one.failures for one in found.policies.values()))
    figure = figure_of(
        [
            _settings(found),
            _marks("peers", peers, (COLOURS[1], "circle"), most),
            _marks("ours", ours, (COLOURS[0], "diamond"), most),
            _pick(best),
        ],
        x=_failures_axis(most),
        y=_waste_axis(
            [*(one.wasted_gb_h for one in found.policies.values()), *(one.wasted_gb_h for one in found.frontier)]
        ),
        height=460,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=True,
        legend={"orientation": "h", "y": -0.18, "yanchor": "top", "x": 0},
    )
    takeaway = (
        f"At {number(price_gb_h)} GB·h per failure, {best.name} is best: {gb_h(best.wasted_gb_h)} wasted, "
        f"{number(best.failures)} failed attempts of {counted(found.n_test, 'run')}."
    )
    return Chart(
        name="memory-frontier",
        figure=figure,
        takeaway=takeaway,
        alt=f"Waste against failed attempts of {len(found.policies)} policies and {len(found.frontier)} settings of "
        f"workprof. {takeaway}",
        data=frontier_table(found),
        note=f"Nearer to the lower left is better. {counted(found.n_tasks, 'task')}, {found.n_test:,} replayed runs, "
        f"order {found.protocol}, input {found.input_column}, one simulator for all.",
    )


def frontier_table(found: ReplayResult) -> pd.DataFrame:
    """Return every point of the plane."""
    points = [
        {"name": policy_name(one.policy), "kind": "policy", "wasted_gb_h": one.wasted_gb_h, "failures": one.failures}
        for one in found.policies.values()
    ]
    points += [
        {
            "name": one.setting,
            "kind": "setting of workprof, efficient" if one.efficient else "setting of workprof",
            "wasted_gb_h": one.wasted_gb_h,
            "failures": one.failures,
        }
        for one in found.frontier
    ]
    return pd.DataFrame(points)


def _failures_axis(most: float) -> dict[str, Any]:
    ticks = [tick for tick in _TICKS if tick <= most * 1.1] or [0]
    end = math.sqrt(most + 1)
    return {
        "title": "Failed attempts (square-root axis)",
        "tickvals": [math.sqrt(tick) for tick in ticks],
        "ticktext": [f"{tick:,}" for tick in ticks],
        "range": [-0.06 * end, 1.08 * end],
    }


def _waste_axis(wasted: list[float]) -> dict[str, Any]:
    low, high = max(min(wasted), _LEAST_DRAWN), max(*wasted, _LEAST_DRAWN)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    return {
        "title": "Wasted (GB·h, logarithmic)",
        "type": "log",
        "tickvals": ticks,
        "ticktext": [number(tick) for tick in ticks],
        "range": [math.log10(low) - 0.12, math.log10(high) + 0.12],
    }


def _marks(name: str, figures: list[PolicyFigures], look: tuple[str, str], most: float) -> dict[str, Any]:
    """Return policies as marks; those at one place share a label, those far right have theirs on the left."""
    colour, symbol = look
    places = [(round(one.failures, 1), f"{one.wasted_gb_h:.3g}") for one in figures]
    shared = [
        " = ".join(policy_name(other.policy) for other, there in zip(figures, places, strict=True) if there == place)
        for place in places
    ]
    names = [
        words if places.index(place) == at else "" for at, (words, place) in enumerate(zip(shared, places, strict=True))
    ]
    x = [math.sqrt(max(one.failures, 0.0)) for one in figures]
    y = [max(one.wasted_gb_h, _LEAST_DRAWN) for one in figures]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": x or [None],
        "y": y or [None],
        "text": stacked_labels([value / math.sqrt(most + 1) for value in x], [math.log10(value) for value in y], names),
        "textposition": ["middle left" if one.failures > most / 3 else "middle right" for one in figures],
        "textfont": {"size": 11},
        "cliponaxis": False,
        "name": name,
        "marker": {"color": colour, "symbol": symbol, "size": 10},
        "customdata": [f"{policy_name(one.policy)}: {number(one.failures)} failed attempts" for one in figures],
        "hovertemplate": "%{customdata}, %{y:,.4g} GB·h wasted<extra></extra>",
    }


def _settings(found: ReplayResult) -> dict[str, Any]:
    points = sorted((one for one in found.frontier if one.efficient), key=lambda one: one.failures)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [math.sqrt(max(one.failures, 0.0)) for one in points] or [None],
        "y": [max(one.wasted_gb_h, _LEAST_DRAWN) for one in points] or [None],
        "name": "settings of ours",
        "line": {"color": COLOURS[0], "width": 2},
        "marker": {"size": 6, "symbol": "diamond-open"},
        "customdata": [f"{one.setting}: {number(one.failures)} failed attempts" for one in points],
        "hovertemplate": "%{customdata}, %{y:,.4g} GB·h wasted<extra></extra>",
    }


def _pick(best: Candidate) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [math.sqrt(max(best.failures, 0.0))],
        "y": [max(best.wasted_gb_h, _LEAST_DRAWN)],
        "name": "pick of the price",
        "marker": {"symbol": "square-open", "size": 20, "color": NEUTRAL, "line": {"width": 2.4}},
        "hoverinfo": "skip",
    }
