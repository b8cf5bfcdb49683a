"""From a job table to the rows that are clustered: drawn, their features read as one matrix, scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.columns import numbers_of
from workprof.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.profiles.scaling import FittedTransform, apply_transform, fit_transform
from workprof.profiles.settings import ALL17, FEATURE_SETS, SENSORS10, ProfileSettings, clustered_rows, resolve
from workprof.units import format_count

if TYPE_CHECKING:
    import pandas as pd


def draw_rows(n_rows: int, size: int, seed: int) -> Ints:
    """Return (min(size, n_rows),) row positions in rising order, drawn without replacement."""
    if size >= n_rows:
        return np.arange(n_rows, dtype=np.int64)
    drawn = np.random.default_rng(seed).choice(n_rows, size=size, replace=False)
    return np.sort(drawn).astype(np.int64)


def draw_per_group(codes: Ints, size: int, seed: int) -> Ints:
    """Return row positions in rising order: about `size` in all, each group in proportion and at least two of it.

    Args:
        codes: (n_rows,) group of each row, 0 .. n_groups - 1.
        size: rows wanted in all.
        seed: of the draw.
    """
    counts = np.bincount(codes)
    wanted = np.minimum(counts, np.maximum(2, np.rint(counts * min(1.0, size / max(1, len(codes)))))).astype(np.int64)
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    rank = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[rank < wanted[codes[order]]]).astype(np.int64)


SMALLEST_FEATURE_COUNT = 2


@dataclass(frozen=True)
class FeatureMatrix:
    """The chosen columns as numbers."""

    names: tuple[str, ...]  # (n_features,) columns that are used
    numbers: Floats  # (n_rows, n_features) in the fields' own units; NaN = missing (0 instead in faithful mode)
    left_out: dict[str, str]  # name -> reason of the columns that were asked for and cannot be used
    missing: dict[str, int]  # name -> rows without a finite value, for the columns that have any


def expand_features(features: tuple[str, ...]) -> tuple[dict[str, bool], bool]:
    """Return name -> whether it was named by itself, in order and once each, and whether a set was among them.

    Raises:
        SettingsError: when nothing is named.
    """
    named: dict[str, bool] = {}
    for feature in features:
        for name in FEATURE_SETS.get(feature, (feature,)):
            named[name] = named.get(name, False) or feature not in FEATURE_SETS
    if not named:
        raise SettingsError(f"no features are named; use {', '.join(FEATURE_SETS)} or column names")
    return named, any(feature in FEATURE_SETS for feature in features)


def read_features(jobs: pd.DataFrame, features: tuple[str, ...], mode: str) -> FeatureMatrix:
    """Return the matrix of the named columns.

    Infinities count as missing. A column that is constant or has no value at all is left out with the reason, and so is
    a column of a set that the table lacks.

    Args:
        jobs: the table, one row per job.
        features: column names or names of sets.
        mode: 'corrected' keeps missing values missing, 'faithful' puts 0 in their place.

    Raises:
        ColumnMissing: when a column that was named by itself is absent.
        SettingsError: when such a column holds text.
        NotEnoughData: when fewer than two columns can be used.

    Source:
        PolarisProfiler sets NULL to 0 (faithful); corrected mode never does.
    """
    named, _ = expand_features(features)
    _refuse_absent(jobs, [name for name, alone in named.items() if alone])
    columns: dict[str, Floats] = {}
    left_out: dict[str, str] = {}
    missing: dict[str, int] = {}
    for name, alone in named.items():
        if name not in jobs.columns:
            left_out[name] = "not in this table"
            continue
        column = numbers_of(jobs, name)
        if alone:
            _refuse_text(jobs[name], column)
        gaps = int(np.isnan(column).sum())
        filled = np.nan_to_num(column, nan=0.0) if mode == "faithful" else column
        reason = _unusable(column, filled)
        if reason:
            left_out[name] = reason
            continue
        columns[name] = filled
        if gaps:
            missing[name] = gaps
    if len(columns) < SMALLEST_FEATURE_COUNT:
        raise NotEnoughData(_too_few(columns, left_out, jobs))
    values = np.column_stack(list(columns.values()))  # (n_rows, n_features)
    return FeatureMatrix(tuple(columns), np.ascontiguousarray(values), left_out, missing)


def numeric_columns(jobs: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns that could serve as features: numbers, without row ids and planted truth."""
    numbers = (str(name) for name in jobs.select_dtypes("number").columns)
    return tuple(name for name in numbers if not name.startswith(("row_id", "truth_")))


