"""Configuration search: the path of one search, and how far the searches are from the cheapest after each trial."""

from typing import Any

import numpy as np

from workprof.answers.configurations import curve_table, mean_note, path_sentence, path_table, search_sentence
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_BELOW, NEUTRAL, Chart, figure_of
from workprof.charts.theme import COLOURS
from workprof.core.words import counted
from workprof.nodes.search import RANDOM, WITH_SCORES, WITHOUT, Search

DASHES = {RANDOM: "dash", WITHOUT: "dot", WITH_SCORES: "solid"}
LINES = {RANDOM: COLOURS[1], WITHOUT: NEUTRAL, WITH_SCORES: COLOURS[0]}
BANDS = {RANDOM: "", WITHOUT: "rgba(123,130,140,0.18)", WITH_SCORES: "rgba(48,121,207,0.16)"}


def cost_curves(result: Search) -> Chart:
    """Return the mean cost found against the least, by number of trials, with its interval."""
    trials = np.arange(1, result.n_trials + 1)
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
        data=curve_table(result).frame(),
        note=mean_note(result),
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
            shapes=[shapes.horizontal(1.0)],
            **LEGEND_BELOW,
        ),
        takeaway=path_sentence(result, workload),
        shows=f"Cost of the {counted(len(path), 'trial')} of the first search.",
        data=path_table(result, workload).frame(),
        note="The first of the searches; 1 is the cheapest configuration of the table.",
    )
