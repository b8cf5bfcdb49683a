"""Compiled kernels of the policy workprof: candidates, forecasts, the tournament of its predictors."""

from typing import NamedTuple

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.compiled import compiled, compiled_within

AS_IT_WAS, LINE_RATIO, LINE_SHIFT, POWER = 0, 1, 2, 3
"""The size itself; times or plus its distance from a straight line through the inputs; the same on log scales."""

FURTHEST = 2.0
"""A line is followed down to the smallest size seen over this, and up to the largest times this."""


@compiled_within
def line_through(x: Floats, y: Floats) -> tuple[float, float, float, float]:
    """Mean of x, mean of y, slope and spread (sum of squares of x about its mean) of the least-squares line."""
    mean_x, mean_y = x.mean(), y.mean()
    spread, together = 0.0, 0.0
    for j in range(len(x)):
        spread += (x[j] - mean_x) ** 2
        together += (x[j] - mean_x) * (y[j] - mean_y)
    return mean_x, mean_y, together / spread if spread > 0 else 0.0, spread


@compiled_within
def left_out_values(x: Floats, y: Floats, fit: tuple[float, float, float, float]) -> Floats:
    """(n,) values of the lines through all other points, by the leverage of each point."""
    mean_x, mean_y, slope, spread = fit
    values = np.empty(len(x))
    for j in range(len(x)):
        value = mean_y + slope * (x[j] - mean_x)
        leverage = 1 / len(x) + ((x[j] - mean_x) ** 2 / spread if spread > 0 else 0.0)
        values[j] = y[j] - (y[j] - value) / (1 - leverage) if leverage < 0.999 else value
    return values


@compiled
def carried(kind: int, sizes: Floats, inputs: Floats, logs: Floats, at: tuple[float, float]) -> Floats:
    """(n,) sizes in bytes of the past runs, each carried to another input with its own deviation.

    `kind` is one of the four above; `inputs` (n,) are as given, `logs` and the second of `at` log(1 + input).
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
    """(n,) Gaussian weights; the width reaches the k-th nearest run, beyond three widths the weight is 0.

    `distances` (n,) are on the log scale of the inputs, `ordered` the same, rising. k = share x n, but at least
    `fewest`; a share of 1 or more = every run counts alike.
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


WINDOW = 400
"""Known runs that are looked at: the latest ones."""

SHARE, FEWEST = 0.15, 8


@compiled
def local_sizes(rows: Floats, sized: Ints, known_at: Ints, margin: float, lift: float) -> Floats:
    """(n_sized,) sizes of the runs, each from the leading `known_at` rows, never falling, known by then.

    `rows` are (3, n) sizes (bytes), hours, log inputs, in the order in which they become known. Candidates are the
    margin times a known size; `lift` is a size after a failure over the largest known one.
    """
    out, seen, upto = np.empty(len(sized)), 0.0, 0
    for i in range(len(sized)):
        t, at = known_at[i], rows[2, sized[i]]
        if i > 0 and t == known_at[i - 1] and at == rows[2, sized[i - 1]]:
            out[i] = out[i - 1]
            continue
        for p in range(upto, t):
            seen = max(seen, rows[0, p])
        upto = t
        start = max(0, t - WINDOW)
        order = np.argsort(rows[0, start:t])
        distances = np.abs(rows[2, start:t] - at)
        weights = nearness(distances, np.sort(distances), SHARE, FEWEST)
        sizes = rows[0, start:t][order]
        work = (weights * rows[1, start:t])[order]
        near = weights[order] > 0
        all_work = work.sum()
        best_cost, tail, reached = np.inf, all_work, 0
        for a in range(len(sizes)):
            size = margin * sizes[a]
            while reached < len(sizes) and sizes[reached] <= size:
                tail -= work[reached]
                reached += 1
            cost = size * all_work + lift * seen * max(tail, 0.0)
            if near[a] and cost < best_cost:
                out[i], best_cost = size, cost
    return out


BEYOND = np.concatenate((np.zeros(1), np.geomspace(5e-4, 3.0, 60)))
"""How far above the largest candidate sizes are tried, as logarithms of a factor."""