def _refuse_absent(jobs: pd.DataFrame, names: list[str]) -> None:
    absent = [name for name in names if name not in jobs.columns]
    if absent:
        raise ColumnMissing(f"the table has no column {', '.join(absent)}; {_what_there_is(jobs)}")


def _refuse_text(column: pd.Series, values: Floats) -> None:
    if np.isnan(values).all() and column.notna().any():
        example = column.dropna().iloc[0]
        raise SettingsError(f"column {column.name} holds no numbers (for example {example!r}); choose a numeric column")


def _what_there_is(jobs: pd.DataFrame) -> str:
    return f"numeric columns here: {', '.join(numeric_columns(jobs)) or 'none'}"


def _unusable(column: Floats, filled: Floats) -> str:
    present = filled[~np.isnan(filled)]
    if not present.size or np.isnan(column).all():
        return "no value in any row"
    if present.min() == present.max():
        return f"constant ({present[0]:g})"
    return ""


def _too_few(columns: dict[str, Floats], left_out: dict[str, str], jobs: pd.DataFrame) -> str:
    reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items()) or "only one was named"
    return (
        f"{len(columns)} usable feature(s) ({', '.join(columns) or 'none'}), at least {SMALLEST_FEATURE_COUNT} are "
        f"needed ({reasons}); {_what_there_is(jobs)}"
    )


KNOWN_BEFORE = tuple(name for name in ALL17 if name not in (*SENSORS10, "duration_s"))
"""Requests and timestamps: known before the job runs, so a profile made of them repeats its metadata."""


def preparation_notes(
    settings: ProfileSettings, matrix: FeatureMatrix, transform: FittedTransform, n_rows: int, n_clustered: int
) -> tuple[str, ...]:
    """Return what happened to rows and columns before the clustering.

    Args:
        settings: resolved.
        matrix: the features.
        transform: fitted on them.
        n_rows: rows of the table.
        n_clustered: rows that were clustered.
    """
    notes = []
    if settings.mode == "faithful":
        notes.append("Published definitions: missing values are 0; requests and timestamps may be features.")
    if n_clustered < n_rows:
        drawn = f"{format_count(n_clustered)} of {format_count(n_rows)} rows"
        notes.append(f"Sample: {drawn} were drawn at random (seed {settings.seed}); the others have no profile.")
    notes.extend(f"{name} is left out: {reason}." for name, reason in matrix.left_out.items())
    for name, gaps in matrix.missing.items():
        value = "0" if settings.mode == "faithful" else "the median"
        marked = ", and a further column marks them" if name in transform.indicators else ""
        notes.append(f"{name}: {format_count(gaps)} missing values stand as {value}{marked}.")
    known = [name for name in matrix.names if name in KNOWN_BEFORE]
    if known and settings.mode == "corrected":
        notes.append(f"{', '.join(known)} are known before a job runs: profiles made of them repeat its metadata.")
    return tuple(notes)


@dataclass(frozen=True)
class Prepared:
    """The rows that are clustered, scaled."""

    settings: ProfileSettings  # resolved
    jobs: pd.DataFrame  # the clustered rows of the table
    row_ids: Ints  # (n_rows,) of the store, else positions in the table
    matrix: FeatureMatrix  # the features in their own units
    transform: FittedTransform  # fitted on them
    points: Floats  # (n_rows, n_dims) scaled values, indicator columns last
    notes: tuple[str, ...]  # what happened to rows and columns


def prepare(jobs: pd.DataFrame, settings: ProfileSettings) -> Prepared:
    """Return the rows to cluster, scaled.

    Raises:
        ColumnMissing: when a feature that was named by itself is absent.
        NotEnoughData: with fewer than two usable features, or too few rows.
    """
    n_clustered = clustered_rows(settings, len(jobs))
    resolved = resolve(settings, n_clustered)
    rows = draw_rows(len(jobs), n_clustered, settings.seed)
    drawn = jobs if len(rows) == len(jobs) else jobs.iloc[rows]
    matrix = read_features(drawn, resolved.features, resolved.mode)
    transform = fit_transform(matrix, resolved.scaler, resolved.mode)
    points = apply_transform(transform, matrix.numbers)
    ids = drawn["row_id"].to_numpy(dtype=np.int64) if "row_id" in drawn.columns else rows
    notes = preparation_notes(resolved, matrix, transform, len(jobs), n_clustered)
    return Prepared(resolved, drawn, ids, matrix, transform, points, notes)
