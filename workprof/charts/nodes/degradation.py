"""Degraded runs drawn: all nodes over time, the history of one, the embedding of runs, and the validation."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.degradation import (
    MEAN_SQUARE,
    RING,
    SHADES,
    brier_sentence,
    degradation_sentence,
    drivers_words,
    error_sentence,
    evidence,
    most_flagged_words,
    newest_words,
    runs_table,
    stretch_words,
    timeline_sentence,
    type_sentence,
)
from workprof.charts import shapes
from workprof.charts.nodes.ranking import node_name, row_names
from workprof.charts.shapes import NEUTRAL, Chart, figure_of, rows_axis
from workprof.charts.theme import COLOURS, SYMBOLS
from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.words import counted, plotly_text
from workprof.nodes.detection import Detection

MOST_POINTS = 5000


def looks(result: Detection) -> dict[str, tuple[str, str]]:
    """Return benchmark -> colour and symbol."""
    names = sorted({str(name) for name in result.runs.benchmark})
    return {name: (COLOURS[i % len(COLOURS)], SYMBOLS[i % len(SYMBOLS)]) for i, name in enumerate(names)}


def code_map(result: Detection) -> Chart:
    """Return the first two principal axes of the codes; the newest runs where there are many."""
    runs, n = result.runs, len(result.runs.row_id)
    shown = np.zeros(n, dtype=np.bool_)
    shown[np.argsort(runs.started_s, kind="stable")[-MOST_POINTS:]] = True
    newest = "" if n <= MOST_POINTS else newest_words(MOST_POINTS, n)
    return Chart(
        name="node-code-map",
        figure=figure_of(
            [*(_points(result, name, look, shown) for name, look in looks(result).items()), _outlines(result, shown)],
            x={"title": "First principal axis of the code", "zeroline": False},
            y={"title": "Second principal axis", "zeroline": False},
            height=460,
            showlegend=True,
        ),
        takeaway=type_sentence(result),
        shows=f"Codes of {counted(n, 'run')} on a plane.",
        data=_table(result),
        note=f"{newest}Similar runs lie near each other; a ring marks a flagged run.",
    )


def _points(result: Detection, name: str, look: tuple[str, str], shown: Bools) -> dict[str, Any]:
    runs, (colour, symbol) = result.runs, look
    here = np.flatnonzero((runs.benchmark == name) & shown)
    return shapes.points(
        runs.map_xy[here, 0].tolist() or [None],
        runs.map_xy[here, 1].tolist() or [None],
        name=node_name(name),
        colour=colour,
        symbol=symbol,
        size=8,
        opacity=0.75,
        hover=f"{node_name(name)} on %{{customdata}}",
        customdata=[node_name(str(node)) for node in runs.node[here]],
    )


def _outlines(result: Detection, shown: Bools) -> dict[str, Any]:
    here = np.flatnonzero(result.runs.flag & shown)
    return shapes.points(
        result.runs.map_xy[here, 0].tolist() or [None],
        result.runs.map_xy[here, 1].tolist() or [None],
        name="flagged",
        colour=NEUTRAL,
        symbol="circle-open",
        size=15,
        outline=2,
    )


def _table(result: Detection) -> pd.DataFrame:
    runs = result.runs
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


MOST_DRAWN = 2000
"""Points of a benchmark in the figure of errors; a box alone is drawn above."""

LEAST_ERROR = 1e-6


MOST_NODES, BINS = 40, 48
ALARM = ((0.0, "rgba(123,130,140,0.16)"), (0.001, "rgba(207,74,69,0.30)"), (1.0, "rgba(207,74,69,1)"))
"""Colours of the share of flagged runs: none is nearly the page's own background, in both themes."""


