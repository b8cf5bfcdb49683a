"""Policies in figures: the plane of waste and failures, the past runs behind a size, and its candidates."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.policies import (
    COSTS_NOTE,
    OURS,
    Candidate,
    acceptable,
    costs_sentence,
    picked,
    policy_name,
    rule_words,
    rules_note,
    rules_sentence,
    why_note,
    why_sentence,
)
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_BELOW, NEUTRAL, Chart, figure_of, vertical
from workprof.charts.theme import COLOURS, amount_ticks
from workprof.core.units import GB, gb
from workprof.core.words import counted
from workprof.memory.frontier import FrontierPoint
from workprof.memory.policy_figures import REQUESTS, PolicyFigures
from workprof.memory.replay import ReplayResult
from workprof.memory.why import Why

ENFORCED = "requests enforced"

ROOM = 1.6
"""How far the axes reach over what is chosen and what requests enforced waste; rules beyond are named in the note."""
LEAST_WASTE = 1e-6
PLACES_PER_STEP = 24
BETTER = "rgba(42, 143, 87, 0.14)"
FEW_KILLS = 8


def kill_ticks(most: float) -> dict[str, Any]:
    """Return the ticks of an axis of kills: there is no half of one."""
    return {"dtick": 1} if most <= FEW_KILLS else {"tickformat": "~s"}


@dataclass(frozen=True)
class Plane:
    """Ranges of kills and of waste that a figure shows."""

    x: tuple[float, float]
    y: tuple[float, float]

    def across(self, kills: float) -> float:
        """Return a place as a share of the axis of kills."""
        return (kills - self.x[0]) / (self.x[1] - self.x[0])

    def up(self, waste: float) -> float:
        """Return a place as a share of the axis of waste."""
        return (waste - self.y[0]) / (self.y[1] - self.y[0])

    def along(self, ends: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        """Return places along a line of (kills, waste), as shares of the axes, so that labels keep clear of it."""
        places = [(self.across(kills), self.up(waste)) for kills, waste in ends]
        steps = [at / PLACES_PER_STEP for at in range(PLACES_PER_STEP)]
        between = [
            (x + at * (next_x - x), y + at * (next_y - y))
            for (x, y), (next_x, next_y) in itertools.pairwise(places)
            for at in steps
        ]
        return [*between, *places[-1:]]


def better(enforced: PolicyFigures, plane: Plane) -> list[dict[str, Any]]:
    """Return the ground on which a setting has fewer kills and less waste than requests enforced."""
    ends = {"x0": plane.x[0], "x1": enforced.failures, "y0": plane.y[0], "y1": enforced.wasted_gb_h}
    return [{"type": "rect", "layer": "below", "line": {"width": 0}, "fillcolor": BETTER} | ends]


def frontier_chart(result: ReplayResult, price_gb_h: float, kills: float | None = None) -> Chart:
    """Return waste against failures on linear axes: requests enforced, rules, our settings, what is chosen."""
    best, now = picked(result, price_gb_h, kills), result.policies.get(REQUESTS)
    anchors = [best.wasted_gb_h, *([now.wasted_gb_h] if now else [])]
    reach = max(best.failures, now.failures if now else 0.0, acceptable(result, kills) if kills else 0.0, 1.0)
    settings = [one for one in result.frontier if one.efficient]
    near = [one.failures for one in settings if one.wasted_gb_h <= ROOM * max(anchors)]
    most = max(reach, min(max(near, default=0.0), 2.5 * reach))
    plane = Plane((-0.05 * most, 1.15 * most), (0.0, max(ROOM * max(anchors), LEAST_WASTE)))
    rules = [one for one in result.policies.values() if one.policy != REQUESTS]
    beyond = [one for one in rules if one.failures > plane.x[1] or one.wasted_gb_h > plane.y[1]]
    figure = figure_of(
        [
            _settings(settings, plane),
            *_marks(best, now, [one for one in rules if one not in beyond], settings, plane),
        ],
        x={"title": "Failed attempts", "range": list(plane.x), **kill_ticks(most)},
        y={"title": "Memory held and not used (GB·h)", "range": list(plane.y), **amount_ticks(plane.y[1])},
        height=440,
        shapes=better(now, plane) if now else [],
        **LEGEND_BELOW,
    )
    return Chart(
        name="memory-frontier",
        figure=figure,
        takeaway=rules_sentence(result),
        shows=f"Waste against failed attempts of {len(result.policies)} policies and {len(result.frontier)} settings "
        "of workprof.",
        data=frontier_table(result),
        note=rules_note(result, beyond),
    )


def frontier_table(result: ReplayResult) -> pd.DataFrame:
    """Return every point of the plane."""
    points = [
        {"name": policy_name(one.policy), "kind": "policy", "wasted_gb_h": one.wasted_gb_h, "failures": one.failures}
        for one in result.policies.values()
    ]
    points += [
        {
            "name": one.setting,
            "kind": "setting of workprof, efficient" if one.efficient else "setting of workprof",
            "wasted_gb_h": one.wasted_gb_h,
            "failures": one.failures,
        }
        for one in result.frontier
    ]
    return pd.DataFrame(points)


def _marks(
    best: Candidate, now: PolicyFigures | None, rules: list[PolicyFigures], ours: list[FrontierPoint], plane: Plane
) -> list[dict[str, Any]]:
    """Return what is chosen, requests enforced and other rules as marks; labels that would meet are in the tooltip."""
    named: list[tuple[str, str, PolicyFigures | Candidate]] = [("chosen", "chosen", best)]
    named += [(ENFORCED, ENFORCED, now)] if now else []
    named += [("workprof", policy_name(one.policy), one) for one in rules if one.policy.startswith(OURS)]
    named += [("published rules", policy_name(one.policy), one) for one in rules if not one.policy.startswith(OURS)]
    places = [(plane.across(one.failures), plane.up(one.wasted_gb_h)) for _, _, one in named]
    words = ["" if places[at] in places[:at] else name for at, (_, name, _) in enumerate(named)]
    places += plane.along(sorted((one.failures, one.wasted_gb_h) for one in ours))
    words += [""] * (len(places) - len(named))
    labels, sides = shapes.placed_labels([x for x, _ in places], [y for _, y in places], words)
    looks: dict[str, tuple[str, str, int]] = {
        "published rules": (NEUTRAL, "circle", 9),
        "workprof": (COLOURS[0], "diamond", 10),
        ENFORCED: (COLOURS[1], "x", 13),
        "chosen": (COLOURS[2], "circle", 16),
    }
    traces = []
    for group, (colour, symbol, size) in looks.items():
        of = [at for at, (name, _, _) in enumerate(named) if name == group]
        if not of:
            continue
        names = [best.name if group == "chosen" else named[at][1] for at in of]
        hover = [f"<b>{name}</b><br>{rule_words(named[at][2])}" for name, at in zip(names, of, strict=True)]
        traces.append(
            shapes.points(
                [named[at][2].failures for at in of],
                [named[at][2].wasted_gb_h for at in of],
                name=group,
                colour=colour,
                symbol=symbol,
                size=size,
                mode="markers+text",
                hover="%{customdata}",
                text=[labels[at] for at in of],
                textposition=[sides[at] for at in of],
                textfont={"size": 12},
                cliponaxis=False,
                customdata=[
                    f"<b>{words}</b><br>{rule_words(named[at][2])}" for words, at in zip(hover, of, strict=True)
                ],
            )
        )
    return traces


def _settings(settings: list[FrontierPoint], plane: Plane) -> dict[str, Any]:
    points = [one for one in settings if one.wasted_gb_h <= 2 * plane.y[1] and one.failures <= 2 * plane.x[1]]
    points.sort(key=lambda one: one.failures)
    return shapes.line(
        [one.failures for one in points] or [None],
        [one.wasted_gb_h for one in points] or [None],
        name="workprof settings",
        colour=COLOURS[0],
        width=2,
        mode="lines+markers",
        hover="%{customdata}",
        marker={"size": 6},
        customdata=[f"{one.setting}<br>{rule_words(one)}" for one in points],
    )


MOST_DOTS = 2_000
LARGEST_DRAWN = 200


def why_history(result: Why) -> Chart:
    """Return every past run as a dot in order of submission, with the size and the request as lines."""
    used = result.used_bytes / GB
    places = _drawn(used)
    lines = [("size", result.size_bytes / GB, (COLOURS[0], "solid"))]
    if math.isfinite(result.requested_bytes):
        lines.append(("current request", result.requested_bytes / GB, (NEUTRAL, "dash")))
    figure = figure_of(
        [
            _dots("fits", places[used[places] <= result.size_bytes / GB], used, (COLOURS[2], "circle")),
            _dots("used more", places[used[places] > result.size_bytes / GB], used, (COLOURS[4], "x")),
            *(_reasons_line(name, level, len(used), look) for name, level, look in lines),
        ],
        x="Past runs, in order of submission",
        y={"title": "Memory used (GB)", "rangemode": "tozero"},
        height=360,
        **LEGEND_BELOW,
    )
    drawn = f" {len(places):,} are drawn, the largest among them." if len(places) < len(used) else ""
    return Chart(
        name="memory-why",
        figure=figure,
        takeaway=why_sentence(result),
        shows=f"Dots of the memory used by {counted(len(used), 'past run')} with the advised size.",
        data=pd.DataFrame({"run": np.arange(1, len(used) + 1), "used_gb": used, "hours": result.hours}),
        note=f"{why_note(result)}{drawn}",
    )


def why_costs(result: Why) -> Chart:
    """Return what a past run would have held on average at every candidate size, the chosen one marked."""
    sizes, costs = result.candidate_bytes / GB, result.candidate_cost_gb_h
    figure = figure_of(
        [
            shapes.line(sizes, costs, colour=COLOURS[1], width=2, hover="%{x:.4g} GB: %{y:.4g} GB·h per run"),
            shapes.points(
                sizes[result.chosen],
                costs[result.chosen],
                colour=COLOURS[0],
                symbol="diamond",
                size=12,
                hover="chosen: %{x:.4g} GB, %{y:.4g} GB·h per run",
            ),
        ],
        x="First size (GB)",
        y={"title": "Held on average (GB·h per run)", "rangemode": "tozero"},
        height=320,
        shapes=[vertical(result.size_bytes / GB, dash="dot")],
    )
    return Chart(
        name="memory-why-costs",
        figure=figure,
        takeaway=costs_sentence(result),
        shows="Line of the mean held against the first size.",
        data=pd.DataFrame({"size_gb": sizes, "cost_gb_h": costs, "chosen": result.chosen}),
        note=COSTS_NOTE,
    )


def _drawn(used: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if len(used) <= MOST_DOTS:
        return np.arange(len(used))
    evenly = np.linspace(0, len(used) - 1, MOST_DOTS - LARGEST_DRAWN).round().astype(np.int64)
    return np.unique(np.append(evenly, np.argsort(-used, kind="stable")[:LARGEST_DRAWN]))


def _dots(name: str, places: np.ndarray[Any, Any], used: np.ndarray[Any, Any], look: tuple[str, str]) -> dict[str, Any]:
    colour, symbol = look
    return shapes.points(
        places + 1,
        used[places],
        name=f"{name}: {len(places):,}",
        colour=colour,
        symbol=symbol,
        size=7,
        opacity=0.75,
        hover="run %{x:,}: %{y:.4g} GB",
    )


def _reasons_line(name: str, level: float, runs: int, look: tuple[str, str]) -> dict[str, Any]:
    colour, dash = look
    return shapes.line(
        [0.5, runs + 0.5], [level, level], name=f"{name}: {gb(level)}", colour=colour, width=2, dash=dash
    )
