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
    """Hill's estimator on the largest of the weighted sizes, about sqrt(effective number) of them; and that number."""
    order = np.argsort(sizes)[::-1]
    effective = weights.sum() ** 2 / (weights**2).sum()
    count = max(2.0, effective**0.5)
    wanted = weights.sum() * min(count / effective, 1.0)
    risen, logs, taken = 0.0, 0.0, 0
    while taken < len(order) and risen < wanted:
        risen += weights[order[taken]]
        logs += weights[order[taken]] * np.log(sizes[order[taken]])
        taken += 1
    return max(logs / risen - np.log(sizes[order[min(taken, len(order) - 1)]]), least), count


def beyond(step, scale, count, s):
    """Share of the unseen runs above the top x exp(step): Pareto, a part of them a jump."""
    continued = (1 + step / (count * scale)) ** -count
    return (1 - s.jump_share) * continued + s.jump_share * np.exp(-step / max(scale, s.jump_scale))


def after_of(past, s):
    """Sizes after a failure: for a run like those of the past, for one above them all, for one above that."""
    seen = past.max()
    if s.cautious:
        return [1.15 * seen, 2.3 * seen, 4.6 * seen]
    shares = [beyond(step, *tail(past, np.ones(len(past)), s.least_scale), s) for step in STEPS]
    far = min(zip(seen * np.exp(STEPS), shares, strict=True), key=lambda one: one[0] * (1 + 2 * one[1]))[0]
    far = max(far, s.lift * seen)
    return [s.lift * seen, far, far * min(far / seen, 2.0)]


def cost_of(size, sizes, hours, weights, after, price, s, *, above=False):
    """Expected charge and price; also the believed chance of a failure above all past sizes."""
    top = sizes.max()
    ghosts = s.unseen_runs * (weights**2).sum() / weights.sum()
    ghost_work = ghosts / weights.sum() * (weights @ hours)
    share = beyond(np.log(size / top) if size > top else 0.0, *tail(sizes, weights, s.least_scale), s)
    missed = sizes > size
    lost, unseen = (weights * hours)[missed].sum(), ghost_work * share
    back, far = after[:2]
    cost = size * (weights @ hours + ghost_work) + price * (weights[missed].sum() + ghosts * share)
    if size < back and not above:
        return cost + back * (lost + unseen) + far * unseen, 0.0
    return cost + max(far, size) * (lost + unseen), ghosts * share / weights.sum()


def above_all(sizes, hours, weights, after, price, chance, s):
    """The cheapest size at or above the largest that fails rarely enough, and its cost."""
    best, best_cost = sizes.max() * np.exp(STEPS[-1]), np.inf
    for step in STEPS:
        size = sizes.max() * np.exp(step)
        cost, fails = cost_of(size, sizes, hours, weights, after, price, s, above=True)
        if cost < best_cost and fails <= chance:
            best, best_cost = size, cost
    return best, best_cost


def choice(margin, sizes, hours, weights, after, price, s):
    kept = weights > 0
    sizes, hours, weights = sizes[kept], hours[kept], weights[kept]
    best, best_cost = above_all(sizes, hours, weights, after, price, s.chance, s)
    for size in [] if s.cautious else sorted((1 + margin) * sizes):
        cost, _ = cost_of(size, sizes, hours, weights, after, price, s)
        if cost < best_cost * (1 - 1e-12):
            best, best_cost = size, cost
    return best


def charge_of(size, used, hours, after, price):
    cost, tries = 0.0, [size, *sorted({step for step in after if step > size})]
    for tried in tries:
        if tried >= used:
            return cost + (tried - used) * hours
        cost += tried * hours + price
    return cost + (2 * tries[-1] - used) * hours


def ways_of(s):
    """Every way of sizing; the cautious setting has the lines through all runs."""
    if s.cautious:
        return [(kind, 1.0, 0.0) for kind in KINDS]
    return list(itertools.product(KINDS, SHARES, MARGINS)) if s.by_input else [(0, 1.0, 0.0)]


def picks_of(runs, past, at, s, mean_run):
    """Every way's first size for a run, and the sizes after a failure; prices are in the mean run known then."""
    used, hours, x = runs.used_bytes, runs.hours, runs.inputs
    after, picks, price = after_of(used[past], s), [], s.price_runs * mean_run
    for kind, share, margin in ways_of(s):
        sizes, weights = carried(kind, used[past], x[past], x[at]), near(x[past], x[at], share)
        picks.append(choice(margin, sizes, hours[past], weights, after, price, s))
    if s.cautious:
        ones = np.ones(len(past))
        most = above_all(used[past], hours[past], ones, after, 10 * mean_run, 1.0, s)[0]
        most = max(most, 1.15 * used[past].max())
        least = used[past][near(x[past], x[at], 0.15) > 0].max()
        picks = [*(min(max(pick, least), most) for pick in picks), most]
    return picks, after


def chosen(picks, told, runs, s):
    """The size that the ways agree on, from what each was told for the known runs.

    Args:
        told: (place of a known run, its picks and sizes after, the mean run that was known when it was judged).
    """
    losses = np.array(
        [
            [charge_of(p, runs.used_bytes[j], runs.hours[j], after, s.price_runs * mean_run) for p in each]
            for j, (each, after), mean_run in told
        ]
    )
    if not s.cautious:
        return quorum_of(np.array(picks), losses, s)
    failed = np.array([[p < runs.used_bytes[j] for p in each] for j, (each, _), _ in told]).sum(axis=0)
    costs = np.where(failed <= failed[-1], losses.sum(axis=0), np.inf)
    return picks[-1] if costs.min() == costs[-1] else picks[int(costs.argmin())]


def first_sizes(runs, s):
    """Return the first allocations of the runs after the initial history."""
    told, out = [], []
    for t in range(len(runs)):
        past = np.array([j for j in range(max(t, runs.n_known)) if j != t])
        picks = picks_of(runs, past, t, s, runs.mean_run_byte_h)
        if t >= runs.n_known:
            out.append(chosen(picks[0], told, runs, s))
        told.append((t, picks, runs.mean_run_byte_h))
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
