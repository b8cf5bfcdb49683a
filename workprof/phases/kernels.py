"""The compiled loops: logarithms of whole arrays, the recursion over run lengths, the cheapest warping path.

The library's scalar functions take ten times as long, and a search for change points is little else than logarithms.
`add_logarithms` and `exponentials` split a number into a power of two and a rest, by its bits, and sum a series for the
rest. Relative errors stay below 1e-14; tests/phases/test_changepoints_naive.py compares them with NumPy's.

The recursion needs the evidence of every stretch of samples that ends now: one logarithm per start that is still in the
running; the most probable segmentation comes in the same sweep. Loops are short and many because the compiler makes
vector code of those that write one array.
"""

import math
from typing import NamedTuple

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.compiled import compiled, compiled_fast, compiled_within

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
    """Add the natural logarithms of values[:n], finite and above 1e-300, to total[:n]; parts are two scratch arrays."""
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
    """Write exp(values[:n] - shift) to out[:n]; differences are at most 0, those below -700 count as -700."""
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
    """The sum of values[:n]."""
    total = 0.0
    for k in range(n):
        total += values[k]
    return total


@compiled_fast
def largest(values: Floats, n: int) -> float:
    """The largest of values[:n], n >= 1. Four at a time: a single running maximum waits for itself."""
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


@compiled_within
def position_of(value: float, values: Floats, n: int, guess: int) -> int:
    """Where `value` stands in values[:n]: at `guess`, else the first place."""
    if guess < n and values[guess] == value:
        return guess
    for k in range(n):
        if values[k] == value:
            return k
    return 0


_PRUNE_EVERY = 8


class Belief(NamedTuple):
    """What is believed before the first sample, and what depends on the length n of a stretch alone."""

    kappa0: float  # weight of the prior mean, which is 0, in samples
    alpha0: float  # prior shape of the variance
    beta0: float  # prior scale of the variance
    # (longest + 1,) log evidence of n samples of all counters without its last term, and (n - 1) log(1 - hazard)
    evidence: Floats


class Stretches(NamedTuple):
    """The stretches that end at the last sample, oldest first; arrays have room for more of them."""

    length: Ints  # (room,) samples of each
    kappa: Floats  # (room,) the same and the weight of the prior mean
    mean: Floats  # (n_counters, room) posterior mean
    beta: Floats  # (n_counters, room) posterior scale of the variance
    mass_before: Floats  # (room,) log probability of the samples before it with a change at its start
    best_before: Floats  # (room,) log score of the best segmentation of those samples
    mass: Floats  # (room,) log probability of all samples with this stretch last
    score: Floats  # (room,) log score of the best segmentation that ends with it
    logs: Floats  # (room,) scratch: sums of logarithms, then exponentials
    log_evidence: Floats  # (room,) scratch
    scratch_bits: Ints  # (2, room)
    filled: Ints  # (1,) how many there are
    ahead: Floats  # (2,) log mass and best score of a change at the next sample


class Trail(NamedTuple):
    """What is kept of every sample; each is (n_samples,)."""

    run: Ints  # most probable run length after the sample, at least 1
    run_or_change: Ints  # the same where a change after the sample may win: 0
    last: Ints  # length of the last stretch of the best segmentation up to the sample
    evidence: Floats  # log evidence of the samples so far
    score: Floats  # log score of the best segmentation so far


class Odds(NamedTuple):
    """Logarithms of the hazard, of its complement, and of the probability below which stretches are dropped."""

    change: float
    stay: float
    prune: float


@compiled_within
def _open(stretches: Stretches, belief: Belief) -> int:
    m = stretches.filled[0]
    stretches.length[m] = 0
    stretches.kappa[m] = belief.kappa0
    stretches.mean[:, m] = 0.0
    stretches.beta[:, m] = belief.beta0
    stretches.mass_before[m] = stretches.ahead[0]
    stretches.best_before[m] = stretches.ahead[1]
    stretches.filled[0] = m + 1
    length, kappa, logs = stretches.length, stretches.kappa, stretches.logs
    for k in range(m + 1):
        length[k] += 1
    for k in range(m + 1):
        kappa[k] += 1.0
    for k in range(m + 1):
        logs[k] = 0.0
    return int(m + 1)


@compiled_within
def _absorb(value: float, kappa: Floats, mean: Floats, beta: Floats, m: int) -> None:
    """Take one more sample of a counter into every stretch; `kappa` counts it already."""
    for k in range(m):
        off = value - mean[k]
        weight = 1.0 / kappa[k]
        mean[k] += off * weight
        beta[k] += 0.5 * (1.0 - weight) * off * off


@compiled_within
def _rate(stretches: Stretches, belief: Belief, m: int) -> None:
    """Write mass and score of every stretch from the sum of its logarithms."""
    log_evidence, kappa, logs, length = stretches.log_evidence, stretches.kappa, stretches.logs, stretches.length
    shape0 = belief.alpha0 - 0.5 * belief.kappa0
    for k in range(m):
        log_evidence[k] = belief.evidence[length[k]]
    for k in range(m):
        log_evidence[k] -= (shape0 + 0.5 * kappa[k]) * logs[k]
    mass, before = stretches.mass, stretches.mass_before
    for k in range(m):
        mass[k] = before[k] + log_evidence[k]
    score, best_before = stretches.score, stretches.best_before
    for k in range(m):
        score[k] = best_before[k] + log_evidence[k]


