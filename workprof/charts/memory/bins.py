"""Bins: the curve of use with its limits, and the saving by number of bins."""

from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.bins import PERFECT, PERFECT_HEADROOM, SAVING, curve_answer, use_note, use_sentence
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_BELOW, NEUTRAL, Chart, figure_of, vertical
from workprof.charts.theme import COLOURS
from workprof.core.answer import to_frame
from workprof.core.arrays import Floats
from workprof.core.units import GB, format_share, gb
from workprof.core.words import counted
from workprof.memory.bin_search import COUNT
from workprof.memory.bins import Bins, ImprovementCurve, needed_bytes, own_bins

MOST_DRAWN = 600
TAIL_DRAWN = 60
CLOSEST = 0.06
"""Edges nearer to each other than this share of the axis have one label."""

_WASTE = "rgba(201,96,31,0.18)"


def usage_ecdf(result: Bins) -> Chart:
    """The ECDF of uses by the weight of the search, the edges, the largest request, and the unused memory."""
    by_count = result.settings.weight == COUNT
    usage = result.usage
    share = usage.share if by_count else usage.hours_share
    used, drawn = _thinned(usage.used_bytes / GB, share)
    edges = np.array(result.edges_bytes) / GB
    needed = needed_bytes(used * GB, result.settings) / GB
    top = max(float(edges[-1]), result.static_bytes / GB, float(usage.used_bytes[-1]) / GB)
    figure = figure_of(
        [
            _unused(used, drawn, edges, needed),
            _usage_curve(used, drawn, "runs" if by_count else "hours"),
            _edge_marks(edges, needed, drawn, "runs" if by_count else "hours"),
        ],
        x={"title": "Memory used (GB)", "range": [0, top * 1.04]},
        y={
            "title": f"Share of the {'runs' if by_count else 'hours'} at or below",
            "range": [-0.02, 1.02],
            "tickformat": ".0%",
        },
        height=400,
        top=44,
        shapes=[
            *(vertical(float(edge), colour=COLOURS[0]) for edge in edges),
            vertical(result.static_bytes / GB, dash="dot", colour=NEUTRAL),
        ],
        annotations=[*_edge_words(edges, top), _request_words(result, top)],
    )
    return Chart(
        name="memory-bins",
        figure=figure,
        takeaway=use_sentence(result),
        shows=f"Cumulative distribution of memory used with {counted(len(edges), 'bin limit')}.",
        data=pd.DataFrame(
            {"used_gb": usage.used_bytes / GB, "share_of_runs": usage.share, "share_of_hours": usage.hours_share}
        ),
        note=use_note(result),
    )


def _thinned(used: Floats, share: Floats) -> tuple[Floats, Floats]:
    if len(used) <= MOST_DRAWN:
        return used, share
    body = np.linspace(0, len(used) - TAIL_DRAWN - 1, MOST_DRAWN - TAIL_DRAWN).round().astype(np.int64)
    drawn = np.concatenate([np.unique(body), np.arange(len(used) - TAIL_DRAWN, len(used))])
    return used[drawn], share[drawn]


def _usage_curve(used: Floats, share: Floats, of: str) -> dict[str, Any]:
    return shapes.line(
        np.concatenate([used[:1], used]),
        np.concatenate([[0.0], share]),
        colour=COLOURS[2],
        width=2.2,
        shape="hv",
        hover=f"%{{y:.1%}} of the {of} use at most %{{x:.4g}} GB",
    )


def _unused(used: Floats, share: Floats, edges: Floats, needed: Floats) -> dict[str, Any]:
    """Return the area between what runs use and the edge that they would get; above the top edge there is none."""
    places = own_bins(edges, needed)
    given = np.where(places < len(edges), edges[np.minimum(places, len(edges) - 1)], used)
    below = np.concatenate([[0.0], share[:-1]])
    left, right = np.repeat(used, 2), np.repeat(given, 2)
    height = np.stack([below, share], axis=1).ravel()
    return shapes.area(np.concatenate([left, right[::-1]]), np.concatenate([height, height[::-1]]), fill=_WASTE)


