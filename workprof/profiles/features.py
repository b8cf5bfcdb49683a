"""From a job table to the rows that are clustered: drawn, their features read as one matrix, scaled.

The transform is fitted once, stored, and applied to new rows. The power transform (Yeo-Johnson) is written around the
centre of the logarithms so that large columns keep their digits. For x >= 0 it is ((1 + x)^p - 1) / p. For bytes (x
about 1e9 .. 1e12) and p < 0 all values crowd at 1 / |p| and lose their digits, and the likelihood seems to rise for
ever. Written as expm1(p (log(1 + x) - c)) / p, with c the mean of log(1 + x), the values differ from the original only
by a factor exp(p c) and a shift, which standardising removes anyway.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_of
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.units import format_count, format_share
from workprof.core.words import counted
from workprof.profiles.embedding import Encoder, fit_encoder
from workprof.profiles.pairs import NO_PAIRS, Pairs, find_pairs
from workprof.profiles.settings import (
    ALL17,
    FEATURE_SETS,
    SENSORS10,
    ProfileSettings,
    clustered_rows,
    resolve,
    with_sample,
)

if TYPE_CHECKING:
    import pandas as pd


EXPONENT_BOUNDS = (-6.0, 6.0)
"""Beyond these the transform is a step function; real columns of usage lie within -2 .. 2."""

_SMALL = 1e-12
MOST_QUANTILES = 1000
"""Of the scaler 'quantile', as in PolarisProfiler's Google case."""


def log_magnitude_centre(values: Floats) -> Floats:
    """(n_features,) mean of log(1 + x) of the columns without negative values, 0 for the others; none missing."""
    positive = values.min(axis=0) >= 0
    return np.where(positive, np.log1p(np.abs(values)).mean(axis=0), 0.0)


def yeo_johnson(values: Floats, exponent: Floats, log_centre: Floats) -> Floats:
    """The transformed values, none missing, up to the factor and shift that standardising removes.

    Source: Yeo and Johnson 2000; factor and shift differ (module docstring).
    """
    logs, negative = np.log1p(np.abs(values)), values < 0
    columns = [
        _transformed(logs[:, j], negative[:, j], float(exponent[j]), float(log_centre[j]))
        for j in range(values.shape[1])
    ]
    return np.column_stack(columns)


def best_exponent(column: Floats, log_centre: float) -> float:
    """The exponent of the largest normal likelihood (1 for a constant column); no value is missing.

    Source: The profile likelihood of Yeo and Johnson 2000, as in scikit-learn's PowerTransformer; the optimum is the
    same where theirs is numerically sound.
    """
    from scipy.optimize import minimize_scalar  # noqa: PLC0415  heavy

    if column.min() == column.max():
        return 1.0
    logs, negative = np.log1p(np.abs(column)), column < 0
    signed_logs = float((np.sign(column) * logs).sum())

    def cost(exponent: float) -> float:
        spread = float(_transformed(logs, negative, exponent, log_centre).var())
        if not np.isfinite(spread) or spread <= 0:
            return float("inf")
        log_variance = np.log(spread) + 2.0 * exponent * log_centre
        return float(0.5 * len(column) * log_variance - (exponent - 1.0) * signed_logs)

    optimum = minimize_scalar(cost, bounds=EXPONENT_BOUNDS, method="bounded", options={"xatol": 1e-7})
    return float(optimum.x)


def _transformed(logs: Floats, negative: Bools, exponent: float, log_centre: float) -> Floats:
    result = _power(logs - log_centre, exponent)
    if negative.any():
        shift = _power(np.array([log_centre]), exponent)[0]
        result[negative] = (-_power(logs[negative], 2.0 - exponent) - shift) * np.exp(-exponent * log_centre)
    return result


def _power(logs: Floats, exponent: float) -> Floats:
    with np.errstate(over="ignore"):
        return logs.copy() if abs(exponent) < _SMALL else np.expm1(exponent * logs) / exponent


RARE_MISSING_SHARE = 0.05
"""Up to this share of missing rows the imputed value alone is used; above, a column says which rows were imputed."""


