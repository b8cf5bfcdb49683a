"""Drift per profile: by what the median error changed, with its interval and a plain word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.shapes import Chart
from workprof.charts.text import counted, label, plotly_text, shortened
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, laid_out, rows_height
from workprof.forecasts.feedback.drift import DRIFT, NO_DRIFT, SLIGHT, TOO_FEW, Drift

COLOUR_OF = {DRIFT: COLOURS[4], SLIGHT: COLOURS[6], NO_DRIFT: COLOURS[2], TOO_FEW: OUTLIER_COLOUR}
SYMBOL_OF = {DRIFT: "x", SLIGHT: "diamond", NO_DRIFT: "circle", TOO_FEW: "circle-open"}


def drift_bars(drift: Sequence[Drift], target: str, names: Mapping[int, str] | None = None) -> Chart:
    """Return the change of the median error of one target in every profile that can be judged."""
    table = drift_table(drift, names)
    table = table[(table["target"] == target) & (table["errors"] != TOO_FEW)].reset_index(drop=True)
    figure = go.Figure([_marks(table, word) for word in (DRIFT, SLIGHT, NO_DRIFT)])
    laid_out(figure, x="Median need over estimate, now against the fit (factor)", y="", height=rows_height(len(table)))
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.12})
    figure.update_xaxes(type="log")
    shown = [plotly_text(name) for name in table["name"]]
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=shown[::-1])
    figure.add_vline(x=1, line={"color": OUTLIER_COLOUR, "dash": "dot", "width": 1.5})
    takeaway = drift_words([one for one in drift if one.target == target], target)
    return Chart(
        name=f"drift-{target}",
        figure=figure,
        takeaway=takeaway,
        alt=f"Marks with intervals of {counted(len(table), 'profile')} on a logarithmic axis. {takeaway}",
        data=table,
        note="Above 1 jobs need more, against their estimates, than at the fit. Lines: 95 % interval. Drift: beyond "
        "chance (all tests of a check together) and large enough to matter; slight: beyond chance alone. Rows of one "
        "job count together.",
    )


def drift_table(drift: Sequence[Drift], names: Mapping[int, str] | None = None) -> pd.DataFrame:
    """Return one line per profile and target, those with drift first."""
    given = names or {}
    lines = [
        {
            "profile": one.profile,
            "name": shortened(given.get(one.profile, f"P{one.profile}")),
            "target": one.target,
            "jobs": one.jobs,
            "independent jobs": round(one.effective, 1),
            "errors": one.error.word,
            "error factor": one.error.factor,
            "factor low": float(np.exp(one.error.low)),
            "factor high": float(np.exp(one.error.high)),
            "error p": one.error.probability,
            "needs": one.distribution.word,
            "distance": one.distribution.distance,
            "stability index": one.distribution.stability_index,
            "needs p": one.distribution.probability,
        }
        for one in sorted(drift, key=lambda one: (not one.found, one.profile, one.target))
    ]
    return pd.DataFrame(lines, columns=_COLUMNS)


_COLUMNS = [
    *("profile", "name", "target", "jobs", "independent jobs", "errors", "error factor", "factor low", "factor high"),
    *("error p", "needs", "distance", "stability index", "needs p"),
]


def drift_words(drift: Sequence[Drift], target: str = "") -> str:
    """Return how many profiles drift, and how many cannot be judged yet, in one sentence."""
    profiles = {one.profile for one in drift}
    errors = {one.profile for one in drift if one.error.word == DRIFT}
    needs = {one.profile for one in drift if one.distribution.word == DRIFT}
    judged = {one.profile for one in drift if one.distribution.word != TOO_FEW}
    of_what = f"{label(target)}: " if target else ""
    if not judged:
        return f"{of_what}no profile has enough finished jobs to judge drift yet."
    open_ = len(profiles) - len(judged)
    later = f"; {counted(open_, 'profile')} cannot be judged yet" if open_ else ""
    return (
        f"{of_what}errors drift in {len(errors)} and needs in {len(needs)} of {counted(len(judged), 'profile')}{later}."
    )


def _marks(table: pd.DataFrame, word: str) -> go.Scatter:
    rows = table[table["errors"] == word]
    return go.Scatter(
        x=rows["error factor"],
        y=[plotly_text(name) for name in rows["name"]],
        mode="markers",
        name=word,
        marker={"color": COLOUR_OF[word], "symbol": SYMBOL_OF[word], "size": 11},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (rows["factor high"] - rows["error factor"]).clip(lower=0),
            "arrayminus": (rows["error factor"] - rows["factor low"]).clip(lower=0),
            "color": OUTLIER_COLOUR,
            "thickness": 1.5,
        },
        customdata=rows[["jobs", "needs"]],
        hovertemplate="%{y}: factor %{x:.2f}, %{customdata[0]:,} jobs, needs: %{customdata[1]}<extra></extra>",
    )
