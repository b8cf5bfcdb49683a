"""The library of known workloads, and how well it recognises runs: measured and as published."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.phases import (
    MEASURE,
    OURS,
    evaluation_sentence,
    has_no_threshold,
    library_sentence,
    measure_words,
    share_words,
)
from workprof.charts import shapes
from workprof.charts.phases.timeline import NOT_THE_PAPER, number
from workprof.charts.shapes import NEUTRAL, Chart, Headline, figure_of, rows_axis, vertical
from workprof.charts.text import counted, plotly_text
from workprof.charts.theme import COLOURS, LIGHT_SCALE, SMALLEST_PX, rows_height
from workprof.phases.evaluation import Curve, Evaluation, KnownFigures
from workprof.phases.library import LibraryView

ROW_PX, MOST_PX = 13, 900


def distance_matrix(result: LibraryView, measure: str) -> Chart:
    """Return the distances between all runs of the library, sorted by workload, with lines between workloads."""
    distances = result.distances(MEASURE[measure])
    names = [f"{plotly_text(own, 22)}/{plotly_text(run, 12)}" for own, run in _runs(result)]
    names = [f"{name} ({place + 1})" if names.count(name) > 1 else name for place, name in enumerate(names)]
    off = ~np.eye(len(names), dtype=bool)
    lowest, highest = np.percentile(distances[off], [2, 98]).tolist() if off.any() else (0.0, 1.0)
    places = list(range(len(names)))
    middles, labels = _middles(result)
    ticks = {"tickvals": middles, "ticktext": labels, "showgrid": False, "zeroline": False}
    figure = figure_of(
        [
            shapes.heat(
                np.where(off, distances, np.nan),
                places,
                places,
                gap=0,
                hover="%{customdata}: %{z:.4g}",
                colorscale=LIGHT_SCALE,
                reversescale=True,
                zmin=lowest,
                zmax=max(highest, lowest + 1e-9),
                hoverongaps=False,
                colorbar={"title": {"text": "distance", "side": "top"}, "thickness": 12},
                customdata=[[f"{one} and {other}" for other in names] for one in names],
            )
        ],
        x={"title": "Run of the library", **ticks, "tickangle": -60},
        y={"title": "", **ticks, "autorange": "reversed"},
        height=min(MOST_PX, max(SMALLEST_PX + 100, 160 + ROW_PX * len(names))),
        shapes=_between(result),
    )
    table = pd.DataFrame(distances, columns=names)
    table.insert(0, "run", names)
    return Chart(
        name=f"phases-library-{measure}",
        figure=figure,
        takeaway=library_sentence(result, measure),
        shows=f"Distance matrix of {counted(len(names), 'run')} of {counted(len(labels), 'workload')}.",
        data=table,
        note=f"{result.n_counters} counters. Strong squares along the diagonal: runs of one workload are alike.",
    )


def threshold_table(result: LibraryView) -> pd.DataFrame:
    """Return one line per workload: runs, distances among them, and up to which a run is accepted."""
    lines = []
    for ed, dtw in zip(result.thresholds["ed"], result.thresholds["dtw"], strict=True):
        lines.append(
            {
                "workload": ed.workload,
                "runs": ed.n_runs,
                "phases": _phases_of(result, ed.workload),
                "euclidean_mean": ed.mean,
                "euclidean_sd": ed.sd,
                "euclidean_limit": ed.mean + result.c["ed"] * ed.sd,
                "dtw_mean": dtw.mean,
                "dtw_sd": dtw.sd,
                "dtw_limit": dtw.mean + result.c["dtw"] * dtw.sd,
            }
        )
    return pd.DataFrame(lines)


def threshold_note(result: LibraryView) -> str:
    """Return what the limits are made of."""
    return (
        f"Threshold = mean + c standard deviations, c = {number(result.c['ed'])} (Euclidean) and "
        f"{number(result.c['dtw'])} (DTW). A workload of fewer than three runs has none."
    )


def _runs(result: LibraryView) -> list[tuple[str, str]]:
    return list(zip(result.workloads, result.names, strict=True))


def _phases_of(result: LibraryView, workload: str) -> str:
    own = [int(n) for n, label in zip(result.n_phases, result.workloads, strict=True) if label == workload]
    return f"{min(own)}" if min(own) == max(own) else f"{min(own)} to {max(own)}"


def _starts(result: LibraryView) -> list[int]:
    labels = result.workloads
    return [place for place in range(len(labels)) if place == 0 or labels[place] != labels[place - 1]]


def _middles(result: LibraryView) -> tuple[list[float], list[str]]:
    starts = _starts(result)
    ends = [*starts[1:], len(result.workloads)]
    return (
        [(first + end - 1) / 2 for first, end in zip(starts, ends, strict=True)],
        [plotly_text(result.workloads[first], 22) for first in starts],
    )


def _between(result: LibraryView) -> list[dict[str, object]]:
    last = len(result.workloads) - 0.5
    lines: list[dict[str, object]] = []
    for first in _starts(result)[1:]:
        at = first - 0.5
        line = {"color": NEUTRAL, "width": 1}
        lines.append({"type": "line", "x0": at, "x1": at, "y0": -0.5, "y1": last, "line": line})
        lines.append({"type": "line", "x0": -0.5, "x1": last, "y0": at, "y1": at, "line": line})
    return lines


FALSE_REJECTS_ALLOWED = 0.1
LONGEST_ROW = 24
"""Characters of a line before the bars: longer names leave them no room on a phone."""


def evaluation_headlines(result: Evaluation) -> tuple[Headline, ...]:
    """Return accuracy, rejection of unknown workloads and false rejects."""
    known, rejects = result.known, not has_no_threshold(result)
    best = max(result.baselines.values(), default=math.nan)
    return (
        Headline(
            "Accuracy",
            share_words(known.accuracy if known else math.nan),
            "On held-out runs of known workloads, by the nearest workload, rejections aside.",
            f"baseline {share_words(best)}",
        ),
        Headline(
            "With rejections",
            share_words(known.accuracy_with_rejections if known and rejects else math.nan),
            "The same, a rejected run counted as wrong.",
        ),
        Headline(
            "Unknown rejected",
            share_words(result.rejected_share if rejects else math.nan),
            "Runs of workloads that were not in the training, mean over these.",
        ),
        Headline(
            "Known rejected",
            share_words(result.false_reject_share if rejects else math.nan),
            "Held-out runs of known workloads: lower is better.",
        ),
    )


def known_bars(result: Evaluation) -> Chart | None:
    """Return the accuracies on known workloads beside the baselines; None where no known run was tested."""
    known = result.known
    if known is None:
        return None
    figures = {OURS: known.accuracy}
    figures |= {measure_words(name): value for name, value in sorted(known.learners.items(), key=lambda item: -item[1])}
    figures |= {
        measure_words(name): value for name, value in sorted(result.baselines.items(), key=lambda item: -item[1])
    }
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
        takeaway=evaluation_sentence(result),
        shows=f"Bars of the accuracy of {len(rows)} ways to recognise a workload.",
        data=pd.DataFrame({"way": rows, "accuracy": list(figures.values())}),
        note=(
            f"{counted(known.n_test, 'answer')} over {counted(known.n_splits, 'split')}{spread}; the splits share "
            "runs, so that is no standard error. Hatched: baselines without phases."
        ),
    )


def open_curve(result: Evaluation, measure: str) -> Chart | None:
    """Return the shares of rejected runs, unknown and known, over c; None without the measure's curve."""
    curve = next((one for one in result.curves if one.measure == measure), None)
    if curve is None:
        return None
    at = math.isfinite(result.c) and measure == ("ed" if result.mode == "faithful" else "pair_model")
    return Chart(
        name=f"phases-open-set-{measure}",
        figure=figure_of(
            [
                _curve(curve.c, curve.rejected, "unknown runs rejected (higher is better)", COLOURS[0], "solid"),
                _curve(curve.c, curve.false_rejects, "known runs rejected (lower is better)", COLOURS[4], "dash"),
            ],
            x="c (standard deviations above the mean)",
            y={"title": "Share of the runs rejected", "range": [-0.02, 1.04], "tickformat": ".0%"},
            height=380,
            showlegend=True,
            shapes=[vertical(result.c, dash="dot")] if at else [],
        ),
        takeaway=_curve_sentence(curve),
        shows=f"Two curves over c for {measure_words(measure)}.",
        data=pd.DataFrame({"c": curve.c, "unknown_rejected": curve.rejected, "known_rejected": curve.false_rejects}),
        note=(
            "Each workload excluded in turn, or those that the library lacks. "
            + (f"Dotted: c = {number(result.c)}, {_origin_of_c(result)}." if at else "")
        ),
    )


