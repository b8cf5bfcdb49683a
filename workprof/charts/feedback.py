"""Figures and tables of the feedback loop: ACQUIRES over time, drift per profile, estimates now and at the fit."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from workprof.answers.feedback import DRIFT_NOTE, drift_table, drift_words, history_sentence
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, Chart, figure_of, vertical
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, rows_height
from workprof.core.words import counted, plotly_text
from workprof.forecasts.feedback.drift import DRIFT, NO_DRIFT, SLIGHT, TOO_FEW, Drift
from workprof.forecasts.feedback.windows import FIT, OBSERVED, REFITTED, HistoryEntry

WORDS = {FIT: "fit", OBSERVED: "observation", REFITTED: "refit"}
SYMBOLS = {FIT: "diamond", OBSERVED: "circle", REFITTED: "star"}
HISTORY_COLOUR_OF = {FIT: COLOURS[0], OBSERVED: COLOURS[2], REFITTED: COLOURS[1]}


def acquires_history(history: Sequence[HistoryEntry]) -> Chart:
    """Return ACQUIRES by finished jobs so far; refits and the fit have marks of their own."""
    table = _table(history)
    figure = figure_of(
        [
            shapes.line(table["jobs"], table["acquires"], colour=OUTLIER_COLOUR, width=1.5, showlegend=False),
            *[_history_marks(table, event) for event in WORDS],
        ],
        x="Finished jobs compared so far",
        y={"title": "Overall score (0 to 1)", "range": [min(0.0, float(table["acquires"].min(skipna=True) or 0.0)), 1]},
        height=380,
        **LEGEND_ABOVE,
    )
    return Chart(
        name="acquires-history",
        figure=figure,
        takeaway=history_sentence(history),
        shows=f"Line of the overall score over {counted(len(table), 'point')}, "
        "with marks for fit, observations and refits.",
        data=table,
        note="Overall score (ACQUIRES): the mean of silhouette, share in profiles and closeness to the wanted "
        "number of "
        "profiles, with the clustering's true number of profiles. Jobs are filed under the profile nearest to what "
        "they measured, at the fit as afterwards, so the points are comparable; the score on the Profiles page counts "
        "the clustering's own outliers.",
    )


def _table(history: Sequence[HistoryEntry]) -> pd.DataFrame:
    columns = ["when", "event", "jobs", "recent", "acquires", "n_clusters", "outlier_share", "drifting"]
    return pd.DataFrame([[getattr(entry, name) for name in columns] for entry in history], columns=columns)


def _history_marks(table: pd.DataFrame, event: str) -> dict[str, Any]:
    rows = table[table["event"] == event]
    return shapes.points(
        rows["jobs"],
        rows["acquires"],
        name=WORDS[event],
        colour=HISTORY_COLOUR_OF[event],
        symbol=SYMBOLS[event],
        size=11,
        hover="%{customdata[0]}: %{y:.3f} on %{customdata[1]:,} jobs, %{customdata[2]:.1%} far from every profile",
        customdata=rows[["when", "recent", "outlier_share"]],
    )


DRIFT_COLOUR_OF = {DRIFT: COLOURS[4], SLIGHT: COLOURS[6], NO_DRIFT: COLOURS[2], TOO_FEW: OUTLIER_COLOUR}
SYMBOL_OF = {DRIFT: "x", SLIGHT: "diamond", NO_DRIFT: "circle", TOO_FEW: "circle-open"}


def drift_bars(drift: Sequence[Drift], target: str, names: Mapping[int, str] | None = None) -> Chart:
    """Return the change of the median error of one target in every profile that can be judged."""
    table = drift_table(drift, names).frame()
    table = table[(table["target"] == target) & (table["errors"] != TOO_FEW)].reset_index(drop=True)
    shown = [plotly_text(name) for name in table["name"]]
    figure = figure_of(
        [_drift_marks(table, word) for word in (DRIFT, SLIGHT, NO_DRIFT)],
        x={"title": "Actual / predicted (median), relative to the fit (factor)", "type": "log"},
        y={"type": "category", "categoryorder": "array", "categoryarray": shown[::-1]},
        height=rows_height(len(table)),
        **LEGEND_ABOVE,
        shapes=[vertical(1, dash="dot", colour=OUTLIER_COLOUR, width=1.5)],
    )
    return Chart(
        name=f"drift-{target}",
        figure=figure,
        takeaway=drift_words([one for one in drift if one.target == target], target),
        shows=f"Marks with intervals of {counted(len(table), 'profile')} on a logarithmic axis.",
        data=table,
        note=DRIFT_NOTE,
    )


def _drift_marks(table: pd.DataFrame, word: str) -> dict[str, Any]:
    rows = table[table["errors"] == word]
    return shapes.points(
        rows["error_factor"],
        [plotly_text(name) for name in rows["name"]],
        name=word,
        colour=DRIFT_COLOUR_OF[word],
        symbol=SYMBOL_OF[word],
        size=11,
        hover="%{y}: factor %{x:.2f}, %{customdata[0]:,} jobs, needs: %{customdata[1]}",
        error_x=shapes.interval(
            rows["error_factor"], rows["factor_low"], rows["factor_high"], colour=OUTLIER_COLOUR, width=1.5
        ),
        customdata=rows[["jobs", "needs"]],
    )
