"""The compiled loops that learn the chances of a verdict; see `chances`."""

import math

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.compiled import compiled

FEWEST_KNOWN = 2
"""A key with fewer ended runs has no chances."""
BY_MORE_THAN = 1e-9
"""A run exceeds a size by more than this share of it."""
LEAST_CHANCE, MOST_RECORD = 1e-9, 0.95
LONGEST_STEP, SMALLEST_STEP, ALIKE, TINY = 0.5, 1e-7, 1e-8, 1e-300
CELLS_PER_RUN = 4.0
"""Of more cells than so many for each run, each run is one."""


@compiled
def look_back(  # noqa: PLR0913, PLR0917  arrays of one kernel
    past: Ints,
    key: Ints,
    runs: tuple[Floats, Floats, Floats, Floats],
    known: tuple[Floats, Floats, Floats, Floats, Floats, Floats],
    cell: Ints,
    records: Floats,
    sums: Floats,
    seen: Floats,
) -> tuple[int, int, Floats]:
    """Fill what the runs with history show; return how many these are, how many are records, and their cells.

    `past` are places of the runs, `runs` of all runs their uses, requests, hours and submissions. `known` is of all
    runs what had ended: n, running, largest, sum of log use, of its squares, of hours. Runs of as many ended and
    running ones share a cell. `records` (4, m) are of runs above the largest known use: log of use over it, log of
    weight + 1, squared deviations of log use, n. `sums` are squared deviations, their degrees of freedom; hours of
    records x request, and as usual; squares of the records of a key that were submitted together. `seen` are records
    by key. Cells are (3, cells): log of weight + 1, runs, records.
    """
    use, request, hours, submit_s = runs
    n, running, largest, log_sum, log_squares, known_hours = known
    most, most_running, n_runs, n_records = 0.0, 0.0, 0, 0
    for run in past:
        if n[run] >= FEWEST_KNOWN:
            most, most_running = max(most, n[run]), max(most_running, running[run])
            n_runs += 1
    alike = (most + 1.0) * (most_running + 1.0) < CELLS_PER_RUN * n_runs + 1000.0
    wide = int(most_running) + 1
    cells = np.zeros((3, (int(most) + 1) * wide if alike else n_runs))
    latest, together = np.full(len(seen), -np.inf), np.zeros(len(seen))
    n_runs = 0
    for run in past:
        ended = n[run]
        if ended < FEWEST_KNOWN:
            continue
        at = int(ended) * wide + int(running[run]) if alike else n_runs
        cell[n_runs] = at
        n_runs += 1
        if cells[1, at] == 0.0:
            cells[0, at] = math.log(ended * ended / max(ended + running[run], 1.0) + 1.0)
        cells[1, at] += 1.0
        squares = max(log_squares[run] - log_sum[run] ** 2 / ended, 0.0)
        sums[0] += squares
        sums[1] += ended - 1.0
        if use[run] <= largest[run]:
            continue
        beyond = math.log(use[run] / max(largest[run], TINY))
        if beyond > BY_MORE_THAN:
            records[0, n_records], records[1, n_records] = beyond, cells[0, at]
            records[2, n_records], records[3, n_records] = squares, ended
            n_records += 1
            cells[2, at] += 1.0
            seen[key[run]] += 1.0
            if submit_s[run] != latest[key[run]]:
                latest[key[run]], together[key[run]] = submit_s[run], 0.0
            together[key[run]] += 1.0
            sums[4] += 2.0 * together[key[run]] - 1.0
            sums[2] += request[run] * hours[run]
            sums[3] += request[run] * (known_hours[run] / ended)
    return n_runs, n_records, cells


@compiled
def fit_records(cells: Floats, prior: Floats, precision: Floats, steps: int) -> Floats:
    """b0 and b1 of (3, n) cells: log of weight + 1, runs, and those that exceed the largest known use."""
    at = prior.copy()
    filled = np.flatnonzero(cells[1] > 0)
    for _ in range(steps):
        slope_0 = slope_1 = bend_0 = bend_1 = bend_2 = 0.0
        for cell in filled:
            weight = cells[0, cell]
            chance = min(max(math.exp(at[0] - at[1] * weight), LEAST_CHANCE), MOST_RECORD)
            odds = chance / (1.0 - chance)
            miss = cells[2, cell] - (cells[1, cell] - cells[2, cell]) * odds
            odds *= cells[1, cell]
            slope_0 += miss
            slope_1 -= miss * weight
            bend_0 += odds
            bend_1 -= odds * weight
            bend_2 += odds * weight * weight
        slope_0 -= precision[0] * (at[0] - prior[0])
        slope_1 -= precision[1] * (at[1] - prior[1])
        bend_0 += precision[0]
        bend_2 += precision[1]
        area = bend_0 * bend_2 - bend_1 * bend_1
        step_0 = (bend_2 * slope_0 - bend_1 * slope_1) / area
        step_1 = (bend_0 * slope_1 - bend_1 * slope_0) / area
        step_0 = min(max(step_0, -LONGEST_STEP), LONGEST_STEP)
        step_1 = min(max(step_1, -LONGEST_STEP), LONGEST_STEP)
        at[0] += step_0
        at[1] += step_1
        if max(abs(step_0), abs(step_1)) < SMALLEST_STEP:
            break
    return at


@compiled
def fit_beyond(beyond: Floats, unit: Floats, prior: Floats, steps: int) -> tuple[float, float, float]:
    """b2, h and t of (n,) log ratios above 0, `unit` x which is z; `prior` as `chances.PRIOR_BEYOND`."""
    n = len(beyond)
    tail_runs, prior_share, share_runs, prior_scale, scale_runs = prior
    third = np.empty(n)
    for run in range(n):
        third[run] = 3.0 * math.log1p(beyond[run] * unit[run] / 3.0)
    tail, share, scale = (n + tail_runs) / (third.sum() + tail_runs), prior_share, prior_scale
    for _ in range(steps):
        heavy_runs = heavy_beyond = stable_third = 0.0
        of_stable, of_heavy, slope = (1.0 - share) * tail, share / scale, tail + 1.0 / 3.0
        for run in range(n):
            stable = of_stable * math.exp(-slope * third[run]) * unit[run]
            heavy = of_heavy * math.exp(-beyond[run] / scale)
            own = heavy / (stable + heavy + TINY)
            heavy_runs += own
            heavy_beyond += own * beyond[run]
            stable_third += (1.0 - own) * third[run]
        before_tail, before_share, before_scale = tail, share, scale
        share = (heavy_runs + prior_share * share_runs) / (n + share_runs)
        scale = (heavy_beyond + prior_scale * scale_runs) / (heavy_runs + scale_runs)
        tail = (n - heavy_runs + tail_runs) / (stable_third + tail_runs)
        if max(abs(tail - before_tail), abs(share - before_share), abs(scale - before_scale)) < ALIKE:
            break
    return tail, share, scale


@compiled
def add_chances(  # noqa: PLR0913, PLR0917  arrays of one kernel
    past: Ints, key: Ints, n: Floats, cell: Ints, cells: Floats, record: Floats, expected: Floats
) -> None:
    """Add the chances of runs to exceed the largest known use to those of their keys."""
    chance = np.minimum(np.exp(record[0] - record[1] * cells[0]), MOST_RECORD)
    at = 0
    for run in past:
        if n[run] >= FEWEST_KNOWN:
            expected[key[run]] += chance[cell[at]]
            at += 1
