"""Ratio errors of the best predictor per profile as boxes (the paper's Fig. 5); those that often miss are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.durations.names import label
from workprof.charts.durations.observed import NEUTRAL, number, percent
from workprof.charts.shapes import Chart
from workprof.charts.text import plotly_text, shortened
from workprof.charts.theme import COLOURS, OUTLIERS, laid_out, rows_height
from workprof.forecasts.estimate_evaluation import EstimateEvaluation, ProfileErrors
from workprof.units import format_share

NOTABLE_SHARE = 0.1
"""Of a profile's jobs off by more than 100 %: one in ten, the tail beyond the usual p90."""

LEAST = 0.001
"""Left end of the logarithmic axis; smaller errors stand there."""

MOST = 1e4
ROOM_FOR_WORDS = 1.9
"""Decades kept free at the right, enough for the words on a phone."""

QUANTILES = ("p5", "p25", "p50", "p75", "p95")


def profile_error_boxes(found: EstimateEvaluation, names: Mapping[int, str]) -> Chart | None:
    """Return one box per profile, worst median first, or None where the tested rows' profiles are not known."""
    if not found.by_profile:
        return None
    table = pd.DataFrame([_row(errors, names) for errors in found.by_profile])
    figure = _figure(table)
    sentence = _takeaway(table, found.best)
    return Chart(
        name=f"errors-{found.settings.target}-per-profile",
        figure=figure,
        takeaway=sentence,
        alt=f"Box plots of the ratio error of {len(table)} profiles, worst first. {sentence}",
        data=table,
        note="Boxes: quartiles, whiskers at the 5th and 95th percentile of |p − t| / t; orange and named: more than "
        f"{percent(NOTABLE_SHARE)} of the profile's jobs are off by more than 100 %. Errors below 0.001 stand at "
        "the left end. The published figure writes the same ratios as per cent.",
    )


def _row(errors: ProfileErrors, names: Mapping[int, str]) -> dict[str, object]:
    default = "Outliers" if errors.profile == OUTLIERS else f"P{errors.profile}"
    return {
        "profile": errors.profile,
        "name": shortened(names.get(errors.profile, default), 24),
        "rows": errors.n_rows,
        **dict(zip(QUANTILES, errors.quantiles.tolist(), strict=True)),
        "beyond_100pct_share": errors.beyond_100pct_share,
        "called_out": errors.beyond_100pct_share > NOTABLE_SHARE,
    }


def _figure(table: pd.DataFrame) -> go.Figure:
    figure = go.Figure()
    drawn = table[list(QUANTILES)].clip(LEAST, MOST)
    top = float(np.log10(drawn.to_numpy().max()))
    rows: Any = table.itertuples()
    for row in rows:
        figure.add_box(
            y=[plotly_text(row.name)],
            **_box(drawn.loc[row.Index]),
            orientation="h",
            name=plotly_text(row.name),
            marker={"color": COLOURS[1] if row.called_out else COLOURS[0]},
            fillcolor="rgba(0,0,0,0)" if row.profile == OUTLIERS else None,
            hovertext=f"{plotly_text(row.name)}: {row.rows:,} jobs, median {number(row.p50)}, "
            f"{format_share(row.beyond_100pct_share)} beyond 100 %",
        )
        if row.called_out:
            figure.add_annotation(
                x=float(np.log10(drawn.loc[row.Index, "p95"])),
                y=plotly_text(row.name),
                text=f"{percent(row.beyond_100pct_share)} beyond",
                showarrow=False,
                xanchor="left",
                xshift=8,
                font={"size": 12},
            )
    laid_out(figure, x="Ratio error |p − t| / t (1 = 100 %), logarithmic", y="", height=rows_height(len(table)))
    figure.update_xaxes(type="log", range=[np.log10(LEAST), max(top, 0.5) + ROOM_FOR_WORDS], dtick=1, zeroline=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.add_vline(x=1, line={"color": NEUTRAL, "dash": "dot", "width": 1.6})
    figure.add_annotation(x=0, yref="paper", y=1, yanchor="bottom", text="100 %", showarrow=False)
    return figure


def _box(quantiles: pd.Series[float]) -> dict[str, list[float]]:
    parts = {"lowerfence": "p5", "q1": "p25", "median": "p50", "q3": "p75", "upperfence": "p95"}
    return {part: [float(quantiles[name])] for part, name in parts.items()}


def _takeaway(table: pd.DataFrame, best: str) -> str:
    called = table[table["called_out"]].sort_values("beyond_100pct_share", ascending=False, kind="stable")
    if called.empty:
        rarely = percent(NOTABLE_SHARE)
        return f"In every profile {label(best)} is off by more than 100 % for at most {rarely} of the jobs."
    parts = zip(called["name"].head(3), called["beyond_100pct_share"].head(3), strict=True)
    worst = ", ".join(f"{name} ({percent(share)})" for name, share in parts)
    others = f" and {len(called) - 3} more" if len(called) > 3 else ""
    return (
        f"In {len(called)} of {len(table)} groups {label(best)} is off by more than 100 % for over "
        f"{percent(NOTABLE_SHARE)} of the jobs: {worst}{others}."
    )
