"""Logarithms and exponentials of whole arrays in a form that the compiler turns into vector instructions.

The library's scalar functions take ten times as long, and a search for change points is little else than logarithms.
Both split a number into a power of two and a rest, by its bits, and sum a series for the rest. Relative errors stay
below 1e-14; tests/phases/test_changepoints_naive.py compares them with NumPy's.
"""

from __future__ import annotations

import math

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.compiled import compiled, compiled_fast

_LN2 = math.log(2.0)
_LN2_HIGH = 0.693145751953125
"""The leading 21 bits of ln 2: whole multiples of it are exact."""
_LN2_LOW = 1.42860682030941723e-06

_MANTISSA_BITS = 52
_HALF_ROOT_BITS = 0x3FE6A09E667F3BCD
"""The bits of sqrt(1/2): rests lie between sqrt(1/2) and sqrt(2), where the series is shortest."""
_EXPONENT_BIAS_BITS = 1023 << 52
_ROUNDER = 6755399441055744.0
"""1.5 * 2**52: adding it rounds to a whole number, which then stands in the lowest bits."""
_ROUNDER_BITS = 0x4338000000000000
_LEAST_EXPONENT = -700.0


@compiled
def add_logarithms(values: Floats, n: int, total: Floats, parts: tuple[Ints, Ints]) -> None:
    """Add the natural logarithms of values[:n], finite and above 1e-300, to total[:n].

    Args:
        values: (>= n,).
        n: how many.
        total: (>= n,) added to in place.
        parts: two scratch arrays (>= n,).
    """
    bits = values.view(np.int64)
    rest_bits, power_bits = parts
    rests, powers = rest_bits.view(np.float64), power_bits.view(np.float64)
    for k in range(n):
        power = (bits[k] - _HALF_ROOT_BITS) >> _MANTISSA_BITS
        rest_bits[k] = bits[k] - (power << _MANTISSA_BITS)
        power_bits[k] = _ROUNDER_BITS + power
    for k in range(n):
        power = powers[k] - _ROUNDER
        f = rests[k] - 1.0
        s = f / (2.0 + f)  # log(1 + f) = 2 artanh(s) = 2 (s + s^3/3 + s^5/5 + ...)
        z = s * s
        tail = 1 / 13 + z * (1 / 15 + z * (1 / 17 + z * (1 / 19 + z * (1 / 21))))
        series = z * (1 / 3 + z * (1 / 5 + z * (1 / 7 + z * (1 / 9 + z * (1 / 11 + z * tail)))))
        total[k] += power * _LN2_HIGH + (power * _LN2_LOW + 2.0 * (s + s * series))


@compiled
def exponentials(values: Floats, shift: float, n: int, out: Floats, scratch: Ints) -> None:
    """Write exp(values[:n] - shift) to out[:n]; differences are at most 0, those below -700 count as -700.

    Args:
        values: (>= n,).
        shift: taken off first; no value is above it.
        n: how many.
        out: (>= n,).
        scratch: (>= n,).
    """
    numbers = scratch.view(np.float64)
    for k in range(n):
        out[k] = max(values[k] - shift, _LEAST_EXPONENT)
        numbers[k] = out[k] * (1.0 / _LN2) + _ROUNDER
    for k in range(n):
        power = numbers[k] - _ROUNDER
        x = out[k] - power * _LN2_HIGH - power * _LN2_LOW
        tail = 1 / 720 + x * (1 / 5040 + x * (1 / 40320 + x * (1 / 362880 + x * (1 / 3628800 + x / 39916800))))
        out[k] = 1.0 + x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * tail)))))
    for k in range(n):
        scratch[k] = (scratch[k] << _MANTISSA_BITS) + _EXPONENT_BIAS_BITS
    for k in range(n):
        out[k] *= numbers[k]


@compiled_fast
def sum_of(values: Floats, n: int) -> float:
    """Return the sum of values[:n]."""
    total = 0.0
    for k in range(n):
        total += values[k]
    return total


@compiled_fast
def largest(values: Floats, n: int) -> float:
    """Return the largest of values[:n], n >= 1. Four at a time: a single running maximum waits for itself."""
    a = b = c = d = float(values[0])
    whole = n - n % 4
    for k in range(0, whole, 4):
        a = values[k] if values[k] > a else a
        b = values[k + 1] if values[k + 1] > b else b
        c = values[k + 2] if values[k + 2] > c else c
        d = values[k + 3] if values[k + 3] > d else d
    for k in range(whole, n):
        a = values[k] if values[k] > a else a
    return max(a, b, c, d)


@compiled
def position_of(value: float, values: Floats, n: int, guess: int) -> int:
    """Return where `value` stands in values[:n]: at `guess`, else the first place."""
    if guess < n and values[guess] == value:
        return guess
    for k in range(n):
        if values[k] == value:
            return k
    return 0
