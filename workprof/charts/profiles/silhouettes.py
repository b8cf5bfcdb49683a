"""Silhouettes per profile as box plots: how well each row sits in its profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.profiles.names import groups, note
from workprof.charts.shapes import Chart
from workprof.charts.text import plotly_text, shortened
from workprof.charts.theme import OUTLIERS, laid_out, mark, rows_height
from workprof.profiles.fit import ProfileFit

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def silhouette_boxes(fit: ProfileFit, names: Mapping[int, str]) -> Chart:
    """Return one box per profile, best median first, outliers last."""
    table = _table(fit, names)
    figure = go.Figure()
    rows: Any = table.dropna(subset=["p50"]).itertuples()
    for row in rows:
        figure.add_box(
            y=[plotly_text(row.name)],
            q1=[row.p25],
            median=[row.p50],
            q3=[row.p75],
            lowerfence=[row.p05],
            upperfence=[row.p95],
            orientation="h",
            name=plotly_text(row.name),
            marker={"color": mark(int(row.profile)).colour},
            fillcolor="rgba(0,0,0,0)" if row.profile == OUTLIERS else None,
            hovertext=f"{plotly_text(row.name)}: {row.n:,} rows",
        )
    laid_out(figure, x="Silhouette (−1 to 1, no unit)", y="", height=rows_height(len(table)))
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(range=[-1.03, 1.03])
    scores = fit.scores
    how = "exact" if scores.silhouette_method == "exact" else "sampled"
    return Chart(
        name="silhouettes",
        figure=figure,
        takeaway=_takeaway(table),
        alt=f"Box plots of the silhouette of {len(table)} groups, best first, outliers last.",
        data=table,
        note=note(
            fit,
            f"Silhouettes {how}, n = {scores.n_silhouette:,} of {scores.n_rows:,} rows, outliers counted as one group; "
            "whiskers at the 5th and 95th percentile. −1: misplaced, 0: between two groups, 1: well inside.",
        ),
    )


def _table(fit: ProfileFit, names: Mapping[int, str]) -> pd.DataFrame:
    lines = []
    for profile in groups(fit):
        values = fit.silhouettes[fit.labels == profile]
        values = values[np.isfinite(values)]
        quantiles = np.quantile(values, QUANTILES) if values.size else np.full(len(QUANTILES), np.nan)
        lines.append([int(profile), shortened(names.get(int(profile), "")), values.size, *quantiles])
    columns = ["profile", "name", "n", *(f"p{round(q * 100):02d}" for q in QUANTILES)]
    table = pd.DataFrame(lines, columns=columns)
    table["outliers"] = table["profile"] == OUTLIERS
    ordered = table.sort_values(["outliers", "p50"], ascending=[True, False], kind="stable")
    return ordered.drop(columns="outliers").reset_index(drop=True)


def _takeaway(table: pd.DataFrame) -> str:
    inside = table[(table["profile"] != OUTLIERS) & table["p50"].notna()]
    if inside.empty:
        return "The silhouette is undefined: it needs at least two profiles."
    weak = int((inside["p50"] < 0).sum())
    worst = inside.iloc[-1]
    tail = f"; {weak} of {len(inside)} have a median below 0" if weak else ""
    return f"{worst['name']} is the least separated profile (median silhouette {worst['p50']:.2f}){tail}."
