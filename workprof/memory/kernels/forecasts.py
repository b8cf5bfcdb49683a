"""What the runs seen so far would have used at another input: four ways to carry a size along."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats
from workprof.compiled import compiled

AS_IT_WAS, LINE_RATIO, LINE_SHIFT, POWER = 0, 1, 2, 3
"""The size itself; times or plus its distance from a straight line through the inputs; the same on log scales."""

FURTHEST = 2.0
"""A line is followed down to the smallest size seen over this, and up to the largest times this."""


@compiled
def line_through(x: Floats, y: Floats) -> tuple[float, float, float, float]:
    """Return mean of x, mean of y, slope and spread (sum of squares of x about its mean) of the least-squares line."""
    mean_x, mean_y = x.mean(), y.mean()
    spread, together = 0.0, 0.0
    for j in range(len(x)):
        spread += (x[j] - mean_x) ** 2
        together += (x[j] - mean_x) * (y[j] - mean_y)
    return mean_x, mean_y, together / spread if spread > 0 else 0.0, spread


@compiled
def left_out_values(x: Floats, y: Floats, fit: tuple[float, float, float, float]) -> Floats:
    """Return (n,) values of the lines through all other points, by the leverage of each point."""
    mean_x, mean_y, slope, spread = fit
    values = np.empty(len(x))
    for j in range(len(x)):
        value = mean_y + slope * (x[j] - mean_x)
        leverage = 1 / len(x) + ((x[j] - mean_x) ** 2 / spread if spread > 0 else 0.0)
        values[j] = y[j] - (y[j] - value) / (1 - leverage) if leverage < 0.999 else value
    return values


@compiled
def carried(kind: int, sizes: Floats, inputs: Floats, logs: Floats, at: tuple[float, float]) -> Floats:
    """Return (n,) sizes of the past runs, each carried to another input with its own deviation.

    Args:
        kind: one of the four above.
        sizes: (n,) bytes.
        inputs: (n,) as given.
        logs: (n,) log(1 + input).
        at: the other input, and its log(1 + input).
    """
    if kind == AS_IT_WAS:
        return sizes.copy()
    lowest, highest = sizes.min() / FURTHEST, sizes.max() * FURTHEST
    x = logs if kind == POWER else inputs
    y = np.log(sizes) if kind == POWER else sizes
    low, high = (np.log(lowest), np.log(highest)) if kind == POWER else (lowest, highest)
    fit = line_through(x, y)
    there = at[1] if kind == POWER else at[0]
    centre = min(max(fit[1] + fit[2] * (there - fit[0]), low), high)
    values = left_out_values(x, y, fit)
    out = np.empty(len(sizes))
    for j in range(len(sizes)):
        value = min(max(values[j], low), high)
        if kind == LINE_RATIO:
            out[j] = centre * y[j] / value
        elif kind == LINE_SHIFT:
            out[j] = max(centre + y[j] - value, lowest)
        else:
            out[j] = np.exp(centre + y[j] - value)
    return out


@compiled
def nearness(distances: Floats, ordered: Floats, share: float, fewest: int) -> Floats:
    """Return (n,) Gaussian weights; the width reaches the k-th nearest run, beyond three widths the weight is 0.

    Args:
        distances: (n,) on the log scale of the inputs.
        ordered: (n,) the same, rising.
        share: k = share x n, but at least `fewest`; 1 or more = every run counts alike.
        fewest: runs.
    """
    n = len(distances)
    if share >= 1:
        return np.ones(n)
    k = min(n, max(fewest, int(share * n)))
    width = max(ordered[k - 1], 1e-12)
    weights = np.zeros(n)
    for j in range(n):
        away = distances[j] / width
        if away <= 3:
            weights[j] = np.exp(-away * away / 2)
    return weights
