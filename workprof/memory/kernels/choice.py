"""The size of least expected cost, given weighted sizes of past runs and a belief about what none of them showed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workprof.arrays import Floats
from workprof.compiled import compiled

BEYOND = np.concatenate((np.zeros(1), np.geomspace(5e-4, 3.0, 60)))
"""How far above the largest candidate sizes are tried, as logarithms of a factor."""


class Belief(NamedTuple):
    """Costs, and what is believed about runs that nobody has seen yet.

    Attributes:
        price_byte_h: of one failure, in bytes x hours.
        time_to_failure: share of the run time that a failed attempt is charged.
        lift: size after a failure, over the largest size seen.
        unseen_runs: how many runs above all seen ones are expected next to the seen ones; 1/2 is Jeffreys' prior.
        jump_share: share of those that is no continuation of the tail but a jump.
        jump_scale: mean logarithm of a jump.
        least_scale: smallest mean logarithm of the tail's steps.
        sharpness: how fast a way of sizing that did worse loses its say.
        quorum: share of the say that must hold a size for enough.
    """

    price_byte_h: float
    time_to_failure: float
    lift: float
    unseen_runs: float
    jump_share: float
    jump_scale: float
    least_scale: float
    sharpness: float
    quorum: float


@compiled
def tail_scale(sizes: Floats, weights: Floats, least: float) -> float:
    """Return the mean logarithm of the largest sizes over the next smaller one (Hill), of about sqrt(n) of them.

    Args:
        sizes: (n,) rising.
        weights: (n,) above 0.
        least: smallest answer.
    """
    total = weights.sum()
    effective = total * total / (weights * weights).sum()
    wanted = total * min(max(2.0, np.sqrt(effective)) / effective, 1.0)
    risen, logs, a = 0.0, 0.0, len(sizes) - 1
    while a >= 0 and risen < wanted:
        risen += weights[a]
        logs += weights[a] * np.log(sizes[a])
        a -= 1
    return float(max(logs / risen - np.log(sizes[max(a, 0)]), least))


@compiled
def beyond_share(step: float, scale: float, belief: Belief) -> float:
    """Return the share of the unseen runs that use more than exp(step) times the largest seen size."""
    if step <= 0:
        return 1.0
    jump = max(scale, belief.jump_scale)
    return float((1 - belief.jump_share) * np.exp(-step / scale) + belief.jump_share * np.exp(-step / jump))


@compiled
def cheapest_above(
    tail: tuple[float, float], work: float, unseen: tuple[float, float], largest: float, belief: Belief
) -> tuple[float, float]:
    """Return the cheapest size at or above the largest past one, and its cost.

    Args:
        tail: largest past size, scale of the tail.
        work: sum of weight x hours.
        unseen: the same of the unseen runs, and their number.
        largest: size after a failure.
        belief: costs and the unseen.
    """
    best, best_cost = tail[0], np.inf
    for step in BEYOND:
        size, share = tail[0] * np.exp(step), beyond_share(step, tail[1], belief)
        lost = unseen[0] * share
        cost = size * (work + unseen[0] - (1 - belief.time_to_failure) * lost) + max(largest, size) * lost
        cost += belief.price_byte_h * unseen[1] * share
        if cost < best_cost:
            best, best_cost = size, cost
    return best, best_cost


@compiled
def cheapest(sizes: Floats, work: Floats, weights: Floats, margins: Floats, largest: float, belief: Belief) -> Floats:
    """Return (n_margins,) sizes of least expected charge: one of the past sizes x (1 + margin), or one above them all.

    A size c costs c x hours where it is enough, else c x hours x time to failure, the hours again at the lifted size,
    and the price of a failure.

    Args:
        sizes: (n,) rising.
        work: (n,) weight x hours.
        weights: (n,) above 0.
        margins: (n_margins,) shares.
        largest: size after a failure.
        belief: costs and the unseen.
    """
    all_work, count = work.sum(), weights.sum()
    per_run = belief.unseen_runs * (weights * weights).sum() / (count * count)
    ghost_work, ghosts = per_run * all_work, per_run * count
    top, scale = sizes[-1], tail_scale(sizes, weights, belief.least_scale)
    saved = 1 - belief.time_to_failure
    above, above_cost = cheapest_above((top, scale), all_work, (ghost_work, ghosts), largest, belief)
    found = np.empty(len(margins))
    for m in range(len(margins)):
        best, best_cost, reached, tail_work, tail = above, above_cost, 0, all_work, count
        for a in range(len(sizes)):
            size = (1 + margins[m]) * sizes[a]
            while reached < len(sizes) and sizes[reached] <= size:
                tail_work -= work[reached]
                tail -= weights[reached]
                reached += 1
            share = 1.0 if size <= top else beyond_share(np.log(size / top), scale, belief)
            lost = max(tail_work, 0.0) + ghost_work * share
            cost = size * (all_work + ghost_work - saved * lost) + largest * lost
            cost += belief.price_byte_h * (max(tail, 0.0) + ghosts * share)
            if cost < best_cost * (1 - 1e-12):
                best, best_cost = size, cost
        found[m] = best
    return found


@compiled
def after_failure(failed: float, sizes: Floats, hours: Floats, largest: float, belief: Belief) -> float:
    """Return the next size of a run that failed: the cheapest of lifted past sizes above it, at most `largest`."""
    order = np.argsort(sizes)
    first = np.searchsorted(sizes[order], failed, side="right")
    left_work, left = 0.0, 0.0
    for a in order[first:]:
        left_work += hours[a]
        left += 1.0
    if left == 0:
        return largest
    unseen = belief.unseen_runs * left_work / left
    best, best_cost, tail_work, tail = largest, np.inf, left_work, left
    for a in order[first:]:
        tail_work -= hours[a]
        tail -= 1.0
        size = min(belief.lift * sizes[a], largest)
        lost = max(tail_work, 0.0) + unseen
        cost = size * (left_work + unseen - (1 - belief.time_to_failure) * lost) + largest * lost
        cost += belief.price_byte_h * (tail + belief.unseen_runs)
        if cost < best_cost:
            best, best_cost = size, cost
    return best
