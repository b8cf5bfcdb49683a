"""The transform that makes features comparable before distances are taken: fitted once, kept, applied to new rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats
from workprof.errors import NotEnoughData, SettingsError
from workprof.profiles.features import FeatureMatrix
from workprof.profiles.yeo_johnson import best_exponent, log_magnitude_centre, yeo_johnson

RARE_MISSING_SHARE = 0.05
"""Up to this share of missing rows the imputed value alone is used; above, a column says which rows were imputed."""


@dataclass(frozen=True)
class FittedTransform:
    """A fitted transform in plain numbers.

    Attributes:
        scaler: 'none', 'standard', 'minmax', 'robust' or 'power'.
        features: (n_features,) columns, in order.
        fill: (n_features,) what stands in for a missing value: the median of the training rows (0 in faithful mode).
        indicators: features that get a further column, 1 where the value was missing.
        exponent: (n_features,) Yeo-Johnson exponents; 1 for the other scalers.
        log_centre: (n_features,) centre of log(1 + x) that the power is taken around; 0 where not used.
        centre: (n_features + n_indicators,) subtracted.
        scale: (n_features + n_indicators,) divided by.
    """

    scaler: str
    features: tuple[str, ...]
    fill: Floats
    indicators: tuple[str, ...]
    exponent: Floats
    log_centre: Floats
    centre: Floats
    scale: Floats


def fit_transform(matrix: FeatureMatrix, scaler: str, mode: str) -> FittedTransform:
    """Return the transform fitted on the rows of `matrix`.

    Source:
        The grid of the paper (scikit-learn's StandardScaler, MinMaxScaler, RobustScaler, PowerTransformer with
        standardisation). Ours differs: it is kept with the model, missing values are imputed by the median and marked
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
