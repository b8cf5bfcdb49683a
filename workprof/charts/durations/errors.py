"""How far every predictor of durations is off: headlines, the table, the error curves, the boxes per profile."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.answers.estimates import PREDICTORS, label
from workprof.charts import shapes, text
from workprof.charts.durations.observed import number, percent
from workprof.charts.shapes import NEUTRAL, Chart, Headline, figure_of, horizontal, vertical
from workprof.charts.text import formatted, plotly_text
from workprof.charts.theme import COLOURS, OUTLIERS, rows_height
from workprof.core.arrays import Floats
from workprof.core.units import format_share
from workprof.forecasts.errors import PublishedErrors, curve_levels, published_errors
from workprof.forecasts.estimate_evaluation import FLAWS, EstimateEvaluation, ProfileErrors
from workprof.forecasts.splits import SPLITS_SHOWN
from workprof.profiles.names import UNCLUSTERED, fitted


def shown(result: EstimateEvaluation, *, baselines: bool) -> tuple[str, ...]:
    """Return the predictors to show, the best last (it is drawn over the others); the best is never hidden."""
    others = [name for name in result.predictors if name != result.best]
    estimators = [name for name in others if baselines or not (name in PREDICTORS and PREDICTORS[name].baseline)]
    return (*estimators, result.best)


def flag(result: EstimateEvaluation, name: str) -> str:
    """Return 'best' for the predictor that validation chose, 'the paper's' for the one of faithful mode, else ''."""
    if name != result.best:
        return ""
    return "best" if result.settings.mode == "corrected" else "as published"


def is_baseline(name: str) -> bool:
    """Return whether a predictor only serves for comparison."""
    return name in PREDICTORS and PREDICTORS[name].baseline


SHARES = ("within_5pct", "within_20pct", "within_100pct", "within_500pct", "within_2x", "under_predicted")


def predictor_table(result: EstimateEvaluation, *, baselines: bool = True) -> pd.DataFrame:
    """Return one line per predictor, the best first; shares 0-1, errors as ratios and factors, mae in the unit."""
    names = reversed(shown(result, baselines=baselines))
    return pd.DataFrame([_predictors_line(result, name) for name in names])


def predictor_words(table: pd.DataFrame, target: str) -> pd.DataFrame:
    """Return the table as people read it."""
    words = table.drop(columns="predictor")
    for name in SHARES:
        words[name] = [format_share(float(share)) for share in words[name]]
    words["mae"] = [formatted(target, float(value)) for value in words["mae"]]
    for name in ("ratio_p50", "ratio_p80", "ratio_p90"):
        words[name] = [format_share(float(x), 0) if math.isfinite(x) else number(float(x)) for x in words[name]]
    for name in ("factor_p50", "factor_p90"):
        words[name] = [f"{number(float(value))}×" for value in words[name]]
    return words.rename(columns=_HEADINGS)


_HEADINGS = {
    "label": "predictor",
    "within_5pct": "≤ 5 %",
    "within_20pct": "≤ 20 %",
    "within_100pct": "≤ 100 %",
    "within_500pct": "≤ 500 %",
    "ratio_p50": "ratio p50",
    "ratio_p80": "ratio p80",
    "ratio_p90": "ratio p90",
    "factor_p50": "factor p50",
    "factor_p90": "factor p90",
    "within_2x": "within 2×",
    "mae": "mean abs. error",
    "under_predicted": "promised too little",
}


def interval_sentence(result: EstimateEvaluation) -> str:
    """Return how the interval held, or that these definitions have none."""
    held = result.interval
    if held is None:
        return "The published estimators give no interval."
    words = (
        f"The {percent(held.nominal)} interval covers {format_share(held.coverage)} of the test runs and spans "
        f"{_times(held.median_width_factor)} (upper / lower end, median)"
    )
    words += f"; without a model it would span {_times(held.global_width_factor)}."
    if held.fixed_coverage is not None and held.fixed_width_factor is not None:
        words += (
            " It follows the runs that had ended when each began; left as it was trained it covers "
            f"{format_share(held.fixed_coverage)} and spans {_times(held.fixed_width_factor)}."
        )
    if held.new_users_coverage is None or held.new_users_width_factor is None:
        return words
    return (
        f"{words} For the {held.n_new_users:,} runs of users that training did not see it covers "
        f"{format_share(held.new_users_coverage)} and spans {_times(held.new_users_width_factor)}."
    )


