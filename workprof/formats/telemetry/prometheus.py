"""Prometheus' answer to a range query: series by labels, values as texts, totals and gauges together."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workprof.core.errors import TraceError
from workprof.formats.repeated_keys import DOCUMENTS, RepeatedKeys
from workprof.formats.telemetry.samples import Samples, labelled, parsed, stem_of
from workprof.formats.telemetry.times import rated, usual_step
from workprof.store.reports import Check

STAIR_STEPS = 1.5
"""Values that change at most every so many steps are stairs."""

STALE_PERIODS = 3
"""So many periods without a change of any series at the end mean that the target had gone."""


def plateau_checks(series: list[pd.Series], run: str) -> tuple[Check, ...]:
    """What repeated values of one run's series tell; series that never change tell nothing."""
    filled = [one.dropna() for one in series]
    changing = [one for one in filled if len(one) > 1 and np.ptp(one.to_numpy(dtype=np.float64)) > 0]
    if not changing:
        return ()
    step = usual_step(changing[0].index.to_numpy(dtype=np.float64))
    period_s = float(np.median([_period(one) for one in changing]))
    result = []
    if step > 0 and period_s > STAIR_STEPS * step:
        text = (
            f"{run}: values change every {period_s:g} s although a point is given every {step:g} s (the target is "
            f"read less often); ask again with step={period_s:g}"
        )
        result.append(Check("stairs", "warning", len(changing), text))
    stale = min(_unchanged_end(one) for one in changing)
    if stale > STALE_PERIODS * max(period_s, step) / max(step, 1e-9):
        text = f"{run}: the last {stale:,} points repeat: the target had gone, Prometheus repeats for up to 5 minutes"
        result.append(Check("stale_end", "warning", stale, text))
    return tuple(result)


def _period(one: pd.Series) -> float:
    """The median time between two changes."""
    values, times = one.to_numpy(dtype=np.float64), one.index.to_numpy(dtype=np.float64)
    changed = times[1:][np.diff(values) != 0]
    return float(np.median(np.diff(changed))) if changed.size > 1 else float(np.median(np.diff(times)))


def _unchanged_end(one: pd.Series) -> int:
    values = one.to_numpy(dtype=np.float64)
    changes = np.flatnonzero(np.diff(values) != 0)
    return int(values.size - 2 - changes[-1]) if changes.size else int(values.size)


SUMMED = ("cpu", "device", "core", "package", "chip", "sensor", "mountpoint", "fstype")
"""Labels over which series of one name are added up."""

AVERAGED = ("celsius", "hertz", "volts", "rpm", "ratio", "percent")
"""Units, the last word of a gauge's name, of which the mean of several series counts: two cores at 60 degrees are not
at 120. Source: Prometheus' naming conventions (base units)."""

HOST = "instance"
NOT_NAMED = ("__name__", "job", HOST, *SUMMED)
SHOWN = 5
MOST_POINTS = 11_000
"""Prometheus answers no more points per series: a longer range was refused or cut by whoever asked."""

TOTAL = "_total"


@dataclass(frozen=True)
class Series:
    """One counter of one host, by time."""

    host: str
    name: str
    points: pd.Series


def read_prometheus(path: Path, origin: str) -> Samples:
    """The samples of a range query, a run per instance; totals (`_total`) become rates.

    Raises TraceError when the answer is an error, or of one moment.
    """
    repeated = RepeatedKeys()
    document = parsed(path.read_text(encoding="utf-8-sig", errors="replace"), origin, repeated)
    matrix = _matrix(document, origin)
    series = [one for one in map(_series, matrix) if one is not None]
    by_host: dict[str, list[Series]] = defaultdict(list)
    for one in series:
        by_host[one.host].append(one)
    stem = stem_of(origin)
    parts, checks = [], (*repeated.checks(DOCUMENTS), *_result_checks(document, len(matrix) - len(series), series))
    for host, of_host in by_host.items():
        frame, result = _of_host(of_host, host if len(by_host) > 1 and host else stem)
        parts.append(frame)
        checks = (*checks, *result)
    if not parts:
        raise TraceError(f"{origin}: the answer holds no series with values; check the query and its time range")
    infinite = sum(int(np.isinf(one.points.to_numpy()).sum()) for one in series)
    return Samples(pd.concat(parts, ignore_index=True), (), infinite, checks, of_any_kind=True)