class Belief(NamedTuple):
    """Costs, and what is believed about runs that nobody has seen yet."""

    price_runs: float  # of one failure, in mean runs
    run_byte_h: float  # bytes x hours of the mean run that is known
    time_to_failure: float  # share of the run time that a failed attempt is charged
    lift: float  # size after a failure over the largest size seen, at least
    unseen_runs: float  # how many runs above all seen ones are expected next to the seen ones; 1/2 is Jeffreys' prior
    jump_share: float  # share of those that is no continuation of the tail but a jump
    jump_scale: float  # mean logarithm of a jump
    least_scale: float  # smallest mean logarithm of the tail's steps
    sharpness: float  # how fast a way of sizing that did worse loses its say
    quorum: float  # share of the say that must hold a size for enough
    chance: float  # largest believed chance that a run fails at a size above all seen ones; 1 = no limit
    # whether sizes stay between the largest use of a run with a like input and `most_of`, and ways are chosen by their
    # failures first
    cautious: bool


@compiled_within
def as_known(belief: Belief, run_byte_h: float) -> Belief:
    """The same costs and beliefs by the mean run that is known now."""
    return Belief(
        belief.price_runs,
        run_byte_h,
        belief.time_to_failure,
        belief.lift,
        belief.unseen_runs,
        belief.jump_share,
        belief.jump_scale,
        belief.least_scale,
        belief.sharpness,
        belief.quorum,
        belief.chance,
        belief.cautious,
    )


KRR_HEADROOM = 1.15
"""KRR's size over the largest seen; the cautious setting is measured by it."""


INSURED_RUNS = 10.0
"""Mean runs that the cautious setting pays to spare a failure that KRR would have; small tasks are insured so."""


class Tail(NamedTuple):
    """The largest sizes."""

    top: float  # the largest
    scale: float  # mean logarithm of the largest sizes over the next smaller one (Hill)
    n_largest: float  # of them, about sqrt(n): the fewer, the less the scale is worth


@compiled_within
def tail_of(sizes: Floats, weights: Floats, least: float) -> Tail:
    """The tail of (n,) sizes, rising, with weights above 0; its scale is at least `least`."""
    total = weights.sum()
    effective = total * total / (weights * weights).sum()
    largest = max(2.0, np.sqrt(effective))
    wanted = total * min(largest / effective, 1.0)
    risen, logs, a = 0.0, 0.0, len(sizes) - 1
    while a >= 0 and risen < wanted:
        risen += weights[a]
        logs += weights[a] * np.log(sizes[a])
        a -= 1
    return Tail(sizes[-1], max(logs / risen - np.log(sizes[max(a, 0)]), least), largest)


@compiled_within
def beyond_share(step: float, tail: Tail, belief: Belief) -> float:
    """The share of the unseen runs that use more than exp(step) times the largest seen size.

    Steps of the tail are exponential; their scale is known from `n_largest` of them alone, so the next one is Pareto.
    """
    if step <= 0:
        return 1.0
    jump = max(tail.scale, belief.jump_scale)
    continued = (1 + step / (tail.n_largest * tail.scale)) ** -tail.n_largest
    return float((1 - belief.jump_share) * continued + belief.jump_share * np.exp(-step / jump))


class Next(NamedTuple):
    """Sizes after a failure."""

    back: float  # for a run that may be like one of the past
    far: float  # for a run that is above them all
    further: float  # for one above that, as much again, at most doubled


@compiled
def lifted(past: Floats, seen: float, belief: Belief) -> Next:
    """The sizes after a failure, from (n,) sizes of the runs that are looked at and the largest seen.

    `far` is the cheapest size for a run above all seen ones, which is doubled if it fails again. The cautious setting
    goes where KRR goes: to its size, then to twice that.
    """
    if belief.cautious:
        return Next(KRR_HEADROOM * seen, 2 * KRR_HEADROOM * seen, 4 * KRR_HEADROOM * seen)
    tail = tail_of(np.sort(past), np.ones(len(past)), belief.least_scale)
    best, best_cost = seen, np.inf
    for step in BEYOND:
        size, share = seen * np.exp(step), beyond_share(step, tail, belief)
        cost = size * (1 + (1 + belief.time_to_failure) * share)
        if cost < best_cost:
            best, best_cost = size, cost
    far = max(best, belief.lift * seen)
    return Next(belief.lift * seen, far, far * min(far / seen, 2.0))


