"""Our policy written again the slow way: every way of sizing on every run, with plain loops over all candidates."""

import itertools

import numpy as np

from workprof.memory.policies import KINDS, MARGINS, SHARES

STEPS = [0.0, *np.geomspace(5e-4, 3.0, 60)]


def line_at(x, y, at):
    away = x - x.mean()
    slope = (away @ (y - y.mean())) / (away @ away) if away @ away > 0 else 0.0
    return y.mean() + slope * (at - x.mean())


def carried(kind, used, inputs, at):
    """Each past run's deviation from the line through the others, put on the line through all, at the new input."""
    if kind == 0:
        return used.copy()
    x, y, there = (np.log1p(inputs), np.log(used), np.log1p(at)) if kind == 3 else (inputs, used, at)
    low, high = used.min() / 2, used.max() * 2
    ends = (np.log(low), np.log(high)) if kind == 3 else (low, high)
    centre = np.clip(line_at(x, y, there), *ends)
    found = []
    for j in range(len(used)):
        others = np.arange(len(used)) != j
        leverage = 1 / len(x) + ((x[j] - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum() if np.ptp(x) > 0 else 0.0)
        value = line_at(x[others], y[others], x[j]) if leverage < 0.999 else line_at(x, y, x[j])
        value = np.clip(value, *ends)
        if kind == 1:
            found.append(centre * y[j] / value)
        elif kind == 2:
            found.append(max(centre + y[j] - value, low))
        else:
            found.append(np.exp(centre + y[j] - value))
    return np.array(found)


def near(inputs, at, share):
    if share >= 1:
        return np.ones(len(inputs))
    distances = np.abs(np.log1p(inputs) - np.log1p(at))
    width = max(sorted(distances)[min(len(inputs), max(8, int(share * len(inputs)))) - 1], 1e-12)
    return np.where(distances <= 3 * width, np.exp(-((distances / width) ** 2) / 2), 0.0)


def tail(sizes, weights, least):
    """Hill's estimator on the largest of the weighted sizes, about sqrt(effective number) of them."""
    order = np.argsort(sizes)[::-1]
    effective = weights.sum() ** 2 / (weights**2).sum()
    wanted = weights.sum() * min(max(2.0, effective**0.5) / effective, 1.0)
    risen, logs, taken = 0.0, 0.0, 0
    while taken < len(order) and risen < wanted:
        risen += weights[order[taken]]
        logs += weights[order[taken]] * np.log(sizes[order[taken]])
        taken += 1
    return max(logs / risen - np.log(sizes[order[min(taken, len(order) - 1)]]), least)


def cost_of(size, scale, sizes, hours, weights, largest, price, s, *, above=False):
    top = sizes.max()
    ghosts = s.unseen_runs * (weights**2).sum() / weights.sum()
    ghost_work = ghosts / weights.sum() * (weights @ hours)
    step = np.log(size / top) if size > top else 0.0
    share = (1 - s.jump_share) * np.exp(-step / scale) + s.jump_share * np.exp(-step / max(scale, s.jump_scale))
    missed = sizes > size
    lost = (weights * hours)[missed].sum()
    lifted = max(largest, size) if above else largest
    cost = size * (weights @ hours + ghost_work) + largest * lost + lifted * ghost_work * share
    return cost + price * (weights[missed].sum() + ghosts * share)


def choice(margin, sizes, hours, weights, largest, price, s):
    kept = weights > 0
    sizes, hours, weights = sizes[kept], hours[kept], weights[kept]
    scale, best, best_cost = tail(sizes, weights, s.least_scale), None, np.inf
    for step in STEPS:
        size = sizes.max() * np.exp(step)
        cost = cost_of(size, scale, sizes, hours, weights, largest, price, s, above=True)
        if cost < best_cost:
            best, best_cost = size, cost
    for size in sorted((1 + margin) * sizes):
        cost = cost_of(size, scale, sizes, hours, weights, largest, price, s)
        if cost < best_cost * (1 - 1e-12):
            best, best_cost = size, cost
    return best


def charge_of(size, used, hours, largest, price):
    cost, tries = 0.0, [size, *([largest] if largest > size else []), 2 * max(largest, size)]
    for tried in tries[:-1]:
        if tried >= used:
            return cost + (tried - used) * hours
        cost += tried * hours + price
    return cost + (tries[-1] - used) * hours


def first_sizes(runs, s):
    """Return the first allocations of the runs after the initial history."""
    used, hours, x, known = runs.used_bytes, runs.hours, runs.inputs, runs.n_known
    price = s.price_runs * runs.mean_run_byte_h
    ways = list(itertools.product(KINDS, SHARES, MARGINS)) if s.by_input else [(0, 1.0, 0.0)]
    losses, out = [], []
    for t in range(len(runs)):
        past = np.array([j for j in range(max(t, known)) if j != t])
        largest = s.lift * used[past].max()
        picks = []
        for kind, share, margin in ways:
            sizes, weights = carried(kind, used[past], x[past], x[t]), near(x[past], x[t], share)
            picks.append(choice(margin, sizes, hours[past], weights, largest, price, s))
        if t >= known:
            out.append(quorum_of(np.array(picks), np.array(losses), s))
        losses.append([charge_of(pick, used[t], hours[t], largest, price) for pick in picks])
    return np.array(out)


def quorum_of(picks, losses, s):
    totals = losses.sum(axis=0)
    more = losses - losses[:, [totals.argmin()]]
    spread = np.sqrt((more**2).sum(axis=0))
    z = np.where(spread > 0, more.sum(axis=0) / np.where(spread > 0, spread, 1), 0.0)
    says = np.exp(-s.sharpness * z**2 / 2)
    says[says < 0.01] = 0.0
    for pick in sorted(picks):
        if says[picks <= pick].sum() >= s.quorum * says.sum() - 1e-12:
            return pick
    return picks.max()
