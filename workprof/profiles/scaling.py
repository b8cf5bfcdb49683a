"""The transform that makes features comparable before distances are taken: fitted once, kept, applied to new rows.

The power transform (Yeo-Johnson) is written around the centre of the logarithms so that large columns keep their
digits. For x >= 0 it is ((1 + x)^p - 1) / p. For bytes (x about 1e9 .. 1e12) and p < 0 all values crowd at 1 / |p| and
lose their digits, and the likelihood seems to rise for ever. Written as expm1(p (log(1 + x) - c)) / p, with c the mean
of log(1 + x), the values differ from the original only by a factor exp(p c) and a shift, which standardising removes
anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Bools, Floats
from workprof.errors import NotEnoughData, SettingsError

if TYPE_CHECKING:
    from workprof.profiles.features import FeatureMatrix

EXPONENT_BOUNDS = (-6.0, 6.0)
"""Beyond these the transform is a step function; real columns of usage lie within -2 .. 2."""

_SMALL = 1e-12


def log_magnitude_centre(values: Floats) -> Floats:
    """Return (n_features,) mean of log(1 + x) of the columns without negative values, 0 for the others.

    Args:
        values: (n_rows, n_features) without missing values.
    """
    positive = values.min(axis=0) >= 0
    return np.where(positive, np.log1p(np.abs(values)).mean(axis=0), 0.0)


def yeo_johnson(values: Floats, exponent: Floats, log_centre: Floats) -> Floats:
    """Return the transformed values, up to the factor and shift that standardising removes.

    Args:
        values: (n_rows, n_features) without missing values.
        exponent: (n_features,).
        log_centre: (n_features,) as of `log_magnitude_centre`.

    Source:
        Yeo and Johnson 2000; factor and shift differ (module docstring).
    """
    logs, negative = np.log1p(np.abs(values)), values < 0
    columns = [
        _transformed(logs[:, j], negative[:, j], float(exponent[j]), float(log_centre[j]))
        for j in range(values.shape[1])
    ]
    return np.column_stack(columns)


def best_exponent(column: Floats, log_centre: float) -> float:
    """Return the exponent of the largest normal likelihood (1 for a constant column).

    Args:
        column: (n_rows,) without missing values.
        log_centre: of this column.

    Source:
        The profile likelihood of Yeo and Johnson 2000, as in scikit-learn's PowerTransformer; the optimum is the same
        where theirs is numerically sound.
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


def fit_transform(matrix: FeatureMatrix, scaler: str, mode: str) -> FittedTransform:
    """Return the transform fitted on the rows of `matrix`.

    Source:
        The grid of the paper (scikit-learn's StandardScaler, MinMaxScaler, RobustScaler, PowerTransformer with
        standardisation). Ours differs: it is stored with the model, missing values are imputed by the median and marked
        where they are not rare, a feature whose quartiles coincide is divided by its standard deviation instead of 1,
        and the power is taken around the centre of the logarithms, so that columns of 1e12 bytes keep their digits.
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
    shown = _with_indicators(values, missing, matrix.names, indicators)
    centre, scale = _centre_and_scale(shown, scaler)
    return FittedTransform(scaler, matrix.names, fill, indicators, exponent, log_centre, centre, scale)


def apply_transform(transform: FittedTransform, values: Floats) -> Floats:
    """Return (n_rows, n_features + n_indicators) scaled values; NaN and infinities are imputed as in training.

    Args:
        transform: as fitted.
        values: (n_rows, n_features) in the order of `transform.features`, in the fields' own units.

    Raises:
        NotEnoughData: when the number of columns differs from the fitted one.
    """
    if values.ndim != 2 or values.shape[1] != len(transform.features):
        raise NotEnoughData(
            f"{values.shape} values given; the transform needs the columns {', '.join(transform.features)}"
        )
    missing = ~np.isfinite(values)
    filled = np.where(missing, transform.fill, values)
    if transform.scaler == "power":
        filled = yeo_johnson(filled, transform.exponent, transform.log_centre)
    shown = _with_indicators(filled, missing, transform.features, transform.indicators)
    return np.ascontiguousarray((shown - transform.centre) / transform.scale)


def _with_indicators(values: Floats, missing: Bools, names: tuple[str, ...], indicators: tuple[str, ...]) -> Floats:
    marks = [missing[:, names.index(name)].astype(np.float64) for name in indicators]
    return np.column_stack([values, *marks]) if marks else values


def _centre_and_scale(values: Floats, scaler: str) -> tuple[Floats, Floats]:
    width = values.shape[1]
    deviation = values.std(axis=0)
    if scaler == "none":
        return np.zeros(width), np.ones(width)
    if scaler == "minmax":
        return values.min(axis=0), _nonzero(np.ptp(values, axis=0), deviation)
    if scaler == "robust":
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
        return middle, _nonzero(high - low, deviation)
    if scaler in ("standard", "power"):
        return values.mean(axis=0), _nonzero(deviation, deviation)
    raise SettingsError(f"scaler is {scaler!r}; use none, standard, minmax, robust or power")


def _nonzero(scale: Floats, deviation: Floats) -> Floats:
    usable = np.where(scale > 0, scale, deviation)
    return np.where(usable > 0, usable, 1.0)
