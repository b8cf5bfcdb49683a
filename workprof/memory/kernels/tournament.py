"""Ways of sizing that compete on the runs already seen, run after run; the ones that hold their own are heard."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Bools, Floats
from workprof.compiled import compiled
from workprof.memory.kernels.choice import Belief, after_failure, cheapest
from workprof.memory.kernels.forecasts import carried, nearness

Ways = tuple[Floats, Floats, Floats]
"""Kinds, shares, margins; every combination is a way of sizing, margins fastest."""

WINDOW = 400
"""Past runs that a size is found from: the latest ones."""

EVERY = 400
"""So many runs of a task are contests; after them one in `RARE` is, and without inputs a size that was enough holds."""

RARE = 20

FEWEST_NEAR = 8
NO_SAY, LITTLE_SAY = 0.01, 0.3
"""A way of sizing whose say is below this share of the best one's is not heard; the greater one holds after `EVERY`."""


@compiled
def price_of(size: float, used: float, hours: float, largest: float, belief: Belief) -> float:
    """Return what a size would have cost a finished run: waste in bytes x hours and the price of its failures."""
    if size >= used:
        return (size - used) * hours
    cost = size * hours * belief.time_to_failure + belief.price_byte_h
    if largest > size:
        if largest >= used:
            return cost + (largest - used) * hours
        cost += largest * hours * belief.time_to_failure + belief.price_byte_h
    return cost + (2 * max(largest, size) - used) * hours


@compiled
def says(totals: Floats, squares: Floats, sharpness: float, least: float) -> Floats:
    """Return (n_ways,) weights: exp(-sharpness z^2 / 2), z = how surely a way cost more than the best one so far.

    Args:
        totals: (n_ways,) costs so far.
        squares: (n_ways, n_ways) sums of squared differences of costs.
        sharpness: 0 = all are heard alike.
        least: smaller weights become 0.
    """
    best = np.argmin(totals)
    out = np.ones(len(totals))
    for e in range(len(totals)):
        more, spread = totals[e] - totals[best], np.sqrt(squares[e, best])
        z = more / spread if spread > 0 else 0.0
        out[e] = np.exp(-sharpness * z * z / 2)
        if out[e] < least:
            out[e] = 0.0
    return out


@compiled
def agreed(picks: Floats, weights: Floats, quorum: float) -> float:
    """Return the smallest pick that at least this share of the weight holds for enough."""
    order = np.argsort(picks)
    wanted, risen = quorum * weights.sum() - 1e-12, 0.0
    for e in order:
        risen += weights[e]
        if weights[e] > 0 and risen >= wanted:
            return float(picks[e])
    return float(picks[order[-1]])


@compiled
def pick_all(
    past: Floats,
    at: tuple[float, float],
    ways: tuple[Floats, Floats, Floats],
    heard: Bools,
    largest: float,
    belief: Belief,
) -> Floats:
    """Return (n_ways,) sizes that the ways choose; NaN where a way is not heard.

    Args:
        past: (4, n) sizes, hours, inputs, log inputs of the past runs.
        at: input and log input of the run.
        ways: of sizing.
        heard: (n_ways,).
        largest: size after a failure.
        belief: costs and the unseen.
    """
    kinds, shares, margins = ways
    picks, e = np.full(len(heard), np.nan), 0
    distances = np.abs(past[3] - at[1])
    ordered = np.sort(distances)
    for kind in kinds:
        if not heard[e : e + len(shares) * len(margins)].any():
            e += len(shares) * len(margins)
            continue
        sizes = carried(int(kind), past[0], past[2], past[3], at)
        order = np.argsort(sizes)
        for share in shares:
            if heard[e : e + len(margins)].any():
                weights = nearness(distances, ordered, share, FEWEST_NEAR)[order]
                kept = weights > 0
                chosen = order[kept]
                picks[e : e + len(margins)] = cheapest(
                    sizes[chosen], weights[kept] * past[1][chosen], weights[kept], margins, largest, belief
                )
            e += len(margins)
    return picks


@compiled
def known_before(t: int, n_known: int, rows: Floats) -> Floats:
    """Return (4, n) the latest runs that are known before run t; a run of the initial history sees all others of it."""
    end = max(t, n_known)
    start = max(0, end - WINDOW)
    if t >= n_known:
        return rows[:, start:end].copy()
    past = np.empty((4, end - start - 1))
    past[:, : t - start] = rows[:, start:t]
    past[:, t - start :] = rows[:, t + 1 : end]
    return past


@compiled
def sizes_hold(ways: Ways, last_size: float, last_used: float) -> bool:
    """Return whether the last size serves again: no input is looked at, and it was enough."""
    return len(ways[0]) == 1 and ways[1][0] >= 1 and bool(last_used <= last_size)


@compiled
def keep_score(
    picks: Floats, run: tuple[float, float], largest: float, belief: Belief, totals: Floats, squares: Floats
) -> None:
    """Add what every way's pick would have cost a finished run (use, hours) to `totals` and `squares`."""
    costs = np.empty(len(picks))
    for e in range(len(picks)):
        costs[e] = price_of(picks[e], run[0], run[1], largest, belief)
    totals += costs
    for e in range(len(picks)):
        squares[e] += (costs - costs[e]) ** 2


@compiled
def compete(rows: Floats, n_known: int, ways: Ways, belief: Belief) -> Floats:
    """Return (n - n_known, 3) first, second and largest size of every run after the initial history, in order.

    Args:
        rows: (4, n) sizes (bytes), hours, inputs, log inputs.
        n_known: runs of the initial history, at least 1.
        ways: of sizing.
        belief: costs and the unseen.
    """
    n, n_ways = rows.shape[1], len(ways[0]) * len(ways[1]) * len(ways[2])
    totals, squares = np.zeros(n_ways), np.zeros((n_ways, n_ways))
    out, seen = np.empty((n - n_known, 3)), 0.0
    start = max(0, n_known - WINDOW) if n_known > 1 else n_known  # a lone run has no other to be sized from
    for t in range(start, n):
        row = t - n_known
        if row > 0 and t - start >= EVERY and t % RARE != 0 and sizes_hold(ways, out[row - 1, 0], rows[0, t - 1]):
            out[row] = np.array([out[row - 1, 0], out[row - 1, 1], belief.lift * seen])
            seen = max(seen, rows[0, t])
            continue
        past, at = known_before(t, n_known, rows), (rows[2, t], rows[3, t])
        if t == n_known:
            seen = rows[0, :n_known].max()
        largest = belief.lift * (seen if row >= 0 else past[0].max())
        contest = n_ways > 1 and (t - start < EVERY or t % RARE == 0)
        weights = says(totals, squares, belief.sharpness, NO_SAY if t - start < EVERY else LITTLE_SAY)
        picks = pick_all(past, at, ways, (weights > 0) | contest, largest, belief)
        if row >= 0:
            first = agreed(picks, weights, belief.quorum)
            out[row] = np.array([first, after_failure(first, past[0], past[1], largest, belief), largest])
            seen = max(seen, rows[0, t])
        if contest:
            keep_score(picks, (rows[0, t], rows[1, t]), largest, belief, totals, squares)
    return out