@dataclass(frozen=True)
class FittedTransform:
    """A fitted transform in plain numbers."""

    scaler: str  # 'none', 'standard', 'minmax', 'robust' or 'power'
    features: tuple[str, ...]  # (n_features,) columns, in order
    fill: Floats
    """(n_features,) what stands in for a missing value: the median of the training rows (0 in faithful mode)."""
    indicators: tuple[str, ...]  # features that get a further column, 1 where the value was missing
    exponent: Floats  # (n_features,) Yeo-Johnson exponents; 1 for the other scalers
    log_centre: Floats  # (n_features,) centre of log(1 + x) that the power is taken around; 0 where not used
    centre: Floats  # (n_features + n_indicators,) subtracted
    scale: Floats  # (n_features + n_indicators,) divided by
    encoder: Encoder | None = None  # of an embedding, which takes the scaled values
    quantiles: Floats | None = None  # (n_quantiles, n_features) of the scaler 'quantile'


def fit_transform(matrix: FeatureMatrix, scaler: str, mode: str) -> FittedTransform:
    """The transform fitted on the rows of `matrix`.

    Source: The grid of the paper (scikit-learn's StandardScaler, MinMaxScaler, RobustScaler, PowerTransformer with
    standardisation). Ours differs: it is stored with the model, missing values are imputed by the median and marked
    where they are not rare, a feature whose quartiles coincide is divided by its standard deviation instead of 1, and
    the power is taken around the centre of the logarithms, so that columns of 1e12 bytes keep their digits.
    """
    missing = np.isnan(matrix.numbers)
    fill = np.zeros(len(matrix.names)) if mode == "faithful" else np.nanmedian(matrix.numbers, axis=0)
    indicators = tuple(
        name for j, name in enumerate(matrix.names) if mode == "corrected" and missing[:, j].mean() > RARE_MISSING_SHARE
    )
    values = np.where(missing, fill, matrix.numbers)
    exponent, log_centre = np.ones(len(fill)), np.zeros(len(fill))
    if scaler == "power":
        log_centre = log_magnitude_centre(values)
        exponent = np.array([best_exponent(values[:, j], log_centre[j]) for j in range(values.shape[1])])
        values = yeo_johnson(values, exponent, log_centre)
    quantiles = None
    if scaler == "quantile":
        quantiles = np.quantile(values, np.linspace(0, 1, min(MOST_QUANTILES, len(values))), axis=0)
        values = share_below(values, quantiles)
    shown = _with_indicators(values, missing, matrix.names, indicators)
    centre, scale = _centre_and_scale(shown, scaler)
    return FittedTransform(
        scaler, matrix.names, fill, indicators, exponent, log_centre, centre, scale, quantiles=quantiles
    )


def share_below(values: Floats, quantiles: Floats) -> Floats:
    """(n_rows, n_features) 0-1, the share of the fitted rows that are smaller; of equal ones half count.

    Source: scikit-learn's QuantileTransformer with a uniform output.
    """
    shares = np.linspace(0, 1, len(quantiles))
    columns = [
        (np.interp(column, own, shares) - np.interp(-column, -own[::-1], -shares[::-1])) / 2
        for column, own in zip(values.T, quantiles.T, strict=True)
    ]
    return np.column_stack(columns)


def apply_transform(transform: FittedTransform, values: Floats) -> Floats:
    """(n_rows, n_dims) values that distances are taken of: scaled, and embedded where the transform has an encoder.

    Raises NotEnoughData as `scale_values`.
    """
    scaled = scale_values(transform, values)
    return scaled if transform.encoder is None else transform.encoder.encode(scaled)


def scale_values(transform: FittedTransform, values: Floats) -> Floats:
    """(n_rows, n_features + n_indicators) scaled values; NaN and infinities are imputed as in training.

    `values` are in the order of `transform.features`, in the fields' own units.

    Raises NotEnoughData when the number of columns differs from the fitted one.
    """
    if values.ndim != 2 or values.shape[1] != len(transform.features):
        raise NotEnoughData(
            f"{values.shape} values given; the transform needs the columns {', '.join(transform.features)}"
        )
    missing = ~np.isfinite(values)
    filled = np.where(missing, transform.fill, values)
    if transform.scaler == "power":
        filled = yeo_johnson(filled, transform.exponent, transform.log_centre)
    if transform.quantiles is not None:
        filled = share_below(filled, transform.quantiles)
    shown = _with_indicators(filled, missing, transform.features, transform.indicators)
    return np.ascontiguousarray((shown - transform.centre) / transform.scale)


