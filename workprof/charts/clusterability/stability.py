"""Do the profiles come back when rows are left out? One bar per profile, with Hennig's words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.profiles.left_out import together
from workprof.charts.shapes import Chart, Headline
from workprof.charts.text import plotly_text, shortened
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, laid_out, rows_height
from workprof.profiles.stability import DOUBTFUL_FROM, HIGHLY_STABLE_FROM, STABLE_FROM, Stability
from workprof.units import format_share

READINGS = {"highly stable": COLOURS[2], "stable": COLOURS[0], "doubtful": COLOURS[1], "not to be trusted": COLOURS[4]}
LINES = {DOUBTFUL_FROM: "doubtful", STABLE_FROM: "stable", HIGHLY_STABLE_FROM: "highly stable"}


def stability_bars(found: Stability, names: Mapping[int, str]) -> Chart:
    """Return the mean Jaccard similarity of each profile, least stable first, with its word in the bar."""
    table = _table(found, names)
    figure = go.Figure([_bars(table), _words(table)])
    laid_out(
        figure,
        x="Mean Jaccard similarity (0 to 1)",
        y="",
        height=rows_height(len(table)) + 20,
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(range=[0, 1.75], tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure.update_layout(margin={"t": 68})
    for turn, (limit, word) in enumerate(LINES.items()):
        figure.add_vline(x=limit, line={"color": OUTLIER_COLOUR, "dash": "dot", "width": 1.5})
        place = {"x": limit, "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "bottom", "yshift": 34 - 17 * turn}
        figure.add_annotation(text=f"{limit} {word}", showarrow=False, font={"size": 12}, **place)
    return Chart(
        name="profile-stability",
        figure=figure,
        takeaway=_takeaway(found, table),
        alt=f"Bars of the Jaccard similarity of {len(table)} profiles, least stable first. {_takeaway(found, table)}",
        data=table,
        note="Lines: Hennig's reading of the mean similarity, doubtful from 0.6, stable from 0.75, highly stable from "
        "0.85, below 0.6 not to be trusted. Whiskers: quartiles over the resamples. " + " ".join(together(found.notes)),
    )


def stability_headlines(found: Stability) -> tuple[Headline, ...]:
    """Return the agreement of the resamples with the clustering as figures."""
    stable = sum(each.jaccard >= STABLE_FROM for each in found.per_profile)
    counts = f"{int(found.n_found.min())} to {int(found.n_found.max())}" if len(found.n_found) else "no data"
    rand = f"{found.adjusted_rand:.3f}" if math.isfinite(found.adjusted_rand) else "no data"
    return (
        Headline(
            "Stable profiles", f"{stable} of {len(found.per_profile)}", "Mean Jaccard similarity of 0.75 or more."
        ),
        Headline("Adjusted Rand", rand, "Agreement on the rows that are in a profile both times: 1 = the same groups."),
        Headline(
            "Clustered twice", format_share(found.shared_share), "In a profile both times: mean share of the rows."
        ),
        Headline("Profiles found", counts, "In the resamples.", f"{len(found.per_profile)} in the clustering"),
    )


def _table(found: Stability, names: Mapping[int, str]) -> pd.DataFrame:
    columns = ["profile", "name", "rows", "jaccard", "q25", "median", "q75", "min", "dissolved_share", "reading"]
    lines = [
        [
            each.profile,
            shortened(names.get(each.profile, f"P{each.profile}")),
            each.size,
            each.jaccard,
            each.jaccard_q25,
            each.jaccard_median,
            each.jaccard_q75,
            each.jaccard_min,
            each.dissolved_share,
            each.reading,
        ]
        for each in found.per_profile
    ]
    return pd.DataFrame(lines, columns=columns).sort_values("jaccard", kind="stable").reset_index(drop=True)


def _bars(table: pd.DataFrame) -> go.Bar:
    rows: Any = list(table.itertuples())
    return go.Bar(
        y=[plotly_text(row.name) for row in rows],
        x=table["jaccard"],
        orientation="h",
        marker={"color": [READINGS.get(row.reading, OUTLIER_COLOUR) for row in rows]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (table["q75"] - table["jaccard"]).clip(lower=0),
            "arrayminus": (table["jaccard"] - table["q25"]).clip(lower=0),
            "color": OUTLIER_COLOUR,
            "thickness": 1.5,
        },
        customdata=table[["rows", "dissolved_share"]],
        hovertemplate="%{y}: %{x:.3f}, %{customdata[0]:,} rows, dissolved in %{customdata[1]:.0%} of the resamples"
        "<extra></extra>",
    )


def _words(table: pd.DataFrame) -> go.Scatter:
    """Return a column of words at the right of the bars, so that no reading hangs on a colour."""
    rows: Any = list(table.itertuples())
    return go.Scatter(
        y=[plotly_text(row.name) for row in rows],
        x=[1.04] * len(rows),
        mode="text",
        text=[f"{row.jaccard:.2f} {row.reading}" if row.reading else "no data" for row in rows],
        textposition="middle right",
        hoverinfo="skip",
    )


def _takeaway(found: Stability, table: pd.DataFrame) -> str:
    told = table[table["reading"] != ""]
    if told.empty:
        return "There is no profile whose stability could be measured."
    weak = told[told["jaccard"] < DOUBTFUL_FROM]
    stable = int((told["jaccard"] >= STABLE_FROM).sum())
    tail = (
        f"; {', '.join(weak['name'].head(3))}{' and others' if len(weak) > 3 else ''} should not be trusted"
        if len(weak)
        else ""
    )
    return f"{stable} of {len(told)} profiles come back stable in {found.settings.resamples} resamples{tail}."
