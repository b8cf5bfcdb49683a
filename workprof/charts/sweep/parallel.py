"""Settings and scores of all runs as parallel coordinates: one line a run, from axis to axis down the page.

The axes lie across, one below the other, so that their names and values stay readable on a narrow screen, and every
score's axis has its better end at the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.shapes import Chart
from workprof.charts.sweep.runs import (
    ALGORITHM_WORDS,
    LOWER,
    METRIC_WORDS,
    SCALER_WORDS,
    SCORES,
    run_name,
    value,
    written,
)
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, laid_out
from workprof.profiles.sweep import SweepRun

CATEGORIES = ("algorithm", "transform", "metric", "size")
SHOWN = {
    "n_clusters": "profiles",
    "outlier_share": "outliers",
    "silhouette_clustered": "silhouette",
    "davies_bouldin": "Davies–B.",
    "dbcv": "DBCV",
    "acquires": "ACQUIRES",
}
UPPER_SHARE = 0.1
AXIS_PX = 64
AROUND_PX = 40
BEST, UPPER, REST = COLOURS[1], COLOURS[0], OUTLIER_COLOUR


def parallel_coordinates(runs: Sequence[SweepRun], best: int) -> Chart:
    """Return one line per run over its settings and scores; the best one and the next tenth stand out."""
    table = _table(runs)
    axes = [name for name in CATEGORIES if len(set(table[name])) > 1] + list(SHOWN.values())
    places = pd.DataFrame({axis: _places(table, axis) for axis in axes})
    order = np.argsort(table["ACQUIRES"].fillna(-np.inf), kind="stable")
    upper = set(order[-max(1, round(UPPER_SHARE * len(table))) :].tolist())
    figure = go.Figure([_line(table, places, int(i), best, upper) for i in order])
    laid_out(figure, x="", y="", height=AROUND_PX + AXIS_PX * len(axes))
    figure.update_yaxes(
        tickvals=list(range(len(axes))), ticktext=axes, range=[len(axes) - 0.7, -0.6], gridcolor=REST, zeroline=False
    )
    figure.update_xaxes(visible=False, range=[-0.17, 1.17])
    for row, axis in enumerate(axes):
        _name_ticks(figure, table, axis, row)
    return Chart(
        name="sweep-parallel-coordinates",
        figure=figure,
        takeaway=_takeaway(runs, best),
        alt=f"Parallel coordinates of {len(table)} runs over {', '.join(axes)}. {_takeaway(runs, best)}",
        data=table.drop(columns="name"),
        note="A line is a run: thick = the best by ACQUIRES, medium = the best tenth, thin = the rest. On the axes of "
        "the scores the better end is at the right (the number of profiles has none). Silhouette: the proper one.",
    )


def _table(runs: Sequence[SweepRun]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "name": run_name(run.settings, run.grid_size),
                "algorithm": ALGORITHM_WORDS[run.settings.algorithm],
                "transform": SCALER_WORDS[run.settings.scaler],
                "metric": METRIC_WORDS[run.settings.metric],
                "size": run.grid_size,
                **{label: value(run, score) for score, label in SHOWN.items()},
            }
            for run in runs
        ]
    )


def _known(table: pd.DataFrame, axis: str) -> list[Any]:
    return sorted(set(table[axis])) if axis == "size" else list(dict.fromkeys(table[axis]))


def _places(table: pd.DataFrame, axis: str) -> np.ndarray:
    """Return (n_runs,) the place of each run on an axis, 0 = left, 1 = right; NaN without a value."""
    if axis in CATEGORIES:
        known = _known(table, axis)
        return np.array([known.index(item) for item in table[axis]]) / (len(known) - 1)
    numbers = table[axis].to_numpy(dtype=np.float64)
    low, high = _ends(numbers)
    share = (numbers - low) / ((high - low) or 1.0)
    return 1 - share if SCORES[_score(axis)].better == LOWER else share


def _score(axis: str) -> str:
    return next(score for score, label in SHOWN.items() if label == axis)


def _ends(numbers: np.ndarray) -> tuple[float, float]:
    finite = numbers[np.isfinite(numbers)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _line(table: pd.DataFrame, places: pd.DataFrame, i: int, best: int, upper: set[int]) -> go.Scatter:
    colour, width = (BEST, 4.0) if i == best else (UPPER, 2.0) if i in upper else (REST, 1.0)
    row: Any = table.iloc[i]
    told = ", ".join(f"{label} {written(score, row[label])}" for score, label in SHOWN.items())
    return go.Scatter(
        x=places.iloc[i].to_numpy(),
        y=list(range(places.shape[1])),
        mode="lines+markers",
        line={"color": colour, "width": width},
        marker={"size": 3 + width, "color": colour},
        opacity=1.0 if colour != REST else 0.55,
        hovertext=f"{'★ best: ' if i == best else ''}{row['name']}<br>{told}",
        hoverinfo="text",
    )


def _name_ticks(figure: go.Figure, table: pd.DataFrame, axis: str, row: int) -> None:
    """Write the values of a setting above its axis, or both ends of a score beside it."""
    if axis in CATEGORIES:
        known = _known(table, axis)
        for i, item in enumerate(known):
            _write(figure, i / (len(known) - 1), row, str(item), yshift=13)
    else:
        score, (low, high) = _score(axis), _ends(table[axis].to_numpy(dtype=np.float64))
        left, right = (high, low) if SCORES[score].better == LOWER else (low, high)
        _write(figure, 0.0, row, written(score, left), xanchor="right", xshift=-8)
        _write(figure, 1.0, row, written(score, right), xanchor="left", xshift=8)


def _write(figure: go.Figure, x: float, y: int, text: str, **where: Any) -> None:
    figure.add_annotation(x=x, y=y, text=text, showarrow=False, font={"size": 12}, **where)


def _takeaway(runs: Sequence[SweepRun], best: int) -> str:
    if best < 0:
        return "No run has a score yet."
    run = runs[best]
    same = [value(other, "acquires") for other in runs if _same_place(other, run)]
    low, high = (written("acquires", number) for number in (np.nanmin(same), np.nanmax(same)))
    spread = f"with the same transform and metric the other sizes give down to {low}" if low != high else ""
    return f"{run_name(run.settings, run.grid_size)} has the highest ACQUIRES ({high}){'; ' if spread else ''}{spread}."


def _same_place(one: SweepRun, other: SweepRun) -> bool:
    here, there = one.settings, other.settings
    return (here.algorithm, here.scaler, here.metric) == (there.algorithm, there.scaler, there.metric)