@compiled_within
def cheapest_above(
    tail: Tail,
    seen: tuple[float, float],
    unseen: tuple[float, float],
    after: Next,
    limits: tuple[float, float],
    belief: Belief,
) -> tuple[float, float]:
    """The cheapest size at or above the largest past one that fails rarely enough, and its cost.

    `seen` and `unseen` are sum of weight x hours, and of weights; `limits` the price of one failure, in bytes x hours,
    and the largest chance of one.
    """
    best, best_cost = tail.top * np.exp(BEYOND[-1]), np.inf
    for step in BEYOND:
        size, share = tail.top * np.exp(step), beyond_share(step, tail, belief)
        lost = unseen[0] * share
        cost = size * (seen[0] + unseen[0] - (1 - belief.time_to_failure) * lost) + max(after.far, size) * lost
        cost += limits[0] * unseen[1] * share
        if cost < best_cost and unseen[1] * share <= limits[1] * seen[1]:
            best, best_cost = size, cost
    return best, best_cost


@compiled
def cheapest(sizes: Floats, work: Floats, weights: Floats, margins: Floats, after: Next, belief: Belief) -> Floats:
    """(n_margins,) sizes of least expected charge: one of the past sizes x (1 + margin), or one above them all.

    A size c costs c x hours where it is enough, else c x hours x time to failure, the hours again at the next size, and
    the cost per failure; a run above all past ones may fail twice.

    `sizes` (n,) rise, `work` (n,) is weight x hours, weights are above 0, margins are shares.
    """
    all_work, count = work.sum(), weights.sum()
    per_run = belief.unseen_runs * (weights * weights).sum() / (count * count)
    ghost_work, ghosts = per_run * all_work, per_run * count
    end, saved = tail_of(sizes, weights, belief.least_scale), 1 - belief.time_to_failure
    price = belief.price_runs * belief.run_byte_h
    limits = (price, belief.chance)
    above, above_cost = cheapest_above(end, (all_work, count), (ghost_work, ghosts), after, limits, belief)
    if belief.cautious:
        return np.full(len(margins), above)
    result = np.empty(len(margins))
    for m in range(len(margins)):
        best, best_cost, reached, tail_work, tail = above, above_cost, 0, all_work, count
        for a in range(len(sizes)):
            size = (1 + margins[m]) * sizes[a]
            while reached < len(sizes) and sizes[reached] <= size:
                tail_work -= work[reached]
                tail -= weights[reached]
                reached += 1
            share = 1.0 if size <= end.top else beyond_share(np.log(size / end.top), end, belief)
            missed, unseen = max(tail_work, 0.0), ghost_work * share
            cost = size * (all_work + ghost_work - saved * (missed + unseen))
            if size < after.back:
                cost += after.back * (missed + belief.time_to_failure * unseen) + after.far * unseen
            else:
                cost += max(after.far, size) * (missed + unseen)
            cost += price * (max(tail, 0.0) + ghosts * share)
            if cost < best_cost * (1 - 1e-12):
                best, best_cost = size, cost
        result[m] = best
    return result


@compiled_within
def most_of(past: Floats, after: Next, belief: Belief) -> float:
    """The largest first size of the cautious setting: KRR's, or more where it costs next to nothing.

    That is the cheapest size at the price of `INSURED_RUNS` for a failure.
    """
    n, work = past.shape[1], past[1].sum()
    tail = tail_of(np.sort(past[0]), np.ones(n), belief.least_scale)
    unseen = (belief.unseen_runs * work / n, belief.unseen_runs)
    return max(
        cheapest_above(tail, (work, float(n)), unseen, after, (INSURED_RUNS * belief.run_byte_h, 1.0), belief)[0],
        after.back,
    )


@compiled_within
def after_failure(failed: float, sizes: Floats, hours: Floats, after: Next, belief: Belief) -> float:
    """The next size of a run that failed: the cheapest of lifted past sizes above it, at most `after.back`.

    Above all past sizes it is `after.far`.
    """
    if belief.cautious:
        return after.back if failed < sizes.max() else after.far
    order = np.argsort(sizes)
    first = np.searchsorted(sizes[order], failed, side="right")
    left_work, left = 0.0, 0.0
    for a in order[first:]:
        left_work += hours[a]
        left += 1.0
    if left == 0:
        return after.far
    unseen = belief.unseen_runs * left_work / left
    best, best_cost, tail_work, tail = after.back, np.inf, left_work, left
    for a in order[first:]:
        tail_work -= hours[a]
        tail -= 1.0
        size = min(belief.lift * sizes[a], after.back)
        missed = max(tail_work, 0.0)
        cost = size * (left_work + unseen - (1 - belief.time_to_failure) * (missed + unseen)) + after.far * unseen
        cost += after.back * (missed + belief.time_to_failure * unseen) if size < after.back else 0.0
        cost += belief.price_runs * belief.run_byte_h * (tail + belief.unseen_runs)
        if cost < best_cost:
            best, best_cost = size, cost
    return best


