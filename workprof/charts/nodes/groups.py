"""Groups of nodes: which nodes are alike, how they are called, and how sure the number of groups is."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from workprof.charts.nodes.ranking import NO_DATA, nodes_words
from workprof.charts.shapes import NEUTRAL, Chart, Headline, figure_of
from workprof.charts.text import counted, listed
from workprof.charts.theme import COLOURS
from workprof.nodes.groups import Groups

STABLE_FROM = 0.75


def groups_sentence(found: Groups) -> str:
    """Return how many groups there are and who is in them."""
    if not found.groups:
        return "There are no groups."
    if found.k == 1:
        return f"All {nodes_words(len(found.groups[0].nodes))} are one group: none stands apart."
    members = "; ".join(", ".join(one.nodes[:6]) + (" …" if len(one.nodes) > 6 else "") for one in found.groups)
    return f"{found.k} groups: {members}."


def groups_headlines(found: Groups) -> tuple[Headline, ...]:
    """Return the number of groups and how sure it is."""
    return (
        Headline("Groups", str(found.k), "Chosen by the mean silhouette (faithful: always 3)."),
        Headline(
            "Silhouette", _number(found.silhouette), "Mean over the nodes, -1 to 1; above 0.25 groups stand apart."
        ),
        Headline(
            "Stability",
            _number(found.stability),
            "Mean adjusted Rand index with groupings of resampled runs; 1 = always the same.",
            "" if math.isnan(found.stability) else "stable" if found.stability >= STABLE_FROM else "doubtful",
        ),
        Headline(
            "Looked at",
            counted(len(found.aspects), "aspect"),
            f"Those in which nodes differ by more than their runs do: {listed(found.aspects) or 'none'}.",
        ),
    )


def groups_table(found: Groups) -> pd.DataFrame:
    """Return one line per node with its group, the group's labels and scores."""
    return pd.DataFrame(
        [
            {"group": number, "node": node}
            | {f"{name}_label": text for name, text in one.labels.items()}
            | {f"{name}_score": value for name, value in one.scores.items()}
            for number, one in enumerate(found.groups)
            for node in one.nodes
        ]
    )


def silhouette_bars(found: Groups) -> Chart:
    """Return the mean silhouette of every number of groups; the chosen one stands out."""
    numbers = sorted(int(k) for k in found.silhouettes)
    values = [found.silhouettes[str(k)] for k in numbers]
    chosen = found.k if found.k > 1 else None
    takeaway = _chosen_words(numbers, chosen)
    return Chart(
        name="node-groups-silhouettes",
        figure=figure_of(
            [_bars(numbers, values, chosen)],
            x={"title": "Number of groups", "dtick": 1},
            y={"title": "Mean silhouette", "range": [min(0.0, *values, 0.0), 1.0]},
            height=280,
        ),
        takeaway=takeaway,
        alt=f"Mean silhouette by number of groups. {takeaway}",
        data=pd.DataFrame({"k": numbers, "silhouette": values}),
        note="The largest mean silhouette wins, the smaller number on ties; at 0.25 or less there is one group.",
    )


def _chosen_words(numbers: list[int], chosen: int | None) -> str:
    if not numbers:
        return "There are too few nodes to group."
    if len(numbers) == 1:
        stands = "does not stand out" if chosen is None else "stands out"
        return f"Only {numbers[0]} groups could be tried with so few nodes; that {stands}."
    best = "No number of groups stands out" if chosen is None else f"{chosen} groups are chosen"
    return f"{best} of {numbers[0]} to {numbers[-1]}."


def _bars(numbers: list[int], values: list[float], chosen: int | None) -> dict[str, Any]:
    return {
        "type": "bar",
        "x": numbers or [None],
        "y": values or [None],
        "marker": {"color": [COLOURS[0] if k == chosen else NEUTRAL for k in numbers] or NEUTRAL},
        "text": [f"{value:.2f}{' chosen' if k == chosen else ''}" for k, value in zip(numbers, values, strict=True)],
        "textposition": "outside",
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else NO_DATA
