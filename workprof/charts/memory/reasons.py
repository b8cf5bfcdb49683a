"""Why a task gets the size it gets: its history with the size over it, and what other sizes would have cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from workprof.charts.memory.tasks import gb, number, shown
from workprof.charts.shapes import NEUTRAL, Chart, Headline, figure_of, vertical
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.memory.why import Why
from workprof.units import GB, format_share

MOST_DOTS = 2_000
LARGEST_KEPT = 200


def why_headlines(found: Why) -> tuple[Headline, ...]:
    """Return size, margin and odds of a retry."""
    odds = found.odds_of_retry
    share = found.retried / found.n_tried if found.n_tried else math.nan
    return (
        Headline("Size", gb(found.size_bytes / GB), "The first attempt of the next run.", "first attempt"),
        Headline(
            "After a failure",
            gb(found.next_bytes / GB),
            f"Then {gb(found.last_bytes / GB)}, then doubled.",
            "second attempt",
        ),
        Headline(
            "Margin",
            format_share(found.margin_share),
            "Size over the largest past use at or below it.",
            f"{found.n_above:,} runs used more",
        ),
        Headline(
            "Odds of a retry",
            format_share(share),
            f"{found.retried:,} of {found.n_tried:,} past runs failed when each was sized from those before it; 95 % "
            "interval.",
            f"{odds.low * 100:.1f} to {odds.high * 100:.1f} %",
        ),
        Headline("Request now", gb(found.requested_bytes / GB), "Of the most recent run.", "most recent"),
    )


def why_sentence(found: Why) -> str:
    """Return the reason in words."""
    thin = " These are too few runs to rely on." if found.too_few else ""
    return (
        f"{gb(found.size_bytes / GB)} for {shown(found.settings.task)}, from {counted(found.n_known, 'past run')}: "
        f"{found.n_above:,} of them used more; {found.retried:,} of {found.n_tried:,} failed when sized in turn.{thin}"
    )


def why_history(found: Why) -> Chart:
    """Return every past run as a dot in order of submission, with the size and the request as lines."""
    used = found.used_bytes / GB
    kept = _kept(used)
    lines = [("size", found.size_bytes / GB, (COLOURS[0], "solid"))]
    if math.isfinite(found.requested_bytes):
        lines.append(("request now", found.requested_bytes / GB, (NEUTRAL, "dash")))
    figure = figure_of(
        [
            _dots("fits", kept[used[kept] <= found.size_bytes / GB], used, (COLOURS[2], "circle")),
            _dots("used more", kept[used[kept] > found.size_bytes / GB], used, (COLOURS[4], "x")),
            *(_line(name, level, len(used), look) for name, level, look in lines),
        ],
        x={"title": "Past runs, in order of submission"},
        y={"title": "Memory used (GB)", "rangemode": "tozero"},
        height=360,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=True,
        legend={"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0},
    )
    takeaway = why_sentence(found)
    drawn = f" {len(kept):,} are drawn, the largest among them." if len(kept) < len(used) else ""
    return Chart(
        name="memory-why",
        figure=figure,
        takeaway=takeaway,
        alt=f"Dots of the memory used by {counted(len(used), 'past run')} with the advised size. {takeaway}",
        data=pd.DataFrame({"run": np.arange(1, len(used) + 1), "used_gb": used, "hours": found.hours}),
        note=f"{counted(found.n_known, 'past run')}.{drawn}",
    )


def why_costs(found: Why) -> Chart:
    """Return the mean charge of the past runs at every candidate size, the chosen one marked."""
    sizes, costs = found.candidate_bytes / GB, found.candidate_cost_gb_h
    curve = {
        "type": "scatter",
        "mode": "lines",
        "line": {"color": COLOURS[1], "width": 2},
        "hovertemplate": "%{x:.4g} GB: %{y:.4g} GB·h per run<extra></extra>",
    }
    mark = {
        "type": "scatter",
        "mode": "markers",
        "marker": {"symbol": "diamond", "size": 12, "color": COLOURS[0]},
        "hovertemplate": "chosen: %{x:.4g} GB, %{y:.4g} GB·h per run<extra></extra>",
    }
    figure = figure_of(
        [
            curve | {"x": sizes, "y": costs},
            mark | {"x": sizes[found.chosen], "y": costs[found.chosen]},
        ],
        x={"title": "First size (GB)"},
        y={"title": "Mean charge (GB·h per run)", "rangemode": "tozero"},
        height=320,
        shapes=[vertical(found.size_bytes / GB, dash="dot")],
    )
    cheapest = float(sizes[int(np.argmin(costs))])
    chosen = float(costs[found.chosen][0])
    takeaway = (
        f"At {gb(found.size_bytes / GB)} a past run would have been charged {number(chosen)} GB·h on average, retries "
        f"included; {number(float(costs.min()))} GB·h at {gb(cheapest)}."
    )
    return Chart(
        name="memory-why-costs",
        figure=figure,
        takeaway=takeaway,
        alt=f"Line of the mean charge against the first size. {takeaway}",
        data=pd.DataFrame({"size_gb": sizes, "charge_gb_h": costs, "chosen": found.chosen}),
        note="The chosen size also counts runs larger than any seen, and the price of a failure; so it need not be the "
        "cheapest of the past.",
    )


def _kept(used: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if len(used) <= MOST_DOTS:
        return np.arange(len(used))
    evenly = np.linspace(0, len(used) - 1, MOST_DOTS - LARGEST_KEPT).round().astype(np.int64)
    return np.unique(np.append(evenly, np.argsort(-used, kind="stable")[:LARGEST_KEPT]))


def _dots(name: str, places: np.ndarray[Any, Any], used: np.ndarray[Any, Any], look: tuple[str, str]) -> dict[str, Any]:
    colour, symbol = look
    return {
        "type": "scatter",
        "mode": "markers",
        "x": places + 1,
        "y": used[places],
        "name": f"{name}: {len(places):,}",
        "marker": {"color": colour, "symbol": symbol, "size": 7, "opacity": 0.75},
        "hovertemplate": "run %{x:,}: %{y:.4g} GB<extra></extra>",
    }


def _line(name: str, level: float, runs: int, look: tuple[str, str]) -> dict[str, Any]:
    colour, dash = look
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [0.5, runs + 0.5],
        "y": [level, level],
        "name": f"{name}: {gb(level)}",
        "line": {"color": colour, "dash": dash, "width": 2},
        "hoverinfo": "skip",
    }
