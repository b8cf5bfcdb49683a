"""The predictors side by side as a table, and the interval in words."""

from __future__ import annotations

import math

import pandas as pd

from workprof.charts.durations.names import PREDICTORS, flag, label, shown
from workprof.charts.durations.observed import number, percent
from workprof.charts.shapes import Headline
from workprof.charts.text import formatted
from workprof.forecasts.estimate_evaluation import FLAWS, EstimateEvaluation
from workprof.forecasts.estimates import TARGETS
from workprof.units import format_share

SHARES = ("within_5pct", "within_20pct", "within_100pct", "within_500pct", "within_2x", "under_predicted")


def predictor_table(found: EstimateEvaluation, *, baselines: bool = True) -> pd.DataFrame:
    """Return one line per predictor, the best first; shares 0-1, errors as ratios and factors, mae in the unit."""
    names = reversed(shown(found, baselines=baselines))
    return pd.DataFrame([_line(found, name) for name in names])


def predictor_words(table: pd.DataFrame, target: str) -> pd.DataFrame:
    """Return the table as people read it."""
    words = table.drop(columns="predictor")
    for name in SHARES:
        words[name] = [format_share(float(share)) for share in words[name]]
    words["mae"] = [formatted(target, float(value)) for value in words["mae"]]
    for name in ("ratio_p50", "ratio_p80", "ratio_p90", "factor_p50", "factor_p90"):
        sign = "×" if name.startswith("factor") else ""
        words[name] = [f"{number(float(value))}{sign}" for value in words[name]]
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


def interval_sentence(found: EstimateEvaluation) -> str:
    """Return how the interval held, or that these definitions have none."""
    held = found.interval
    if held is None:
        return "The published estimators give no interval."
    words = (
        f"The {percent(held.nominal)} interval covers {format_share(held.coverage)} of the tested jobs and is "
        f"{_times(held.median_width_factor)} wide (upper over lower end, median)"
    )
    return f"{words}; one interval for all jobs would be {_times(held.global_width_factor)} wide."


def error_headlines(found: EstimateEvaluation) -> tuple[Headline, ...]:
    """Return the best predictor's errors and the interval as figures."""
    best, held = found.predictors[found.best], found.interval
    headlines = [
        Headline("Median error", f"{best.ratio_error.p50:.2f}", "|p − t| / t; 1 = 100 %.", "ratio, 1 = 100 %"),
        Headline("Within a factor 2", format_share(best.within_2x), "Half to double the true value."),
        Headline(
            "Mean error",
            formatted(found.settings.target, best.mae),
            f"Absolute, over the tested jobs: {best.mae:,.4g} {TARGETS[found.settings.target]}.",
            "absolute",
        ),
    ]
    if held is not None:
        headlines += [
            Headline(
                "Interval covers",
                format_share(held.coverage),
                "Tested jobs inside.",
                f"promised {percent(held.nominal)}",
            ),
            Headline(
                "Interval width",
                _times(held.median_width_factor),
                "Upper over lower end, median.",
                f"one for all: {_times(held.global_width_factor)}",
            ),
        ]
    return tuple(headlines)


def _line(found: EstimateEvaluation, name: str) -> dict[str, object]:
    errors = found.predictors[name]
    flaw = FLAWS.get(name.removeprefix("profile_"), "") if found.settings.mode == "faithful" else ""
    meaning = PREDICTORS[name].meaning if name in PREDICTORS else ""
    return {
        "predictor": name,
        "label": f"{label(name)}{f' ★ {flag(found, name)}' if name == found.best else ''}",
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
