"""What the cursors read: quantiles and shares per group, as a table and in one sentence."""

from __future__ import annotations

import pandas as pd

from workprof.charts.durations.view import ObservedView, limit_words, within_words
from workprof.charts.text import formatted
from workprof.forecasts.durations import DurationCurve, ObservedDurations, share_within, value_at
from workprof.units import format_share

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
ALL_JOBS = "all jobs"


def quantile_table(found: ObservedDurations, names: tuple[str, ...], view: ObservedView) -> pd.DataFrame:
    """Return one line per group and one for all jobs: rows, quantiles in the target's unit, what the cursors read."""
    curves = [*zip(names, found.groups, strict=True), (ALL_JOBS, found.everything)]
    return pd.DataFrame([_line(name, curve, view) for name, curve in curves])


def quantile_words(table: pd.DataFrame, target: str) -> pd.DataFrame:
    """Return the table as people read it: values with their units, shares in per cent."""
    words = table.drop(columns=["effective_jobs", "few"])
    for name in words.columns:
        if name.startswith("p") or name in ("max", "at_cursor"):
            words[name] = [formatted(target, float(value)) for value in words[name]]
        elif name in ("band", "within_limit"):
            words[name] = [format_share(float(value)) for value in words[name]]
    words["band"] = "± " + words["band"]
    renamed = {"at_cursor": "at the cursor", "within_limit": "within the limit"}
    return words.rename(columns=renamed)


def observed_sentence(found: ObservedDurations, names: tuple[str, ...], view: ObservedView) -> str:
    """Return what the cursor and the SLO read over all jobs, and the groups at both ends."""
    target, everything = found.settings.target, found.everything
    words = f"{view.percentile:g} % of jobs {within_words(target, value_at(everything, view.share))}"
    told = [(value_at(curve, view.share), name) for name, curve in zip(names, found.groups, strict=True)]
    told = [item for item, curve in zip(told, found.groups, strict=True) if not curve.few and not curve.n_merged]
    if len(told) > 1:
        (low, first), (high, last) = min(told), max(told)
        words += f", from {formatted(target, low)} in {first} to {formatted(target, high)} in {last}"
    if view.limit > 0:
        words += f"; {format_share(share_within(everything, view.limit))} keep the {limit_words(target, view.limit)}"
    return f"{words}."


def _line(name: str, curve: DurationCurve, view: ObservedView) -> dict[str, object]:
    line: dict[str, object] = {
        "group": name,
        "rows": curve.n_rows,
        "effective_jobs": curve.n_effective,
        "few": curve.few,
        "at_cursor": value_at(curve, view.share),
    }
    if view.limit > 0:
        line["within_limit"] = share_within(curve, view.limit)
    line |= {f"p{level * 100:g}": value_at(curve, level) for level in QUANTILES}
    return line | {"max": float(curve.points[-1]), "band": min(curve.band, 1.0)}
