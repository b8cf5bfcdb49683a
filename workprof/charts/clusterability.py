"""Figures of whether there is anything to cluster: Hopkins, the label baseline, the stability of the profiles."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from workprof.answers.profiles import (
    baseline_sentence,
    draws_note,
    groupings,
    hopkins_answer,
    labels_note,
    stability_sentence,
    together,
)
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, Chart, figure_of
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, rows_height
from workprof.core.words import plotly_text, shortened
from workprof.profiles.baseline import BASELINE_METRICS, Baseline
from workprof.profiles.hopkins import CLUSTERED_BELOW, PUBLISHED_HOPKINS, REGULAR_ABOVE, Hopkins
from workprof.profiles.stability import DOUBTFUL_FROM, HIGHLY_STABLE_FROM, STABLE_FROM, Stability

CONVENTION = (
    "Convention of the paper: near 0 = clusterable, 0.5 = no more structure than uniform random runs, near 1 = evenly "
    "spaced. Many textbooks print 1 minus this value."
)
PLAIN, POWER = "plain distances", "distances to the power of the dimensions"
HEIGHT_PX = 290


def hopkins_line(result: Hopkins) -> Chart:
    """Return both variants of the statistic with every draw, the zones of the scale and the published value."""
    figure = figure_of(
        [_draws(result.draws.tolist(), PLAIN, 0), _draws(result.draws_power.tolist(), POWER, 1)],
        x={"title": "Hopkins statistic (share, 0 to 1)", "range": [-0.03, 1.03], "zeroline": False},
        y={
            "tickvals": [0, 1],
            "ticktext": ["plain<br>distances", "to the power<br>of dimensions"],
            "range": [1.7, -1.1],
            "showgrid": False,
        },
        height=HEIGHT_PX,
    )
    _zones(figure)
    return Chart(
        name="hopkins",
        figure=figure,
        takeaway=hopkins_answer(result).sentence,
        shows="Hopkins statistic on a line: 0 is clusterable, 0.5 uniform, 1 evenly spaced.",
        data=pd.DataFrame({"draw": range(1, len(result.draws) + 1), PLAIN: result.draws, POWER: result.draws_power}),
        note=draws_note(result),
    )


def _draws(values: list[float], name: str, row: int) -> dict[str, Any]:
    return shapes.points(
        values,
        [row] * len(values),
        name=name,
        colour=COLOURS[row],
        symbol="circle" if row == 0 else "diamond",
        size=13,
        opacity=0.8,
        hover=f"{name}: %{{x:.4f}}",
    )


def _zones(figure: go.Figure) -> None:
    """Draw the limits of the readings and the reference values, each with its words."""
    for limit, at, words, anchor in (
        (CLUSTERED_BELOW, 0.0, "clustered", "left"),
        (REGULAR_ABOVE, 1.03, "evenly spaced", "right"),
    ):
        figure.add_vline(x=limit, line={"color": OUTLIER_COLOUR, "dash": "dot", "width": 1})
        figure.add_annotation(x=at, y=-0.9, text=words, showarrow=False, xanchor=anchor, font={"size": 12})
    figure.add_vline(x=0.5, line={"color": OUTLIER_COLOUR, "dash": "dash", "width": 1})
    figure.add_annotation(
        x=0.5, y=-0.55, text="uniform 0.5", showarrow=False, xanchor="left", xshift=4, font={"size": 12}
    )
    figure.add_annotation(
        x=PUBLISHED_HOPKINS,
        y=1.5,
        text=f"◇ published {PUBLISHED_HOPKINS}, not verified",
        showarrow=False,
        xanchor="left",
    )


SYMBOLS = {"euclidean": "circle", "cosine": "square", "manhattan": "diamond"}
METRIC_WORDS = {"euclidean": "Euclidean", "cosine": "cosine", "manhattan": "Manhattan"}
LINE_PX = 68
AROUND_PX = 150


def baseline_dots(result: Baseline) -> Chart:
    """Return one line per label and one for the profiles, with a mark per metric; published values are hollow."""
    table = pd.DataFrame(
        [
            {
                "label": name,
                "metric": metric,
                "silhouette": float(getattr(label, metric)),
                "standard_error": label.standard_errors.get(metric, math.nan),
                "published": label.published.get(metric, math.nan),
                "values": label.n_values,
                "rows": label.n_rows,
                "missing_rows": label.n_missing,
                "method": label.method,
                "reason": label.reason,
            }
            for name, label in groupings(result)
            for metric in BASELINE_METRICS
        ]
    )
    names = list(dict.fromkeys(table["label"]))
    traces: list[dict[str, Any]] = []
    for place, metric in enumerate(BASELINE_METRICS):
        mine = table[table["metric"] == metric]
        at = [names.index(name) + 0.22 * (place - 1) for name in mine["label"]]
        traces.append(_marks(mine, at, metric, "silhouette"))
        if mine["published"].notna().any():
            traces.append(_marks(mine, at, metric, "published"))
    words = [plotly_text(name).replace(" (", "<br>(").replace(" and ", "<br>and ") for name in names]
    figure = figure_of(
        traces,
        x={"title": "Mean silhouette (−1 to 1)", "zeroline": True, "zerolinecolor": OUTLIER_COLOUR, "zerolinewidth": 1},
        y={"autorange": "reversed", "tickvals": list(range(len(names))), "ticktext": words, "showgrid": False},
        height=AROUND_PX + LINE_PX * len(names),
        **LEGEND_ABOVE,
    )
    return Chart(
        name="label-baseline",
        figure=figure,
        takeaway=baseline_sentence(result),
        shows=f"Mean silhouettes in three metrics of {len(names)} groupings: {', '.join(names)}.",
        data=table,
        note=labels_note(result),
    )


def _marks(rows: pd.DataFrame, at: list[float], metric: str, which: str) -> dict[str, Any]:
    place, hollow = BASELINE_METRICS.index(metric), which == "published"
    words = f"{METRIC_WORDS[metric]}{', published (not verified)' if hollow else ''}"
    return shapes.points(
        rows[which],
        at,
        name=words if not hollow else "published" if place == 0 else words,
        showlegend=not hollow or place == 0,
        colour=COLOURS[place],
        symbol=SYMBOLS[metric] + ("-open" if hollow else ""),
        size=12,
        outline=2 if hollow else 0,
        hover=f"%{{customdata}}, {words}: %{{x:.3f}}",
        customdata=rows["label"].map(plotly_text),
    )


STABILITY_READINGS = {
    "highly stable": COLOURS[2],
    "stable": COLOURS[0],
    "doubtful": COLOURS[1],
    "not to be trusted": COLOURS[4],
}
LINES = {DOUBTFUL_FROM: "doubtful", STABLE_FROM: "stable", HIGHLY_STABLE_FROM: "highly stable"}


def stability_bars(result: Stability, names: Mapping[int, str]) -> Chart:
    """Return the mean Jaccard similarity of each profile, least stable first, with its word in the bar."""
    table = _table(result, names)
    figure = figure_of(
        [_bars(table), _words(table)],
        x={"title": "Mean Jaccard similarity (0 to 1)", "range": [0, 1.75], "tickvals": [0, 0.25, 0.5, 0.75, 1]},
        y={"autorange": "reversed", "showgrid": False, "type": "category"},
        height=rows_height(len(table)) + 20,
        top=68,
    )
    for number, (limit, word) in enumerate(LINES.items()):
        figure.add_vline(x=limit, line={"color": OUTLIER_COLOUR, "dash": "dot", "width": 1.5})
        place = {
            "x": limit,
            "y": 1,
            "yref": "paper",
            "xanchor": "left",
            "yanchor": "bottom",
            "yshift": 34 - 17 * number,
        }
        figure.add_annotation(text=f"{limit} {word}", showarrow=False, font={"size": 12}, **place)
    return Chart(
        name="profile-stability",
        figure=figure,
        takeaway=stability_sentence(result, names),
        shows=f"Bars of the Jaccard similarity of {len(table)} profiles, least stable first.",
        data=table,
        note="Lines: Hennig's reading of the mean similarity, doubtful from 0.6, stable from 0.75, highly stable from "
        "0.85, below 0.6 not to be trusted. Whiskers: quartiles over the resamples. "
        + " ".join(together(result.notes)),
    )


def _table(result: Stability, names: Mapping[int, str]) -> pd.DataFrame:
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
        for each in result.per_profile
    ]
    return pd.DataFrame(lines, columns=columns).sort_values("jaccard", kind="stable").reset_index(drop=True)


def _bars(table: pd.DataFrame) -> dict[str, Any]:
    rows: Any = list(table.itertuples())
    return shapes.bars(
        table["jaccard"],
        [plotly_text(row.name) for row in rows],
        colour=[STABILITY_READINGS.get(row.reading, OUTLIER_COLOUR) for row in rows],
        hover="%{y}: %{x:.3f}, %{customdata[0]:,} runs, dissolved in %{customdata[1]:.0%} of the resamples",
        error_x=shapes.interval(table["jaccard"], table["q25"], table["q75"], colour=OUTLIER_COLOUR, width=1.5),
        customdata=table[["rows", "dissolved_share"]],
    )


def _words(table: pd.DataFrame) -> dict[str, Any]:
    """Return a column of words at the right of the bars, so that no reading hangs on a colour."""
    rows: Any = list(table.itertuples())
    return shapes.texts(
        [1.04] * len(rows),
        [plotly_text(row.name) for row in rows],
        [f"{row.jaccard:.2f} {row.reading}" if row.reading else "no data" for row in rows],
        textposition="middle right",
    )
