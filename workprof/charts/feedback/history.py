"""ACQUIRES over time: at the fit, after every observation, at every refit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.shapes import Chart
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, laid_out
from workprof.forecasts.feedback.windows import FIT, OBSERVED, REFITTED, HistoryEntry

WORDS = {FIT: "fit", OBSERVED: "observation", REFITTED: "refit"}
SYMBOLS = {FIT: "diamond", OBSERVED: "circle", REFITTED: "star"}
COLOUR_OF = {FIT: COLOURS[0], OBSERVED: COLOURS[2], REFITTED: COLOURS[1]}


def acquires_history(history: Sequence[HistoryEntry]) -> Chart:
    """Return ACQUIRES by finished jobs so far; refits and the fit have marks of their own."""
    table = _table(history)
    figure = go.Figure([_line(table), *[_marks(table, event) for event in WORDS]])
    laid_out(figure, x="Finished jobs observed so far", y="ACQUIRES (0 to 1)")
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.12})
    figure.update_yaxes(range=[min(0.0, float(table["acquires"].min(skipna=True) or 0.0)), 1])
    takeaway = _takeaway(history)
    return Chart(
        name="acquires-history",
        figure=figure,
        takeaway=takeaway,
        alt=f"Line of ACQUIRES over {counted(len(table), 'point')}, with marks for fit, observations and refits. "
        f"{takeaway}",
        data=table,
        note="ACQUIRES is the mean of silhouette, share in profiles and closeness to the wanted number of profiles, "
        "with the clustering's true number of profiles. Jobs are filed under the profile nearest to what they "
        "measured, at the fit as afterwards, so the points compare; the score on the Profiles page counts the "
        "clustering's own outliers.",
    )


def _table(history: Sequence[HistoryEntry]) -> pd.DataFrame:
    columns = ["when", "event", "jobs", "recent", "acquires", "n_clusters", "outlier_share", "drifting"]
    return pd.DataFrame([[getattr(entry, name) for name in columns] for entry in history], columns=columns)


def _line(table: pd.DataFrame) -> go.Scatter:
    return go.Scatter(
        x=table["jobs"],
        y=table["acquires"],
        mode="lines",
        line={"color": OUTLIER_COLOUR, "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )


def _marks(table: pd.DataFrame, event: str) -> go.Scatter:
    rows = table[table["event"] == event]
    return go.Scatter(
        x=rows["jobs"],
        y=rows["acquires"],
        mode="markers",
        name=WORDS[event],
        marker={"symbol": SYMBOLS[event], "color": COLOUR_OF[event], "size": 11},
        customdata=rows[["when", "recent", "outlier_share"]],
        hovertemplate="%{customdata[0]}: %{y:.3f} on %{customdata[1]:,} jobs, %{customdata[2]:.1%} far from every "
        "profile<extra></extra>",
    )


def _takeaway(history: Sequence[HistoryEntry]) -> str:
    first, last = history[0], history[-1]
    refits = sum(entry.event == REFITTED for entry in history)
    after = f", {counted(refits, 'refit')} between" if refits else ""
    if len(history) == 1:
        return f"ACQUIRES was {first.acquires:.3f} at the fit; no finished job was observed since."
    if not math.isfinite(last.acquires):
        return f"ACQUIRES was {first.acquires:.3f} at the fit; the recent jobs are too alike to say what it is now."
    return (
        f"ACQUIRES is {last.acquires:.3f} after {counted(last.jobs, 'finished job')}; it was {first.acquires:.3f} at "
        f"the fit{after}."
    )
