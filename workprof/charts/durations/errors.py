"""The errors of every predictor as cumulative curves in one picture (the paper's Fig. 6, with its true unit)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.arrays import Floats
from workprof.charts.durations.names import flag, is_baseline, label, shown
from workprof.charts.durations.observed import NEUTRAL, number
from workprof.charts.shapes import Chart
from workprof.charts.text import plotly_text
from workprof.charts.theme import COLOURS, laid_out
from workprof.forecasts.errors import PublishedErrors, curve_levels, published_errors
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.units import format_share


@dataclass(frozen=True)
class Measure:
    """An error measure: its axis title, its row of `PredictorErrors.curve`, its unit, and where its axis begins."""

    title: str
    row: int
    scale: float
    least: float
    suffix: str = ""


MEASURES = {
    "ratio": Measure("Ratio error |p − t| / t (1 = 100 %), logarithmic", 1, 1.0, 0.01),
    "percent": Measure("Absolute error 100 · |p − t| / t (%), logarithmic", 1, 100.0, 1.0, " %"),
    "factor": Measure("Factor error max(p / t, t / p) (1 = exact), logarithmic", 2, 1.0, 1.0, "×"),
    "signed": Measure("Signed error 100 · (p − t) / t (%), logarithmic in p / t", 0, 100.0, 0.01, " %"),
}
"""ratio: what the paper computes and reads as per cent."""

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

MOSTLY = 0.75
"""A predictor that promises too little more often cannot be far off in ratio: an error of 1 is its worst."""

PLOT_PX = 440
LEGEND_PX = 14
_DASHES = ("solid", "dash", "dot", "longdash", "dashdot")


@dataclass(frozen=True)
class ErrorView:
    """What a reader asks of the errors: measure, percentile cursor (per cent), baselines, published lines."""

    measure: str = "ratio"
    percentile: float = 80.0
    baselines: bool = True
    published: bool = True


def error_cdf(found: EstimateEvaluation, view: ErrorView) -> Chart:
    """Return the cumulative errors of every predictor, the best drawn boldest, the published run as a dashed line."""
    measure, names = MEASURES[view.measure], shown(found, baselines=view.baselines)
    figure = go.Figure()
    for position, name in enumerate(names):
        figure.add_trace(_line(found, name, position, view.measure))
    published = _published(found, view)
    for line, dash in zip(published, ("dash", "longdashdot"), strict=False):
        figure.add_trace(_published_line(line, view.measure, dash))
    entries = len(figure.data)
    laid_out(figure, x=measure.title, y="Share of tested jobs at or below", height=PLOT_PX + LEGEND_PX * entries)
    figure.update_xaxes(type="log", range=_range(found, names, view.measure))
    if view.measure in ("ratio", "percent"):
        figure.update_xaxes(dtick=1)
    if view.measure == "signed":
        figure.update_xaxes(tickvals=list(SIGNED_TICKS), ticktext=list(SIGNED_TICKS.values()))
        figure.add_vline(x=1, line={"color": NEUTRAL, "width": 1})
    figure.update_yaxes(range=[-0.02, 1.02], tickformat=".0%")
    _cursor(figure, view.percentile)
    legend = {"orientation": "h", "y": -0.2, "yanchor": "top", "traceorder": "reversed"}
    figure.update_layout(showlegend=True, legend=legend, margin={"t": 36})
    sentence = _takeaway(found, view)
    return Chart(
        name=f"errors-{found.settings.target}-{view.measure}",
        figure=figure,
        takeaway=sentence,
        alt=f"Cumulative {view.measure} errors of {len(names)} predictors. {sentence}",
        data=_table(found, names, view.measure),
        note=_note(found, published),
    )


def error_at(found: EstimateEvaluation, name: str, measure: str, share: float) -> float:
    """Return the error that a share of the tested jobs does not exceed, in the measure's unit."""
    kind = MEASURES[measure]
    curve = found.predictors[name].curve[kind.row] * kind.scale
    at = min(int(np.ceil(share * (len(curve) - 1) - 1e-9)), len(curve) - 1)
    return float(curve[at])


