"""The codes of benchmark runs on a plane: one colour and one symbol a benchmark, flagged runs outlined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workprof.arrays import Bools
from workprof.charts.nodes.ranking import node_name
from workprof.charts.shapes import NEUTRAL, Chart, figure_of
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.nodes.detection import Detection
from workprof.units import format_share

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
MOST_POINTS = 5000


def looks(found: Detection) -> dict[str, tuple[str, str]]:
    """Return benchmark -> colour and symbol."""
    names = sorted({str(name) for name in found.runs.benchmark})
    return {name: (COLOURS[i % len(COLOURS)], SYMBOLS[i % len(SYMBOLS)]) for i, name in enumerate(names)}


def code_map(found: Detection) -> Chart:
    """Return the first two principal axes of the codes; the newest runs where there are many."""
    runs, n = found.runs, len(found.runs.row_id)
    shown = np.zeros(n, dtype=np.bool_)
    shown[np.argsort(runs.started_s, kind="stable")[-MOST_POINTS:]] = True
    takeaway = _takeaway(found)
    kept = "" if n <= MOST_POINTS else f"The newest {MOST_POINTS:,} of {n:,} runs. "
    return Chart(
        name="node-code-map",
        figure=figure_of(
            [*(_points(found, name, look, shown) for name, look in looks(found).items()), _outlines(found, shown)],
            x={"title": "First principal axis of the code", "zeroline": False},
            y={"title": "Second principal axis", "zeroline": False},
            height=460,
            showlegend=True,
        ),
        takeaway=takeaway,
        alt=f"Codes of {counted(n, 'run')} on a plane. {takeaway}",
        data=_table(found),
        note=f"{kept}Runs that the network takes for alike lie near each other; a ring marks a flagged run.",
    )


def _takeaway(found: Detection) -> str:
    n = len({str(name) for name in found.runs.benchmark})
    if not np.isfinite(found.model.type_accuracy):
        return f"The network codes {counted(len(found.runs.row_id), 'run')} of {counted(n, 'benchmark')}."
    share, runs = format_share(found.model.type_accuracy), counted(found.model.n, "unseen run")
    return f"The code alone tells the benchmark of {share} of {runs}."


def _points(found: Detection, name: str, look: tuple[str, str], shown: Bools) -> dict[str, Any]:
    runs, (colour, symbol) = found.runs, look
    here = np.flatnonzero((runs.benchmark == name) & shown)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": node_name(name),
        "x": runs.map_xy[here, 0].tolist() or [None],
        "y": runs.map_xy[here, 1].tolist() or [None],
        "marker": {"color": colour, "symbol": symbol, "size": 8, "opacity": 0.75},
        "customdata": [node_name(str(node)) for node in runs.node[here]],
        "hovertemplate": f"{node_name(name)} on %{{customdata}}<extra></extra>",
    }


def _outlines(found: Detection, shown: Bools) -> dict[str, Any]:
    here = np.flatnonzero(found.runs.flag & shown)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "flagged",
        "x": found.runs.map_xy[here, 0].tolist() or [None],
        "y": found.runs.map_xy[here, 1].tolist() or [None],
        "marker": {"color": NEUTRAL, "symbol": "circle-open", "size": 15, "line": {"width": 2}},
        "hoverinfo": "skip",
    }


def _table(found: Detection) -> pd.DataFrame:
    runs = found.runs
    return pd.DataFrame(
        {
            "row_id": runs.row_id,
            "node": runs.node,
            "benchmark": runs.benchmark,
            "x": runs.map_xy[:, 0],
            "y": runs.map_xy[:, 1],
            "flagged": runs.flag,
        }
    )
