"""The compiled replay of a schedule: runs wait in a queue, are placed on nodes, end, and are retried if killed.

At a moment everything that ends then ends first, by its number; then what was killed joins the queue, then what is
submitted; then the queue is served. Amounts are whole numbers, so that what a run frees is what it took.
"""

import heapq
import math

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.compiled import compiled, compiled_within
from workprof.memory.schedule_runs import DEPTH

FIRST, BEST, PROFILE = 0, 1, 2
SPREAD = 2_654_435_761
"""A run's number times it tells from which node on its sample is drawn (Knuth's multiplicative hash)."""


@compiled_within
def _fits(free: Ints, node: int, need: Ints, of: int) -> bool:
    for kind in range(free.shape[1]):  # noqa: SIM110  compiled
        if free[node, kind] < need[of, kind]:
            return False
    return True


@compiled_within
def _add(to: Ints, at: int, amounts: Ints, of: int, sign: int) -> None:
    for kind in range(to.shape[1]):
        to[at, kind] += sign * amounts[of, kind]


@compiled_within
def _copy(to: Ints, at: int, amounts: Ints, of: int) -> None:
    for kind in range(to.shape[1]):
        to[at, kind] = amounts[of, kind]


@compiled_within
def _choose(  # noqa: C901, PLR0913, PLR0917  arrays of one kernel
    run: int,
    need: Ints,
    of: int,
    parts: int,
    until: float,
    now: float,
    free: Ints,
    capacity: Ints,
    exits: Floats,
    reserved: Bools,
    spare: Ints,
    rules: Ints,
    found: Ints,
    scores: Floats,
) -> bool:
    """Whether a run finds its nodes; they are the first of `found`. Of `reserved` nodes only what is to spare counts.

    Scored are what would be left free, and before it, by profile, how much longer the node would be held.
    """
    n_nodes, place = len(free), rules[0]
    first = (run * SPREAD) % n_nodes if place == PROFILE else 0
    enough = n_nodes if place == BEST else parts if place == FIRST else max(parts, rules[2])
    count = 0
    for step in range(n_nodes):
        node = (first + step) % n_nodes
        if not _fits(free, node, need, of) or (reserved[node] and not _fits(spare, node, need, of)):
            continue
        found[count] = node
        if place != FIRST:
            left = 0.0
            for kind in range(capacity.shape[1]):
                if capacity[node, kind] > 0:
                    left += (free[node, kind] - need[of, kind]) / capacity[node, kind]
            held_until = max(exits[node], now)
            scores[0, count] = until - held_until if place == PROFILE and until > held_until else 0.0
            scores[1, count] = left
        count += 1
        if count == enough:
            break
    if count < parts:
        return False
    if place != FIRST:
        for part in range(parts):
            best = part
            for at in range(part + 1, count):
                if (scores[0, at], scores[1, at], found[at]) < (scores[0, best], scores[1, best], found[best]):
                    best = at
            found[part], found[best] = found[best], found[part]
            for row in range(2):
                scores[row, part], scores[row, best] = scores[row, best], scores[row, part]
    return True


@compiled_within
def _fits_from(  # noqa: PLR0913, PLR0917  arrays of one kernel
    node: int,
    need: Ints,
    of: int,
    now: float,
    bound: float,
    free: Ints,
    held: Ints,
    ends: Floats,
    lists: Ints,
    room: Ints,
) -> float:
    """When a node is expected to hold a need, if that is not after `bound`; infinite else. `room` is overwritten."""
    _copy(room, 0, free, node)
    passed = -math.inf
    while not _fits(room, 0, need, of):
        following = math.inf
        part = lists[0, node]
        while part >= 0:
            end = max(ends[part], now)
            if passed < end < following:
                following = end
            part = lists[1, part]
        if following > bound or following == math.inf:
            return math.inf
        part = lists[0, node]
        while part >= 0:
            if max(ends[part], now) == following:
                _add(room, 0, held, part, 1)
            part = lists[1, part]
        passed = following
    result: float = max(passed, now)
    return result


@compiled_within
def _reserve(  # noqa: C901, PLR0913, PLR0917  arrays of one kernel
    need: Ints,
    of: int,
    parts: int,
    now: float,
    free: Ints,
    held: Ints,
    ends: Floats,
    lists: Ints,
    room: Ints,
    reserved: Bools,
    spare: Ints,
) -> float:
    """When the first of the queue is expected to start; its nodes are `reserved`, with what they have to spare then."""
    n_nodes = len(free)
    moments = np.full(n_nodes, math.inf)
    bound = math.inf
    for node in range(n_nodes):
        moments[node] = _fits_from(node, need, of, now, bound, free, held, ends, lists, room)
        if parts == 1:
            bound = min(bound, moments[node])
    shadow = -math.inf
    for _ in range(parts):
        best = -1
        for node in range(n_nodes):
            if not reserved[node] and (best < 0 or moments[node] < moments[best]):
                best = node
        shadow = max(shadow, float(moments[best]))
        if shadow == math.inf:
            for node in range(n_nodes):
                reserved[node] = False
            return shadow
        reserved[best] = True
    for node in range(n_nodes):
        if reserved[node]:
            _copy(spare, node, free, node)
            _add(spare, node, need, of, -1)
            part = lists[0, node]
            while part >= 0:
                if max(ends[part], now) <= shadow:
                    _add(spare, node, held, part, 1)
                part = lists[1, part]
    return shadow


