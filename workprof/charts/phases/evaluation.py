"""How well workloads are recognised: beside baselines, over c, and beside the published tables."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import numpy as np
import pandas as pd

from workprof.charts.phases.timeline import NOT_THE_PAPER, number
from workprof.charts.shapes import Chart, Headline, figure_of, rows_axis, vertical
from workprof.charts.text import counted, plotly_text
from workprof.charts.theme import COLOURS, SCALE, ink, rows_height
from workprof.phases.evaluation import Curve, Evaluation, KnownFigures
from workprof.units import format_share

OURS = "recognition as it ships"
NAMES = {
    "pair_model": "pair model",
    "boosted_fingerprints": "boosted trees on fingerprints (the paper's learner)",
    "nearest_ed": "nearest run, Euclidean",
    "nearest_dtw": "nearest run, DTW",
    "majority": "baseline: most frequent workload",
    "nearest_means": "baseline: nearest counter means",
    "boosted_means": "baseline: boosted trees without phases",
    "ed": "Euclidean",
    "dtw": "DTW",
    "either": "either distance",
    "both": "both distances",
}
FALSE_REJECTS_ALLOWED = 0.1
LONGEST_ROW = 24
"""Characters of a line before the bars: longer names leave them no room on a phone."""


def evaluation_headlines(found: Evaluation) -> tuple[Headline, ...]:
    """Return accuracy, rejection of unknown workloads and false rejects."""
    known = found.known
    best = max(found.baselines.values(), default=math.nan)
    return (
        Headline(
            "Accuracy",
            _share(known.accuracy if known else math.nan),
            "On held-back runs of known workloads, by the nearest workload, rejections aside.",
            f"baseline {_share(best)}",
        ),
        Headline(
            "With rejections",
            _share(known.accuracy_with_rejections if known else math.nan),
            "The same where a rejected run counts as wrong.",
        ),
        Headline(
            "Unknown rejected",
            _share(found.rejected_share),
            "Runs of workloads that were not learned, mean over these.",
        ),
        Headline(
            "Known rejected", _share(found.false_reject_share), "Held-back runs of known workloads: lower is better."
        ),
    )


def evaluation_sentence(found: Evaluation) -> str:
    """Return accuracy beside the best baseline, and both rejections, in one sentence."""
    parts = []
    if found.known is not None:
        best = max(found.baselines, key=lambda name: found.baselines[name], default="")
        beside = f", {NAMES.get(best, best)} {_share(found.baselines[best])}" if best else ""
        parts.append(f"{_share(found.known.accuracy)} of held-back runs are recognised{beside}")
    if found.unknown:
        parts.append(
            f"{_share(found.rejected_share)} of the runs of unknown workloads are rejected, with "
            f"{_share(found.false_reject_share)} of the known ones"
        )
    return f"{'; '.join(parts) or 'Nothing could be evaluated'}."


def known_bars(found: Evaluation) -> Chart | None:
    """Return the accuracies on known workloads beside the baselines; None where no known run was tested."""
    known = found.known
    if known is None:
        return None
    figures = {OURS: known.accuracy}
    figures |= {_name(name): value for name, value in sorted(known.learners.items(), key=lambda item: -item[1])}
    figures |= {_name(name): value for name, value in sorted(found.baselines.items(), key=lambda item: -item[1])}
    rows = list(figures)
    drawn = ["<br>".join(textwrap.wrap(row, LONGEST_ROW)) for row in rows]
    spread = f" ± {known.accuracy_sd * 100:.1f} points over the splits" if math.isfinite(known.accuracy_sd) else ""
    return Chart(
        name="phases-recognised",
        figure=figure_of(
            [_bars(list(figures.values()), drawn, len(known.learners) + 1)],
            x={"title": "Accuracy", "range": [0, 1.25], "tickformat": ".0%", "tickvals": [0, 0.5, 1]},
            y={"title": "", **rows_axis(drawn)},
            height=rows_height(sum(row.count("<br>") + 1 for row in drawn)),
        ),
        takeaway=evaluation_sentence(found),
        alt=f"Bars of the accuracy of {len(rows)} ways to recognise a workload. {evaluation_sentence(found)}",
        data=pd.DataFrame({"way": rows, "accuracy": list(figures.values())}),
        note=(
            f"{counted(known.n_test, 'answer')} over {counted(known.n_splits, 'split')}{spread}; the splits share "
            "runs, so that is no standard error. Hatched: baselines without phases."
        ),
    )


def open_curve(found: Evaluation, measure: str) -> Chart | None:
    """Return the shares of rejected runs, unknown and known, over c; None without the measure's curve."""
    curve = next((one for one in found.curves if one.measure == measure), None)
    if curve is None:
        return None
    at = math.isfinite(found.c) and measure == ("ed" if found.mode == "faithful" else "pair_model")
    takeaway = _curve_sentence(curve)
    return Chart(
        name=f"phases-open-set-{measure}",
        figure=figure_of(
            [
                _curve(curve.c, curve.rejected, "unknown runs rejected (higher is better)", COLOURS[0], "solid"),
                _curve(curve.c, curve.false_rejects, "known runs rejected (lower is better)", COLOURS[4], "dash"),
            ],
            x={"title": "c (standard deviations above the mean)"},
            y={"title": "Share of the runs rejected", "range": [-0.02, 1.04], "tickformat": ".0%"},
            height=380,
            showlegend=True,
            shapes=[vertical(found.c, dash="dot")] if at else [],
        ),
        takeaway=takeaway,
        alt=f"Two curves over c for {_name(measure)}. {takeaway}",
        data=pd.DataFrame({"c": curve.c, "unknown_rejected": curve.rejected, "known_rejected": curve.false_rejects}),
        note=(
            "Each workload left out in turn, or those that the library lacks. "
            + (f"Dotted: c = {number(found.c)}, {_origin_of_c(found)}." if at else "")
        ),
    )


