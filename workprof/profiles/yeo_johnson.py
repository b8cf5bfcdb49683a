"""The Yeo-Johnson power transform, written around the centre of the logarithms so that large columns keep their digits.

For x >= 0 the transform is ((1 + x)^p - 1) / p. For bytes (x about 1e9 .. 1e12) and p < 0 all values crowd at 1 / |p|
and lose their digits, and the likelihood seems to rise for ever. Written as expm1(p (log(1 + x) - c)) / p, with c the
mean of log(1 + x), the values differ from the original only by a factor exp(p c) and a shift, which standardising
removes anyway.
"""

from __future__ import annotations

import numpy as np

from workprof.arrays import Bools, Floats

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
    columns = [_one_column(values[:, j], float(exponent[j]), float(log_centre[j])) for j in range(values.shape[1])]
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

    found = minimize_scalar(cost, bounds=EXPONENT_BOUNDS, method="bounded", options={"xatol": 1e-7})
    return float(found.x)


def _one_column(column: Floats, exponent: float, log_centre: float) -> Floats:
    return _transformed(np.log1p(np.abs(column)), column < 0, exponent, log_centre)


def _transformed(logs: Floats, negative: Bools, exponent: float, log_centre: float) -> Floats:
    result = _power(logs - log_centre, exponent)
    if negative.any():
        shift = _power(np.array([log_centre]), exponent)[0]
        result[negative] = (-_power(logs[negative], 2.0 - exponent) - shift) * np.exp(-exponent * log_centre)
    return result


def _power(logs: Floats, exponent: float) -> Floats:
    with np.errstate(over="ignore"):
        return logs.copy() if abs(exponent) < _SMALL else np.expm1(exponent * logs) / exponent
