"""The library of known workloads, and how well it recognises runs: measured and as published."""

import math
import textwrap
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.recognition import (
    MEASURE,
    NOT_THE_PAPER,
    accuracies_table,
    confusion_sentence,
    curve_note,
    curve_sentence,
    evaluation_sentence,
    has_no_threshold,
    library_sentence,
    matrix_note,
    measure_words,
    share_words,
    splits_note,
)
from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, figure_of, rows_axis, vertical
from workprof.charts.theme import COLOURS, LIGHT_SCALE, SHARE_TICKS, SMALLEST_PX, rows_height
from workprof.core.words import counted, distinct, plotly_text
from workprof.phases.evaluation import Evaluation, KnownFigures
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
        note=matrix_note(result),
    )


def _runs(result: LibraryView) -> list[tuple[str, str]]:
    return list(zip(result.workloads, result.names, strict=True))


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


LONGEST_ROW = 24
"""Characters of a line before the bars: longer names leave them no room on a phone."""


def known_bars(result: Evaluation) -> Chart | None:
    """Return the accuracies on known workloads beside the baselines; None where no known run was tested."""
    known = result.known
    if known is None:
        return None
    table = accuracies_table(result).frame()
    rows = table["way"].tolist()
    drawn = ["<br>".join(textwrap.wrap(row, LONGEST_ROW)) for row in rows]
    return Chart(
        name="phases-recognised",
        figure=figure_of(
            [_bars(table["accuracy"].tolist(), drawn, len(known.learners) + 1)],
            x={"title": "Accuracy", "range": [0, 1.25], **SHARE_TICKS},
            y={"title": "", **rows_axis(drawn)},
            height=rows_height(sum(row.count("<br>") + 1 for row in drawn)),
        ),
        takeaway=evaluation_sentence(result),
        shows=f"Bars of the accuracy of {len(rows)} ways to recognise a workload.",
        data=table,
        note=f"{splits_note(known)} Hatched: baselines without phases.",
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
        takeaway=curve_sentence(curve),
        shows=f"Two curves over c for {measure_words(measure)}.",
        data=pd.DataFrame({"c": curve.c, "unknown_rejected": curve.rejected, "known_rejected": curve.false_rejects}),
        note=curve_note(result, marked=at),
    )


def confusion_chart(known: KnownFigures) -> Chart:
    """Return test runs by workload and answer; colour = share of the workload's runs."""
    counts, names = known.confusion, distinct([plotly_text(name, 22) for name in known.workloads])
    shares = shapes.row_shares(counts)
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
        takeaway=confusion_sentence(known),
        shows=f"Confusion matrix of {counted(len(names), 'workload')}.",
        data=table,
        note=NOT_THE_PAPER,
    )


def measures_of(result: Evaluation) -> tuple[str, ...]:
    """Return the measures that have a curve; none where no run can be rejected."""
    return () if has_no_threshold(result) else tuple(curve.measure for curve in result.curves)


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
