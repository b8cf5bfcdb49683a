"""What the runs of a task used, as an ECDF with the bin edges and the memory that stays unused in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workprof.arrays import Floats
from workprof.charts.memory.tasks import gb, saved, shown
from workprof.charts.shapes import NEUTRAL, Chart, figure_of, vertical
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.memory.bin_search import COUNT
from workprof.memory.bins import Bins
from workprof.units import GB, format_share

MOST_DRAWN = 600
TAIL_DRAWN = 60
CLOSEST = 0.06
"""Edges nearer to each other than this share of the axis have one label."""

_WASTE = "rgba(201,96,31,0.18)"


def usage_ecdf(found: Bins, about: str = "") -> Chart:
    """Return the ECDF of a task's uses by the weight of the search, its edges, the request, and the unused memory.

    Args:
        found: its bins.
        about: whose bins they are, where these are no task's.
    """
    by_count = found.settings.weight == COUNT
    usage = found.usage
    share = usage.share if by_count else usage.hours_share
    used, drawn = _thinned(usage.used_bytes / GB, share)
    edges = np.array(found.edges_bytes) / GB
    top = max(float(edges[-1]), found.static_bytes / GB, float(usage.used_bytes[-1]) / GB)
    figure = figure_of(
        [
            _unused(used, drawn, edges),
            _curve(used, drawn, "runs" if by_count else "hours"),
            _edge_marks(edges, used, drawn),
        ],
        x={"title": "Memory used (GB)", "range": [0, top * 1.04]},
        y={
            "title": f"Share of the {'runs' if by_count else 'hours'} at or below",
            "range": [-0.02, 1.02],
            "tickformat": ".0%",
        },
        height=400,
        margin={"l": 8, "r": 8, "t": 44, "b": 8},
        shapes=[
            *(vertical(float(edge), colour=COLOURS[0]) for edge in edges),
            vertical(found.static_bytes / GB, dash="dot", colour=NEUTRAL),
        ],
        annotations=[*_edge_words(edges, top), _request_words(found, top)],
    )
    takeaway = bins_sentence(found, about)
    return Chart(
        name="memory-bins",
        figure=figure,
        takeaway=takeaway,
        alt=f"Cumulative distribution of memory used with {counted(len(edges), 'bin edge')}. {takeaway}",
        data=pd.DataFrame(
            {"used_gb": usage.used_bytes / GB, "share_of_runs": usage.share, "share_of_hours": usage.hours_share}
        ),
        note=_note(found, of_task=not about),
    )


def bins_sentence(found: Bins, about: str = "") -> str:
    """Return saving and risk of the edges in one sentence."""
    effect = found.effect
    share = effect.saved_share if found.settings.weight == COUNT else effect.time_based_saved_share
    of = "memory" if found.settings.weight == COUNT else "GB·h"
    edges = ", ".join(gb(edge / GB) for edge in found.edges_bytes)
    risk = "no run of this history is above the top edge"
    if effect.n_above:
        risk = f"{counted(effect.n_above, 'run')} ({format_share(effect.above_share)}) are above the top edge"
    about = about or shown(found.settings.task)
    task = f" for {about}" if about else ""
    bins = counted(len(found.edges_bytes), "bin")
    verb = "holds" if len(found.edges_bytes) == 1 else "hold"
    return f"{bins}{task} ({edges}) {verb} {saved(share)} {of} than requested, at best; {risk}."


def _thinned(used: Floats, share: Floats) -> tuple[Floats, Floats]:
    if len(used) <= MOST_DRAWN:
        return used, share
    body = np.linspace(0, len(used) - TAIL_DRAWN - 1, MOST_DRAWN - TAIL_DRAWN).round().astype(np.int64)
    kept = np.concatenate([np.unique(body), np.arange(len(used) - TAIL_DRAWN, len(used))])
    return used[kept], share[kept]


def _curve(used: Floats, share: Floats, of: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([used[:1], used]),
        "y": np.concatenate([[0.0], share]),
        "line": {"shape": "hv", "color": COLOURS[2], "width": 2.2},
        "hovertemplate": f"%{{y:.1%}} of the {of} use at most %{{x:.4g}} GB<extra></extra>",
    }


def _unused(used: Floats, share: Floats, edges: Floats) -> dict[str, Any]:
    """Return the area between what runs use and the edge that they would get; above the top edge there is none."""
    places = np.searchsorted(edges, used)
    given = np.where(places < len(edges), edges[np.minimum(places, len(edges) - 1)], used)
    below = np.concatenate([[0.0], share[:-1]])
    left, right = np.repeat(used, 2), np.repeat(given, 2)
    height = np.stack([below, share], axis=1).ravel()
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([left, right[::-1]]),
        "y": np.concatenate([height, height[::-1]]),
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": _WASTE,
        "hoverinfo": "skip",
    }


def _edge_marks(edges: Floats, used: Floats, share: Floats) -> dict[str, Any]:
    places = np.searchsorted(used, edges, side="right")
    reached = np.where(places > 0, share[np.maximum(places - 1, 0)], 0.0)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": edges,
        "y": reached,
        "marker": {"symbol": "diamond", "size": 11, "color": COLOURS[0]},
        "hovertemplate": "edge %{x:.4g} GB: %{y:.1%} at or below<extra></extra>",
    }


def _edge_words(edges: Floats, top: float) -> list[dict[str, Any]]:
    """Return a label over every edge, one for edges that are close together."""
    groups: list[list[float]] = []
    for edge in edges.tolist():
        if groups and edge - groups[-1][-1] < CLOSEST * top:
            groups[-1].append(edge)
        else:
            groups.append([edge])
    return [
        {
            "x": group[-1],
            "y": 1.0 + 0.055 * (place % 2),
            "yref": "paper",
            "yanchor": "bottom",
            "xanchor": "right" if group[-1] > 0.85 * top else "center",
            "text": gb(group[-1]) if len(group) == 1 else f"{len(group)} edges to {gb(group[-1])}",
            "showarrow": False,
            "font": {"size": 12},
        }
        for place, group in enumerate(groups)
    ]


def _request_words(found: Bins, top: float) -> dict[str, Any]:
    at = found.static_bytes / GB
    return {
        "x": at,
        "y": 0.02,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "right" if at > top / 2 else "left",
        "text": f"largest request<br>{gb(at)}",
        "showarrow": False,
        "align": "right" if at > top / 2 else "left",
        "font": {"size": 12},
    }


def _note(found: Bins, *, of_task: bool) -> str:
    words = f"{counted(found.effect.n_runs, 'run')}; shaded: memory that stays unused in the bins. "
    words += "At best = if every run comes into its right bin"
    words += "; the Models tab says how often that fails." if of_task else "."
    if found.stride_bytes:
        words += f" Stride {gb(found.stride_bytes / GB)}; all choices would be {found.n_trials:,.0f} trials."
    out = [f"{rows:,} with {reason}" for reason, rows in found.left_out.items() if rows]
    return words + (f" Left out: {', '.join(out)}." if out else "")
