"""Configuration search: the path of one search, and how far the searches are from the cheapest after each trial."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.nodes import more_words, random_sentence, search_sentence
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_BELOW, NEUTRAL, Chart, Headline, figure_of
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.core.units import format_share
from workprof.nodes.search import RANDOM, WITH_SCORES, WITHOUT, Search

DASHES = {RANDOM: "dash", WITHOUT: "dot", WITH_SCORES: "solid"}
LINES = {RANDOM: COLOURS[1], WITHOUT: NEUTRAL, WITH_SCORES: COLOURS[0]}
BANDS = {RANDOM: "", WITHOUT: "rgba(123,130,140,0.18)", WITH_SCORES: "rgba(48,121,207,0.16)"}


def search_headlines(result: Search) -> tuple[Headline, ...]:
    """Return how many configurations there are and how many trials find the cheapest."""
    kind = list(result.curves)[-1]
    curve, trials = result.curves[kind], result.settings.trials
    return (
        Headline("Configurations", f"{result.n_configurations:,}", "That a search can try, over all workloads."),
        Headline("Workloads", str(len(result.workloads)), "Each is searched by itself."),
        Headline(
            f"After {counted(trials, 'trial')}",
            f"+{100 * (float(curve.mean[-1]) - 1):.1f} %",
            f"Mean cost of the best configuration found above the cheapest, {kind}.",
        ),
        Headline(
            "Random search",
            f"+{100 * (float(result.curves[RANDOM].mean[-1]) - 1):.1f} %",
            f"The same, where each of {counted(trials, 'trial')} is drawn at random.",
        ),
        Headline(
            "Found the cheapest",
            format_share(float(curve.found_share[-1]), 0),
            f"Of the searches, after {counted(trials, 'trial')}, {kind}.",
        ),
    )


def cost_curves(result: Search) -> Chart:
    """Return the mean cost found against the least, by number of trials, with its interval."""
    trials = np.arange(1, result.settings.trials + 1)
    traces: list[dict[str, Any]] = []
    for kind, curve in reversed(result.curves.items()):
        around = np.concatenate([trials, trials[::-1]])
        ends = np.concatenate([curve.mean_high, curve.mean_low[::-1]])
        if BANDS[kind]:
            traces.append(shapes.area(around, ends, fill=BANDS[kind], hoverinfo="skip", showlegend=False))
        hover = f"{kind}: %{{y:.3f}} times the least cost after %{{x}} trials"
        traces.append(shapes.line(trials, curve.mean, name=kind, colour=LINES[kind], dash=DASHES[kind], hover=hover))
    return Chart(
        name="node-search-cost",
        figure=figure_of(
            traces,
            x={"title": "Trials", "dtick": 1 if len(trials) <= 20 else 10},
            y={"title": "Cost found / least cost"},
            height=360,
            **LEGEND_BELOW,
        ),
        takeaway=search_sentence(result),
        shows=f"Lines of the mean cost found by number of trials, {' and '.join(result.curves)}.",
        data=curve_table(result),
        note=f"Mean over {counted(result.settings.seeds, 'seed')} of each workload; the band is the 90 % "
        f"bootstrap interval of the mean. {random_sentence(result)}",
    )


def search_path(result: Search, workload: str) -> Chart:
    """Return the first search of a workload: the cost of each trial, and the least one so far."""
    path = [one for one in result.path if one.workload == workload]
    least = result.least_costs[workload]
    trials = [one.trial for one in path]
    costs = [one.cost / least for one in path]
    best = [None if one.best_cost is None else one.best_cost / least for one in path]
    names = [one.configuration for one in path]
    hover = "%{customdata}: %{y:.3f} times the least cost"
    return Chart(
        name="node-search-path",
        figure=figure_of(
            [
                shapes.line(
                    trials, best, name="least so far", colour=COLOURS[0], shape="hv", hover="%{y:.3f} after %{x} trials"
                ),
                shapes.points(trials, costs, name="tried", colour=NEUTRAL, size=9, hover=hover, customdata=names),
            ],
            x={"title": "Trial", "dtick": 1 if len(trials) <= 20 else 10},
            y={"title": "Cost / least cost"},
            height=360,
            shapes=[shapes.horizontal(1.0, dash="dot")],
            **LEGEND_BELOW,
        ),
        takeaway=_path_sentence(result, workload),
        shows=f"Cost of the {counted(len(path), 'trial')} of the first search.",
        data=path_table(result, workload),
        note="The first of the searches; 1 is the cheapest configuration of the table.",
    )


def _path_sentence(result: Search, workload: str) -> str:
    path = [one for one in result.path if one.workload == workload]
    at = next((one for one in path if one.best_cost == path[-1].best_cost), path[-1])
    if at.best_cost is None:
        return f"No trial was within the runtime limit; the cheapest that is: {result.workloads[workload]}."
    reached = at.best_cost / result.least_costs[workload]
    return (
        f"Trial {at.trial} of {len(path)} found {at.configuration}, {more_words(reached)} "
        f"({result.workloads[workload]})."
    )


def path_table(result: Search, workload: str) -> pd.DataFrame:
    """Return one line per trial of the first search of a workload."""
    lines = [
        {
            "trial": one.trial,
            "configuration": one.configuration,
            "runtime_s": one.runtime_s,
            "cost": one.cost,
            "least_cost_so_far": np.nan if one.best_cost is None else one.best_cost,
        }
        for one in result.path
        if one.workload == workload
    ]
    return pd.DataFrame(lines)


def curve_table(result: Search) -> pd.DataFrame:
    """Return one line per number of trials: mean, interval and share that found the cheapest, and the difference."""
    columns: dict[str, Any] = {"trials": np.arange(1, result.settings.trials + 1)}
    for kind, curve in result.curves.items():
        name = kind.replace(" ", "_")
        columns |= {f"{name}_mean": curve.mean, f"{name}_low": curve.mean_low, f"{name}_high": curve.mean_high}
        columns[f"{name}_found_cheapest"] = curve.found_share
    if result.differences:
        columns |= {
            "difference": [one.mean for one in result.differences],
            "difference_low": [one.low for one in result.differences],
            "difference_high": [one.high for one in result.differences],
        }
    return pd.DataFrame(columns)
