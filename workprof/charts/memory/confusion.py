"""Bins of a model: truth against prediction, the under-estimates outlined, since they fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workprof.arrays import Ints
from workprof.charts.memory.tasks import number
from workprof.charts.shapes import Chart, figure_of
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS, SCALE, ink
from workprof.memory.models import ModelResult, PredictorResult
from workprof.units import GB, format_share

HEIGHT_PX = 300


def bin_confusion(found: PredictorResult, model: ModelResult) -> Chart:
    """Return the confusion matrix of a model's bins; colour = share of the true bin's test runs.

    Source: the load-aware provisioning thesis, Figures 15 and 16.
    """
    counts = model.confusion
    names = [f"≤ {number(edge / GB)}" for edge in found.edges_bytes]
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.where(totals > 0, counts / np.maximum(totals, 1), np.nan)
    positions = list(range(len(names)))
    figure = figure_of(
        [_cells(counts, shares, names)],
        x={"title": "Predicted bin (GB)", "tickvals": positions, "ticktext": names, "showgrid": False},
        y={
            "title": "True bin (GB)",
            "tickvals": positions,
            "ticktext": names,
            "autorange": "reversed",
            "showgrid": False,
        },
        height=HEIGHT_PX,
        shapes=[under_outline(len(names))] if len(names) > 1 else [],
        annotations=_numbers(counts, shares),
    )
    under = int(np.tril(counts, -1).sum())
    takeaway = (
        f"{counted(under, 'test run')} of {model.n_test:,} ({format_share(model.u_rate)}) are predicted too small "
        f"(outlined); {format_share(model.accuracy)} are right."
    )
    table = pd.DataFrame(counts, columns=[f"predicted {name} GB" for name in names])
    table.insert(0, "true bin (GB)", names)
    return Chart(
        name=f"memory-confusion-{model.model}-{model.sampling or 'one'}",
        figure=figure,
        takeaway=takeaway,
        alt=f"Heat map of true against predicted bins of {model.name}. {takeaway}",
        data=table,
    )


def _cells(counts: Ints, shares: np.ndarray[Any, Any], names: list[str]) -> dict[str, Any]:
    positions = list(range(len(names)))
    return {
        "type": "heatmap",
        "z": shares,
        "x": positions,
        "y": positions,
        "colorscale": SCALE,
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "customdata": _hover(counts, names),
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def under_outline(bins: int) -> dict[str, Any]:
    """Return the outline of the cells whose predicted bin (x) is below the true one (y)."""
    steps = ["M -0.5,0.5"]
    for place in range(1, bins):
        steps.append(f"L {place - 0.5},{place - 0.5}")
        steps.append(f"L {place - 0.5},{place + 0.5}")
    steps.append(f"L -0.5,{bins - 0.5} Z")
    return {
        "type": "path",
        "xref": "x",
        "yref": "y",
        "path": " ".join(steps),
        "line": {"color": COLOURS[4], "width": 3},
    }


def _numbers(counts: Ints, shares: np.ndarray[Any, Any]) -> list[dict[str, Any]]:
    return [
        {
            "x": int(j),
            "y": int(i),
            "text": f"{runs:,}",
            "showarrow": False,
            "font": {"size": 13, "color": ink(float(shares[i, j]))},
        }
        for (i, j), runs in np.ndenumerate(counts)
        if runs
    ]


def _hover(counts: Ints, names: list[str]) -> list[list[str]]:
    return [
        [
            f"true {truth} GB, predicted {said} GB: {counted(int(counts[i, j]), 'run')}"
            + (" (too small: fails)" if j < i else "")
            for j, said in enumerate(names)
        ]
        for i, truth in enumerate(names)
    ]