Ways = tuple[Floats, Floats, Floats]
"""Kinds, shares, margins; every combination is a way of sizing, margins fastest."""

EVERY = 400
"""So many runs of a task are contests; after them one in `RARE` is, and without inputs a size that was enough holds."""

RARE = 20

FEWEST_NEAR = 8
LEAST_WEIGHT, LEAST_LATE_WEIGHT = 0.01, 0.3
"""A way of sizing whose say is below this share of the best one's is not heard; the greater one holds after `EVERY`."""


@compiled_within
def price_of(size: float, used: float, hours: float, after: Next, belief: Belief) -> float:
    """What a size would have cost a finished run: waste in bytes x hours and the price of its failures."""
    if size >= used:
        return (size - used) * hours
    price = belief.price_runs * belief.run_byte_h
    cost = size * hours * belief.time_to_failure + price
    for step in after:
        if step > size:
            if step >= used:
                return cost + (step - used) * hours
            cost += step * hours * belief.time_to_failure + price
            size = step
    return cost + (2 * size - used) * hours


@compiled_within
def way_weights(totals: Floats, squares: Floats, sharpness: float, least: float) -> Floats:
    """(n_ways,) weights: exp(-sharpness z^2 / 2), z = how surely a way cost more than the best one so far.

    `squares` (n_ways, n_ways) are sums of squared differences of costs. A sharpness of 0 = all are heard alike; weights
    smaller than `least` become 0.
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
def fewest_failures(totals: Floats, failures: Floats) -> Floats:
    """(n_ways,) weights: 1 for the cheapest way among those that failed no more runs than the last one, KRR."""
    best = len(totals) - 1
    for e in range(len(totals)):
        if failures[e] <= failures[-1] and totals[e] < totals[best]:
            best = e
    out = np.zeros(len(totals))
    out[best] = 1.0
    return out


@compiled_within
def agreed(picks: Floats, weights: Floats, quorum: float) -> float:
    """The smallest pick that at least this share of the weight holds for enough."""
    order = np.argsort(picks)
    wanted, risen = quorum * weights.sum() - 1e-12, 0.0
    for e in order:
        risen += weights[e]
        if weights[e] > 0 and risen >= wanted:
            return float(picks[e])
    return float(picks[order[-1]])


@compiled_within
def pick_all(
    past: Floats,
    at: tuple[float, float],
    ways: tuple[Floats, Floats, Floats],
    heard: Bools,
    after: Next,
    belief: Belief,
) -> Floats:
    """(n_ways,) sizes that the ways choose; NaN where a way is not heard.

    In the cautious setting KRR (`most_of`) is the last way, no other goes above it, and none below what a run with a
    like input has used.

    `past` are (4, n) sizes, hours, inputs, log inputs of the past runs; `at` is input and log input of the run.
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
                near = weights > 0
                chosen = order[near]
                picks[e : e + len(margins)] = cheapest(
                    sizes[chosen], weights[near] * past[1][chosen], weights[near], margins, after, belief
                )
            e += len(margins)
    if belief.cautious:
        alike = nearness(distances, ordered, SHARE, FEWEST) > 0
        most = most_of(past, after, belief)
        picks = np.minimum(np.maximum(picks, past[0][alike].max()), most)
        picks[-1] = most
    return picks


@compiled_within
def known_before(t: int, n_known: int, rows: Floats) -> Floats:
    """(4, n) the latest runs that are known before run t; a run of the initial history sees all others of it."""
    end = max(t, n_known)
    start = max(0, end - WINDOW)
    if t >= n_known:
        return rows[:, start:end].copy()
    past = np.empty((4, end - start - 1))
    past[:, : t - start] = rows[:, start:t]
    past[:, t - start :] = rows[:, t + 1 : end]
    return past


class Score(NamedTuple):
    """How the ways did on the runs so far."""

    totals: Floats  # (n_ways,) costs
    squares: Floats  # (n_ways, n_ways) sums of squared differences of costs
    failures: Floats  # (n_ways,) runs that failed at their first size


@compiled_within
def add_score(picks: Floats, run: tuple[float, float], after: Next, belief: Belief, score: Score) -> None:
    """Add what every way's pick would have cost a finished run (use, hours)."""
    costs = np.empty(len(picks))
    for e in range(len(picks)):
        costs[e] = price_of(picks[e], run[0], run[1], after, belief)
        score.totals[e] += costs[e]
        score.failures[e] += picks[e] < run[0]
    for e in range(len(picks)):
        score.squares[e] += (costs - costs[e]) ** 2


