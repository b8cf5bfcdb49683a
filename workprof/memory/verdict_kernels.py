"""The compiled loops of a verdict: what is known when, and the size of least expected charge."""

import math

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.compiled import compiled

Arrays = tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats]


@compiled
def pass_events(  # noqa: PLR0913, PLR0917  arrays of one kernel
    key: Ints,
    n_keys: int,
    log_use: Floats,
    use: Floats,
    hours: Floats,
    request: Floats,
    killed: Bools,
    above: Bools,
    submit_s: Floats,
    end_s: Floats,
    by_end: Ints,
    query_s: Floats,
    by_query: Ints,
    out: Floats,
) -> None:
    """Fill (10, n) figures of each query, passing ends, submissions and queries in order of time."""
    state = np.zeros((10, n_keys))
    ended = submitted = 0
    for query in by_query:
        now = query_s[query]
        while ended < len(by_end) and end_s[by_end[ended]] <= now:
            run = by_end[ended]
            at = key[run]
            state[0, at] += 1
            state[2, at] = max(state[2, at], use[run])
            state[3, at] += log_use[run]
            state[4, at] += log_use[run] ** 2
            state[5, at] += hours[run]
            state[6, at] += above[run]
            state[7, at] += killed[run]
            if killed[run]:
                state[9, at] = max(state[9, at], use[run])
            ended += 1
        while submitted < len(submit_s) and submit_s[submitted] < now:
            state[1, key[submitted]] += 1
            state[8, key[submitted]] = request[submitted]
            submitted += 1
        at = key[query]
        for figure in range(10):
            out[figure, query] = state[figure, at]
        out[1, query] = max(0.0, state[1, at] - state[0, at])


@compiled
def follow_plain_rule(  # noqa: PLR0913, PLR0917  arrays of one kernel
    key: Ints,
    n_keys: int,
    use: Floats,
    request: Floats,
    end_s: Floats,
    by_end: Ints,
    query_s: Floats,
    least: int,
    times: float,
    size: Floats,
) -> None:
    """Fill the sizes (n,) of a plain rule: `times` the largest use of at least so many known runs, or the request.

    Runs stand in order of their submission, their moments `query_s` do not fall. After a kill of a key it takes twice
    as many runs and one more that end later.
    """
    n, since, largest = np.zeros(n_keys), np.zeros(n_keys), np.zeros(n_keys)
    kill_s = np.full(n_keys, -np.inf)
    ended = 0
    for query in range(len(key)):
        while ended < len(by_end) and end_s[by_end[ended]] <= query_s[query]:
            run = by_end[ended]
            at = key[run]
            n[at] += 1
            largest[at] = max(largest[at], use[run])
            if size[run] < request[run] and size[run] < use[run]:
                kill_s[at], since[at] = end_s[run], 0.0
            elif end_s[run] > kill_s[at]:
                since[at] += 1
            ended += 1
        at = key[query]
        enough = since[at] >= 2 * least + 1 if kill_s[at] > -np.inf else n[at] >= least
        size[query] = min(request[query], times * largest[at]) if enough else request[query]


@compiled
def exceeds(ratio: float, depth: float, spread: float, record: float, figures: Floats) -> float:
    """The chance that a use exceeds `ratio` x the largest known one, `depth` = sqrt(2 log(w + 1)); `chances`."""
    if ratio <= 1.0:
        return record
    log_ratio = math.log(ratio)
    z = log_ratio * depth / spread
    stable = (1.0 - figures[3]) * math.exp(-3.0 * figures[2] * math.log1p(z / 3.0))
    heavy: float = figures[3] * math.exp(-log_ratio / figures[4])
    chance: float = record * (stable + heavy)
    return chance


@compiled
def cheapest(  # noqa: PLR0913, PLR0917  arrays of one kernel
    arrays: Arrays,
    figures: Floats,
    rules: Floats,
    multiples: Floats,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Fill (2, m) sizes of least expected charge, and their chances of a kill.

    After a kill comes the request where the size was below it, else half as much more: larger and kept sizes alike.
    A kill of those costs `rules[3]` of the own booked runs, where that is above 0: which kills are acceptable changes
    lower sizes alone. `elsewhere` is the chance of a kill at smaller requests of the same job, 0 without any: then
    `largest` is what those are known to have used at least.
    """
    request, n, weight, squares, largest, hours, above, cut, elsewhere, factor = arrays
    step, floor = rules[0], rules[1]
    for at in range(first, last):
        spread = math.sqrt((squares[at] + 3.0 * figures[5]) / (max(n[at] - 1.0, 0.0) + 3.0))
        log_weight = math.log(weight[at] + 1.0)
        depth = math.sqrt(2.0 * log_weight)
        record = min(0.95, math.exp(figures[0] - figures[1] * log_weight)) * factor[at]
        lost = hours[at] * figures[6]
        asked = request[at]
        # The request itself kills as often as it did; a use that was cut off may have been anything above it: as
        # likely as not, its log exceeds the cut by the spread of the key in the mean, else as a heavy tail does.
        kept_chance = (above[at] + cut[at] + 0.5) / (n[at] + 1.0) if above[at] + cut[at] > 0 else 0.0
        cut_chance = (cut[at] + 0.5) / (n[at] + 1.0) if cut[at] > 0 else 0.0
        best_size, best_chance, price = asked, kept_chance, rules[2]
        own_price = rules[3] * hours[at] * asked if rules[3] > 0.0 else price
        best = hours[at] * asked + kept_chance * (lost * 1.5 * asked + price)
        before = -1.0
        for multiple in multiples:
            size = max(floor, math.ceil(multiple * largest[at] / step * (1.0 - 1e-12)) * step)
            if size >= asked and kept_chance <= 0.0:
                break
            if size in (before, asked):
                continue
            if size > asked and price != own_price:
                best, price = best + best_chance * (own_price - price), own_price
            if hours[at] * size >= best:
                break  # larger sizes cost more, kills or not
            before = size
            chance = min(1.0, exceeds(size / largest[at], depth, spread, record, figures))
            unknown = cut_chance if size > asked else elsewhere[at]
            if unknown > 0:
                beyond = math.log(size / largest[at])
                chance = max(chance, unknown * 0.5 * (math.exp(-beyond / spread) + math.exp(-beyond / figures[4])))
            again = asked if size < asked else 1.5 * size
            charge = hours[at] * size + chance * (lost * again + price)
            if charge < best:
                best, best_size, best_chance = charge, size, chance
        out[0, at] = best_size
        out[1, at] = best_chance
