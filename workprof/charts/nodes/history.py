"""Verdicts on nodes drawn: every node over time, and the runs of one against what was normal."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.node_history import (
    COLOURS_TELL,
    RATIO_NOTE,
    STATE_WORDS,
    course_sentence,
    history_sentence,
    node_states_table,
)
from workprof.charts import shapes
from workprof.charts.nodes.ranking import node_name, row_names
from workprof.charts.shapes import Chart, figure_of, rows_axis
from workprof.charts.theme import COLOURS, SYMBOLS
from workprof.core.arrays import Floats
from workprof.core.words import counted
from workprof.nodes.history import STATES, History

MOST_NODES, BINS = 40, 96
PAINT = ("rgba(123,130,140,0.25)", "#d9952b", "#cf4a45")
"""Of the states."""


def _moment(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)


def states_over_time(result: History) -> Chart:
    """Return the worst verdict on every node in each stretch of time, the worst nodes first."""
    shown = [one.node for one in result.nodes[:MOST_NODES]]
    rows, times = row_names(shown), np.concatenate([one.at_s for one in result.courses])
    edges = np.linspace(times.min(), max(times.max(), times.min() + 1.0), BINS + 1)
    worst = np.array([_worst(result, node, edges) for node in shown])
    stops = [[(place + end) / len(PAINT), colour] for place, colour in enumerate(PAINT) for end in (0, 1)]
    words = [[STATE_WORDS[STATES[int(one)]] if np.isfinite(one) else "" for one in row] for row in worst]
    return Chart(
        name="node-verdicts",
        figure=figure_of(
            [
                shapes.heat(
                    worst,
                    [_moment(float(one)) for one in (edges[:-1] + edges[1:]) / 2],
                    rows,
                    scale=False,
                    hover="%{y}, %{x}: %{customdata}",
                    colorscale=stops,
                    zmin=-0.5,
                    zmax=2.5,
                    hoverongaps=False,
                    customdata=words,
                )
            ],
            x={"title": "Time (UTC)", "type": "date", "showgrid": False},
            y=rows_axis(rows),
            height=max(180, 90 + 34 * len(rows)),
        ),
        takeaway=history_sentence(result),
        shows=f"Verdict on {counted(len(shown), 'node')} over time.",
        data=node_states_table(result).frame(),
        note=COLOURS_TELL,
    )


def _worst(result: History, node: str, edges: Floats) -> Floats:
    """(n_bins,) worst state of a node's benchmarks, each lasting until its next run; NaN before the first run."""
    found = np.full(len(edges) - 1, -1.0)
    for one in (course for course in result.courses if course.node == node):
        last = np.searchsorted(one.at_s, edges[1:], side="right") - 1
        found = np.maximum(found, np.where(last >= 0, one.state[np.maximum(last, 0)], -1))
        within = np.clip(np.searchsorted(edges, one.at_s, side="right") - 1, 0, len(found) - 1)
        np.maximum.at(found, within, one.state)
    return np.where(found < 0, np.nan, found)


def course_lines(result: History, node: str) -> Chart:
    """Return the runs of a node's benchmarks against what was normal before each."""
    own = [one for one in result.courses if one.node == node]
    traces: list[dict[str, Any]] = []
    for place, one in enumerate(own):
        at = [_moment(float(when)) for when in one.at_s]
        colour, symbol = COLOURS[place % len(COLOURS)], SYMBOLS[place % len(SYMBOLS)]
        name, words = node_name(one.benchmark), [STATE_WORDS[STATES[state]] for state in one.state]
        hover = f"{name}, %{{x}}: %{{y:.3f}} of normal, %{{customdata}}"
        drawn: dict[str, Any] = {
            "name": name,
            "colour": colour,
            "symbol": symbol,
            "size": 7,
            "hover": hover,
            "customdata": words,
        }
        traces.append(shapes.points(at, one.ratio, **drawn))
        bad = np.flatnonzero(one.state > 0)
        ring = [PAINT[state] for state in one.state[bad]]
        if len(bad):
            traces.append(
                shapes.points(
                    [at[row] for row in bad],
                    one.ratio[bad],
                    colour=ring,
                    symbol="circle-open",
                    size=14,
                    outline=2,
                    showlegend=False,
                )
            )
    frames = [
        pd.DataFrame(
            {
                "benchmark": one.benchmark,
                "at_s": one.at_s,
                "ratio": one.ratio,
                "verdict": [STATES[state] for state in one.state],
            }
        )
        for one in own
    ]
    return Chart(
        name="node-course",
        figure=figure_of(
            traces,
            x={"title": "Start of the run (UTC)", "type": "date"},
            y={"title": "Run / normal of the node"},
            height=360,
            showlegend=True,
            shapes=[shapes.horizontal(1.0)],
        ),
        takeaway=course_sentence(result, node),
        shows=f"Runs of {counted(len(own), 'benchmark')} of a node.",
        data=pd.concat(frames, ignore_index=True),
        note=RATIO_NOTE,
    )
