"""A schedule moment by moment in plain Python: every list is looked through, nothing is kept up to date."""

import math
from dataclasses import dataclass, field

import numpy as np

KNUTH, BEHIND = 2_654_435_761, 100


@dataclass
class Attempt:
    run: int
    retried: bool
    need: tuple
    parts: int
    lasts: float
    expected: float
    killed: bool
    nodes: list = field(default_factory=list)
    end: float = math.inf
    until: float = math.inf

    def number(self, n):
        return self.run + n * self.retried


@dataclass
class Cluster:
    """Nodes, and what runs on them."""

    n_nodes: int
    capacity: tuple  # of each node
    place: str
    sample: int
    running: list = field(default_factory=list)

    def free(self, node, ended_by=-math.inf):
        """What a node has left, once all that is expected to end by a moment has ended."""
        left = list(self.capacity[node])
        for one in self.running:
            if node in one.nodes and not one.until <= ended_by:
                left = minus(left, one.need)
        return left

    def order(self, attempt, now, nodes):
        if self.place == "first":
            return sorted(nodes)

        def score(node):
            free = self.free(node)
            left = 0.0
            for have, need, whole in zip(free, attempt.need, self.capacity[node], strict=True):
                if whole > 0:
                    left += (have - need) / whole
            until = max([now, *(one.until for one in self.running if node in one.nodes)])
            end = now + attempt.expected
            longer = end - until if self.place == "profile" and end > until else 0.0
            return longer, left, node

        if self.place == "profile":
            begin = attempt.run * KNUTH % self.n_nodes
            nodes = sorted(nodes, key=lambda node: (node - begin) % self.n_nodes)
            nodes = nodes[: max(attempt.parts, self.sample)]
        return sorted(nodes, key=score)

    def start(self, attempt, now, allowed):
        """Place an attempt, if it fits; whether it did."""
        nodes = [node for node in range(self.n_nodes) if holds(self.free(node), attempt.need) and allowed(node)]
        if len(nodes) < attempt.parts:
            return False
        attempt.nodes = self.order(attempt, now, nodes)[: attempt.parts]
        attempt.end, attempt.until = now + attempt.lasts, now + attempt.expected
        self.running.append(attempt)
        return True


def holds(have, need):
    return all(a >= b for a, b in zip(have, need, strict=True))


def expected_start(cluster, first, now):
    """When the first of the queue is expected to start, and on which nodes."""
    moments = sorted({now, *(max(one.until, now) for one in cluster.running)})
    found = []
    for node in range(cluster.n_nodes):
        when = [at for at in moments if at < math.inf and holds(later(cluster, node, at, now), first.need)]
        found.append((when[0] if when else math.inf, node))
    chosen = sorted(found)[: first.parts]
    return chosen[-1][0], [node for _, node in chosen]


def later(cluster, node, at, now):
    """What a node has left at a moment; what runs over its expected end may end now."""
    return cluster.free(node, at if at > now else now)


def simulate(runs, n_nodes, capacity, place="first", backfill=False, sample=20):
    """(start, start of the retry or None) of every run; `capacity` is what each node has, or a list of what each has.

    `runs` are (submit, lasts, expected, need, retry need or None, parts) in order of submission.
    """
    each = capacity if np.ndim(capacity) > 1 else [capacity] * n_nodes
    cluster = Cluster(n_nodes, tuple(map(tuple, each)), place, sample)
    queue, started = [], [[None, None] for _ in runs]
    waiting = [
        (submit, Attempt(at, False, tuple(need), parts, lasts, expected, retry is not None))
        for at, (submit, lasts, expected, need, retry, parts) in enumerate(runs)
    ]

    while waiting or cluster.running:
        now = min([submit for submit, _ in waiting[:1]] + [one.end for one in cluster.running])
        over = [one for one in cluster.running if one.end <= now]
        for one in sorted(over, key=lambda one: (one.end, one.number(len(runs)))):
            cluster.running.remove(one)
            if one.killed:
                queue.append(Attempt(one.run, True, tuple(runs[one.run][4]), one.parts, one.lasts, one.expected, False))
        while waiting and waiting[0][0] <= now:
            queue.append(waiting.pop(0)[1])
        begun = in_order(cluster, queue, now)
        begun += behind(cluster, queue, now) if backfill and queue else []
        for one in begun:
            started[one.run][one.retried] = now
    return [tuple(one) for one in started]


def in_order(cluster, queue, now):
    """Start the first of the queue as long as it fits."""
    begun = []
    while queue and cluster.start(queue[0], now, lambda _: True):
        begun.append(queue.pop(0))
    return begun


def behind(cluster, queue, now):
    """Start those behind the first that do not delay it."""
    shadow, reserved = expected_start(cluster, queue[0], now)
    spare = {node: minus(later(cluster, node, shadow, now), queue[0].need) for node in reserved}
    begun = []
    for one in queue[1 : 1 + BEHIND]:
        late = now + one.expected > shadow
        too_little = {node for node in reserved if late and not holds(spare[node], one.need)}
        if cluster.start(one, now, lambda node, without=too_little: node not in without):
            begun.append(one)
            for node in {*one.nodes} & {*reserved} if late else ():
                spare[node] = minus(spare[node], one.need)
    for one in begun:
        queue.remove(one)
    return begun


def minus(have, need):
    return [a - b for a, b in zip(have, need, strict=True)]