def confusion_chart(known: KnownFigures) -> Chart:
    """Return test runs by workload and answer; colour = share of the workload's runs."""
    counts, names = known.confusion, [plotly_text(name, 22) for name in known.workloads]
    shares = shapes.row_shares(counts)
    wrong = int(counts.sum() - np.trace(counts))
    table = pd.DataFrame(counts, columns=[f"answered {name}" for name in known.workloads])
    table.insert(0, "workload", list(known.workloads))
    return Chart(
        name="phases-confusion",
        figure=figure_of(
            [
                shapes.heat(
                    *(shares, names, names),
                    scale=False,
                    hover="%{y} predicted as %{x}: %{z:.1%}",
                    colorscale=LIGHT_SCALE,
                    zmin=0,
                    zmax=1,
                )
            ],
            x={"title": "Predicted", "type": "category", "showgrid": False, "tickangle": -60},
            y={"title": "Actual", **rows_axis(names)},
            height=rows_height(len(names)) + 60,
            annotations=[
                shapes.words(f"{runs:,}", x=int(column), y=int(row))
                for (row, column), runs in np.ndenumerate(counts)
                if runs
            ],
        ),
        takeaway=f"{counted(wrong, 'answer')} of {int(counts.sum()):,} {'is' if wrong == 1 else 'are'} wrong.",
        shows=f"Confusion matrix of {counted(len(names), 'workload')}.",
        data=table,
        note=NOT_THE_PAPER,
    )