NOT_SIZED, SIZED, CONTEST = 0, 1, 2


@compiled
def compete(rows: Floats, sized: Ints, known_at: Ints, mean_runs: Floats, ways: Ways, belief: Belief) -> Floats:
    """(n_sized, 4) first sizes of every run and the next three, from the runs that are known by then.

    A way's pick for a run is made when the run is sized and judged when it is known, each at the price of that moment.
    Runs that are known before they were ever sized are picked for by what was known before them.

    `rows` are (4, n) sizes (bytes), hours, inputs, log inputs, in the order in which they become known; `known_at`
    (n_sized,) leading rows of them, at least 1, never falling, are known to each run that is sized. `mean_runs` are
    bytes x hours of the mean run that is known to each, of all tasks.
    """
    belief = as_known(belief, mean_runs[0])
    n_known, n_ways = known_at[0], len(ways[0]) * len(ways[1]) * len(ways[2]) + belief.cautious
    score = Score(np.zeros(n_ways), np.zeros((n_ways, n_ways)), np.zeros(n_ways))
    start = max(0, n_known - WINDOW) if n_known > 1 else n_known  # a lone run has no other to be sized from
    heard = np.ones(n_ways, dtype=np.bool_)
    for t in range(start if n_ways > 1 else n_known, n_known):
        past, at = known_before(t, n_known, rows), (rows[2, t], rows[3, t])
        after = lifted(past[0], past[0].max(), belief)
        picks = pick_all(past, at, ways, heard, after, belief)
        add_score(picks, (rows[0, t], rows[1, t]), after, belief, score)

    state, after_at = np.zeros(rows.shape[1], dtype=np.int8), np.empty((rows.shape[1], 3))
    picks_of = np.empty((rows.shape[1] if n_ways > 1 else 0, n_ways))
    blind = len(ways[0]) == 1 and ways[1][0] >= 1  # no input is looked at
    out, seen, upto, picks, fresh = np.empty((len(sized), 4)), rows[0, :n_known].max(), n_known, np.empty(0), False
    whole = False  # whether every way has picked
    for i in range(len(sized)):
        t, run, seen_before, largest_new = n_known + i, sized[i], seen, 0.0
        belief = as_known(belief, mean_runs[i])
        for p in range(upto, known_at[i]):
            if n_ways > 1 and state[p] == NOT_SIZED and t - start < EVERY:
                past = known_before(p, n_known, rows)
                after = lifted(past[0], seen, belief)
                after_at[p] = np.array(after)
                picks_of[p] = pick_all(past, (rows[2, p], rows[3, p]), ways, heard, after, belief)
                state[p] = CONTEST
            if state[p] == CONTEST:
                after = Next(after_at[p, 0], after_at[p, 1], after_at[p, 2])
                add_score(picks_of[p], (rows[0, p], rows[1, p]), after, belief, score)
            seen, largest_new = max(seen, rows[0, p]), max(largest_new, rows[0, p])
        fresh, upto = fresh and known_at[i] == upto, known_at[i]
        often = t - start < EVERY
        contest = n_ways > 1 and (often or t % RARE == 0)
        state[run] = CONTEST if contest else SIZED
        if blind and fresh and (whole or not contest):  # nothing new is known: the same size
            out[i] = out[i - 1]
        elif blind and i > 0 and not often and t % RARE != 0 and largest_new <= out[i - 1, 0]:
            out[i, :2], out[i, 2:] = out[i - 1, :2], out[i - 1, 2:] * seen / seen_before
        else:
            past = known_before(upto, n_known, rows)
            after = lifted(past[0], seen, belief)
            if belief.cautious:
                weights = fewest_failures(score.totals, score.failures)
            else:
                weights = way_weights(
                    score.totals, score.squares, belief.sharpness, LEAST_WEIGHT if often else LEAST_LATE_WEIGHT
                )
            picks = pick_all(past, (rows[2, run], rows[3, run]), ways, (weights > 0) | contest, after, belief)
            fresh, whole = True, contest
            first = agreed(picks, weights, belief.quorum)
            second = after_failure(first, past[0], past[1], after, belief)
            out[i] = np.array([first, second, after.far, after.further])
        if contest:
            picks_of[run], after_at[run] = picks, np.array(after)
    return out