def _with_indicators(values: Floats, missing: Bools, names: tuple[str, ...], indicators: tuple[str, ...]) -> Floats:
    marks = [missing[:, names.index(name)].astype(np.float64) for name in indicators]
    return np.column_stack([values, *marks]) if marks else values


def _centre_and_scale(values: Floats, scaler: str) -> tuple[Floats, Floats]:
    width = values.shape[1]
    deviation = values.std(axis=0)
    if scaler in ("none", "quantile"):
        return np.zeros(width), np.ones(width)
    if scaler == "minmax":
        return values.min(axis=0), _nonzero(np.ptp(values, axis=0), deviation)
    if scaler == "robust":
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
        return middle, _nonzero(high - low, deviation)
    if scaler in ("standard", "power"):
        return values.mean(axis=0), _nonzero(deviation, deviation)
    raise SettingsError(f"scaler is {scaler!r}; use none, standard, minmax, robust, power or quantile")


def _nonzero(scale: Floats, deviation: Floats) -> Floats:
    usable = np.where(scale > 0, scale, deviation)
    return np.where(usable > 0, usable, 1.0)


def draw_rows(n_rows: int, size: int, seed: int) -> Ints:
    """(min(size, n_rows),) row positions in rising order, drawn without replacement."""
    if size >= n_rows:
        return np.arange(n_rows, dtype=np.int64)
    drawn = np.random.default_rng(seed).choice(n_rows, size=size, replace=False)
    return np.sort(drawn).astype(np.int64)


def draw_per_group(codes: Ints, size: int, seed: int) -> Ints:
    """Row positions in rising order: about `size` in all, each group in proportion and at least two of it."""
    counts = np.bincount(codes)
    wanted = np.minimum(counts, np.maximum(2, np.rint(counts * min(1.0, size / max(1, len(codes)))))).astype(np.int64)
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    rank = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[rank < wanted[codes[order]]]).astype(np.int64)


SMALLEST_FEATURE_COUNT = 2
JOINING = "duration_s"
"""What joins a set of which a trace has one column: runs with one sensor differ in it and in how long they take."""


@dataclass(frozen=True)
class FeatureMatrix:
    """The chosen columns as numbers."""

    names: tuple[str, ...]  # (n_features,) columns that are used
    numbers: Floats  # (n_rows, n_features) in the fields' own units; NaN = missing (0 instead in faithful mode)
    left_out: dict[str, str]  # name -> reason of the columns that were named and cannot be used
    missing: dict[str, int]  # name -> rows without a finite value, for the columns that have any


def expand_features(features: tuple[str, ...]) -> tuple[dict[str, bool], bool]:
    """Name -> whether it was named by itself, in order and once each, and whether a set was among them.

    Raises SettingsError when nothing is named.
    """
    named: dict[str, bool] = {}
    for feature in features:
        for name in FEATURE_SETS.get(feature, (feature,)):
            named[name] = named.get(name, False) or feature not in FEATURE_SETS
    if not named:
        raise SettingsError(f"no features are named; use {', '.join(FEATURE_SETS)} or column names")
    return named, any(feature in FEATURE_SETS for feature in features)


def read_features(jobs: pd.DataFrame, features: tuple[str, ...], mode: str) -> FeatureMatrix:
    """The matrix of the named columns or sets.

    Infinities count as missing. A column that is constant or has no value at all is left out with the reason, and so is
    a column of a set that the table lacks. Durations join a set that would be one column. Mode 'corrected' keeps
    missing values missing, 'faithful' puts 0 in their place.

    Raises:
        ColumnMissing: when a column that was named by itself is absent.
        SettingsError: when such a column holds text.
        NotEnoughData: when fewer than two columns can be used.

    Source: PolarisProfiler sets NULL to 0 (faithful); corrected mode never does.
    """
    named, of_set = expand_features(features)
    if absent := [name for name, alone in named.items() if alone and name not in jobs.columns]:
        raise ColumnMissing(f"the table has no column {', '.join(absent)}; {_what_there_is(numeric_columns(jobs))}")
    columns: dict[str, Floats] = {}
    left_out: dict[str, str] = {}
    missing: dict[str, int] = {}
    for name, alone in (named | ({JOINING: False} if of_set else {})).items():
        if name not in named and len(columns) != 1:
            continue
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
        raise NotEnoughData(_too_few(columns, left_out, numeric_columns(jobs)))
    values = np.column_stack(list(columns.values()))  # (n_rows, n_features)
    return FeatureMatrix(tuple(columns), np.ascontiguousarray(values), left_out, missing)