def measures_of(result: Evaluation) -> tuple[str, ...]:
    """Return the measures that have a curve; none where no run can be rejected."""
    return () if has_no_threshold(result) else tuple(curve.measure for curve in result.curves)


def _curve_sentence(curve: Curve) -> str:
    allowed = curve.false_rejects <= FALSE_REJECTS_ALLOWED
    if not allowed.any():
        return f"By {measure_words(curve.measure)} no c rejects at most 10 % of the known runs."
    best = int(np.argmax(np.where(allowed, curve.rejected, -1.0)))
    return (
        f"By {measure_words(curve.measure)}, {share_words(float(curve.rejected[best]))} of unknown runs are rejected "
        f"at {share_words(float(curve.false_rejects[best]))} of the known ones (c = {number(float(curve.c[best]))})."
    )


def _origin_of_c(result: Evaluation) -> str:
    return "as published" if result.mode == "faithful" else "as set, or chosen on runs of known workloads only"


def _bars(values: list[float], rows: list[str], ours: int) -> dict[str, Any]:
    return shapes.bars(
        values,
        rows,
        colour=[COLOURS[0] if place < ours else COLOURS[6] for place in range(len(rows))],
        pattern=["" if place < ours else "/" for place in range(len(rows))],
        hover="%{y}: %{x:.1%}",
        text=[share_words(value) for value in values],
    )


def _curve(c: Any, share: Any, name: str, colour: str, dash: str) -> dict[str, Any]:
    return shapes.line(
        c, share, name=name, colour=colour, width=2.2, dash=dash, hover=f"c = %{{x:.3g}}: %{{y:.1%}} of {name}"
    )


TABLE_TWO = {"accuracy": 0.93, "precision": 0.95, "recall": 0.93, "f1": 0.93}
TABLE_THREE = (
    "MongoDB-ycsb is nearest to WordPress (67 %) and MySQL (33 %), Bayesian inference to AI-benchmark (100 %)."
)
TABLE_FOUR = {
    "Redis": (211.90, 52.74, 28.06, 6.41),
    "AI-benchmark": (131.07, 52.66, 19.93, 7.33),
    "MySQL": (181.94, 65.53, 23.51, 8.45),
    "MongoDB-ycsb": (166.23, 73.30, 23.19, 9.18),
    "WordPress": (145.25, 64.47, 20.21, 6.94),
    "Bayesian": (181.60, 46.69, 27.93, 6.32),
}
"""DTW mean and sd, Euclidean mean and sd, of hardware and software counters on another machine."""


def known_table(result: Evaluation) -> pd.DataFrame:
    """Return precision, recall and F1 of every workload, the weakest first, then all of them and the published ones."""
    if result.known is None:
        return pd.DataFrame()
    lines = [
        {"workload": one.workload, "precision": one.precision, "recall": one.recall, "f1": one.f1, "runs": one.support}
        for one in sorted(result.known.per_class, key=lambda one: one.f1)
    ]
    means = {"precision": result.known.precision, "recall": result.known.recall, "f1": result.known.f1}
    published = {name: TABLE_TWO[name] for name in means}
    return pd.DataFrame(
        [
            *lines,
            {"workload": "mean of these", **means, "runs": result.known.n_test},
            {"workload": "published (6 workloads, Table II)", **published, "runs": None},
        ]
    )


def unknown_table(result: Evaluation) -> pd.DataFrame:
    """Return the share that is rejected of every unknown workload, and what it is nearest to."""
    return pd.DataFrame(
        {
            "workload": one.workload,
            "rejected_share": one.rejected_share,
            "answers": one.n,
            "nearest": ", ".join(
                f"{name} {share * 100:.0f} %" for name, share in sorted(one.nearest.items(), key=lambda item: -item[1])
            ),
        }
        for one in sorted(result.unknown, key=lambda one: one.rejected_share)
    )


def inner_table(result: Evaluation) -> pd.DataFrame:
    """Return the distances among the runs of each workload, with the published ones below."""
    ours = [
        {
            "workload": one.workload,
            "dtw_mean": one.dtw_mean,
            "dtw_sd": one.dtw_std,
            "euclidean_mean": one.ed_mean,
            "euclidean_sd": one.ed_std,
            "pairs": one.n_pairs,
        }
        for one in result.distances
    ]
    names = ("dtw_mean", "dtw_sd", "euclidean_mean", "euclidean_sd")
    published = [
        {"workload": f"published: {name}", **dict(zip(names, figures, strict=True)), "pairs": None}
        for name, figures in TABLE_FOUR.items()
    ]
    return pd.DataFrame([*ours, *published])
