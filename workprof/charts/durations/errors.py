"""How far every predictor of durations is off, drawn: the error curves, and the boxes per profile."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.answers.estimates import (
    BOXES_NOTE,
    MEASURES,
    NOTABLE_SHARE,
    ErrorView,
    best_baseline,
    beyond_words,
    box_words,
    error_at,
    error_note,
    error_sentence,
    flag,
    is_baseline,
    label,
    profiles_sentence,
    published_lines,
    published_words,
    shown,
)
from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, figure_of, horizontal, vertical
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.arrays import Floats
from workprof.core.words import plotly_text
from workprof.forecasts.errors import PublishedErrors, curve_levels
from workprof.forecasts.estimate_evaluation import EstimateEvaluation, ProfileErrors
from workprof.profiles.names import OUTLIERS, UNCLUSTERED, fitted

SIGNED_TICKS = {
    0.01: "−99",
    0.1: "−90",
    0.25: "−75",
    0.5: "−50",
    1: "0",
    2: "+100",
    5: "+400",
    10: "+900",
    100: "+9900",
}
WIDEST = 1_000.0
SHOWN_SHARE = 0.97
"""Of the errors of each predictor: the axis reaches so far."""

PLOT_PX = 420


def error_cdf(result: EstimateEvaluation, view: ErrorView) -> Chart:
    """Return the cumulative errors of every predictor: the best in green, the best baseline dark, the others grey."""
    measure, names = MEASURES[view.measure], shown(result, baselines=view.baselines)
    published, rival = published_lines(result, view), best_baseline(result, view)
    traces = [_errors_line(result, name, view.measure, rival) for name in names]
    traces += [
        _published_line(line, view.measure, dash)
        for line, dash in zip(published, ("dash", "longdashdot"), strict=False)
    ]
    axis: dict[str, Any] = {"title": measure.title, "type": "log", "range": _range(result, names, view.measure)}
    if view.measure in ("ratio", "percent"):
        axis["dtick"] = 1
    if view.measure == "signed":
        axis |= {"tickvals": list(SIGNED_TICKS), "ticktext": list(SIGNED_TICKS.values())}
    level = view.percentile / 100
    figure = figure_of(
        traces,
        x=axis,
        y={"title": "Share of test runs at or below", "range": [-0.02, 1.02], "tickformat": ".0%"},
        height=PLOT_PX,
        top=36,
        showlegend=True,
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "traceorder": "reversed"},
        shapes=[
            *([vertical(1, width=1)] if view.measure == "signed" else []),
            horizontal(level, width=1.2),
        ],
        annotations=[
            shapes.words(f"{view.percentile:g} %", x=0.005, y=level, xref="paper", xanchor="left", yanchor="bottom")
        ],
    )
    return Chart(
        name=f"errors-{result.settings.target}-{view.measure}",
        figure=figure,
        takeaway=error_sentence(result, view),
        shows=f"Cumulative errors ({measure.label.lower()}) of {len(names)} predictors.",
        data=_table(result, names, view.measure),
        note=error_note(result, view),
    )


def _errors_line(result: EstimateEvaluation, name: str, measure: str, rival: str) -> dict[str, Any]:
    kind, best = MEASURES[measure], name == result.best
    errors = result.predictors[name].curve[kind.row]
    finite = np.isfinite(errors)
    x = np.maximum(_drawn(errors[finite], measure), kind.least / 100)
    flagged = flag(result, name) if best else "best baseline" if name == rival else ""
    return shapes.line(
        x,
        curve_levels()[finite],
        name=plotly_text(f"{label(name)}{f' · {flagged}' if flagged else ''}"),
        colour=COLOURS[2] if best else NEUTRAL,
        width=4.0 if best else 2.4 if flagged else 1.2,
        dash="solid" if flagged or not is_baseline(name) else "dot",
        opacity=1.0 if flagged else 0.6,
        showlegend=bool(flagged),
        hover=f"%{{fullData.name}}: %{{y:.1%}} at %{{customdata:,.3g}}{kind.suffix}",
        customdata=errors[finite] * kind.scale,
    )


def _drawn(errors: Floats, measure: str) -> Floats:
    """Return positions on the logarithmic axis: signed errors stand at p / t."""
    return errors + 1 if measure == "signed" else errors * MEASURES[measure].scale


def _published_line(line: PublishedErrors, measure: str, dash: str) -> dict[str, Any]:
    points = [(error, share) for error, share in line.points(measure) if error > 0]
    suffix = MEASURES[measure].suffix
    return shapes.line(
        [error for error, _ in points],
        [share for _, share in points],
        name=published_words(line),
        colour=NEUTRAL,
        width=2,
        dash=dash,
        mode="lines+markers",
        hover=f"%{{fullData.name}}: %{{y:.1%}} at %{{x:,.3g}}{suffix}",
        marker={"symbol": "circle-open", "size": 6, "color": NEUTRAL},
    )


def _range(result: EstimateEvaluation, names: tuple[str, ...], measure: str) -> list[float]:
    kind = MEASURES[measure]
    ends = [error_at(result, name, measure, SHOWN_SHARE) / kind.scale for name in names]
    finite = [float(_drawn(np.array([end]), measure)[0]) for end in ends if np.isfinite(end)]
    top = min(max([*finite, 10 * kind.scale if measure != "signed" else 10.0]), WIDEST * kind.scale)
    return [float(np.log10(kind.least)), float(np.log10(top))]


def _table(result: EstimateEvaluation, names: tuple[str, ...], measure: str) -> pd.DataFrame:
    kind = MEASURES[measure]
    columns = {name: result.predictors[name].curve[kind.row] * kind.scale for name in reversed(names)}
    return pd.DataFrame({"share": curve_levels(), **columns})


LEAST = 0.001
"""Left end of the logarithmic axis; smaller errors stand there."""

MOST = 1e4
ROOM_FOR_WORDS = 1.9
"""Decades kept free at the right, enough for the words on a phone."""

QUANTILES = ("p5", "p25", "p50", "p75", "p95")


def profile_error_boxes(result: EstimateEvaluation, names: Mapping[int, str]) -> Chart | None:
    """Return one box per profile, worst median first, or None where the tested rows' profiles are not known."""
    if not result.by_profile:
        return None

    def named(one: ProfileErrors) -> str:
        default = UNCLUSTERED if one.profile == OUTLIERS else f"P{one.profile}"
        return fitted(names.get(one.profile, default), 24)

    table = pd.DataFrame([_row(errors, named(errors)) for errors in result.by_profile])
    return Chart(
        name=f"errors-{result.settings.target}-per-profile",
        figure=_figure(table, result.by_profile),
        takeaway=profiles_sentence(result, named),
        shows=f"Box plots of the relative error of {len(table)} profiles, worst first.",
        data=table,
        note=BOXES_NOTE,
    )


