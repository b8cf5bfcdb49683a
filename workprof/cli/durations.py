"""The command on how long jobs took: quantiles and the share within a limit, of all jobs and per group."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, opened, progress_line, table, warn
from workprof.cli.console import names as names_of
from workprof.cli.further_settings import Fit, With, clustering, further
from workprof.errors import SettingsError
from workprof.forecasts.durations import (
    FEWEST_ROWS,
    GROUPINGS,
    DurationCurve,
    DurationSettings,
    ObservedDurations,
    share_within,
    value_at,
)
from workprof.units import format_share

DEFAULT = DurationSettings()
WHOLE_FROM = 1000
"""Larger values are told without a fraction; `--json` has them whole."""

QUANTILES = "0.05,0.25,0.5,0.75,0.9,0.95,0.99"


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command()(durations)


def durations(
    dataset: Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)],
    by: Annotated[str, typer.Option("--by", help=f"Groups: {', '.join(GROUPINGS)}.")] = DEFAULT.by,
    target: Annotated[
        str, typer.Option("--target", help="duration_s, peak_memory_bytes, cpu_usage_percent or gpu_usage_percent.")
    ] = DEFAULT.target,
    quantile: Annotated[str, typer.Option("--quantile", help="Shares A,B,... of the jobs, 0-1.")] = QUANTILES,
    slo: Annotated[
        float | None, typer.Option("--slo", help="A limit, in the target's unit (s, bytes, %).", show_default=False)
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the bands, 0-1.")] = DEFAULT.confidence,
    curves: Annotated[bool, typer.Option("--curves", help="In the JSON, the points of every curve too.")] = False,
    fit: Fit = None,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Tell how long jobs took (or what they used): quantiles, and the share within a limit, per group."""
    shares = _shares(quantile)
    settings = further(DurationSettings(by, target, confidence), given)
    with opened(home) as workbench:
        found = workbench.observed_durations(dataset, settings, clustering(fit), progress_line())
    few = [one.name for one in found.groups if one.few]
    if few:
        warn(f"note: worth fewer than {FEWEST_ROWS} jobs, so mostly chance: {', '.join(few)}")
    emit(durations_answer(found, shares, slo, curves), as_json, lambda: _as_text(found, shares, slo))


def durations_answer(
    found: ObservedDurations, shares: tuple[float, ...], slo: float | None, curves: bool = False
) -> dict[str, Any]:
    """Return the JSON document of observed curves: values in the target's unit, shares 0-1."""

    def told(curve: DurationCurve) -> dict[str, Any]:
        points = {"points": curve.points, "shares": curve.shares, "grid_step": curve.grid_step} if curves else {}
        return _curve(curve, shares, slo) | points

    return {
        "by": found.settings.by,
        "target": found.settings.target,
        "confidence": found.settings.confidence,
        "all": told(found.everything),
        "groups": [told(one) for one in found.groups],
        "n_rows": found.n_rows,
        "left_out": {"missing": found.n_missing, "negative": found.n_negative, "zero": found.n_zero},
        "n_without_group": found.n_without_group,
        "seconds": found.seconds,
    }


def _curve(curve: DurationCurve, shares: tuple[float, ...], slo: float | None) -> dict[str, Any]:
    return {
        "group": curve.name,
        "n_merged": curve.n_merged,
        "rows": curve.n_rows,
        "effective_jobs": curve.n_effective,
        "few": curve.few,
        "quantiles": {_quantile_name(share): value_at(curve, share) for share in shares},
        "max": float(curve.points[-1]),
        "within_slo": None if slo is None else share_within(curve, slo),
        "band": min(curve.band, 1.0),
    }


def _quantile_name(share: float) -> str:
    return f"p{share * 100:.10g}"


def _shares(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(name) for name in names_of(text))
    except ValueError as error:
        raise SettingsError(f"--quantile is {text!r}; give shares A,B,... such as 0.5,0.95") from error
    if not found or not all(0 < share <= 1 for share in found):
        raise SettingsError(f"--quantile is {text!r}; give shares above 0, up to 1, such as 0.5,0.95")
    return found


def _as_text(found: ObservedDurations, shares: tuple[float, ...], slo: float | None) -> str:
    rows: list[dict[str, object]] = []
    for curve in (*found.groups, found.everything):
        within = {} if slo is None else {f"within {slo:g}": format_share(share_within(curve, slo))}
        values = {_quantile_name(share): _number(value_at(curve, share)) for share in shares}
        more = f" ({curve.n_merged} groups)" if curve.n_merged else ""
        rows.append({"group": f"{curve.name}{more}", "rows": f"{curve.n_rows:,}", **within, **values})
    out = f"{found.n_left_out:,} rows left out, {found.n_without_group:,} in no group"
    return f"{found.settings.target} of {found.n_rows:,} finished rows by {found.settings.by}; {out}\n\n{table(rows)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= WHOLE_FROM else f"{value:.4g}"
