"""The runs of one node along time: how probable it is that each is degraded, and which ones are flagged."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from workprof.arrays import Floats, Ints
from workprof.charts.nodes.code_map import looks
from workprof.charts.nodes.ranking import moment_words, node_name
from workprof.charts.shapes import NEUTRAL, Chart, figure_of
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.nodes.detection import Detection

MOST_DRIVERS = 3
PROBABILITY = "Probability of being degraded"
P_VALUE = "p-value (small = unlike its history)"
LOWEST_P = 1e-3


def evidence(found: Detection) -> Floats:
    """Return (n_runs,) what the flags go by: the probability, or without labels the p-value."""
    return found.runs.p_anomalous if found.supervised else found.runs.p_value


def timeline(found: Detection, node: str) -> Chart:
    """Return the verdicts on the runs of a node; runs of the training part, judged by folds, are open."""
    here = np.flatnonzero(found.runs.node == node)
    takeaway = timeline_sentence(found, node)
    return Chart(
        name="node-timeline",
        figure=figure_of(
            [*_marks(found, here), _flags(found, here)],
            x={"title": "Start of the run (UTC)", "type": "date"},
            y=_axis(found),
            height=420,
            shapes=[_threshold(found)],
            showlegend=True,
        ),
        takeaway=takeaway,
        alt=f"{PROBABILITY if found.supervised else P_VALUE} of {counted(len(here), 'run')} of {node}. {takeaway}",
        data=runs_table(found, node),
        note="Ringed: flagged. Open: of the training part, judged by folds that had not seen it. Dotted: the "
        f"threshold, {found.threshold:.3g}.",
    )


def timeline_sentence(found: Detection, node: str) -> str:
    """Return how many runs of a node are flagged, and what the newest one of each benchmark says."""
    runs = found.runs
    here = np.flatnonzero(runs.node == node)
    if not len(here):
        return f"No run of {node} has a verdict: each needs three earlier normal ones."
    flagged = int(runs.flag[here].sum())
    newest = {str(runs.benchmark[row]): row for row in here[np.argsort(runs.started_s[here], kind="stable")]}
    bad = sorted(name for name, row in newest.items() if runs.flag[row])
    now = f"the newest run of {', '.join(bad)} is flagged: run it again" if bad else "no newest run is flagged"
    return f"{flagged} of {counted(len(here), 'run')} of {node} are flagged; {now}."


def runs_table(found: Detection, node: str = "") -> pd.DataFrame:
    """Return one line per judged run, the newest first; '' = of all nodes."""
    runs = found.runs
    here = np.flatnonzero((runs.node == node) | (node == ""))
    here = here[np.argsort(-runs.started_s[here], kind="stable")]
    words = {1: "stressed", 0: "not stressed", -1: "unknown"}
    return pd.DataFrame(
        {
            "node": runs.node[here],
            "benchmark": runs.benchmark[here],
            "started_utc": [moment_words(float(one)) for one in runs.started_s[here]],
            "flagged": runs.flag[here],
            "p_anomalous" if found.supervised else "p_value": evidence(found)[here],
            "drivers": [drivers_words(found, int(row)) for row in here],
            "label": [words[int(one)] for one in runs.label[here]],
            "part": np.where(runs.tested[here], "tested", "training"),
            "reconstruction_error": runs.reconstruction_error[here],
            "row_id": runs.row_id[here],
        }
    )


def drivers_words(found: Detection, row: int) -> str:
    """Return the metrics that lie furthest from the run's history: 'events_per_second -15.2, ...'."""
    told = found.runs.drivers[row][:MOST_DRIVERS]
    return ", ".join(f"{one.metric.rpartition('.')[2] or one.metric} {one.size:+.1f}" for one in told)


def _marks(found: Detection, here: Ints) -> list[dict[str, Any]]:
    traces = []
    for name, (colour, symbol) in looks(found).items():
        own = here[found.runs.benchmark[here] == name]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": node_name(name),
                "x": _times(found, own) or [None],
                "y": _places(found, own) or [None],
                "marker": {
                    "color": colour,
                    "symbol": [symbol if found.runs.tested[row] else f"{symbol}-open" for row in own] or symbol,
                    "size": 9,
                },
                "customdata": [f"{node_name(name)}: {drivers_words(found, int(row))}" for row in own],
                "hovertemplate": "%{customdata}, %{y:.3g}<extra></extra>",
            }
        )
    return traces


def _flags(found: Detection, here: Ints) -> dict[str, Any]:
    own = here[found.runs.flag[here]]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "flagged",
        "x": _times(found, own) or [None],
        "y": _places(found, own) or [None],
        "marker": {"symbol": "circle-open", "size": 18, "color": COLOURS[4], "line": {"width": 2}},
        "hoverinfo": "skip",
    }


def _times(found: Detection, rows: Ints) -> list[str | None]:
    times = (float(found.runs.started_s[row]) for row in rows)
    return [datetime.fromtimestamp(one, UTC).isoformat() if np.isfinite(one) else None for one in times]


def _places(found: Detection, rows: Ints) -> list[float | None]:
    lowest = -1.0 if found.supervised else LOWEST_P  # a logarithmic axis has no 0
    return [max(float(value), lowest) for value in evidence(found)[rows]]


def _axis(found: Detection) -> dict[str, Any]:
    if found.supervised:
        return {"title": PROBABILITY, "range": [-0.04, 1.06], "tickformat": ".0%"}
    return {"title": P_VALUE, "type": "log", "range": [0.1, np.log10(LOWEST_P) - 0.1]}


def _threshold(found: Detection) -> dict[str, Any]:
    line = {"color": NEUTRAL, "dash": "dot", "width": 1.6}
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": found.threshold,
        "y1": found.threshold,
        "line": line,
    }