def degradation_over_time(result: Detection) -> Chart:
    """Return the share of flagged runs of every node over time, the nodes with most flagged runs first."""
    table = _over_time(result)
    flagged = table.groupby("node")["flagged"].sum()
    order = sorted(flagged.index, key=lambda node: (-flagged[node], node))
    shown = order[:MOST_NODES]
    rows = row_names(shown)
    width = float((table["to_s"] - table["from_s"]).max()) if len(table) else 0.0
    times = _stretches(table)
    share = np.full((len(shown), len(times)), np.nan)
    words = np.full(share.shape, "", dtype=object)
    for line in table[table["node"].isin(shown)].to_dict("records"):
        place = shown.index(str(line["node"])), int(np.abs(times - line["from_s"]).argmin())
        share[place] = line["flagged"] / line["runs"]
        since = datetime.fromtimestamp(line["from_s"], UTC).strftime("%Y-%m-%d %H:%M:%S")
        words[place] = stretch_words(since, line["flagged"], line["runs"], plotly_text(line["benchmarks"], 80))
    note = most_flagged_words(MOST_NODES, len(order)) if len(order) > MOST_NODES else ""
    return Chart(
        name="node-degradation",
        figure=figure_of(
            [
                shapes.heat(
                    share,
                    [_moment(one + width / 2) for one in times] or [None],
                    rows or [None],
                    scale=False,
                    hover="%{y}, %{customdata}",
                    colorscale=[list(stop) for stop in ALARM],
                    zmin=0,
                    zmax=1,
                    hoverongaps=False,
                    customdata=words,
                )
            ],
            x={"title": "Start of the run (UTC)", "type": "date", "showgrid": False},
            y=rows_axis(rows),
            height=max(180, 90 + 34 * len(rows)),
        ),
        takeaway=degradation_sentence(result),
        shows=f"Heat map of the share of flagged runs of {counted(len(shown), 'node')} over time.",
        data=table,
        note=f"{note}{SHADES}",
    )


def _over_time(result: Detection) -> pd.DataFrame:
    """Return one line per node and stretch of time with runs: how many, how many flagged, of which benchmarks."""
    runs = result.runs
    timed = np.isfinite(runs.started_s)
    if not timed.any():
        return pd.DataFrame({"node": [], "from_s": [], "to_s": [], "runs": [], "flagged": [], "benchmarks": []})
    first, last = float(runs.started_s[timed].min()), float(runs.started_s[timed].max())
    width = max((last - first) / BINS, 1.0)
    bins = np.floor((runs.started_s[timed] - first) / width).clip(0, BINS - 1).astype(int)
    frame = pd.DataFrame(
        {
            "node": runs.node[timed].astype(str),
            "from_s": first + bins * width,
            "flagged": runs.flag[timed],
            "benchmark": np.where(runs.flag[timed], runs.benchmark[timed].astype(str), ""),
        }
    )
    grouped = frame.groupby(["node", "from_s"], sort=True)
    table = grouped["flagged"].agg(["size", "sum"]).reset_index()
    names = grouped["benchmark"].agg(lambda own: ", ".join(sorted({name for name in own if name})))
    return pd.DataFrame(
        {
            "node": table["node"],
            "from_s": table["from_s"],
            "to_s": table["from_s"] + width,
            "runs": table["size"].astype(int),
            "flagged": table["sum"].astype(int),
            "benchmarks": names.to_list(),
        }
    )


def _stretches(table: pd.DataFrame) -> Floats:
    """Return (n,) where each stretch of time begins, those without a run included."""
    if table.empty:
        return np.zeros(0)
    width = float((table["to_s"] - table["from_s"]).max())
    first, last = float(table["from_s"].min()), float(table["from_s"].max())
    return np.asarray(first + np.arange(round((last - first) / width) + 1) * width, dtype=np.float64)


def _moment(epoch_s: float) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).isoformat()


def reconstruction_errors(result: Detection) -> Chart:
    """Return the reconstruction error of the runs by benchmark, on a logarithmic scale."""
    runs = result.runs
    names = list(looks(result))
    return Chart(
        name="node-reconstruction-errors",
        figure=figure_of(
            [_boxes(result, name) for name in names],
            x={
                "title": "Reconstruction error of a run (log)",
                "type": "log",
                "dtick": 1,
                "exponentformat": "none",
            },
            y={"title": "", "type": "category", "categoryorder": "array", "categoryarray": names[::-1]},
            height=120 + 48 * max(len(names), 2),
        ),
        takeaway=error_sentence(result),
        shows=f"Box plots of the reconstruction error of {counted(len(names), 'benchmark')}.",
        data=pd.DataFrame(
            {"node": runs.node, "benchmark": runs.benchmark, "error": runs.reconstruction_error, "flagged": runs.flag}
        ),
        note=MEAN_SQUARE,
    )