def _edge_marks(edges: Floats, needed: Floats, share: Floats, of: str) -> dict[str, Any]:
    """Return a mark on every edge at the share that it holds with the headroom."""
    held = np.searchsorted(own_bins(edges, needed), np.arange(len(edges)), side="right")
    reached = np.where(held > 0, share[np.maximum(held - 1, 0)], 0.0)
    return shapes.points(
        edges,
        reached,
        colour=COLOURS[0],
        symbol="diamond",
        size=11,
        hover=f"limit %{{x:.6g}} GB holds %{{y:.1%}} of the {of}, headroom kept",
    )


def _edge_words(edges: Floats, top: float) -> list[dict[str, Any]]:
    """Return a label over every edge, one for edges that are close together."""
    groups: list[list[float]] = []
    for edge in edges.tolist():
        if groups and edge - groups[-1][-1] < CLOSEST * top:
            groups[-1].append(edge)
        else:
            groups.append([edge])
    return [
        shapes.words(
            gb(group[-1]) if len(group) == 1 else f"{len(group)} limits to {gb(group[-1])}",
            x=group[-1],
            y=1.0 + 0.055 * (place % 2),
            yref="paper",
            yanchor="bottom",
            xanchor="right" if group[-1] > 0.85 * top else "center",
        )
        for place, group in enumerate(groups)
    ]


def _request_words(result: Bins, top: float) -> dict[str, Any]:
    at = result.static_bytes / GB
    return shapes.words(
        f"largest request<br>{gb(at)}",
        x=at,
        y=0.02,
        yref="paper",
        yanchor="bottom",
        xanchor="right" if at > top / 2 else "left",
        align="right" if at > top / 2 else "left",
    )


def improvement_chart(result: ImprovementCurve, k: int) -> Chart:
    """The saving against the number of bins, the chosen number marked, with bound and no-bin line."""
    told = curve_answer(result, k)
    share = result.weighted_saved_share
    oracle, continuous = result.oracle.weighted_saved_share, result.continuous.weighted_saved_share
    chosen = result.k.index(k)
    figure = figure_of(
        [
            _line(PERFECT, oracle, len(result.k), (NEUTRAL, "solid")),
            _line(PERFECT_HEADROOM, continuous, len(result.k), (COLOURS[2], "dot")),
            shapes.line(
                list(result.k),
                share,
                name="best limits",
                colour=COLOURS[0],
                width=2.2,
                mode="lines+markers",
                hover="%{x} bins: %{y:.1%} saved, upper bound",
                marker={"size": 8},
            ),
            shapes.points(
                [k],
                [float(share[chosen])],
                name="chosen",
                colour=COLOURS[1],
                symbol="diamond-open",
                size=16,
                outline=2.4,
                hover="chosen: %{x} bins, %{y:.1%}",
            ),
        ],
        x={"title": "Number of bins", "dtick": 1, "range": [0.6, len(result.k) + 0.4]},
        y={"title": SAVING.title, "tickformat": ".0%", "range": _range(share, oracle)},
        height=380,
        **LEGEND_BELOW,
    )
    return Chart(
        name="memory-improvement",
        figure=figure,
        takeaway=told.sentence,
        shows=f"Line of the saving against one to {len(result.k)} bins, with the bound and the no-bin line.",
        data=to_frame(told),
        note=" ".join(told.notes),
    )


def _line(name: str, level: float, bins: int, look: tuple[str, str]) -> dict[str, Any]:
    colour, dash = look
    return shapes.line(
        [0.6, bins + 0.4], [level, level], name=f"{name}: {format_share(level)}", colour=colour, width=1.6, dash=dash
    )


def _range(share: Floats, oracle: float) -> list[float]:
    """Return an axis that holds curve and bound; one bin that costs far more than now may leave it below."""
    low = min(0.0, float(share[1:].min()))
    return [max(low, -1.0) - 0.05, max(oracle, float(share.max())) + 0.08]
