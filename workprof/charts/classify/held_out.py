"""Held-out runs: what was predicted against what they needed, with the run in question ringed."""

import numpy as np
import pandas as pd

from workprof.answers.forecasts import held_out_note, hit_sentence
from workprof.charts import shapes
from workprof.charts.classify.job import log_axis
from workprof.charts.shapes import LEGEND_ABOVE, NEUTRAL, Chart, drawn_once, figure_of
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR
from workprof.core.words import formatted, title
from workprof.forecasts.held_out import HeldOut

MOST_SHOWN = 40
SQUARE_PX = 420
ROOM = 1.5
"""Of the ends of the axes: a mark at an end is whole."""


@drawn_once
def held_out_scatter(held: HeldOut, target: str, run: int | None) -> Chart:
    """Return the prediction of held-out runs against the fact on one logarithmic scale; `run`, a row id, is ringed."""
    one = held.compared[target]
    known = np.flatnonzero((one.actual > 0) & (one.point > 0))
    shown = known[np.unique(np.linspace(0, len(known) - 1, min(MOST_SHOWN, len(known))).astype(int))]
    own = np.flatnonzero(held.row_ids == run) if run is not None else np.empty(0, dtype=int)
    ringed = np.intersect1d(own, known)
    shown = np.union1d(shown, ringed)
    table = pd.DataFrame(
        {
            "run": held.row_ids[shown],
            "predicted": one.point[shown],
            "low": one.low[shown],
            "high": one.high[shown],
            "actual": one.actual[shown],
            "inside": one.inside[shown],
        }
    )
    values = np.concatenate([one.point[shown], one.actual[shown]])
    low, high = (float(values.min()) / ROOM, float(values.max()) * ROOM) if len(values) else (1.0, 10.0)
    axis = log_axis(target, low, high)
    hover = [
        f"Run {run}: predicted {formatted(target, point)}, actual {formatted(target, actual)}"
        for run, point, actual in zip(held.row_ids[shown], one.point[shown], one.actual[shown], strict=True)
    ]
    marks = [
        shapes.points(
            table["predicted"][table["inside"] == inside],
            table["actual"][table["inside"] == inside],
            colour=COLOURS[0] if inside else COLOURS[1],
            symbol="circle" if inside else "x",
            size=9,
            name="inside its interval" if inside else "outside",
            hover="%{customdata}",
            customdata=[words for words, own in zip(hover, table["inside"], strict=True) if own == inside],
        )
        for inside in (True, False)
    ]
    ring = shapes.points(
        one.point[ringed],
        one.actual[ringed],
        colour=NEUTRAL,
        symbol="circle-open",
        size=20,
        name="this run",
    )
    figure = figure_of(
        [shapes.line([low, high], [low, high], colour=OUTLIER_COLOUR, width=1, dash="dash", showlegend=False), *marks]
        + [ring] * bool(len(ringed)),
        x={"title": f"{title(target, '')}, predicted", **axis},
        y={"title": f"{title(target, '')}, actual", **axis},
        height=SQUARE_PX,
        **LEGEND_ABOVE,
    )
    return Chart(
        name=f"held-out-{target.replace('_', '-')}",
        figure=figure,
        takeaway=hit_sentence(held, target),
        shows=f"{len(table)} held-out runs by prediction and fact, on logarithmic axes.",
        data=table,
        note=held_out_note(len(table), int(np.isfinite(one.actual).sum())),
    )