def baseline_sentence(result: EstimateEvaluation) -> str:
    """Return where a baseline's errors are smaller than the best's by more than the bootstrap error; '' without one."""
    baselines = {
        name: one for name, one in result.differences.items() if name in PREDICTORS and PREDICTORS[name].baseline
    }
    if result.settings.mode == "faithful" or not baselines:
        return ""
    worse = [
        f"{label(name)} at p{share} (by {number(float(difference))}, {number(float(low))} to {number(float(high))})"
        for name, one in baselines.items()
        for share, difference, low, high in zip((50, 80, 90), one.difference, one.low, one.high, strict=True)
        if low > 0
    ]
    if worse:
        return f"Beyond the bootstrap error its relative error is larger than that of {', '.join(worse)}."
    return "No baseline has a smaller relative error at p50, p80 or p90 beyond the bootstrap error (95 %, by job)."


def interval_table(by_split: Mapping[str, EstimateEvaluation]) -> pd.DataFrame:
    """Return how the interval holds under each split that was evaluated, for all runs and for those of new users."""
    lines = []
    for split, result in by_split.items():
        held = result.interval
        if held is None:
            continue
        new = held.new_users_coverage, held.new_users_width_factor
        for runs, count, coverage, width in (
            ("all", result.n_test, held.coverage, held.median_width_factor),
            ("new users", held.n_new_users, *new),
            ("all, interval as trained", result.n_test, held.fixed_coverage, held.fixed_width_factor),
        ):
            if coverage is not None and width is not None:
                lines.append(
                    {
                        "tested on": SPLITS_SHOWN[split],
                        "runs": runs,
                        "number": f"{count:,}",
                        "covered": format_share(coverage),
                        "spans": _times(width),
                    }
                )
    return pd.DataFrame(lines)


def error_headlines(result: EstimateEvaluation) -> tuple[Headline, ...]:
    """Return the best predictor's errors and the interval as figures."""
    best, held = result.predictors[result.best], result.interval
    headlines = [
        Headline("Median error", format_share(best.ratio_error.p50, 0), "|predicted − true| / true."),
        Headline("Within a factor 2", format_share(best.within_2x), "Predictions from half to double the true value."),
    ]
    if held is not None:
        headlines += [
            Headline(
                "Interval covers",
                format_share(held.coverage),
                "Test runs whose true value lies in their interval.",
                f"nominal {percent(held.nominal)}",
            ),
            Headline(
                "Interval width",
                _times(held.median_width_factor),
                "Upper / lower end, median.",
                f"without a model {_times(held.global_width_factor)}",
            ),
        ]
    return tuple(headlines)


def _predictors_line(result: EstimateEvaluation, name: str) -> dict[str, object]:
    errors = result.predictors[name]
    flaw = FLAWS.get(name.removeprefix("profile_"), "") if result.settings.mode == "faithful" else ""
    meaning = PREDICTORS[name].meaning if name in PREDICTORS else ""
    return {
        "predictor": name,
        "label": f"{label(name)}{f' ★ {flag(result, name)}' if name == result.best else ''}",
        "within_5pct": errors.share_within_5pct,
        "within_20pct": errors.share_within_20pct,
        "within_100pct": errors.share_within_100pct,
        "within_500pct": errors.share_within_500pct,
        "ratio_p50": errors.ratio_error.p50,
        "ratio_p80": errors.ratio_error.p80,
        "ratio_p90": errors.ratio_error.p90,
        "factor_p50": errors.factor_error.p50,
        "factor_p90": errors.factor_error.p90,
        "within_2x": errors.within_2x,
        "mae": errors.mae,
        "under_predicted": errors.under_predicted_share,
        "meaning": flaw or meaning,
    }


def _times(value: float) -> str:
    return f"{number(value)}×" if math.isfinite(value) else "no data"


@dataclass(frozen=True)
class Measure:
    """An error measure: its axis title, its row of `PredictorErrors.curve`, its unit, and where its axis begins."""

    title: str
    row: int
    scale: float
    least: float
    suffix: str = ""


