"""How many rows each profile holds."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.profiles.names import note
from workprof.charts.shapes import Chart
from workprof.charts.text import plotly_text, shortened
from workprof.charts.theme import OUTLIERS, laid_out, mark, rows_height
from workprof.profiles.fit import ProfileFit
from workprof.units import format_share


def size_bars(fit: ProfileFit, names: Mapping[int, str]) -> Chart:
    """Return one bar per profile, largest first, outliers last."""
    cards = sorted(fit.cards, key=lambda card: (card.profile == OUTLIERS, -card.size))
    table = pd.DataFrame(
        {
            "profile": [card.profile for card in cards],
            "name": [shortened(names.get(card.profile, "")) for card in cards],
            "rows": [card.size for card in cards],
            "share": [card.share for card in cards],
        }
    )
    figure = go.Figure(_bars(table))
    laid_out(figure, x="Rows", y="", height=rows_height(len(table)))
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(range=[0, 1.5 * max(table["rows"], default=1)], tickformat=",")
    return Chart(
        name="profile-sizes",
        figure=figure,
        takeaway=_takeaway(table),
        alt=f"Bars of the rows of {len(table)} groups, largest first, outliers last.",
        data=table,
        note=note(fit, f"{fit.scores.n_rows:,} rows, outliers included."),
    )


def _bars(table: pd.DataFrame) -> go.Bar:
    marks = [mark(int(profile)) for profile in table["profile"]]
    return go.Bar(
        y=[plotly_text(name) for name in table["name"]],
        x=table["rows"],
        orientation="h",
        text=[f"{rows:,} · {format_share(share)}" for rows, share in zip(table["rows"], table["share"], strict=True)],
        textposition="outside",
        cliponaxis=False,
        marker={
            "color": [look.colour for look in marks],
            "pattern": {"shape": [look.pattern for look in marks], "fillmode": "overlay", "size": 6},
        },
        hovertemplate="%{y}: %{text}<extra></extra>",
    )


def _takeaway(table: pd.DataFrame) -> str:
    inside = table[table["profile"] != OUTLIERS]
    if inside.empty:
        return "Every row is an outlier: no group was dense enough."
    first = inside.iloc[0]
    outliers = float(table.loc[table["profile"] == OUTLIERS, "share"].sum())
    share = format_share(float(first["share"]))
    return (
        f"The largest of {len(inside)} profiles, {first['name']}, holds {share} of the rows; "
        f"{format_share(outliers)} are outliers."
    )
