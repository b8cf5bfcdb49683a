"""The calls: profiles, memory sizes, change points, nodes, durations; forecasts are in `forecaster`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workprof.core.arrays import Floats, numbers_of
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError, TraceError
from workprof.core.progress import silent
from workprof.core.text import near
from workprof.core.units import format_bytes
from workprof.forecasts.durations import (
    EVERYTHING,
    GROUPINGS,
    DurationSettings,
    ObservedDurations,
    observed_durations,
)
from workprof.formats.fields import BOUNDS
from workprof.formats.measured import BENCHMARKS, time_column
from workprof.library.tables import (
    Columns,
    Jobs,
    Source,
    checked_settings,
    jobs_of,
    moments_of,
    plain_table,
    refuse_few_features,
    told,
)
from workprof.memory.decided import decided
from workprof.memory.decisions import Decision
from workprof.memory.verdict import Verdict, VerdictSettings, verdict_of
from workprof.nodes.parsed_runs import COLUMNS
from workprof.nodes.ranking import Ranking, rank_measured, rank_nodes as rank_benchmarks
from workprof.nodes.selection import MeasuredSettings, RankSettings
from workprof.phases.changepoints import ChangePointSettings
from workprof.phases.series import SeriesChanges, changes_of_series
from workprof.profiles.fit import ProfileFit, fit_profiles
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings
from workprof.store.in_memory import Given, is_column, is_path, is_table, plain_times
from workprof.store.mapping import shown
from workprof.workbench import passing_workbench


def profile(
    data: Given,
    features: Sequence[str] | None = None,
    *,
    columns: Columns | None = None,
    settings: ProfileSettings | None = None,
) -> ProfileFit:
    """Find profiles of jobs: groups that are alike in what they use.

    Args:
        data: a DataFrame, Arrow or Polars table, or the path of a trace.
        features: columns that are compared; None = what a trace has of CPU, GPU, memory and I/O, and durations
            where that is one column.
        columns: field -> column, or (column, unit), where the table's names are not those of the fields.
        settings: of the clustering.

    Returns:
        labels (`.labels`, of the rows `.row_ids`), cards, scores; `.to_frame()` has one row per profile.

    Raises:
        ColumnMissing: for a column that is not there.
        NotEnoughData: with too few rows or usable features.
    """
    chosen = checked_settings(settings, ProfileSettings)
    named = _names("features", features) if features is not None else chosen.features
    own = () if len(named) == 1 and named[0] in FEATURE_SETS else named
    jobs = jobs_of(data, {}, columns, also=own)
    if not own:
        refuse_few_features(jobs, named, chosen.mode)
    with told(jobs, *jobs.unfinished_words):
        fit = fit_profiles({"jobs": jobs.finished}, replace(chosen, features=jobs.names or named))
    return replace(fit, notes=(*fit.notes, *jobs.unfinished_words, *jobs.notes))


def size_memory(  # noqa: PLR0913  by name
    data: Given,
    *,
    task: Source | None = None,
    peak: Source | None = None,
    request: Source | float | None = None,
    duration: Source | None = None,
    columns: Columns | None = None,
    settings: VerdictSettings | None = None,
    decisions: Sequence[Decision] = (),
) -> Verdict:
    """Say how much memory to request, key by key, and what that saves at which kills.

    Args:
        data: a DataFrame, Arrow or Polars table, or the path of a trace.
        task: column of what a size is for.
        peak: column of the most memory that each run used; bare numbers are GB unless the column's name has a unit.
        request: column of what each run requested, or one number of GB for all. Without any, every run counts as
            requesting what the largest one used.
        duration: column of the run times; bare numbers are seconds.
        columns: field -> column of what else is known at submission (user, group, start_time_s, status ...).
        settings: acceptable kills, steps, how sizes are applied.
        decisions: of `Workbench.decisions`: rows that were declined keep their requests.

    Returns:
        the verdict, as `workprof memory plan` has it; `.to_frame()` has one row per key, `.reason` the headline.

    Raises:
        ColumnMissing: for a column that is not there.
        NotEnoughData: when no run has a use and a run time.
    """
    chosen = checked_settings(settings, VerdictSettings)
    if not isinstance(decisions, Sequence) or not all(isinstance(one, Decision) for one in decisions):
        raise SettingsError("decisions are no decisions; give those of `Workbench.decisions`")
    request = request.item() if isinstance(request, np.generic) else request
    flat = _number("request", request) if isinstance(request, (int, float)) else 0.0
    if flat > BOUNDS["requested_memory_bytes"].most:
        raise SettingsError(f"request is {request} GB, more than any machine has; give GB")
    named = {"task_name": task, "peak_memory_bytes": peak, "duration_s": duration}
    requested = None if isinstance(request, (int, float)) else request
    jobs = jobs_of(data, {**named, "requested_memory_bytes": requested}, columns)
    assumed: tuple[str, ...] = ()
    if not flat and not chosen.request_bytes and not _has(jobs, "requested_memory_bytes"):
        flat = _largest_use(jobs)
        assumed = (
            f"Nothing says what was requested: every run counts as requesting {format_bytes(flat)}, the most used.",
        )
    if flat:
        chosen = replace(chosen, request_bytes=flat)
    with told(jobs):
        result = verdict_of({"jobs": jobs.frame}, chosen)
    return decided(replace(result, notes=(*result.notes, *(assumed if flat else ()), *jobs.notes)), decisions)


def durations(
    data: Given,
    *,
    duration: Source | None = None,
    by: str | None = None,
    job: Source | None = None,
    columns: Columns | None = None,
    settings: DurationSettings | None = None,
) -> ObservedDurations:
    """Show how long jobs took: the distribution of all and of each group, with bands.

    Args:
        data: a DataFrame, Arrow or Polars table, or the path of a trace.
        duration: column of the run times; bare numbers are seconds.
        by: column of the groups; None = all runs together, or as the settings say.
        job: column that names jobs; runs of one job are alike, and the bands take that into account.
        columns: field -> column of what else the settings name.
        settings: another target, groups, confidence; what runs that were cut short tell.

    Returns:
        the curves; `.to_frame()` has one row of quantiles per group.

    Raises:
        ColumnMissing: for a column that is not there.
        NotEnoughData: when no row has a usable value.
    """
    chosen = DurationSettings(by=EVERYTHING) if settings is None else checked_settings(settings, DurationSettings)
    named: dict[str, Source | None] = {"duration_s": duration, "job_name": job}
    if by is not None:
        _names("by", (by,))
        group = by if by in GROUPINGS and by not in (EVERYTHING, "profile") else "group"
        named |= {group: by} if group != by else {}
        chosen = replace(chosen, by=group)
    jobs = jobs_of(data, named, columns)
    with told(jobs):
        found = observed_durations({"jobs": jobs.frame}, chosen)
    return replace(found, notes=(*jobs.notes, *found.notes))


def change_points(
    data: ArrayLike | Given,
    *,
    time_axis: int | None = None,
    names: Sequence[str] | None = None,
    settings: ChangePointSettings | None = None,
) -> SeriesChanges:
    """Find where the phases of series begin.

    Args:
        data: (T,) samples at equal steps; (T, n) or (n, T) with `time_axis`; a table or the path of one, with a column
            per series. NaN = missing. A column of times or texts is no series, and `.notes` say so; lengths of time are
            seconds.
        time_axis: of a two-dimensional array: 0 = each row is a moment, 1 = each row is a series.
        names: (n,) of the series; None = the columns' own, or 'x0', 'x1' ...
        settings: of the search.

    Returns:
        `.changes` by series; `.to_frame()` has one row per phase, the number of its first sample first.

    Raises:
        SettingsError: for an array of other dimensions, no `time_axis` where one is needed, or values that are no
            numbers.
        NotEnoughData: for an empty array.
    """
    chosen = checked_settings(settings, ChangePointSettings)
    values, own, notes = _series(data, time_axis)
    if not values.size:
        raise NotEnoughData("there is no sample; give at least one")
    found = changes_of_series(values, own if names is None else _names("names", names), chosen)
    return replace(found, notes=notes)


def rank_nodes(  # noqa: PLR0913  by name
    data: Given,
    *,
    node: str = "node",
    metric: str = "metric",
    value: str = "value",
    direction: str | Mapping[str, str] = "direction",
    aspect: str | None = None,
    started: str | None = None,
    weights: Mapping[str, float] | None = None,
    settings: RankSettings | None = None,
) -> Ranking:
    """Rank nodes by what was measured on them: how much better, how sure, tied with whom.

    Args:
        data: a table with one measured value per line, or a table or file of benchmark runs (`workprof nodes suite`).
        node: column of the nodes; lines without one are left out, counted, as are those without a metric.
        metric: column of what was measured.
        value: column of the values; those of 0 or less have no ratio and are left out, counted.
        direction: column that says 'higher' or 'lower' (is better), or metric -> direction.
        aspect: column of what metrics are part of, such as cpu or disk; None = each metric is one by itself.
        started: column of times (seconds, datetimes or their texts); runs far apart are resampled by campaign.
        weights: aspect -> weight; None = all alike.
        settings: prices, confidence, draws; of benchmark runs also which of them count.

    Returns:
        the ranking; `.to_frame()` has one row per node.

    Raises:
        ColumnMissing: for a column that is not there.
        SettingsError: for a direction that is neither, or a metric with two of them.
        NotEnoughData: when nothing can be compared.
    """
    chosen = checked_settings(settings, RankSettings)
    benchmarks = _benchmark_runs(data, chosen, weights)
    if benchmarks is not None:
        return benchmarks
    table = plain_table(data)
    toward = table[metric].map(dict(direction)) if isinstance(direction, Mapping) and metric in table else None
    needed = [node, metric, value, *([] if toward is not None else [direction]), *filter(None, (aspect, started))]
    for name in needed:
        if name not in table.columns:
            there = [str(column) for column in table.columns]
            raise ColumnMissing(
                f"the table has no column {name!r}; it has {', '.join(there[:20])}{near(str(name), there)}"
            )
    nameless = (table[node].isna() | table[metric].isna()).to_numpy()
    if nameless.any() and nameless.all():
        raise NotEnoughData(f"no line has both a {node} and a {metric}; check the columns")
    table, toward = table[~nameless], None if toward is None else toward[~nameless]
    words = (table[direction] if toward is None else toward).astype("object").map(_direction)
    wrong = np.flatnonzero(words.isna().to_numpy())
    if len(wrong):
        raise SettingsError(f"the direction of {table[metric].iloc[wrong[0]]!r} is not known; say 'higher' or 'lower'")
    names = table[metric].astype("str")
    measured = pd.DataFrame(
        {
            "node": table[node].astype("str"),
            "metric": names,
            "value": numbers_of(table, value),
            "higher_is_better": words.astype(bool),
            "benchmark": names,
            "aspect": names if aspect is None else table[aspect].astype("str"),
            "started_s": moments_of(table, started) if started else np.full(len(table), np.nan),
        }
    ).reset_index(drop=True)
    options = {one: getattr(chosen, one) for one in ("prices_per_h", "confidence", "n_draws", "seed")}
    found = rank_measured(measured, MeasuredSettings(**options, weights_of=_weights(weights, measured["aspect"])))
    lost = {"without a node or metric": int(nameless.sum())} if nameless.any() else {}
    return replace(found, left_out=found.left_out | lost)


def _benchmark_runs(data: Given, settings: RankSettings, weights: Mapping[str, float] | None) -> Ranking | None:
    """The ranking of benchmark runs, None where the data hold something else."""
    if is_table(data):
        table = plain_table(data)
        if not set(COLUMNS) <= {*table.columns, "stressed", "rc", "stderr", "host"} or "stdout" not in table.columns:
            return None
        settings = replace(settings, weights=dict(weights)) if weights else settings
        return rank_benchmarks({"runs": table.assign(row_id=np.arange(len(table)))}, settings, silent)
    if not is_path(data):
        return None
    path = Path(os.fspath(data))  # type: ignore[arg-type]
    with passing_workbench() as bench:
        try:
            if not path.exists() or bench.detect([path]) != BENCHMARKS:
                return None
        except TraceError:
            return None
        settings = replace(settings, weights=dict(weights)) if weights else settings
        return bench.node_ranking(bench.ingest(path).hash, settings)


HIGHER, LOWER = ("higher", "high", "max", "up", "+", "1", "true"), ("lower", "low", "min", "down", "-", "-1", "false")


def _direction(word: Any) -> bool | None:
    text = str(word).strip().lower()
    return True if text in HIGHER else False if text in LOWER else None


def _weights(weights: Mapping[str, float] | None, aspects: pd.Series) -> dict[str, float]:
    known = list(dict.fromkeys(aspects))
    for name, weight in (weights or {}).items():
        if name not in known:
            raise SettingsError(f"weights names {name!r}; choose from {', '.join(known)}{near(name, known)}")
        _number(f"the weight of {name}", weight, factor=1.0)
    if weights and not sum(weights.values()) > 0:
        raise SettingsError("all weights are 0; give at least one aspect a weight above 0")
    return dict(weights or {})


def _series(data: Any, time_axis: int | None) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """(n, T) samples, the names of the series, and what was no series, in words."""
    if is_path(data) or (is_table(data) and not is_column(data)):
        if time_axis not in (None, 0):
            raise SettingsError(f"time_axis is {time_axis!r}; of a table it is 0: a row is a moment")
        table = plain_table(data.reset_index(drop=True) if isinstance(data, pd.DataFrame) else data)
        lengths = [name for name in table.columns if pd.api.types.is_timedelta64_dtype(table[name])]
        table = table.assign(**{name: table[name].dt.total_seconds() for name in lengths})
        times = time_column(table.columns)
        numeric = [name for name in table.columns if name != times and pd.api.types.is_numeric_dtype(table[name])]
        if not numeric:
            raise SettingsError("the table has no column of numbers beside its times; give one per series")
        others = [name for name in table.columns if name not in numeric]
        notes = (f"No series, as it holds times or texts: {shown(others)}.",) if others else ()
        return np.stack([numbers_of(table, name) for name in numeric]), tuple(numeric), notes
    data = plain_times(data)
    kind = getattr(data, "dtype", None)
    if kind is not None and (pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_complex_dtype(kind)):
        raise SettingsError(f"the samples are {kind}; give real numbers")
    if kind is not None and pd.api.types.is_timedelta64_dtype(kind):
        seconds = np.asarray(data, dtype="timedelta64[ns]").astype(np.float64) / 1e9
        data = np.where(np.isnat(np.asarray(data)), np.nan, seconds)
    try:
        array = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"the samples are no numbers ({error}); give an array of them") from error
    if array.ndim == 1:
        name = getattr(data, "name", None)
        return array[None, :], (str(name) if name else "x0",), ()
    if array.ndim != 2:
        raise SettingsError(f"the array has {array.ndim} dimensions; give samples (T,), or (T, n) with time_axis=0")
    if time_axis not in (0, 1):
        raise SettingsError(
            f"the array is {array.shape} and time_axis is {time_axis!r}; say 0 where a row is a moment, 1 where it is "
            "a series"
        )
    values = array.T if time_axis == 0 else array
    return np.ascontiguousarray(values), tuple(f"x{place}" for place in range(len(values))), ()


def _names(argument: str, given: Any) -> tuple[str, ...]:
    if (
        isinstance(given, str)
        or not isinstance(given, Sequence)
        or not all(isinstance(one, str) and one for one in given)
    ):
        raise SettingsError(f"{argument} is {given!r}; give names of columns, such as ['cpu', 'memory']")
    if not given:
        raise SettingsError(f"{argument} is empty; give at least one name")
    return tuple(given)


def _number(argument: str, given: Any, factor: float = 1e9) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float, np.number)) or not 0 <= given < np.inf:
        raise SettingsError(f"{argument} is {given!r}; give a number of 0 or more")
    return float(given) * factor


def _has(jobs: Jobs, field: str) -> bool:
    return field in jobs.frame.columns and bool((numbers_of(jobs.frame, field) > 0).any())


def _largest_use(jobs: Jobs) -> float:
    if "peak_memory_bytes" not in jobs.frame.columns:
        return 0.0
    used = numbers_of(jobs.frame, "peak_memory_bytes")
    return float(np.nanmax(used)) if np.isfinite(used).any() else 0.0