def confusion_chart(known: KnownFigures) -> Chart:
    """Return test runs by workload and answer; colour = share of the workload's runs."""
    counts, names = known.confusion, [plotly_text(name, 22) for name in known.workloads]
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.where(totals > 0, counts / np.maximum(totals, 1), np.nan)
    wrong = int(counts.sum() - np.trace(counts))
    takeaway = f"{counted(wrong, 'answer')} of {int(counts.sum()):,} {'is' if wrong == 1 else 'are'} wrong."
    table = pd.DataFrame(counts, columns=[f"answered {name}" for name in known.workloads])
    table.insert(0, "workload", list(known.workloads))
    return Chart(
        name="phases-confusion",
        figure=figure_of(
            [_cells(shares, names)],
            x={"title": "Answer", "type": "category", "showgrid": False, "tickangle": -60},
            y={"title": "Workload", **rows_axis(names)},
            height=rows_height(len(names)) + 60,
            annotations=[
                {
                    "x": names[j],
                    "y": names[i],
                    "text": f"{runs:,}",
                    "showarrow": False,
                    "font": {"size": 12, "color": ink(float(shares[i, j]))},
                }
                for (i, j), runs in np.ndenumerate(counts)
                if runs
            ],
        ),
        takeaway=takeaway,
        alt=f"Confusion matrix of {counted(len(names), 'workload')}. {takeaway}",
        data=table,
        note=NOT_THE_PAPER,
    )


def measures_of(found: Evaluation) -> tuple[str, ...]:
    """Return the measures that have a curve."""
    return tuple(curve.measure for curve in found.curves)


def _curve_sentence(curve: Curve) -> str:
    allowed = curve.false_rejects <= FALSE_REJECTS_ALLOWED
    if not allowed.any():
        return f"By {_name(curve.measure)} no c rejects at most 10 % of the known runs."
    best = int(np.argmax(np.where(allowed, curve.rejected, -1.0)))
    return (
        f"By {_name(curve.measure)}, {_share(float(curve.rejected[best]))} of unknown runs could be rejected at "
        f"{_share(float(curve.false_rejects[best]))} of the known ones (c = {number(float(curve.c[best]))})."
    )


def _origin_of_c(found: Evaluation) -> str:
    return "as published" if found.mode == "faithful" else "as set, or chosen on runs of known workloads only"


def _name(name: str) -> str:
    return NAMES.get(name, plotly_text(name))


def _share(value: float) -> str:
    return format_share(value) if math.isfinite(value) else "no data"


def _bars(values: list[float], rows: list[str], ours: int) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": rows,
        "text": [_share(value) for value in values],
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {
            "color": [COLOURS[0] if place < ours else COLOURS[6] for place in range(len(rows))],
            "pattern": {"shape": ["" if place < ours else "/" for place in range(len(rows))]},
        },
        "hovertemplate": "%{y}: %{x:.1%}<extra></extra>",
    }


def _curve(c: Any, share: Any, name: str, colour: str, dash: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": c,
        "y": share,
        "name": name,
        "line": {"color": colour, "dash": dash, "width": 2.2},
        "hovertemplate": f"c = %{{x:.3g}}: %{{y:.1%}} of {name}<extra></extra>",
    }


def _cells(shares: Any, names: list[str]) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": shares,
        "x": names,
        "y": names,
        "colorscale": SCALE,
        "zmin": 0,
        "zmax": 1,
        "xgap": 1,
        "ygap": 1,
        "showscale": False,
        "hovertemplate": "%{y} answered %{x}: %{z:.1%}<extra></extra>",
    }
