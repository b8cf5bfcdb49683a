"""Scores of a sweep as a heat map and as parallel coordinates, and two of its runs side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.charts import shapes
from workprof.charts.shapes import Chart, Headline, figure_of
from workprof.charts.sweep.runs import (
    ALGORITHM_WORDS,
    LOWER,
    METRIC_WORDS,
    NEITHER,
    SCALER_WORDS,
    SCORES,
    place,
    run_name,
    setting_words,
    value,
    written,
)
from workprof.charts.text import counted, listed
from workprof.charts.theme import COLOURS, LIGHT_SCALE, OUTLIER_COLOUR
from workprof.core.units import format_count, format_share
from workprof.profiles.names import fitted, name_at
from workprof.profiles.sweep import RunComparison, SweepRun

LONGEST_GROUP = 24
HEAT_LINE_PX = 38
HEAT_AROUND_PX = 130
SIZE_AXIS = {
    "hdbscan": "Minimum profile size (runs)",
    "optics": "Size in the grid (runs; the same share of a sample)",
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
    across, down = list(range(len(sizes))), list(range(len(places)))
    lines = [line.replace(", ", "<br>") for line in places]
    cells = shapes.heat(
        values,
        across,
        down,
        scale=False,
        gap=2,
        hover=f"%{{customdata}}: {words.label} %{{text}}",
        customdata=[[f"{line}, size {size}" for size in sizes] for line in places],
        text=[[written(score, number) for number in line] for line in values],
        colorscale=LIGHT_SCALE,
        reversescale=words.better == LOWER,
        hoverongaps=False,
    )
    figure = figure_of(
        [cells],
        x={
            "title": SIZE_AXIS[algorithm],
            "showgrid": False,
            "zeroline": False,
            "tickvals": across,
            "ticktext": [str(size) for size in sizes],
        },
        y={"autorange": "reversed", "showgrid": False, "zeroline": False, "tickvals": down, "ticktext": lines},
        height=HEAT_AROUND_PX + HEAT_LINE_PX * max(2, len(places)),
        annotations=_cell_words(values, score),
    )
    table = pd.DataFrame(values, index=places, columns=[str(size) for size in sizes])
    return Chart(
        name=f"sweep-{score.replace('_', '-')}-{algorithm}",
        figure=figure,
        takeaway=_heat_takeaway(table, score),
        shows=f"Heat map of {words.label} over {len(places)} pairs of transform and metric (lines) and "
        f"{len(sizes)} sizes (columns).",
        data=table.rename_axis("transform, metric").reset_index(),
        note=f"{ALGORITHM_WORDS[algorithm]}, {len(mine)} settings. {words.label}: {words.meaning} "
        f"{words.better.capitalize()}. An empty cell: not finished, excluded, or without a score.",
    )


def _cell_words(values: np.ndarray, score: str) -> list[dict[str, Any]]:
    digits = min(2, SCORES[score].digits)
    return [
        shapes.words(f"{number:,.{digits}f}", x=int(column), y=int(line))
        for (line, column), number in np.ndenumerate(values)
        if np.isfinite(number)
    ]


def _heat_takeaway(table: pd.DataFrame, score: str) -> str:
    words, values = SCORES[score], table.to_numpy(dtype=np.float64)
    if not np.isfinite(values).any():
        return f"No finished setting has a value of {words.label}."
    if words.better == NEITHER:
        low, high = (written(score, float(number)) for number in (np.nanmin(values), np.nanmax(values)))
        return f"{words.label}: {low} to {high} over the grid."
    best = np.nanargmin(values) if words.better == LOWER else np.nanargmax(values)
    line, column = divmod(int(best), values.shape[1])
    number = written(score, float(values[line, column]))
    return f"{words.label} is best ({number}) with {table.index[line]}, minimum size {table.columns[column]}."


CATEGORIES = ("algorithm", "transform", "metric", "size")
SHOWN = {
    "n_clusters": "profiles",
    "outlier_share": "outliers",
    "silhouette_clustered": "silhouette",
    "davies_bouldin": "Davies–B.",
    "relative_validity": "rel. validity",
    "acquires": "ACQUIRES",
}
UPPER_SHARE = 0.1
AXIS_PX = 64
PARALLEL_AROUND_PX = 40
BEST, UPPER, REST = COLOURS[1], COLOURS[0], OUTLIER_COLOUR


def parallel_coordinates(runs: Sequence[SweepRun], best: int) -> Chart:
    """Return one line per run over its settings and scores; the best one and the next tenth stand out."""
    table = pd.DataFrame(
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
    axes = [name for name in CATEGORIES if len(set(table[name])) > 1] + list(SHOWN.values())
    places = pd.DataFrame({axis: _places(table, axis) for axis in axes})
    order = np.argsort(table["ACQUIRES"].fillna(-np.inf), kind="stable")
    upper = set(order[-max(1, round(UPPER_SHARE * len(table))) :].tolist())
    figure = figure_of(
        [_line(table, places, int(i), best, upper) for i in order],
        x={"visible": False, "range": [-0.17, 1.17]},
        y={
            "tickvals": list(range(len(axes))),
            "ticktext": axes,
            "range": [len(axes) - 0.7, -0.6],
            "gridcolor": REST,
            "zeroline": False,
        },
        height=PARALLEL_AROUND_PX + AXIS_PX * len(axes),
    )
    for row, axis in enumerate(axes):
        _name_ticks(figure, table, axis, row)
    return Chart(
        name="sweep-parallel-coordinates",
        figure=figure,
        takeaway=_parallel_takeaway(runs, best),
        shows=f"Parallel coordinates of {len(table)} settings over {', '.join(axes)}.",
        data=table.drop(columns="name"),
        note="A line is a setting: thick = the best by ACQUIRES, medium = the best tenth, thin = the rest. On the axes "
        "of the scores the better end is at the right (the number of profiles has none). Silhouette: without outliers.",
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


def _line(table: pd.DataFrame, places: pd.DataFrame, i: int, best: int, upper: set[int]) -> dict[str, Any]:
    colour, width = (BEST, 4.0) if i == best else (UPPER, 2.0) if i in upper else (REST, 1.0)
    row: Any = table.iloc[i]
    text = ", ".join(f"{label} {written(score, row[label])}" for score, label in SHOWN.items())
    return shapes.line(
        places.iloc[i].to_numpy(),
        list(range(places.shape[1])),
        colour=colour,
        width=width,
        mode="lines+markers",
        hover=None,
        marker={"size": 3 + width, "color": colour},
        opacity=1.0 if colour != REST else 0.55,
        hovertext=f"{'★ best: ' if i == best else ''}{row['name']}<br>{text}",
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


def _parallel_takeaway(runs: Sequence[SweepRun], best: int) -> str:
    if best < 0:
        return "No setting has a score yet."
    run = runs[best]
    same = [value(other, "acquires") for other in runs if _same_place(other, run)]
    low, high = (written("acquires", number) for number in (np.nanmin(same), np.nanmax(same)))
    spread = f"; other sizes score as low as {low}" if low != high else ""
    return f"Highest ACQUIRES ({high}): {setting_words(run.settings, run.grid_size)}{spread}."


def _same_place(one: SweepRun, other: SweepRun) -> bool:
    here, there = one.settings, other.settings
    return (here.algorithm, here.scaler, here.metric) == (there.algorithm, there.scaler, there.metric)


COMPARISON_LINE_PX = 20
MOST_NAMED = 4
"""Profiles that a sentence lists by their numbers."""
COMPARISON_AROUND_PX = 150


def comparison_headlines(comparison: RunComparison) -> tuple[Headline, ...]:
    """Return agreement and moved jobs as figures."""
    moved = len(comparison.row_ids)
    return (
        Headline(
            "Adjusted Rand",
            _number(comparison.adjusted_rand),
            "Agreement on the runs that are in a profile both times: 1 = the same groups, 0 = chance.",
            "without outliers",
        ),
        Headline(
            "Adjusted Rand",
            _number(comparison.adjusted_rand_all),
            "Agreement on all common runs, the outliers as a group of their own.",
            "outliers as a group",
        ),
        Headline(
            "To outliers",
            format_count(_into_outliers(comparison)),
            "Runs in a profile of the first setting and outliers of the second; whole profiles may go.",
            f"from outliers {format_count(_out_of_outliers(comparison))}",
        ),
        Headline(
            "Moved",
            format_count(moved),
            "Runs that changed group: in the second setting they are not where most of their first group is.",
            f"{format_share(moved / comparison.n_common)} of {comparison.n_common:,} runs",
        ),
    )


Names = tuple[Sequence[str], Sequence[str]]
"""Of the profiles of both settings, by label with that of -1 last; () = not known."""


def overlap_heatmap(comparison: RunComparison, before: str, after: str, names: Names = ((), ())) -> Chart:
    """Return where the rows of each group of the first run are in the second; each line adds up to 1.

    Groups of the second run are put in the order of the groups of the first that they took most from.
    """
    lines, columns = (
        [fitted(name_at(of, label), LONGEST_GROUP) for label in range(-1, groups - 1)]
        for of, groups in zip(names, comparison.overlap.shape, strict=True)
    )
    order = _matched_order(comparison.overlap)
    counts = comparison.overlap[:, order]
    columns = [columns[i] for i in order]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    figure = figure_of(
        [
            shapes.heat(
                shares,
                columns,
                lines,
                hover="%{y} to %{x}: %{z:.1%}, %{customdata:,} runs",
                customdata=counts,
                colorscale=LIGHT_SCALE,
                zmin=0,
                zmax=1,
                colorbar={"title": {"text": "share"}, "tickformat": ".0%", "thickness": 12},
            )
        ],
        x={"title": "Profiles of the second setting", "type": "category", "showgrid": False},
        y={"title": "First setting", "autorange": "reversed", "type": "category", "showgrid": False},
        height=COMPARISON_AROUND_PX + COMPARISON_LINE_PX * len(lines),
    )
    return Chart(
        name="sweep-overlap",
        figure=figure,
        takeaway=_comparison_takeaway(comparison, before, after, names[0]),
        shows=f"Heat map of {len(lines)} groups of the first setting against {len(columns)} of the second, as shares "
        "of the first one's groups.",
        data=pd.DataFrame(counts, index=lines, columns=columns).rename_axis("first run").reset_index(),
        note=f"First: {before}; second: {after}. Each line adds up to 100 % of a group of the first; the table "
        "holds the runs. The numbers of the profiles are each setting's own: P3 here and P3 there need not be alike.",
    )


def moved_jobs(jobs: pd.DataFrame, comparison: RunComparison, names: Names = ((), ())) -> pd.DataFrame:
    """Return rows of the store with the group that each had in both runs in front."""
    at = {int(row): i for i, row in enumerate(comparison.row_ids)}
    places = [at[int(row)] for row in jobs["row_id"]]
    result = jobs.copy()
    result.insert(0, "first run", [name_at(names[0], int(comparison.before[i])) for i in places])
    result.insert(1, "second run", [name_at(names[1], int(comparison.after[i])) for i in places])
    return result


def _matched_order(overlap: NDArray[np.int64]) -> list[int]:
    """Return the columns with the outliers first, then by the line that gave them most."""
    best = overlap.argmax(axis=0)
    return [0, *sorted(range(1, overlap.shape[1]), key=lambda column: (best[column] or overlap.shape[0], column))]


def _comparison_takeaway(comparison: RunComparison, before: str, after: str, names: Sequence[str]) -> str:
    if before == after:
        return "The same setting twice: nothing moved."
    moved, common = len(comparison.row_ids), comparison.n_common
    profiles = len(comparison.overlap) - 1
    gone = np.flatnonzero(comparison.overlap[1:].argmax(axis=1) == 0).tolist() if profiles else []
    lost = ""
    if gone:
        named = listed([name_at(names, label) for label in gone[:MOST_NAMED]])
        which = named if len(gone) <= MOST_NAMED else f"{len(gone)} of {profiles} profiles"
        lost = f"; {which} {'becomes' if len(gone) == 1 else 'become'} outliers in the second setting"
    return f"{counted(moved, 'run')} of {common:,} ({format_share(moved / common)}) change group{lost}."


def _into_outliers(comparison: RunComparison) -> int:
    return int(comparison.overlap[1:, 0].sum())


def _out_of_outliers(comparison: RunComparison) -> int:
    return int(comparison.overlap[0, 1:].sum())


def _number(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "no data"