@compiled
def replay(  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917  arrays of one kernel
    submit: Floats,
    duration: Floats,
    expected: Floats,
    need: Ints,
    killed: Bools,
    parts: Ints,
    capacity: Ints,
    rules: Ints,
    start: Floats,
) -> tuple[int, int]:
    """Fill the (2, n) starts of all attempts; return how many nodes were busy at once, and the last one that was used.

    Args:
        submit: (n,) not falling.
        duration: (n,) of an attempt.
        expected: (n,) what the scheduler expects of it; infinite = nothing is known.
        need: (2 n, kinds) of one part: of all first attempts, then of the second ones.
        killed: (n,) whether there is a second attempt, from the end of the first.
        parts: (n,) nodes of a run, no more than there are that hold a part.
        capacity: (n_nodes, kinds) of each node.
        rules: place, 1 = backfill, nodes that are scored by profile.
        start: NaN where there is no such attempt.
    """
    n, n_nodes = len(submit), len(capacity)
    offset = np.zeros(n + 1, dtype=np.int64)
    for run in range(n):
        offset[run + 1] = offset[run] + parts[run]
    total = offset[n]
    free = capacity.copy()
    held = np.zeros((2 * total, capacity.shape[1]), dtype=np.int64)
    where = np.zeros(2 * total, dtype=np.int64)
    ends = np.zeros(2 * total)
    lists = np.full((3, max(2 * total, n_nodes)), -1, dtype=np.int64)  # first part of a node, next and previous part
    exits = np.full(n_nodes, -math.inf)
    n_held = np.zeros(n_nodes, dtype=np.int64)
    queue = np.full((2, 2 * n), -1, dtype=np.int64)  # next and previous
    head, tail = -1, -1
    reserved, nothing = np.zeros(n_nodes, dtype=np.bool_), np.zeros(n_nodes, dtype=np.bool_)
    spare, room, most = np.zeros_like(free), np.zeros_like(free[:1]), np.zeros_like(free[:1])
    found, scores = np.zeros(n_nodes, dtype=np.int64), np.zeros((2, n_nodes))
    heap = [(0.0, 0)]
    heap.pop()
    at = busy = most_busy = 0
    last_node = -1
    tried = -1  # the first of the queue that found no place since something ended
    while at < n or len(heap) > 0:
        now = submit[at] if at < n else math.inf
        if len(heap) > 0 and heap[0][0] < now:
            now = heap[0][0]
        while len(heap) > 0 and heap[0][0] <= now:
            attempt = heapq.heappop(heap)[1]
            run = attempt % n
            base = offset[run] + (total if attempt >= n else 0)
            for part in range(base, base + parts[run]):
                node = where[part]
                _add(free, node, held, part, 1)
                n_held[node] -= 1
                busy -= n_held[node] == 0
                following, before = lists[1, part], lists[2, part]
                if before >= 0:
                    lists[1, before] = following
                else:
                    lists[0, node] = following
                if following >= 0:
                    lists[2, following] = before
                if rules[0] == PROFILE:
                    exits[node] = -math.inf
                    other = lists[0, node]
                    while other >= 0:
                        exits[node] = max(exits[node], ends[other])
                        other = lists[1, other]
            tried = -1
            if attempt < n and killed[run]:
                queue[0, attempt + n], queue[1, attempt + n] = -1, tail
                if tail >= 0:
                    queue[0, tail] = attempt + n
                else:
                    head = attempt + n
                tail = attempt + n
        while at < n and submit[at] <= now:
            queue[0, at], queue[1, at] = -1, tail
            if tail >= 0:
                queue[0, tail] = at
            else:
                head = at
            tail = at
            at += 1
        shadow, looked = math.inf, 0
        one = head if head != tried or rules[1] == 1 else -1
        backfilling = False
        while one >= 0 and looked <= DEPTH:
            run = one % n
            until = now + expected[run]
            guarded = backfilling and until > shadow
            hopeless = one == tried or (backfilling and not _fits(most, 0, need, one))
            if hopeless or not _choose(
                run,
                need,
                one,
                parts[run],
                until,
                now,
                free,
                capacity,
                exits,
                reserved if guarded else nothing,
                spare,
                rules,
                found,
                scores,
            ):
                if not backfilling:
                    tried = one
                    if rules[1] == 0 or tail == head:
                        break
                    backfilling = True
                    for node in range(n_nodes):
                        reserved[node] = False
                    shadow = _reserve(need, one, parts[run], now, free, held, ends, lists, room, reserved, spare)
                    _copy(most, 0, free, 0)
                    for node in range(1, n_nodes):
                        for kind in range(capacity.shape[1]):
                            most[0, kind] = max(most[0, kind], free[node, kind])
                looked += 1
                one = queue[0, one]
                continue
            start[one // n, run] = now
            base = offset[run] + (total if one >= n else 0)
            for place in range(parts[run]):
                part, node = base + place, found[place]
                where[part], ends[part] = node, until
                _copy(held, part, need, one)
                _add(free, node, need, one, -1)
                busy += n_held[node] == 0
                n_held[node] += 1
                lists[1, part], lists[2, part] = lists[0, node], -1
                if lists[0, node] >= 0:
                    lists[2, lists[0, node]] = part
                lists[0, node] = part
                exits[node] = max(exits[node], until)
                last_node = max(last_node, node)
                if guarded and reserved[node]:
                    _add(spare, node, need, one, -1)
            most_busy = max(most_busy, busy)
            heapq.heappush(heap, (now + duration[run], one))
            following, before = queue[0, one], queue[1, one]
            if before >= 0:
                queue[0, before] = following
            else:
                head = following
            if following >= 0:
                queue[1, following] = before
            else:
                tail = before
            looked += backfilling
            one = following
    return most_busy, last_node + 1
