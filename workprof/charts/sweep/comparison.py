"""Two runs side by side: agreement, how their groups overlap, and which jobs moved."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.charts.shapes import Chart, Headline
from workprof.charts.theme import SCALE, laid_out
from workprof.profiles.sweep import RunComparison
from workprof.units import format_count, format_share

LINE_PX = 20
AROUND_PX = 150


def comparison_headlines(comparison: RunComparison) -> tuple[Headline, ...]:
    """Return agreement and moved jobs as figures."""
    moved = len(comparison.row_ids)
    return (
        Headline(
            "Adjusted Rand",
            _number(comparison.adjusted_rand),
            "Agreement on the rows that are in a profile in both runs: 1 = the same groups, 0 = chance.",
            "outliers left out",
        ),
        Headline(
            "Adjusted Rand",
            _number(comparison.adjusted_rand_all),
            "Agreement on all common rows, the outliers as a group of their own.",
            "outliers as a group",
        ),
        Headline(
            "Into the outliers",
            format_count(_into_outliers(comparison)),
            "Rows that are in a profile of the first run and outliers of the second; whole profiles may go.",
            f"{format_count(_out_of_outliers(comparison))} the other way",
        ),
        Headline(
            "Moved",
            format_count(moved),
            "Rows that parted from their group: in the second run they are not where most of their first group is.",
            f"{format_share(moved / comparison.n_common)} of {comparison.n_common:,} rows",
        ),
    )


def overlap_heatmap(comparison: RunComparison, before: str, after: str) -> Chart:
    """Return where the rows of each group of the first run are in the second; each line adds up to 1.

    Groups of the second run are put in the order of the groups of the first that they took most from.
    """
    lines, columns = _names(comparison.overlap.shape[0]), _names(comparison.overlap.shape[1])
    order = _matched_order(comparison.overlap)
    counts = comparison.overlap[:, order]
    columns = [columns[i] for i in order]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            x=columns,
            y=lines,
            customdata=counts,
            colorscale=SCALE,
            zmin=0,
            zmax=1,
            colorbar={"title": {"text": "share"}, "tickformat": ".0%", "thickness": 12},
            hovertemplate="%{y} to %{x}: %{z:.1%}, %{customdata:,} rows<extra></extra>",
            xgap=1,
            ygap=1,
        )
    )
    laid_out(figure, x="Groups of the second run", y="First run", height=AROUND_PX + LINE_PX * len(lines))
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(type="category", showgrid=False)
    return Chart(
        name="sweep-overlap",
        figure=figure,
        takeaway=_takeaway(comparison, before, after),
        alt=f"Heat map of {len(lines)} groups of the first run against {len(columns)} of the second, as shares of the "
        "first run's groups.",
        data=pd.DataFrame(counts, index=lines, columns=columns).rename_axis("first run").reset_index(),
        note=f"First run: {before}; second run: {after}. Each line adds up to 100 % of a group of the first; the table "
        "holds the rows. The numbers of the groups are each run's own: P3 here and P3 there need not be alike.",
    )


def moved_jobs(jobs: pd.DataFrame, comparison: RunComparison) -> pd.DataFrame:
    """Return rows of the store with the group that each had in both runs in front."""
    at = {int(row): i for i, row in enumerate(comparison.row_ids)}
    places = [at[int(row)] for row in jobs["row_id"]]
    told = jobs.copy()
    told.insert(0, "first run", [_group(int(comparison.before[i])) for i in places])
    told.insert(1, "second run", [_group(int(comparison.after[i])) for i in places])
    return told


def _matched_order(overlap: NDArray[np.int64]) -> list[int]:
    """Return the columns with the outliers first, then by the line that gave them most."""
    best = overlap.argmax(axis=0)
    return [0, *sorted(range(1, overlap.shape[1]), key=lambda column: (best[column] or overlap.shape[0], column))]


def _names(groups: int) -> list[str]:
    return [_group(label) for label in range(-1, groups - 1)]


def _group(label: int) -> str:
    return "Outliers" if label < 0 else f"P{label}"


def _takeaway(comparison: RunComparison, before: str, after: str) -> str:
    if before == after:
        return "The same run twice: nothing moved."
    moved, common = len(comparison.row_ids), comparison.n_common
    profiles = len(comparison.overlap) - 1
    gone = int((comparison.overlap[1:].argmax(axis=1) == 0).sum()) if profiles else 0
    return (
        f"{gone} of {profiles} profiles of the first run dissolve into outliers of the second; apart from moves of "
        f"whole groups, {moved:,} of {common:,} rows ({format_share(moved / common)}) part from theirs."
    )


def _into_outliers(comparison: RunComparison) -> int:
    return int(comparison.overlap[1:, 0].sum())


def _out_of_outliers(comparison: RunComparison) -> int:
    return int(comparison.overlap[0, 1:].sum())


def _number(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "no data"