NO_FEATURES = ("row_id", "truth_")
"""Beginnings of names of columns that are no features."""


def numeric_columns(jobs: pd.DataFrame) -> tuple[str, ...]:
    """The columns that could serve as features: numbers, without row ids and planted truth."""
    numbers = (str(name) for name in jobs.select_dtypes("number").columns)
    return tuple(name for name in numbers if not name.startswith(NO_FEATURES))


def _refuse_text(column: pd.Series, values: Floats) -> None:
    if np.isnan(values).all() and column.notna().any():
        example = column.dropna().iloc[0]
        raise SettingsError(f"column {column.name} holds no numbers (for example {example!r}); choose a numeric column")


MOST_NAMED = 3
"""Columns that a refusal names for each reason."""


def refuse_few_features(features: tuple[str, ...], numeric: Sequence[str]) -> None:
    """Refuse columns or sets of which a table, by its numeric columns, has fewer than two.

    Raises NotEnoughData; what only the values tell, such as a constant column, `read_features` refuses.
    """
    named, of_set = expand_features(features)
    there = [name for name in named if name in numeric]
    if len(there) == 1 and JOINING in numeric:
        there.append(JOINING)
    if of_set and len(there) < SMALLEST_FEATURE_COUNT:
        left_out = {name: "not in this table" for name in named if name not in numeric}
        raise NotEnoughData(_too_few(there, left_out, numeric))


def _what_there_is(numeric: Sequence[str]) -> str:
    return f"numeric columns here: {', '.join(numeric) or 'none'}"


def _unusable(column: Floats, filled: Floats) -> str:
    present = filled[~np.isnan(filled)]
    if not present.size or np.isnan(column).all():
        return "no value in any row"
    if present.min() == present.max():
        return f"constant ({present[0]:g})"
    return ""


def _too_few(columns: Collection[str], left_out: dict[str, str], numeric: Sequence[str]) -> str:
    named = {reason: [name for name, own in left_out.items() if own == reason] for reason in left_out.values()}
    reasons = "; ".join(f"{_first(names)}: {reason}" for reason, names in named.items()) or "only one was named"
    usable = f"{counted(len(columns), 'usable feature')} ({', '.join(columns) or 'none'})"
    return (
        f"{usable}, at least {SMALLEST_FEATURE_COUNT} are needed ({reasons}); choose others as features, "
        f"{_what_there_is([name for name in numeric if name not in columns])}"
    )


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED + 1 else ""
    return ", ".join(names[: MOST_NAMED if more else None]) + more


KNOWN_BEFORE = tuple(name for name in ALL17 if name not in (*SENSORS10, "duration_s"))
"""Requests and timestamps: known before the job runs, so a profile made of them repeats its metadata."""


def preparation_notes(
    settings: ProfileSettings, matrix: FeatureMatrix, transform: FittedTransform, n_rows: int, n_clustered: int
) -> tuple[str, ...]:
    """What happened to rows and columns before the clustering."""
    notes = []
    if settings.mode == "faithful":
        notes.append("Published definitions: missing values are 0; requests and timestamps may be features.")
    if n_clustered < n_rows:
        drawn = f"{format_count(n_clustered)} of {format_count(n_rows)} rows"
        others = "the others have no profile" if not settings.by_density else "the others are assigned to profiles"
        notes.append(f"Sample: {drawn} were clustered, drawn at random (seed {settings.seed}); {others}.")
    named, _ = expand_features(settings.features)
    if JOINING in set(matrix.names) - named.keys():
        notes.append("Durations join the features, of which one other is usable here.")
    notes.extend(f"{name} is left out: {reason}." for name, reason in matrix.left_out.items())
    for name, gaps in matrix.missing.items():
        value = "0" if settings.mode == "faithful" else "the median"
        marked = ", and a further column marks them" if name in transform.indicators else ""
        notes.append(f"{name}: {format_count(gaps)} missing values stand as {value}{marked}.")
    if transform.encoder is not None:
        code, kept = transform.encoder.code_bias, format_share(transform.encoder.kept_share)
        notes.append(f"Embedding: {len(code)} values a run, of which a network gives back {kept} of the variance.")
    known = [name for name in matrix.names if name in KNOWN_BEFORE]
    if known and settings.mode == "corrected":
        notes.append(f"{', '.join(known)} are known before a job runs: profiles made of them repeat its metadata.")
    return tuple(notes)