@compiled_within
def _drop_improbable(stretches: Stretches, least_mass: float, least_score: float, m: int) -> None:
    n_left = 0
    for k in range(m):
        if stretches.mass[k] >= least_mass or stretches.score[k] >= least_score:
            stretches.length[n_left], stretches.kappa[n_left] = stretches.length[k], stretches.kappa[k]
            stretches.mass_before[n_left], stretches.best_before[n_left] = (
                stretches.mass_before[k],
                stretches.best_before[k],
            )
            stretches.mass[n_left], stretches.score[n_left] = stretches.mass[k], stretches.score[k]
            for c in range(len(stretches.mean)):
                stretches.mean[c, n_left], stretches.beta[c, n_left] = stretches.mean[c, k], stretches.beta[c, k]
            n_left += 1
    stretches.filled[0] = n_left


@compiled
def advance(values: Floats, belief: Belief, odds: Odds, stretches: Stretches, trail: Trail) -> None:
    """Take samples into the recursion, in place.

    `values` are (n_counters, n_new), finite, less the prior mean; all counters share their run lengths. The belief's
    table is at least as long as the longest stretch gets; `stretches` have room for n_new more; `trail` (n_new,) is
    written.
    """
    guess, best_guess = 0, 0
    first_bits, second_bits = stretches.scratch_bits[0], stretches.scratch_bits[1]
    for i in range(values.shape[1]):
        m = _open(stretches, belief)
        for c in range(len(values)):
            _absorb(values[c, i], stretches.kappa, stretches.mean[c], stretches.beta[c], m)
            add_logarithms(stretches.beta[c], m, stretches.logs, (first_bits, second_bits))
        _rate(stretches, belief, m)
        top, best = largest(stretches.mass, m), largest(stretches.score, m)
        guess = position_of(top, stretches.mass, m, guess)
        best_guess = position_of(best, stretches.score, m, best_guess)
        exponentials(stretches.mass, top, m, stretches.logs, first_bits)
        evidence = top + np.log(sum_of(stretches.logs, m))
        stretches.ahead[0], stretches.ahead[1] = evidence + odds.change, best + odds.change
        trail.evidence[i], trail.score[i] = evidence, best
        trail.run[i], trail.last[i] = stretches.length[guess], stretches.length[best_guess]
        trail.run_or_change[i] = trail.run[i] if top + odds.stay >= evidence + odds.change else 0
        if odds.prune > -np.inf and m % _PRUNE_EVERY == 0:
            _drop_improbable(stretches, evidence + odds.prune, best + odds.prune, m)


@compiled
def warping_cost(first: Floats, second: Floats) -> float:
    """The least sum of Manhattan distances along a path of steps down, right and both, from (n, d) to (m, d) points."""
    n, m, d = first.shape[0], second.shape[0], first.shape[1]
    row = np.empty(m)
    for i in range(n):
        corner = 0.0 if i == 0 else row[0]
        for j in range(m):
            local = 0.0
            for axis in range(d):
                local += abs(first[i, axis] - second[j, axis])
            above = row[j]
            if i == 0:
                best = 0.0 if j == 0 else row[j - 1]
            elif j == 0:
                best = above
            else:
                best = min(above, corner, row[j - 1])
            row[j] = local + best
            corner = above
    return float(row[m - 1])


@compiled
def warping_path(first: Floats, second: Floats) -> tuple[Ints, float]:
    """The path of that least sum, (n_steps, 2) points of both from start to end, and the sum.

    Of equal ways the step of both is taken, then the one down.
    """
    n, m, d = first.shape[0], second.shape[0], first.shape[1]
    total = np.full((n + 1, m + 1), np.inf)
    total[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            local = 0.0
            for axis in range(d):
                local += abs(first[i, axis] - second[j, axis])
            total[i + 1, j + 1] = local + min(total[i, j], total[i, j + 1], total[i + 1, j])
    path: Ints = np.empty((n + m - 1, 2), dtype=np.int64)
    i, j, k = n, m, n + m - 2
    path[k] = n - 1, m - 1
    while i > 1 or j > 1:
        both, down, right = total[i - 1, j - 1], total[i - 1, j], total[i, j - 1]
        if both <= down and both <= right:
            i, j = i - 1, j - 1
        elif down <= right:
            i -= 1
        else:
            j -= 1
        k -= 1
        path[k] = i - 1, j - 1
    return path[k:].copy(), float(total[n, m])


@compiled
def least_costs(distances: Floats, edges: Ints, firsts: Ints, lengths: Ints) -> tuple[Floats, Ints]:
    """What parts of one series cost at the best place in each of several known ones, and these places.

    The part [firsts[i], firsts[i] + lengths[i]) costs the mean distance of samples that lie over each
    other. A known series that is shorter is laid over the part instead: its place is then 0 or below.

    Args:
        distances: (w, N) of every sample of the series to those of all known ones, one after another.
        edges: (n_known + 1,) where each known series begins in N, and the end.
        firsts, lengths: (n_parts,) in samples.

    Returns (n_parts, n_known) costs and first samples in the known series.
    """
    n_known, n_parts, rows = len(edges) - 1, len(firsts), len(distances)
    costs = np.full((n_parts, n_known), np.inf)
    places = np.zeros((n_parts, n_known), np.int64)
    for known in range(n_known):
        begin, whole = edges[known], edges[known + 1] - edges[known]
        sums = np.zeros((rows + 1, whole + 1))  # along diagonals, from the first sample of either
        for i in range(rows):
            for j in range(whole):
                sums[i + 1, j + 1] = sums[i, j] + distances[i, begin + j]
        for part in range(n_parts):
            first, length = firsts[part], lengths[part]
            overlap = min(length, whole)
            for shift in range(overlap - length, whole - overlap + 1):  # below 0: samples of the part before the other
                i, j = first + max(0, -shift), max(0, shift)
                cost = (sums[i + overlap, j + overlap] - sums[i, j]) / overlap
                if cost < costs[part, known]:
                    costs[part, known], places[part, known] = cost, shift
    return costs, places
