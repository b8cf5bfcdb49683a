"""A sweep drawn: its scores as a heat map and as parallel coordinates, each target's winner, two settings compared."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.answers.sweep import (
    LINES_NOTE,
    LOWER,
    PLACE,
    SCORES,
    TARGETS_NOTE,
    comparison_answer,
    lead_sentence,
    place,
    run_name,
    score_note,
    score_sentence,
    targets_sentence,
    targets_table,
    winner_words,
)
from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, figure_of
from workprof.charts.theme import COLOURS, LIGHT_SCALE, OUTLIER_COLOUR, rows_height
from workprof.core.table import printed
from workprof.core.units import format_share
from workprof.profiles.names import fitted, name_at
from workprof.profiles.sweep import RunComparison, SweepRun, TargetWinner

LONGEST_GROUP = 24
HEAT_LINE_PX = 38
HEAT_AROUND_PX = 130
SIZE_AXIS = {
    "hdbscan": "Minimum profile size (runs)",
    "optics": "Size in the grid (runs; the same share of a sample)",
}


def score_heatmap(runs: Sequence[SweepRun], score: str, algorithm: str, chosen: int = -1) -> Chart:
    """Return the score of every finished run of one algorithm, the chosen one framed; missing runs stay empty."""
    mine = [run for run in runs if run.settings.algorithm == algorithm]
    places = list(dict.fromkeys(place(run.settings) for run in mine))
    sizes = sorted({run.grid_size for run in mine})
    values = np.full((len(places), len(sizes)), np.nan)
    for run in mine:
        values[places.index(place(run.settings)), sizes.index(run.grid_size)] = SCORES[score].of(run)
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
        text=[[words.written(number) for number in line] for line in values],
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
    if chosen >= 0 and runs[chosen].settings.algorithm == algorithm:
        column, line = sizes.index(runs[chosen].grid_size), places.index(place(runs[chosen].settings))
        ends = {"x0": column - 0.5, "x1": column + 0.5, "y0": line - 0.5, "y1": line + 0.5}
        figure.add_shape(type="rect", line={"color": COLOURS[1], "width": 4}, **ends)
    table = pd.DataFrame(values, index=places, columns=[str(size) for size in sizes])
    return Chart(
        name=f"sweep-{score.replace('_', '-')}-{algorithm}",
        figure=figure,
        takeaway=score_sentence(mine, score),
        shows=f"Heat map of {words.label} over {len(places)} pairs of transform and metric (lines) and "
        f"{len(sizes)} sizes (columns); the chosen setting is framed.",
        data=table.rename_axis("transform, metric").reset_index(),
        note=score_note(mine, score),
    )


def _cell_words(values: np.ndarray, score: str) -> list[dict[str, Any]]:
    kind = SCORES[score].column
    form = "%,.0f" if kind.unit == "count" else "%,.2f"
    return [
        shapes.words(
            format_share(float(number), 0) if kind.unit == "share" else printed(float(number), form),
            x=int(column),
            y=int(line),
        )
        for (line, column), number in np.ndenumerate(values)
        if np.isfinite(number)
    ]


CATEGORIES = ("algorithm", "transform", "metric", "size")
SHOWN = {
    "n_clusters": "profiles",
    "outlier_share": "outliers",
    "silhouette_clustered": "separation",
    "davies_bouldin": "overlap",
    "relative_validity": "density contrast",
    "acquires": "overall score",
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
                "name": run_name(run),
                **{name: column.of(run) for name, column in zip(CATEGORIES, PLACE, strict=False)},
                "size": run.grid_size,
                **{label: SCORES[score].of(run) for score, label in SHOWN.items()},
            }
            for run in runs
        ]
    )
    axes = [name for name in CATEGORIES if len(set(table[name])) > 1] + list(SHOWN.values())
    places = pd.DataFrame({axis: _places(table, axis) for axis in axes})
    rising = np.argsort(table["overall score"].fillna(-np.inf), kind="stable").tolist()
    upper = set(rising[-max(1, round(UPPER_SHARE * len(table))) :])
    order = sorted(rising, key=lambda place: place == best)  # drawn last: others may lie on it
    figure = figure_of(
        [_line(table, places, place, best, upper) for place in order],
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
        takeaway=lead_sentence(runs, best),
        shows=f"Parallel coordinates of {len(table)} settings over {', '.join(axes)}.",
        data=table.drop(columns="name"),
        note=LINES_NOTE,
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
    text = ", ".join(f"{label} {SCORES[score].written(row[label])}" for score, label in SHOWN.items())
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
        _write(figure, 0.0, row, SCORES[score].written(left), xanchor="right", xshift=-8)
        _write(figure, 1.0, row, SCORES[score].written(right), xanchor="left", xshift=8)


def _write(figure: go.Figure, x: float, y: int, text: str, **where: Any) -> None:
    figure.add_annotation(x=x, y=y, text=text, showarrow=False, font={"size": 12}, **where)


COMPARISON_LINE_PX = 20
COMPARISON_AROUND_PX = 150


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
    answer = comparison_answer(comparison, before, after, names[0])
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
        takeaway=answer.sentence,
        shows=f"Heat map of {len(lines)} groups of the first setting against {len(columns)} of the second, as shares "
        "of the first one's groups.",
        data=pd.DataFrame(counts, index=lines, columns=columns).rename_axis("first run").reset_index(),
        note=" ".join(answer.notes),
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


LINE_PX = 26


def target_bars(winners: Sequence[TargetWinner], runs: Sequence[SweepRun]) -> Chart:
    """Return the best run and its overall score for each target; above it the run's settings and profiles."""
    table = targets_table(winners, runs).frame()
    figure = figure_of(
        [
            shapes.bars(
                table["acquires"],
                [f"target {target}" for target in table["target"]],
                colour=NEUTRAL,
                hover="%{y}: %{customdata}, overall score %{x:.4f}",
                width=0.4,
                customdata=table["winner"],
            )
        ],
        x={"title": "Overall score of the winner (1 = best)", "range": [0, 1]},
        y={"autorange": "reversed", "showgrid": False},
        height=rows_height(len(table)) + LINE_PX * len(table),
    )
    for one in winners:
        above: dict[str, Any] = {"x": 0, "y": f"target {one.target_clusters}", "xanchor": "left", "yshift": 20}
        figure.add_annotation(shapes.words(winner_words(one, runs), **above))
    return Chart(
        name="sweep-targets",
        figure=figure,
        takeaway=targets_sentence(winners, runs),
        shows="Bars of the winner's overall score per target number of profiles.",
        data=table,
        note=TARGETS_NOTE,
    )