@dataclass(frozen=True)
class Prepared:
    """The rows that are clustered, scaled."""

    settings: ProfileSettings  # resolved
    table: pd.DataFrame  # all rows
    rows: Ints  # (n_rows,) positions of the clustered rows in the table, rising
    jobs: pd.DataFrame  # the clustered rows
    row_ids: Ints  # (n_rows,) of the store, else positions in the table
    matrix: FeatureMatrix  # the features in their own units
    transform: FittedTransform  # fitted on them
    scaled_features: Floats  # (n_rows, n_features + n_indicators) scaled values, indicator columns last
    points: Floats  # (n_rows, n_dims) what distances are taken of: these, or their embedding
    notes: tuple[str, ...]  # what happened to rows and columns
    pairs: Pairs = NO_PAIRS  # of the clustered rows that were named as alike or unlike

    @property
    def whole(self) -> bool:
        """Whether every row of the table is clustered."""
        return len(self.rows) == len(self.table)

    @property
    def digest(self) -> str:
        """What was clustered, as hexadecimal digits: features, scaler, and every number of the rows."""
        embedded = [self.settings.embedding] if self.transform.encoder else []
        what = "/".join((self.settings.scaler, *embedded, *self.matrix.names))
        result = hashlib.blake2b(what.encode(), digest_size=8)
        numbers = self.matrix.numbers + 0.0  # 0 has one sign, and a missing value one form
        numbers[np.isnan(numbers)] = np.nan
        result.update(np.ascontiguousarray(numbers).data)
        return result.hexdigest()

    def scaled(self, rows: Ints) -> Floats:
        """(n, n_dims) values of the rows of the table at (n,) positions, scaled as the clustered ones are."""
        part = self.table[list(self.matrix.names)].iloc[rows]
        values = np.column_stack([numbers_of(part, name) for name in self.matrix.names])
        return apply_transform(self.transform, np.nan_to_num(values) if self.settings.mode == "faithful" else values)


def prepare(jobs: pd.DataFrame, settings: ProfileSettings) -> Prepared:
    """The rows to cluster, scaled.

    Raises:
        ColumnMissing: when a feature that was named by itself is absent.
        NotEnoughData: with fewer than two usable features, or too few rows.
        SettingsError: as `find_pairs`; runs that are named are always among the rows.
    """
    n_clustered = clustered_rows(settings, len(jobs))
    resolved = resolve(with_sample(settings, len(jobs)), n_clustered)
    rows, pairs = draw_rows(len(jobs), n_clustered, settings.seed), find_pairs(jobs, resolved)
    rows = np.union1d(rows, pairs.rows)
    drawn = jobs if len(rows) == len(jobs) else jobs.iloc[rows]
    matrix = read_features(drawn, resolved.features, resolved.mode)
    transform = fit_transform(matrix, resolved.scaler, resolved.mode)
    points = scaled = scale_values(transform, matrix.numbers)
    if resolved.embedding == "autoencoder":
        encoder = fit_encoder(scaled, resolved.seed)
        transform, points = replace(transform, encoder=encoder), encoder.encode(scaled)
    ids = drawn["row_id"].to_numpy(dtype=np.int64) if "row_id" in drawn.columns else rows
    notes = preparation_notes(resolved, matrix, transform, len(jobs), len(rows))
    return Prepared(resolved, jobs, rows, drawn, ids, matrix, transform, scaled, points, notes, pairs.among(rows))