MEASURES = {
    "ratio": Measure("Relative error |predicted − true| / true (1 = 100 %), logarithmic", 1, 1.0, 0.01),
    "percent": Measure("Relative error |predicted − true| / true (%), logarithmic", 1, 100.0, 1.0, " %"),
    "factor": Measure("Factor between predicted and true (1 = exact), logarithmic", 2, 1.0, 1.0, "×"),
    "signed": Measure("Signed error (predicted − true) / true (%), logarithmic", 0, 100.0, 0.01, " %"),
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
"""A predictor that under-predicts more often cannot be far off in ratio: an error of 1 is its worst."""

MEASURE_WORDS = {
    "ratio": "Relative error",
    "percent": "Relative error (%)",
    "factor": "Factor",
    "signed": "Signed error (%)",
}
PLOT_PX = 420


@dataclass(frozen=True)
class ErrorView:
    """What a reader asks of the errors: measure, percentile cursor (per cent), baselines, published lines."""

    measure: str = "ratio"
    percentile: float = 80.0
    baselines: bool = True
    published: bool = True


def error_cdf(result: EstimateEvaluation, view: ErrorView) -> Chart:
    """Return the cumulative errors of every predictor: the best in green, the best baseline dark, the others grey."""
    measure, names = MEASURES[view.measure], shown(result, baselines=view.baselines)
    published, rival = _published(result, view), best_baseline(result, view)
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
            horizontal(level, dash="dot", width=1.2),
        ],
        annotations=[
            shapes.words(f"{view.percentile:g} %", x=0.005, y=level, xref="paper", xanchor="left", yanchor="bottom")
        ],
    )
    return Chart(
        name=f"errors-{result.settings.target}-{view.measure}",
        figure=figure,
        takeaway=_errors_takeaway(result, view),
        shows=f"Cumulative errors ({MEASURE_WORDS[view.measure].lower()}) of {len(names)} predictors.",
        data=_table(result, names, view.measure),
        note=_note(result, published),
    )


def error_at(result: EstimateEvaluation, name: str, measure: str, share: float) -> float:
    """Return the error that a share of the tested jobs does not exceed, in the measure's unit."""
    kind = MEASURES[measure]
    curve = result.predictors[name].curve[kind.row] * kind.scale
    at = min(int(np.ceil(share * (len(curve) - 1) - 1e-9)), len(curve) - 1)
    return float(curve[at])


def best_baseline(result: EstimateEvaluation, view: ErrorView) -> str:
    """Return the baseline with the smallest error at the cursor; '' = there is none."""
    rivals = [name for name in result.predictors if is_baseline(name) and name != result.best]
    return min(rivals, key=lambda name: error_at(result, name, view.measure, view.percentile / 100), default="")


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


def _published(result: EstimateEvaluation, view: ErrorView) -> tuple[PublishedErrors, ...]:
    comparable = view.measure in ("ratio", "percent")
    return published_errors(result.settings.target) if view.published and comparable else ()


