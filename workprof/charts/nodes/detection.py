"""How far a detection can be trusted: figures of every detector, restored inputs, stated probabilities, metrics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from workprof.charts.nodes.code_map import looks
from workprof.charts.nodes.ranking import NO_DATA, node_name
from workprof.charts.shapes import NEUTRAL, Chart, Headline, figure_of
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.nodes.detection import Detection

MOST_DRAWN = 2000
"""Points of a benchmark in the figure of errors; a box alone is drawn above."""

LEAST_ERROR = 1e-6


def detection_headlines(found: Detection) -> tuple[Headline, ...]:
    """Return what was flagged, by which detector, and how good it is."""
    own, runs = found.detectors.get(found.detector), found.runs
    tested = int(runs.tested.sum())
    lines = [
        Headline(
            "Flagged",
            f"{int((runs.flag & runs.tested).sum()):,}",
            "Of the runs outside the training part.",
            f"of {tested:,}",
        ),
        Headline("Detector", found.detector, "Its verdicts are shown; chosen inside the training part, unless set."),
    ]
    if own is not None:
        low, high = own.f1_anomalous_interval
        lines += [
            Headline("F1 of degraded", _number(own.f1_anomalous), "On unseen labelled runs.", _ends(low, high)),
            Headline("F1 of normal", _number(own.f1_normal), "On unseen labelled runs."),
            Headline("Brier score", _number(own.brier), "Mean squared error of the probability; 0 is best."),
        ]
    lines.append(
        Headline(
            "Restoring error", _number(found.model.mse), "Mean squared error of the network on the metrics of a run."
        )
    )
    return tuple(lines)


def detectors_table(found: Detection) -> pd.DataFrame:
    """Return one line per detector, the best F1 of degraded runs first."""
    lines = [
        {
            "detector": name + (" (used)" if name == found.detector else ""),
            "f1_anomalous": one.f1_anomalous,
            "from": one.f1_anomalous_interval[0],
            "to": one.f1_anomalous_interval[1],
            "f1_normal": one.f1_normal,
            "weighted_accuracy": one.weighted_accuracy,
            "pr_auc": one.pr_auc,
            "brier": one.brier,
            "runs": one.n,
            "stressed": one.n_anomalous,
        }
        for name, one in found.detectors.items()
    ]
    table = pd.DataFrame(lines)
    return table.sort_values("f1_anomalous", ascending=False, kind="stable") if lines else table


def reconstruction_errors(found: Detection) -> Chart:
    """Return the restoring error of the runs by benchmark, on a logarithmic scale."""
    runs = found.runs
    takeaway = (
        f"The network restores the metrics of unseen runs with a mean squared error of {found.model.mse:.2g}."
        if math.isfinite(found.model.mse)
        else "No unseen run was restored."
    )
    names = list(looks(found))
    return Chart(
        name="node-reconstruction-errors",
        figure=figure_of(
            [_boxes(found, name) for name in names],
            x={
                "title": "Restoring error of a run (log)",
                "type": "log",
                "dtick": 1,
                "exponentformat": "none",
            },
            y={"title": "", "type": "category", "categoryorder": "array", "categoryarray": names[::-1]},
            height=120 + 48 * max(len(names), 2),
        ),
        takeaway=takeaway,
        alt=f"Boxes of the restoring error of {counted(len(names), 'benchmark')}. {takeaway}",
        data=pd.DataFrame(
            {"node": runs.node, "benchmark": runs.benchmark, "error": runs.reconstruction_error, "flagged": runs.flag}
        ),
        note="Mean square over the metrics that a run has, each from 0 to 1; those of other benchmarks do not count.",
    )


def _boxes(found: Detection, name: str) -> dict[str, Any]:
    here = found.runs.benchmark == name
    errors = np.maximum(found.runs.reconstruction_error[here], LEAST_ERROR)
    return {
        "type": "box",
        "orientation": "h",
        "name": node_name(name),
        "x": errors[np.isfinite(errors)][:MOST_DRAWN].tolist() or [None],
        "marker": {"color": looks(found)[name][0]},
        "boxpoints": "outliers",
    }


def detection_reliability(found: Detection) -> Chart | None:
    """Return stated probability against what came true for the used detector; None without labels."""
    own = found.detectors.get(found.detector)
    if own is None or not found.supervised:
        return None
    held = own.reliability
    filled = np.flatnonzero(held.rows > 0)
    takeaway = f"The probabilities of {found.detector} have a Brier score of {own.brier:.3f} on {own.n:,} unseen runs."
    line = {"type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "line": {"dash": "dot", "color": NEUTRAL}}
    dots = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": held.stated[filled].tolist() or [None],
        "y": held.observed[filled].tolist() or [None],
        "marker": {
            "size": (8 + 24 * np.sqrt(held.rows[filled] / max(held.rows.max(), 1))).tolist(),
            "color": COLOURS[0],
        },
        "customdata": held.rows[filled].tolist(),
        "hovertemplate": "stated %{x:.2f}, came true %{y:.2f}, %{customdata:,} runs<extra></extra>",
    }
    ends = {"range": [-0.04, 1.06], "tickformat": ".0%"}
    method = found.calibration.method if found.calibration else "none"
    return Chart(
        name="node-reliability",
        figure=figure_of(
            [{**line, "hoverinfo": "skip"}, dots],
            x={"title": "Stated probability", **ends},
            y={"title": "Share that was under stress", **ends},
            height=360,
        ),
        takeaway=takeaway,
        alt=f"Stated probability against the share under stress in {counted(len(filled), 'bin')}. {takeaway}",
        data=pd.DataFrame({"stated": held.stated, "observed": held.observed, "runs": held.rows}),
        note=f"Calibration: {method.capitalize()}; larger dots have more runs.",
    )


def unseen_metrics_table(found: Detection) -> pd.DataFrame:
    """Return the metrics that the network does not see, with the reason."""
    return pd.DataFrame([{"metric": one.name, "reason": one.reason} for one in found.dropped])


def orientation_table(found: Detection) -> pd.DataFrame:
    """Return which way each metric points: declared, by the data, and as used; disagreements first."""
    lines = [
        {
            "metric": one.name,
            "declared": one.declared,
            "by_the_data": one.by_data,
            "used": one.used,
            "reading": "the data disagree" if one.disagree else "agreed",
        }
        for one in sorted(found.orientations, key=lambda one: not one.disagree)
    ]
    return pd.DataFrame(lines)


def trust_sentence(found: Detection) -> str:
    """Return what was learned from what, and what was not judged."""
    parts = found.parts
    rest = f"; {counted(len(found.not_scored), 'run')} have no verdict" if found.not_scored else ""
    return (
        f"Trained on {parts.by} ({parts.n_train:,} runs, {parts.n_train_anomalous:,} of them under stress), "
        f"judged {parts.n_scored:,} of {parts.n_test:,} other runs{rest}."
    )


def unscored_table(found: Detection) -> pd.DataFrame:
    """Return the runs without a verdict, with the reason."""
    return pd.DataFrame(
        [{"node": one.node, "benchmark": one.benchmark, "reason": one.reason} for one in found.not_scored]
    )


def _number(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else NO_DATA


def _ends(low: float, high: float) -> str:
    return f"{low:.2f} to {high:.2f}" if math.isfinite(low) and math.isfinite(high) else ""
