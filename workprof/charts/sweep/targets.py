"""How much the winner hangs on the number of profiles that ACQUIRES rewards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.shapes import Chart
from workprof.charts.sweep.published import TARGET_WINNERS
from workprof.charts.sweep.runs import place, run_name
from workprof.charts.theme import COLOURS, laid_out, rows_height
from workprof.profiles.sweep import SweepRun, TargetWinner

LINE_PX = 26


def target_bars(winners: Sequence[TargetWinner], runs: Sequence[SweepRun]) -> Chart:
    """Return the best run and its ACQUIRES for each target; above it the run's settings and profiles."""
    table = pd.DataFrame([_line(winner, runs) for winner in winners])
    distinct = list(dict.fromkeys(table["winner"]))
    lines: Any = list(table.itertuples())
    figure = go.Figure(
        go.Bar(
            y=[f"target {target}" for target in table["target"]],
            x=table["acquires"],
            orientation="h",
            width=0.4,
            marker={"color": [COLOURS[distinct.index(name) % len(COLOURS)] for name in table["winner"]]},
            customdata=table["winner"],
            hovertemplate="%{y}: %{customdata}, ACQUIRES %{x:.4f}<extra></extra>",
        )
    )
    laid_out(figure, x="ACQUIRES of the winner (1 = best)", y="", height=rows_height(len(table)) + LINE_PX * len(table))
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(range=[0, 1])
    for row in lines:
        words = f"{row.acquires:.3f} · {row.short}: {row.profiles:.0f} profiles" if row.winner else "no run has a score"
        place = {"x": 0, "y": f"target {row.target}", "xanchor": "left", "yshift": 20}
        figure.add_annotation(text=words, showarrow=False, font={"size": 12}, **place)
    return Chart(
        name="sweep-targets",
        figure=figure,
        takeaway=_takeaway(table),
        alt="Bars of the winner's ACQUIRES per target number of profiles. " + _takeaway(table),
        data=table.drop(columns="short"),
        note="Above each bar: ACQUIRES · transform, metric, size: profiles found. The paper calls 26 optimal without a "
        "reason; it is the count of its own winner. Published winners are of another sample (100,001 rows, "
        "17 features).",
    )


def _line(winner: TargetWinner, runs: Sequence[SweepRun]) -> dict[str, object]:
    found = runs[winner.run] if winner.run >= 0 else None
    published, profiles, acquires = TARGET_WINNERS.get(winner.target_clusters, ("", math.nan, math.nan))
    return {
        "target": winner.target_clusters,
        "winner": run_name(found.settings, found.grid_size) if found else "",
        "short": f"{place(found.settings)}, {found.grid_size}" if found else "",
        "profiles": found.scores.n_clusters if found else math.nan,
        "acquires": winner.acquires,
        "published winner": published,
        "published profiles": profiles,
        "published acquires": acquires,
    }


def _takeaway(table: pd.DataFrame) -> str:
    won = table[table["winner"] != ""]
    if won.empty:
        return "No run has a score yet."
    names = list(dict.fromkeys(won["winner"]))
    if len(names) == 1:
        return f"The same run wins at every target: {names[0]}."
    return (
        f"{len(names)} different runs win as the target goes from {won['target'].iloc[0]} to {won['target'].iloc[-1]}: "
        f"from {int(won['profiles'].iloc[0])} to {int(won['profiles'].iloc[-1])} profiles. The target decides."
    )
