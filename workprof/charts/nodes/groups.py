"""Groups of nodes, how far a ranking carries over to others, and which node suits a profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from workprof.answers.nodes import NO_DATA, members_words, resource, transfer_sentence, weight_words
from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, Headline, figure_of, rows_axis
from workprof.charts.text import counted, listed
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.table import Column
from workprof.core.units import GB, format_share
from workprof.nodes.advice import Advice
from workprof.nodes.allocation import Allocation, PlacedKind
from workprof.nodes.groups import Groups
from workprof.nodes.transfer import Transfer
from workprof.profiles.names import name_of

STABLE_FROM = 0.75


def groups_headlines(result: Groups) -> tuple[Headline, ...]:
    """Return the number of groups and how sure it is."""
    return (
        Headline("Groups", str(result.k), "Chosen by the mean silhouette (as published: always 3)."),
        Headline(
            "Silhouette", _number(result.silhouette), "Mean over the nodes, -1 to 1; above 0.25 groups stand apart."
        ),
        Headline(
            "Stability",
            _number(result.stability),
            "Mean adjusted Rand index with groupings of resampled runs; 1 = always the same.",
            "" if math.isnan(result.stability) else "stable" if result.stability >= STABLE_FROM else "doubtful",
        ),
        Headline(
            "Grouped by",
            counted(len(result.aspects), "resource"),
            f"Those in which differences exceed noise: {listed(result.aspects) or 'none'}.",
        ),
    )


def groups_table(result: Groups) -> pd.DataFrame:
    """Return one line per node with its group, the group's labels and scores."""
    return pd.DataFrame(
        [
            {"group": number, "node": node}
            | {f"{name}_label": text for name, text in one.labels.items()}
            | {f"{name}_score": value for name, value in one.scores.items()}
            for number, one in enumerate(result.groups)
            for node in one.nodes
        ]
    )


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
        takeaway=_chosen_words(numbers, chosen),
        shows="Mean silhouette by number of groups.",
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


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else NO_DATA


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
            x={"title": "Weight", "range": [0, 1.12], "tickformat": ".0%"},
            y=rows_axis(aspects),
            height=300,
            barmode="group",
            showlegend=True,
        ),
        takeaway=_weights_sentence(result),
        shows=f"Weight of {len(aspects)} resources.",
        data=use_table(result),
        note="A weight is the share of a resource in the use of all; one that the trace does not hold has none.",
    )


def use_table(result: Advice) -> pd.DataFrame:
    """Return what the runs use, of what, and the weights."""
    return pd.DataFrame(
        [
            {
                "aspect": one.aspect,
                "use_share": one.share,
                "use_is": one.source,
                "jobs": one.n_jobs,
                "proposed_weight": result.proposed.get(one.aspect, float("nan")),
                "used_weight": result.weights.get(one.aspect, 0.0),
            }
            for one in result.uses
        ]
    )


def _weights_sentence(result: Advice) -> str:
    return f"Weights: {weight_words(result.weights) or 'none'}."


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


SHOWN_USE = {"cpu": ("percent", 1.0, "%"), "memory": ("gb", GB, "GB")}
"""Aspect -> unit of a median use in a file, how many of its own units that is, and how a page writes it."""
MOVED_USE = ("mb_per_s", 1e6, "MB/s")


def allocation_columns(result: Allocation, names: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return the columns of the table of kinds of jobs.

    Args:
        result: whose resources they are.
        names: of the profiles by label, that of -1 last; () = by number.
    """
    columns = [
        Column("kind", lambda one: name_of(one.name, names) if names else one.name, "kind of jobs", pinned=True),
        Column("runs", "n_jobs"),
    ]
    for one in result.resources:
        if one.counts:
            label = partial(_label_words, aspect=one.aspect, k=len(result.groups))
            meaning = "Label by the median use among all runs; 1 uses least."
            columns.append(Column(f"{one.aspect}_label", label, help=meaning))
    columns += [
        Column("best_group", partial(_group_words, result, place=0), help="Number and nodes; its ranks suit best."),
        Column("next_group", partial(_group_words, result, place=1), help="Where the best has no free place."),
    ]
    for one in result.resources:
        word, factor, unit = SHOWN_USE.get(one.aspect, MOVED_USE)
        use = partial(_median_use, aspect=one.aspect, factor=factor)
        columns.append(Column(f"{one.aspect}_median_{word}", use, f"median {resource(one.aspect)} ({unit})", "%.3g"))
    return tuple(columns)


def _label_words(one: PlacedKind, aspect: str, k: int) -> str:
    return f"{one.labels[aspect]} of {k}" if one.labels[aspect] else "not known"


def _group_words(result: Allocation, one: PlacedKind, place: int) -> str | None:
    if place >= len(one.groups):
        return None
    return f"{one.groups[place]}: {members_words(result.groups[one.groups[place]].nodes)}"


def _median_use(one: PlacedKind, aspect: str, factor: float) -> float:
    return one.used[aspect] / factor


def transfer_table(result: Transfer) -> pd.DataFrame:
    """Return one line per method, the smallest median error first; errors are shares of the measured runtime."""
    lines = [
        {
            "method": name + (" (ours)" if name == result.default else ""),
            "median_error": one.median,
            "p90_error": one.p90,
            "p95_error": one.p95,
            "predictions": one.n,
        }
        for name, one in result.methods.items()
    ]
    return pd.DataFrame(lines).sort_values("median_error", kind="stable")


def transfer_bars(result: Transfer) -> Chart:
    """Return the median error of every method, smallest first."""
    table = transfer_table(result)
    rows = [str(name) for name in table["method"]]
    errors = [float(value) for value in table["median_error"]]
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
        note="Error = |predicted - measured| / measured. workprof's factor was chosen on the public reports: errors on "
        "them are in-sample.",
    )