def _boxes(result: Detection, name: str) -> dict[str, Any]:
    here = result.runs.benchmark == name
    errors = np.maximum(result.runs.reconstruction_error[here], LEAST_ERROR)
    return {
        "type": "box",
        "orientation": "h",
        "name": node_name(name),
        "x": errors[np.isfinite(errors)][:MOST_DRAWN].tolist() or [None],
        "marker": {"color": looks(result)[name][0]},
        "boxpoints": "outliers",
    }


def detection_reliability(result: Detection) -> Chart | None:
    """Return stated probability against what came true for the used detector; None without labels."""
    own = result.detectors.get(result.detector)
    if own is None or not result.supervised:
        return None
    held = own.reliability
    filled = np.flatnonzero(held.rows > 0)
    method = result.calibration.method if result.calibration else "none"
    return Chart(
        name="node-reliability",
        figure=shapes.reliability(
            held.stated,
            held.observed,
            held.rows,
            y="Share that was under load",
            hover="stated %{x:.2f}, came true %{y:.2f}, %{customdata:,} runs",
            height=360,
        ),
        takeaway=brier_sentence(result),
        shows=f"Stated probability against the share under load in {counted(len(filled), 'bin')}.",
        data=pd.DataFrame({"stated": held.stated, "observed": held.observed, "runs": held.rows}),
        note=f"Calibration: {method.capitalize()}; larger dots have more runs.",
    )


PROBABILITY = "Probability of being degraded"
P_VALUE = "p-value (small = unlike its history)"
LOWEST_P = 1e-3


def timeline(result: Detection, node: str) -> Chart:
    """Return the verdicts on the runs of a node; runs of the training part, judged by folds, are open."""
    here = np.flatnonzero(result.runs.node == node)
    return Chart(
        name="node-timeline",
        figure=figure_of(
            [*_marks(result, here), _flags(result, here)],
            x={"title": "Start of the run (UTC)", "type": "date"},
            y=_axis(result),
            height=420,
            shapes=[_threshold(result)],
            showlegend=True,
        ),
        takeaway=timeline_sentence(result, node),
        shows=f"{PROBABILITY if result.supervised else P_VALUE} of {counted(len(here), 'run')} of {node}.",
        data=runs_table(result, node).frame(),
        note=f"{RING}{result.threshold:.3g}.",
    )


def _marks(result: Detection, here: Ints) -> list[dict[str, Any]]:
    traces = []
    for name, (_, symbol) in looks(result).items():
        own = here[result.runs.benchmark[here] == name]
        traces.append(
            shapes.points(
                _times(result, own) or [None],
                _places(result, own) or [None],
                name=node_name(name),
                colour=[COLOURS[4] if result.runs.flag[row] else NEUTRAL for row in own] or NEUTRAL,
                symbol=[symbol if result.runs.tested[row] else f"{symbol}-open" for row in own] or symbol,
                size=9,
                hover="%{customdata}, %{y:.3g}",
                customdata=[f"{node_name(name)}: {drivers_words(result, int(row))}" for row in own],
            )
        )
    return traces


def _flags(result: Detection, here: Ints) -> dict[str, Any]:
    own = here[result.runs.flag[here]]
    return shapes.points(
        _times(result, own) or [None],
        _places(result, own) or [None],
        name="flagged",
        colour=COLOURS[4],
        symbol="circle-open",
        size=18,
        outline=2,
    )


def _times(result: Detection, rows: Ints) -> list[str | None]:
    times = (float(result.runs.started_s[row]) for row in rows)
    return [datetime.fromtimestamp(one, UTC).isoformat() if np.isfinite(one) else None for one in times]


def _places(result: Detection, rows: Ints) -> list[float | None]:
    lowest = -1.0 if result.supervised else LOWEST_P  # a logarithmic axis has no 0
    return [max(float(value), lowest) for value in evidence(result)[rows]]


def _axis(result: Detection) -> dict[str, Any]:
    if result.supervised:
        return {"title": PROBABILITY, "range": [-0.04, 1.06], "tickformat": ".0%"}
    return {"title": P_VALUE, "type": "log", "range": [0.1, np.log10(LOWEST_P) - 0.1]}


def _threshold(result: Detection) -> dict[str, Any]:
    line = {"color": NEUTRAL, "dash": "dot", "width": 1.6}
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": result.threshold,
        "y1": result.threshold,
        "line": line,
    }