def _row(errors: ProfileErrors, name: str) -> dict[str, object]:
    return {
        "profile": errors.profile,
        "name": name,
        "rows": errors.n_rows,
        **dict(zip(QUANTILES, errors.quantiles.tolist(), strict=True)),
        "beyond_100pct_share": errors.beyond_100pct_share,
        "called_out": errors.beyond_100pct_share > NOTABLE_SHARE,
    }


def _figure(table: pd.DataFrame, profiles: Sequence[ProfileErrors]) -> go.Figure:
    drawn = table[list(QUANTILES)].clip(LEAST, MOST)
    top = float(np.log10(drawn.to_numpy().max()))
    rows: Any = list(zip(table.itertuples(), profiles, strict=True))
    boxes = [
        shapes.box(
            plotly_text(row.name),
            drawn.loc[row.Index].tolist(),
            colour=COLOURS[1] if row.called_out else NEUTRAL,
            fillcolor="rgba(0,0,0,0)" if row.profile == OUTLIERS else None,
            hovertext=box_words(errors, plotly_text(row.name)),
        )
        for row, errors in rows
    ]
    called_out = [
        shapes.words(
            beyond_words(errors),
            x=float(np.log10(drawn.loc[row.Index, "p95"])),
            y=plotly_text(row.name),
            xanchor="left",
            xshift=8,
        )
        for row, errors in rows
        if row.called_out
    ]
    return figure_of(
        boxes,
        x={
            "title": MEASURES["ratio"].title,
            "type": "log",
            "range": [np.log10(LEAST), max(top, 0.5) + ROOM_FOR_WORDS],
            "dtick": 1,
            "zeroline": False,
        },
        y={"autorange": "reversed", "showgrid": False, "type": "category"},
        height=rows_height(len(table)),
        shapes=[vertical(1, dash="dot", width=1.6)],
        annotations=[*called_out, shapes.words("100 %", x=0, y=1, yref="paper", yanchor="bottom", size=None)],
    )