def _line(found: EstimateEvaluation, name: str, position: int, measure: str) -> go.Scatter:
    kind, best = MEASURES[measure], name == found.best
    errors = found.predictors[name].curve[kind.row]
    finite = np.isfinite(errors)
    x = np.maximum(_drawn(errors[finite], measure), kind.least / 100)
    dash = "solid" if best or not is_baseline(name) else _DASHES[1 + position % (len(_DASHES) - 1)]
    width = 4.5 if best else (1.6 if is_baseline(name) else 2.2)
    return go.Scatter(
        x=x,
        y=curve_levels()[finite],
        mode="lines",
        name=plotly_text(f"{label(name)}{f' · {flag(found, name)}' if best else ''}"),
        line={
            "color": COLOURS[0] if best else COLOURS[1 + position % (len(COLOURS) - 1)],
            "width": width,
            "dash": dash,
        },
        customdata=errors[finite] * kind.scale,
        hovertemplate=f"%{{fullData.name}}: %{{y:.1%}} at %{{customdata:,.3g}}{kind.suffix}<extra></extra>",
    )


def _drawn(errors: Floats, measure: str) -> Floats:
    """Return positions on the logarithmic axis: signed errors stand at p / t."""
    return errors + 1 if measure == "signed" else errors * MEASURES[measure].scale


def _published(found: EstimateEvaluation, view: ErrorView) -> tuple[PublishedErrors, ...]:
    comparable = view.measure in ("ratio", "percent")
    return published_errors(found.settings.target) if view.published and comparable else ()


def _published_line(line: PublishedErrors, measure: str, dash: str) -> go.Scatter:
    points = [(error, share) for error, share in line.points(measure) if error > 0]
    suffix = MEASURES[measure].suffix
    return go.Scatter(
        x=[error for error, _ in points],
        y=[share for _, share in points],
        mode="lines+markers",
        name=f"published, {line.n_rows:,} jobs ({line.unit})",
        line={"color": NEUTRAL, "width": 2, "dash": dash},
        marker={"symbol": "circle-open", "size": 6, "color": NEUTRAL},
        hovertemplate=f"%{{fullData.name}}: %{{y:.1%}} at %{{x:,.3g}}{suffix}<extra></extra>",
    )


def _range(found: EstimateEvaluation, names: tuple[str, ...], measure: str) -> list[float]:
    kind = MEASURES[measure]
    ends = [error_at(found, name, measure, SHOWN_SHARE) / kind.scale for name in names]
    finite = [float(_drawn(np.array([end]), measure)[0]) for end in ends if np.isfinite(end)]
    top = min(max([*finite, 10 * kind.scale if measure != "signed" else 10.0]), WIDEST * kind.scale)
    return [float(np.log10(kind.least)), float(np.log10(top))]


def _cursor(figure: go.Figure, percentile: float) -> None:
    level = percentile / 100
    figure.add_hline(y=level, line={"color": NEUTRAL, "dash": "dot", "width": 1.2})
    place = {"xref": "paper", "x": 0.005, "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}}
    figure.add_annotation(y=level, text=f"{percentile:g} %", showarrow=False, **place)


def _table(found: EstimateEvaluation, names: tuple[str, ...], measure: str) -> pd.DataFrame:
    kind = MEASURES[measure]
    columns = {name: found.predictors[name].curve[kind.row] * kind.scale for name in reversed(names)}
    return pd.DataFrame({"share": curve_levels(), **columns})


def _takeaway(found: EstimateEvaluation, view: ErrorView) -> str:
    """Return what the cursor reads for the best predictor, and for the best of the baselines."""
    share, suffix = view.percentile / 100, MEASURES[view.measure].suffix
    own = error_at(found, found.best, view.measure, share)
    words = (
        f"{view.percentile:g} % of the {view.measure} errors of {label(found.best)} are at most {number(own)}{suffix}"
    )
    rivals = [name for name in found.predictors if is_baseline(name) and name != found.best]
    if view.measure == "signed":
        under = found.predictors[found.best].under_predicted_share
        words += f"; {format_share(under)} of its estimates promise too little"
    elif rivals:
        rival = min(rivals, key=lambda name: error_at(found, name, view.measure, share))
        least, under = error_at(found, rival, view.measure, share), found.predictors[rival].under_predicted_share
        words += f"; of the best baseline, {label(rival)}, {number(least)}{suffix}"
        words += f" (it promises too little for {format_share(under)})" if under > MOSTLY else ""
    return f"{words}."


def _note(found: EstimateEvaluation, published: tuple[PublishedErrors, ...]) -> str:
    lines = (
        f"{found.n_test:,} tested jobs, about {found.n_train:,} trained on in each turn, split {found.settings.split}."
    )
    for line in published:
        lines += f" Reference: {line.words}."
    return lines