def _matrix(result: Any, origin: str) -> list[dict[str, Any]]:
    if isinstance(result, list):  # the series alone, as promtool writes them
        return [one for one in result if isinstance(one, dict)]
    if not isinstance(result, dict) or result.get("status") == "error":
        message = result.get("error", result.get("errorType", "")) if isinstance(result, dict) else "no object"
        raise TraceError(f"{origin}: Prometheus answered with an error ({message}); mend the query and save it again")
    data = result.get("data")
    kind = data.get("resultType") if isinstance(data, dict) else None
    if not isinstance(data, dict) or kind != "matrix":
        raise TraceError(
            f"{origin}: the result is of type {kind!r}, one moment and no series; ask /api/v1/query_range with start, "
            f"end and step"
        )
    return [one for one in data.get("result") or () if isinstance(one, dict)]


def _series(one: dict[str, Any]) -> Series | None:
    """A series; None for one without values (a native histogram)."""
    points = one.get("values")
    metric = one.get("metric")
    labels = {str(key): str(value) for key, value in metric.items()} if isinstance(metric, dict) else {}
    if not isinstance(points, list) or not points:
        return None
    try:
        times = [float(at) for at, _ in points]
        values = [float(text) for _, text in points]
    except (TypeError, ValueError, OverflowError):
        return None
    if not np.isfinite(times).all():
        return None
    named = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()) if key not in NOT_NAMED)
    name = labels.get("__name__", "") + (f"{{{named}}}" if named else "")
    return Series(
        labels.get(HOST, ""), name or "value", pd.Series(values, index=np.round(times, 3)).sort_index(kind="stable")
    )


def _of_host(series: list[Series], run: str) -> tuple[pd.DataFrame, tuple[Check, ...]]:
    """One host's counters by time. Totals are rated one by one before they are added up: one may be reset."""
    times = np.array(sorted({at for one in series for at in one.points.index}))
    checks: list[Check] = []
    summed: dict[str, pd.Series] = {}
    several: dict[str, int] = defaultdict(int)
    resets, again = 0, sum(int(one.points.index.duplicated().sum()) for one in series)
    for one in series:
        values = one.points[~one.points.index.duplicated(keep="last")].replace([np.inf, -np.inf], np.nan)
        name = one.name
        if _is_total(name):
            result = rated(values.to_frame(name), values.index.to_numpy(dtype=np.float64))
            resets += sum(check.count for check in result.checks)
            values, name = result.frame[f"{name}/s"], f"{name}/s"
        on_grid = values.reindex(times)
        summed[name] = on_grid if name not in summed else summed[name].add(on_grid)
        several[name] += 1
    for name in filter(_is_averaged, several):
        summed[name] = summed[name] / several[name]
    many = [name for name, n in several.items() if n > 1]
    if many:
        text = f"{run}: {len(many):,} counters are of several series each, {_how(many)}"
        checks.append(Check("several_series", "info", len(many), text))
    if resets:
        checks.append(Check("resets", "warning", resets, f"{resets:,} totals fell: they were reset, the rate is empty"))
    if again:
        text = f"{again:,} values have the time of an earlier value of their series; the last one counts"
        checks.append(Check("repeated_points", "warning", again, text))
    checks.extend(plateau_checks([one.points for one in series], run))
    frame = pd.DataFrame(summed, index=times)
    first = 1 if len(times) > 1 and all(_is_total(one.name) for one in series) else 0
    shown = frame.iloc[first:].reset_index(drop=True)
    return labelled(shown, times[first:] - times[0], run), tuple(checks)


def _how(many: Sequence[str]) -> str:
    """What becomes of counters of several series."""
    averaged = [name for name in many if _is_averaged(name)]
    added = [name for name in many if name not in averaged]
    ways = (("added up", added), ("of which the mean counts", averaged))
    return "; ".join(f"{way}: {', '.join(names[:SHOWN])}" for way, names in ways if names)


def _is_averaged(name: str) -> bool:
    return name.partition("{")[0].rpartition("_")[2] in AVERAGED


def _is_total(name: str) -> bool:
    return name.partition("{")[0].endswith(TOTAL)


def _result_checks(document: Any, without: int, series: list[Series]) -> tuple[Check, ...]:
    lists = [document.get(key) for key in ("warnings", "infos")] if isinstance(document, dict) else []
    messages = [str(text) for one in lists if isinstance(one, list) for text in one]
    full = sum(len(one.points) >= MOST_POINTS for one in series)
    result = (
        ("prometheus_says", "warning", len(messages), f"Prometheus says: {'; '.join(messages)[:300]}"),
        (
            "without_values",
            "warning",
            without,
            f"{without:,} series have no plain values (native histograms, or broken) and are left out",
        ),
        ("full_series", "warning", full, f"{full:,} series have {MOST_POINTS:,} points, the most that one query gives"),
    )
    return tuple(Check(name, level, count, text) for name, level, count, text in result if count)
