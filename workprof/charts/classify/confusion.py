"""Truth against answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.classify.job import Naming
from workprof.charts.classify.split_words import SPLIT_WORDS
from workprof.charts.shapes import Chart
from workprof.charts.theme import SCALE, ink, laid_out, rows_height
from workprof.forecasts.classifier_evaluation import Confusion, SplitScores
from workprof.units import format_share

MOST_WRITTEN = 12
"""Classes up to which the cells hold their numbers; beyond that they are too small to read."""

SHOWN_AS = ("row %", "rows")


def confusion_heatmap(scores: SplitScores, naming: Naming, shown_as: str = "row %") -> Chart:
    """Return the confusion matrix of one split: colour = share of the truth's rows.

    Args:
        scores: of the split.
        naming: of the profiles.
        shown_as: 'row %' or 'rows': the number in each cell.
    """
    confusion = scores.confusion
    shares = row_shares(confusion)
    answers = [naming.shown(int(profile), 18) for profile in confusion.classes]
    truths = ["Outliers" if profile == -1 else name for profile, name in zip(confusion.classes, answers, strict=True)]
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            x=answers,
            y=truths,
            customdata=_hover(confusion, shares, answers, truths),
            colorscale=SCALE,
            zmin=0,
            zmax=1,
            colorbar={"orientation": "h", "y": 1.0, "yanchor": "bottom", "tickformat": ".0%", "thickness": 10},
            hovertemplate="%{customdata}<extra></extra>",
            xgap=1,
            ygap=1,
        )
    )
    if len(answers) <= MOST_WRITTEN:
        _write(figure, confusion, shares, shown_as)
    laid_out(figure, x="Answer", y="Truth", height=rows_height(len(truths)) + 80)
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category", dtick=1)
    figure.update_xaxes(showgrid=False, type="category", tickangle=-90)
    takeaway = _takeaway(confusion, shares, answers, truths)
    return Chart(
        name=f"confusion-{scores.split.replace('_', '-')}",
        figure=figure,
        takeaway=takeaway,
        alt=f"Heat map of truth (lines) against answer (columns) for {len(truths)} classes. {takeaway}",
        data=confusion_table(confusion, naming, shown_as),
        note=naming.note(
            f"Tested on {SPLIT_WORDS[scores.split]}, {scores.n_test:,} rows. Colour: share of the truth's rows, on "
            "the diagonal the recall; hover for the rows. Answer 'No profile' is an abstention."
        ),
    )


def row_shares(confusion: Confusion) -> np.ndarray:
    """Return (n, n) shares of each truth's rows; NaN for a class that never is the truth."""
    totals = confusion.counts.sum(axis=1, keepdims=True)
    shares: np.ndarray = np.where(totals > 0, confusion.counts / np.maximum(totals, 1), np.nan)
    return shares


def confusion_table(confusion: Confusion, naming: Naming, shown_as: str) -> pd.DataFrame:
    """Return the matrix as rows or as percent of the truth's rows, a line per truth."""
    numbers = confusion.counts if shown_as == "rows" else np.round(100 * row_shares(confusion), 1)
    names = [f"{int(profile)} {naming.name(int(profile))}" for profile in confusion.classes]
    table = pd.DataFrame(numbers, index=names, columns=names).rename_axis(f"truth ({shown_as})").reset_index()
    return table.assign(support=confusion.counts.sum(axis=1))


def _hover(confusion: Confusion, shares: np.ndarray, answers: list[str], truths: list[str]) -> list[list[str]]:
    return [
        [
            f"truth {truth}, answer {answer}: {confusion.counts[i, j]:,} rows, "
            f"{format_share(shares[i, j])} of the truth's"
            for j, answer in enumerate(answers)
        ]
        for i, truth in enumerate(truths)
    ]


def _write(figure: go.Figure, confusion: Confusion, shares: np.ndarray, shown_as: str) -> None:
    for (i, j), rows in np.ndenumerate(confusion.counts):
        if rows:
            text = f"{rows:,}" if shown_as == "rows" else f"{shares[i, j]:.0%}"  # no room for a space
            figure.add_annotation(
                x=j, y=i, text=text, showarrow=False, font={"size": 12, "color": ink(float(shares[i, j]))}
            )


def _takeaway(confusion: Confusion, shares: np.ndarray, answers: list[str], truths: list[str]) -> str:
    wrong = confusion.counts.copy()
    np.fill_diagonal(wrong, 0)
    if not wrong.any():
        return "No row is answered wrong."
    i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return (
        f"The most frequent mistake: truth {truths[i]}, answer {answers[j]}, {wrong[i, j]:,} rows "
        f"({format_share(shares[i, j], 0)} of that truth)."
    )
