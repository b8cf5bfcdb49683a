"""One score over the grid: lines are transform and metric, columns are sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.shapes import Chart
from workprof.charts.sweep.runs import ALGORITHM_WORDS, LOWER, NEITHER, SCORES, place, value, written
from workprof.charts.theme import SCALE, ink, laid_out
from workprof.profiles.sweep import SweepRun

LINE_PX = 38
AROUND_PX = 130
SIZE_AXIS = {
    "hdbscan": "min_cluster_size (rows)",
    "optics": "Size in the grid (rows; min_samples, the same share of a sample)",
}


def score_heatmap(runs: Sequence[SweepRun], score: str, algorithm: str) -> Chart:
    """Return the score of every finished run of one algorithm; missing runs stay empty."""
    mine = [run for run in runs if run.settings.algorithm == algorithm]
    places = list(dict.fromkeys(place(run.settings) for run in mine))
    sizes = sorted({run.grid_size for run in mine})
    values = np.full((len(places), len(sizes)), np.nan)
    for run in mine:
        values[places.index(place(run.settings)), sizes.index(run.grid_size)] = value(run, score)
    words = SCORES[score]
    figure = _figure(values, places, sizes, score)
    _write_cells(figure, values, score)
    laid_out(figure, x=SIZE_AXIS[algorithm], y="", height=AROUND_PX + LINE_PX * max(2, len(places)))
    lines = [line.replace(", ", "<br>") for line in places]
    figure.update_yaxes(autorange="reversed", showgrid=False, tickvals=list(range(len(lines))), ticktext=lines)
    figure.update_xaxes(showgrid=False, tickvals=list(range(len(sizes))), ticktext=[str(size) for size in sizes])
    table = pd.DataFrame(values, index=places, columns=[str(size) for size in sizes])
    return Chart(
        name=f"sweep-{score.replace('_', '-')}-{algorithm}",
        figure=figure,
        takeaway=_takeaway(table, score),
        alt=f"Heat map of {words.label} over {len(places)} pairs of transform and metric (lines) and "
        f"{len(sizes)} sizes (columns). {_takeaway(table, score)}",
        data=table.rename_axis("transform, metric").reset_index(),
        note=f"{ALGORITHM_WORDS[algorithm]}, {len(mine)} runs. {words.label}: {words.meaning} "
        f"{words.better.capitalize()}. An empty cell is a run that is not finished, was left out, or has no score.",
    )


def _figure(values: np.ndarray, places: list[str], sizes: list[int], score: str) -> go.Figure:
    words = SCORES[score]
    return go.Figure(
        go.Heatmap(
            z=values,
            x=list(range(len(sizes))),
            y=list(range(len(places))),
            customdata=[[f"{line}, size {size}" for size in sizes] for line in places],
            text=[[written(score, number) for number in line] for line in values],
            colorscale=SCALE,
            reversescale=words.better == LOWER,
            showscale=False,
            hovertemplate=f"%{{customdata}}: {words.label} %{{text}}<extra></extra>",
            hoverongaps=False,
            xgap=2,
            ygap=2,
        )
    )


def _write_cells(figure: go.Figure, values: np.ndarray, score: str) -> None:
    """Write the values into their cells, in black or white, whichever stands out more there."""
    low, high = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0.0, 1.0)
    for (line, column), number in np.ndenumerate(values):
        if np.isnan(number):
            continue
        share = float((number - low) / ((high - low) or 1.0))
        figure.add_annotation(
            x=column,
            y=line,
            text=f"{number:,.{min(2, SCORES[score].digits)}f}",
            showarrow=False,
            font={"size": 12, "color": ink(1 - share if SCORES[score].better == LOWER else share)},
        )


def _takeaway(table: pd.DataFrame, score: str) -> str:
    words, values = SCORES[score], table.to_numpy(dtype=np.float64)
    if not np.isfinite(values).any():
        return f"No finished run has a value of {words.label}."
    if words.better == NEITHER:
        low, high = (written(score, float(number)) for number in (np.nanmin(values), np.nanmax(values)))
        return f"{words.label}: {low} to {high} over the grid."
    best = np.nanargmin(values) if words.better == LOWER else np.nanargmax(values)
    line, column = divmod(int(best), values.shape[1])
    number = written(score, float(values[line, column]))
    return f"{words.label} is best ({number}) at {table.index[line]}, size {table.columns[column]}."
