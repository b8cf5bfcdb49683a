"""Groups of nodes, weights by what runs use, and errors of runtimes on other machines, drawn."""

from typing import Any

import pandas as pd

from workprof.answers.node_groups import TRANSFER_NOTE, chosen_sentence, transfer_sentence, transfer_table, use_table
from workprof.answers.nodes import weights_sentence
from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, figure_of, rows_axis
from workprof.charts.theme import COLOURS, SHARE_TICKS, rows_height
from workprof.core.units import format_share
from workprof.nodes.advice import Advice
from workprof.nodes.groups import Groups
from workprof.nodes.transfer import Transfer


def silhouette_bars(result: Groups) -> Chart:
    """Return the mean silhouette of every number of groups; the chosen one stands out."""
    numbers = sorted(int(k) for k in result.silhouettes)
    values = [result.silhouettes[str(k)] for k in numbers]
    chosen = result.k if result.k > 1 else None
    return Chart(
        name="node-groups-silhouettes",
        figure=figure_of(
            [
                shapes.columns(
                    numbers or [None],
                    values or [None],
                    colour=[COLOURS[0] if k == chosen else NEUTRAL for k in numbers] or NEUTRAL,
                    text=[
                        f"{value:.2f}{' chosen' if k == chosen else ''}"
                        for k, value in zip(numbers, values, strict=True)
                    ],
                )
            ],
            x={"title": "Number of groups", "dtick": 1},
            y={"title": "Mean silhouette", "range": [min(0.0, *values, 0.0), 1.0]},
            height=280,
        ),
        takeaway=chosen_sentence(result),
        shows="Mean silhouette by number of groups.",
        data=pd.DataFrame({"k": numbers, "silhouette": values}),
        note="The largest mean silhouette wins, the smaller number on ties; at 0.25 or less there is one group.",
    )


def weight_bars(result: Advice) -> Chart:
    """Return the weight of each resource that was used, beside the proposed one."""
    aspects = [one.aspect for one in result.uses]
    return Chart(
        name="node-advice-weights",
        figure=figure_of(
            [
                _advice_bars("used", result.weights, aspects, 0),
                _advice_bars("by the use of the runs", result.proposed, aspects, 1),
            ],
            x={"title": "Weight", "range": [0, 1.12], **SHARE_TICKS},
            y=rows_axis(aspects),
            height=300,
            barmode="group",
            showlegend=True,
        ),
        takeaway=weights_sentence(result.weights),
        shows=f"Weight of {len(aspects)} resources.",
        data=use_table(result).frame(),
        note="A weight is the share of a resource in the use of all; one that the trace does not hold has none.",
    )


def _advice_bars(name: str, weights: dict[str, float], aspects: list[str], number: int) -> dict[str, Any]:
    values = [weights.get(aspect, 0.0) for aspect in aspects]
    return shapes.bars(
        values,
        aspects,
        name=name,
        colour=COLOURS[number],
        pattern="/" if number else "",
        text=[format_share(value) for value in values],
    )


def transfer_bars(result: Transfer) -> Chart:
    """Return the median error of every method, smallest first."""
    table = transfer_table(result).frame()
    rows = [str(name) for name in table["method"]]
    errors = [float(value) for value in table["median"]]
    return Chart(
        name="node-transfer",
        figure=figure_of(
            [
                shapes.bars(
                    errors,
                    rows,
                    colour=[COLOURS[0] if name.endswith("(ours)") else NEUTRAL for name in rows],
                    text=[format_share(value) for value in errors],
                )
            ],
            x={
                "title": "Median error (share of the measured runtime)",
                "tickformat": ".0%",
                "range": [0, 1.15 * max(errors)],
            },
            y=rows_axis(rows),
            height=rows_height(len(rows)),
        ),
        takeaway=transfer_sentence(result),
        shows=f"Median error of {len(rows)} methods.",
        data=table,
        note=TRANSFER_NOTE,
    )