def _published_line(line: PublishedErrors, measure: str, dash: str) -> dict[str, Any]:
    points = [(error, share) for error, share in line.points(measure) if error > 0]
    suffix = MEASURES[measure].suffix
    return shapes.line(
        [error for error, _ in points],
        [share for _, share in points],
        name=f"published, {line.n_rows:,} jobs ({line.unit})",
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


def _errors_takeaway(result: EstimateEvaluation, view: ErrorView) -> str:
    """Return what the cursor reads for the best predictor, and for the best of the baselines."""
    share, rival = view.percentile / 100, best_baseline(result, view)
    own, of = error_at(result, result.best, view.measure, share), f"{view.percentile:g} % of predictions"
    true = f"true {quantity(result.settings.target)}"
    if view.measure == "signed":
        under = result.predictors[result.best].under_predicted_share
        return f"{of} are at most {signed_words(own)} the {true}; {format_share(under)} are below it."
    words = f"{of} {_miss(own, view.measure)} the {true}"
    if not rival:
        return f"{words}."
    least, under = error_at(result, rival, view.measure, share), result.predictors[rival].under_predicted_share
    too_low = f", which under-predicts {format_share(under)}" if under > MOSTLY else ""
    amount = _amount(least, view.measure)
    return f"{words} (best baseline, {label(rival)}: {amount}{too_low})."


def quantity(target: str) -> str:
    """Return 'duration' for duration_s."""
    return text.label(target)


def signed_words(error: float) -> str:
    """Return '40 % above' or '20 % below' for a signed error in per cent."""
    return f"{_amount(abs(error), 'percent')} {'above' if error >= 0 else 'below'}"


def _miss(error: float, measure: str) -> str:
    amount = _amount(error, measure)
    return f"are within a factor of {amount} of" if measure == "factor" else f"miss by at most {amount} of"


def _amount(error: float, measure: str) -> str:
    """Return an error in words: '94 %', '3.1'."""
    if measure == "factor" or not math.isfinite(error):
        return number(error)
    return format_share(error / 100 if measure == "percent" else error, 0)


def _note(result: EstimateEvaluation, published: tuple[PublishedErrors, ...]) -> str:
    lines = (
        f"{result.n_test:,} test runs, about {result.n_train:,} training runs per fold, split "
        f"{result.settings.split.replace('_', ' ')}."
    )
    for line in published:
        lines += f" Reference: {line.words}."
    return lines


NOTABLE_SHARE = 0.1
"""Of a profile's jobs off by more than 100 %: one in ten, the tail beyond the usual p90."""

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
    table = pd.DataFrame([_row(errors, names) for errors in result.by_profile])
    figure = _figure(table)
    return Chart(
        name=f"errors-{result.settings.target}-per-profile",
        figure=figure,
        takeaway=_boxes_takeaway(table, result.best),
        shows=f"Box plots of the relative error of {len(table)} profiles, worst first.",
        data=table,
        note="Boxes: quartiles, whiskers at the 5th and 95th percentile of the relative error; orange and named: more "
        f"than {percent(NOTABLE_SHARE)} of the profile's runs are off by more than 100 %. Errors below 0.001 stand at "
        "the left end. The published figure writes these ratios as per cent.",
    )


def _row(errors: ProfileErrors, names: Mapping[int, str]) -> dict[str, object]:
    default = UNCLUSTERED if errors.profile == OUTLIERS else f"P{errors.profile}"
    return {
        "profile": errors.profile,
        "name": fitted(names.get(errors.profile, default), 24),
        "rows": errors.n_rows,
        **dict(zip(QUANTILES, errors.quantiles.tolist(), strict=True)),
        "beyond_100pct_share": errors.beyond_100pct_share,
        "called_out": errors.beyond_100pct_share > NOTABLE_SHARE,
    }


def _figure(table: pd.DataFrame) -> go.Figure:
    drawn = table[list(QUANTILES)].clip(LEAST, MOST)
    top = float(np.log10(drawn.to_numpy().max()))
    rows: Any = list(table.itertuples())
    boxes = [
        shapes.box(
            plotly_text(row.name),
            drawn.loc[row.Index, ["p5", "p25", "p50", "p75", "p95"]].tolist(),
            colour=COLOURS[1] if row.called_out else NEUTRAL,
            fillcolor="rgba(0,0,0,0)" if row.profile == OUTLIERS else None,
            hovertext=f"{plotly_text(row.name)}: {row.rows:,} runs, median {number(row.p50)}, "
            f"{format_share(row.beyond_100pct_share)} beyond 100 %",
        )
        for row in rows
    ]
    called_out = [
        shapes.words(
            f"{percent(row.beyond_100pct_share)} beyond",
            x=float(np.log10(drawn.loc[row.Index, "p95"])),
            y=plotly_text(row.name),
            xanchor="left",
            xshift=8,
        )
        for row in rows
        if row.called_out
    ]
    return figure_of(
        boxes,
        x={
            "title": "Relative error |predicted − true| / true (1 = 100 %), logarithmic",
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


def _boxes_takeaway(table: pd.DataFrame, best: str) -> str:
    called = table[table["called_out"]].sort_values("beyond_100pct_share", ascending=False, kind="stable")
    if called.empty:
        rarely = percent(NOTABLE_SHARE)
        return f"In every profile {label(best)} is off by more than 100 % for at most {rarely} of the runs."
    parts = zip(called["name"].head(3), called["beyond_100pct_share"].head(3), strict=True)
    worst = ", ".join(f"{name} ({percent(share)})" for name, share in parts)
    others = f" and {len(called) - 3} more" if len(called) > 3 else ""
    return (
        f"In {len(called)} of {len(table)} profiles {label(best)} is off by more than 100 % for over "
        f"{percent(NOTABLE_SHARE)} of the runs: {worst}{others}."
    )
