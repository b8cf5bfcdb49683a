"""Advice on nodes: what a profile uses, the weights that follow, and the node that suits it."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from workprof.charts.nodes.ranking import ranking_sentence
from workprof.charts.shapes import Chart, figure_of, rows_axis
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.nodes.advice import Advice
from workprof.units import format_share


def advice_sentence(found: Advice) -> str:
    """Return which node suits the profile."""
    return f"For profile {found.settings.profile} ({counted(found.n_jobs, 'job')}): {ranking_sentence(found.ranking)}"


def best_price_sentence(found: Advice) -> str:
    """Return which node gives most for its price; '' without prices."""
    priced = [one for one in found.ranking.nodes if math.isfinite(one.price_performance)]
    if not priced:
        return ""
    best = max(priced, key=lambda one: one.price_performance)
    return f"{best.node} gives most for its price: {best.price_performance:.3g} per unit of money and hour."


def weight_bars(found: Advice) -> Chart:
    """Return the weight of each aspect that was used, beside the proposed one."""
    aspects = [one.aspect for one in found.uses]
    takeaway = _weights_sentence(found)
    return Chart(
        name="node-advice-weights",
        figure=figure_of(
            [_bars("used", found.weights, aspects, 0), _bars("proposed by the jobs", found.proposed, aspects, 1)],
            x={"title": "Weight", "range": [0, 1.12], "tickformat": ".0%"},
            y=rows_axis(aspects),
            height=300,
            barmode="group",
            showlegend=True,
        ),
        takeaway=takeaway,
        alt=f"Weight of {len(aspects)} aspects. {takeaway}",
        data=use_table(found),
        note="A weight is a resource's use among the use of all; job tables do not tell the network.",
    )


def use_table(found: Advice) -> pd.DataFrame:
    """Return what the jobs use, of what, and the weights."""
    return pd.DataFrame(
        [
            {
                "aspect": one.aspect,
                "use_share": one.share,
                "use_is": one.source,
                "jobs": one.n_jobs,
                "proposed_weight": found.proposed.get(one.aspect, float("nan")),
                "used_weight": found.weights.get(one.aspect, 0.0),
            }
            for one in found.uses
        ]
    )


def _weights_sentence(found: Advice) -> str:
    told = ", ".join(f"{name} {format_share(share)}" for name, share in found.weights.items() if share > 0)
    return f"The score weighs {told or 'nothing'}."


def _bars(name: str, weights: dict[str, float], aspects: list[str], number: int) -> dict[str, Any]:
    values = [weights.get(aspect, 0.0) for aspect in aspects]
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "x": values,
        "y": aspects,
        "marker": {"color": COLOURS[number], "pattern": {"shape": "/" if number else ""}},
        "text": [format_share(value) for value in values],
        "textposition": "outside",
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
