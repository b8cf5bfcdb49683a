"""What a run will use, as known when it is submitted: the finished runs weighed by what they share with it.

A run that is to be sized is compared with the latest finished runs of its task, of the same user, group, workload and
request, and with some of other tasks. Each counts exp(theta . likeness): one step for every label it shares, less the
older it is and the further its request or input lies. The uses of the weighed runs, blurred by kernels of several
widths, and a last doubt around the request, are the distribution of the run's use; the sizes that it exceeds with
given chances make an `Outlook`. Theta and the widths are learned forward in time: when a run has ended, they move
towards what would have foreseen its use better. They start alike on every table, and no run is sized from one that had
not ended.

For a price of a kill the chain of sizes (first, after a kill, after another one) of least expected cost then follows
by going back from the largest size.

Source: ours. The distribution is a conditional kernel estimate (Hyndman et al. 1996) with a metric learned as in
neighbourhood components analysis (Goldberger et al. 2004), online by AdaGrad (Duchi et al. 2011).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workprof.core.arrays import Floats, Ints, Positions
from workprof.core.compiled import compiled
from workprof.memory.orders import Clock

if TYPE_CHECKING:
    from workprof.memory.policies import Sequence as Task

CHANCES = np.geomspace(0.9, 5e-4, 48)
"""Chances of needing more, at which sizes are held ready."""

WIDTHS = np.array([0.01, 0.04, 0.15, 0.5])
"""Of the kernels, on the logarithm of the use: from runs that repeat to the byte to those that merely look alike."""

OWN, SHARING, FOREIGN = 150, 40, 50
"""So many latest runs of the task, of the task with each label of the run, and of other tasks are looked at."""

STEP, STEP_OF_DOUBT = 1.0, -2.0
"""Where theta starts: one step for every likeness, and the logarithm of the weight of the doubt."""

RATE = 0.3
"""Of learning; AdaGrad shrinks it as evidence gathers."""

ALIKE = 3.0
"""Ended runs of a task that say as much about its widths as all tasks together."""

YOUTH = 10.0
"""Runs after which age begins to count."""

UNKNOWN_HOURS = 0.1
"""Share of the expected run time that is the mean of the whole table: a few short runs do not make a run short."""

HIGHEST = 1.5
"""No size above this many times the request or the largest use known."""

FEWEST_FOR_LINE, FURTHEST = 3, 2.0
"""Runs of a line; it is followed to the smallest use over, and the largest use times this."""

BINS, DEEPEST, BEYOND_TOP = 320, 7.0, 2.5
"""Bins of the logarithm of the use: reaching at most `DEEPEST` below the largest, and `BEYOND_TOP` above it."""

STEPS = 6
"""Sizes of a chain; after them a size is doubled."""

FIRST_LESSONS = 256
"""Runs that may be running at first, each with room for what it teaches once it has ended; the room then doubles."""


class Past(NamedTuple):
    """All runs of a table, task after task, each task's in the order in which they become known."""

    use: Floats  # (n,) log bytes
    request: Floats  # (n,) log bytes, NaN where nothing was requested
    inputs: Floats  # (n,) log(1 + input)
    hours: Floats  # (n,)
    task: Ints  # (n,) codes
    labels: Positions  # (n_labels, n) codes, -1 = missing
    # (n_labels, n) codes of (task, label), for finding the latest runs that share both; -1 = missing
    sharing: Positions
    first: Ints  # (n_tasks,) place of each task's first run
    by_end: Ints  # (n,) places in the order in which they become known over all tasks
    known_s: Floats  # (n,) moments of that, rising as in `by_end`


class SizedRuns(NamedTuple):
    """The runs to be sized, in the order of their starts."""

    place: Ints  # (n_sized,) among all runs
    n_known: Ints  # (n_sized,) leading runs of its task that are known by then
    moment_s: Floats  # (n_sized,) of the start
    row: Ints  # (n_sized,) where its results stand


@dataclass(frozen=True)
class Outlook:
    """What runs will use, as foreseen at their start."""

    # (n, n_chances) that are exceeded with `CHANCES`, rising; the highest is the last that is tried
    sizes_bytes: Floats
    hours: Floats  # (n,) expected run time; NaN where no run of the task had ended: such a run starts at its request
    n_own: Ints  # (n,) ended runs of the task by then
    score: Floats  # (n,) log density of the use that came, per unit of log bytes; NaN where `hours` is


TASK, AGE, REQUEST, INPUT, CARRIED, SCALED, DOUBT = range(7)
"""Likenesses after those of the labels. `CARRIED` = the run's ratio to the line of its task's uses on their inputs is
taken to the new input; `SCALED` = its share of its request to the new request."""


class Learnt(NamedTuple):
    """What is learned from runs that have ended."""

    theta: Floats  # (n_likenesses,) steps by which a likeness raises the logarithm of a weight
    gathered: Floats  # (n_likenesses,) sums of squared slopes so far
    # (n_tasks + 1, n_labels + 2, n_widths) how often each width would have foreseen a run of the task from one that
    # shares so many labels; the last are those of all tasks
    widths: Floats


class Weighed(NamedTuple):
    """The runs that a forecast rests on; the last one is the doubt."""

    use: Floats  # (m,) log bytes
    weight: Floats  # (m,) sum 1
    shared: Ints  # (m,) how many labels each shares, its task counted
    likeness: Floats  # (m, n_likenesses)
    hours: Floats  # (m,) of the runs; unused for the doubt


@compiled
def make_known(past: Past, task: int, n_known: int, seen: Ints, latest: Ints, before: Positions) -> None:
    """Link the runs of a task that have become known to the one before them with the same label."""
    for place in range(past.first[task] + seen[task], past.first[task] + n_known):
        for label in range(len(past.sharing)):
            code = past.sharing[label, place]
            if code >= 0:
                before[label, place] = latest[label, code]
                latest[label, code] = place
    seen[task] = max(seen[task], n_known)


@compiled
def looked_at(past: Past, run: int, n_own: int, n_ended: int, links: tuple[Ints, Positions], stamps: Ints) -> Ints:
    """The places of the known runs that a run is sized from: latest of its task, of its labels, of other tasks.

    `links` are the latest known run of each task with each label, and the one before each run; `stamps` (n,) the run
    that last looked at each.
    """
    latest, before = links
    result, n = np.empty(OWN + SHARING * len(past.sharing) + FOREIGN, np.int64), 0
    first = past.first[past.task[run]]
    for place in range(first + n_own - 1, max(first, first + n_own - OWN) - 1, -1):
        result[n], stamps[place] = place, run
        n += 1
    for label in range(len(past.sharing)):
        code = past.sharing[label, run]
        place, left = (latest[label, code] if code >= 0 else -1), SHARING
        while place >= 0 and left > 0:
            if stamps[place] != run:
                result[n], stamps[place] = place, run
                n += 1
            place, left = before[label, place], left - 1
    left, ended = FOREIGN, n_ended - 1
    while left > 0 and ended >= max(0, n_ended - 4 * FOREIGN):
        place = past.by_end[ended]
        if past.task[place] != past.task[run]:
            result[n] = place
            n, left = n + 1, left - 1
        ended -= 1
    return result[:n]


@compiled
def line_logs(past: Past, run: int, places: Ints) -> tuple[float, Floats]:
    """The logarithms of the line of use on input, through the runs of the task at `places`: at the run, at each.

    The line is followed down to half of the smallest use and up to twice the largest; NaN where inputs do not vary.
    """
    own = places[past.task[places] == past.task[run]]
    x, y, result = np.expm1(past.inputs[places]), np.exp(past.use[own]), np.full(len(places), np.nan)
    known = np.expm1(past.inputs[own])
    away = known - known.mean()
    spread = away @ away
    if len(own) < FEWEST_FOR_LINE or spread <= 0:
        return np.nan, result
    slope = away @ (y - y.mean()) / spread
    low, high = y.min() / FURTHEST, y.max() * FURTHEST
    for a in range(len(places)):
        result[a] = np.log(min(max(y.mean() + slope * (x[a] - known.mean()), low), high))
    there = y.mean() + slope * (np.expm1(past.inputs[run]) - known.mean())
    return float(np.log(min(max(there, low), high))), result


@compiled
def weighed(past: Past, run: int, places: Ints, n_own: int, learnt: Learnt) -> Weighed:
    """The runs at `places` with their weights.

    With inputs, a run of the task also stands carried along their line; a run of another task with another
    request also stands scaled.
    """
    n_labels, most = len(past.labels), 2 * len(places) + 1
    use, hours, shared = np.empty(most), np.zeros(most), np.zeros(most, np.int64)
    likeness, m = np.zeros((most, n_labels + 7)), 0
    youngest = past.first[past.task[run]] + n_own - 1
    line, lines = line_logs(past, run, places)
    for a in range(len(places)):
        j = places[a]
        for label in range(n_labels):
            if past.labels[label, run] >= 0 and past.labels[label, run] == past.labels[label, j]:
                likeness[m, label] = 1.0
                shared[m] += 1
        if past.task[j] == past.task[run]:
            likeness[m, n_labels + TASK] = 1.0
            shared[m] += 1
        age = youngest - j if past.task[j] == past.task[run] else a
        likeness[m, n_labels + AGE] = -np.log(1 + age / YOUTH)
        raised = past.request[run] - past.request[j]
        if not np.isnan(raised):
            likeness[m, n_labels + REQUEST] = -abs(raised)
        likeness[m, n_labels + INPUT] = -abs(past.inputs[run] - past.inputs[j])
        use[m], hours[m] = past.use[j], past.hours[j]
        m += 1
        own = past.task[j] == past.task[run]
        if own and not np.isnan(line):
            use[m], way = past.use[j] + line - lines[a], CARRIED
        elif not own and not np.isnan(raised) and raised != 0:
            use[m], way = past.use[j] + raised, SCALED
        else:
            continue
        hours[m], shared[m], likeness[m] = past.hours[j], shared[m - 1], likeness[m - 1]
        likeness[m, n_labels + way] = 1.0
        m += 1
    use[m] = past.request[run] if not np.isnan(past.request[run]) else use[:m].max()
    likeness[m, n_labels + DOUBT] = 1.0
    weight = np.exp(likeness[: m + 1] @ learnt.theta)
    return Weighed(use[: m + 1], weight / weight.sum(), shared[: m + 1], likeness[: m + 1], hours[: m + 1])


@compiled
def widths_of(learnt: Learnt, task: int) -> Floats:
    """(n_labels + 2, n_widths) shares of the kernels' widths: the task's own, drawn towards those of all."""
    every = learnt.widths[-1]
    widths = learnt.widths[task] + ALIKE * every / every.sum(axis=1).reshape(-1, 1)
    shares: Floats = widths / widths.sum(axis=1).reshape(-1, 1)
    return shares


@compiled
def exceeded(known: Weighed, widths: Floats, limit: float) -> Floats:
    """(n_chances,) log sizes that the use exceeds with `CHANCES`, none above `limit`.

    The weights stand in bins of the log use; the two-sided exponential kernels are two passes of a running sum.
    """
    highest = known.use.max()
    lowest = max(known.use.min(), highest - DEEPEST) - 0.05
    step = (highest + BEYOND_TOP - lowest) / BINS
    masses, density, above = np.zeros((len(WIDTHS), BINS)), np.zeros(BINS), 0.0
    for a in range(len(known.use) - 1):
        place = int((max(known.use[a], lowest) - lowest) / step)
        for z in range(len(WIDTHS)):
            masses[z, place] += known.weight[a] * widths[known.shared[a], z]
    masses[-1, int((max(known.use[-1], lowest) - lowest) / step)] += known.weight[-1]
    for z in range(len(WIDTHS)):
        decay = np.exp(-step / WIDTHS[z])
        share, running = (1 - decay) / (1 + decay), 0.0
        for b in range(BINS):
            running = running * decay + masses[z, b]
            density[b] += share * running
        above += share * running * decay / (1 - decay)
        running = 0.0
        for b in range(BINS - 1, -1, -1):
            density[b] += share * running
            running = (running + masses[z, b]) * decay
    sizes, b = np.empty(len(CHANCES)), BINS - 1
    for c in range(len(CHANCES) - 1, -1, -1):
        while b > 0 and above + density[b] < CHANCES[c]:
            above += density[b]
            b -= 1
        inside = (CHANCES[c] - above) / max(density[b], 1e-300)
        sizes[c] = min(lowest + step * (b + 1 - min(max(inside, 0.0), 1.0)), limit)
    return sizes


@compiled
def slopes(known: Weighed, widths: Floats, use: float, theta_slope: Floats, width_share: Floats) -> float:
    """Fill in the slope of the log density of a use by theta, and each width's share of it; return the log density."""
    parts = np.empty(len(known.use))
    for a in range(len(parts) - 1):
        away, part = abs(use - known.use[a]), 0.0
        for z in range(len(WIDTHS)):
            one = known.weight[a] * widths[known.shared[a], z] * np.exp(-away / WIDTHS[z]) / (2 * WIDTHS[z])
            width_share[known.shared[a], z] += one
            part += one
        parts[a] = part
    parts[-1] = known.weight[-1] * np.exp(-abs(use - known.use[-1]) / WIDTHS[-1]) / (2 * WIDTHS[-1])
    density = max(parts.sum(), 1e-300)
    width_share /= density
    theta_slope[:] = (parts / density - known.weight) @ known.likeness
    return float(np.log(density))


@compiled
def learn(learnt: Learnt, task: int, theta_slope: Floats, width_share: Floats) -> None:
    """Move towards what would have foreseen an ended run better; only the last three of theta may go below 0."""
    learnt.widths[task] += width_share
    learnt.widths[-1] += width_share
    for k in range(len(theta_slope)):
        learnt.gathered[k] += theta_slope[k] ** 2
        learnt.theta[k] += RATE * theta_slope[k] / np.sqrt(learnt.gathered[k])
        if k < len(theta_slope) - 3:
            learnt.theta[k] = max(learnt.theta[k], 0.0)


@compiled
def twice_as_many(rows: Floats) -> Floats:
    """An array with the same rows, and as many more of any content."""
    return np.concatenate((rows, rows))


@compiled
def fill_outlooks(past: Past, sized: SizedRuns, sizes: Floats, hours: Floats, n_own: Ints, score: Floats) -> None:
    """Fill in what is foreseen for each asked run (see `Outlook`, sizes as logarithms); learn as runs end."""
    n_labels, n = past.labels.shape
    n_codes = 1 if past.sharing.size == 0 else max(past.sharing.max(), 0) + 1
    latest, before = np.full((n_labels, n_codes), -1), np.full((n_labels, n), -1, np.int32)
    seen, stamps = np.zeros(len(past.first), np.int64), np.full(n, -1)
    theta = np.full(n_labels + 7, STEP)
    theta[n_labels + SCALED] = 0.0
    theta[n_labels + CARRIED] = theta[n_labels + DOUBT] = STEP_OF_DOUBT
    learnt = Learnt(theta, np.ones(n_labels + 7), np.zeros((len(past.first) + 1, n_labels + 2, len(WIDTHS))))
    learnt.widths[-1] = 1.0
    lessons, width_lessons = (
        np.empty((FIRST_LESSONS, n_labels + 7)),
        np.empty((FIRST_LESSONS, n_labels + 2, len(WIDTHS))),
    )
    lesson_of, free, n_free = np.full(n, -1, np.int32), np.arange(FIRST_LESSONS), FIRST_LESSONS
    n_ended, all_hours, highest = 0, 0.0, -np.inf
    for q in range(len(sized.place)):
        run = sized.place[q]
        while n_ended < len(past.by_end) and past.known_s[n_ended] <= sized.moment_s[q]:
            ended = past.by_end[n_ended]
            lesson = lesson_of[ended]
            if lesson >= 0:
                learn(learnt, past.task[ended], lessons[lesson], width_lessons[lesson])
                free[n_free] = lesson
                n_free += 1
            all_hours += past.hours[ended]
            highest = max(highest, past.use[ended])
            n_ended += 1
        row, n_known = sized.row[q], sized.n_known[q]
        n_own[row] = n_known
        if n_known == 0:
            hours[row], score[row] = np.nan, np.nan
            sizes[row] = np.nan
            continue
        make_known(past, past.task[run], n_known, seen, latest, before)
        places = looked_at(past, run, n_known, n_ended, (latest, before), stamps)
        known = weighed(past, run, places, n_known, learnt)
        widths = widths_of(learnt, past.task[run])
        top = max(highest, known.use[:-1].max())
        if not np.isnan(past.request[run]):
            top = max(top, past.request[run])
        sizes[row] = exceeded(known, widths, top + np.log(HIGHEST))
        runs_share = max(1 - known.weight[-1], 1e-300)
        own = (known.weight[:-1] @ known.hours[:-1]) / runs_share
        hours[row] = own if n_ended == 0 else (1 - UNKNOWN_HOURS) * own + UNKNOWN_HOURS * all_hours / n_ended
        if n_free == 0:
            n_free = len(free)
            lessons, width_lessons = twice_as_many(lessons), twice_as_many(width_lessons)
            free = np.concatenate((np.arange(n_free, 2 * n_free), free))
        n_free -= 1
        lesson = free[n_free]
        lesson_of[run] = lesson  # learned from only when the run has ended
        lessons[lesson], width_lessons[lesson] = 0.0, 0.0
        score[row] = slopes(known, widths, past.use[run], lessons[lesson], width_lessons[lesson])


@compiled
def chains(sizes: Floats, prices: Floats, time_to_failure: float, result: Floats, chance: Floats) -> None:
    """Fill in the sizes of least expected cost: the first one, those after failures, and the chance of the first kill.

    A size held costs size x (time to failure where it is too small, else 1), a kill its price. From the largest size
    back, the cheapest next one is known for each.

    `sizes` are (n, n_chances) bytes, exceeded with `CHANCES`; rows of NaN stay so. `prices` (n,) are of a kill, in
    bytes: of a size held for the expected run time. `result` is (n, STEPS), NaN after the largest.
    """
    saved, n_chances = 1 - time_to_failure, len(CHANCES)
    for i in range(len(sizes)):
        result[i], chance[i] = np.nan, np.nan
        if np.isnan(sizes[i, 0]):
            continue
        last = n_chances - 1
        while last > 0 and sizes[i, last - 1] >= sizes[i, last]:
            last -= 1
        after, then = np.empty(last + 1), np.full(last + 1, -1)
        after[last] = CHANCES[last] * (prices[i] + 2 * sizes[i, last])
        for k in range(last - 1, -1, -1):
            best = np.inf
            for m in range(k + 1, last + 1):
                cost = sizes[i, m] * (CHANCES[k] - saved * CHANCES[m]) + after[m]
                if cost < best:
                    best, then[k] = cost, m
            after[k] = CHANCES[k] * prices[i] + best
        place = np.argmin(sizes[i, : last + 1] * (1 - saved * CHANCES[: last + 1]) + after)
        chance[i], step = CHANCES[place], 0
        while place >= 0 and step < STEPS:
            result[i, step] = sizes[i, place]
            place, step = then[place], step + 1


def outlooks_of(tasks: Sequence[Task], clocks: Sequence[Clock]) -> tuple[Outlook, ...]:
    """What is foreseen for the runs to be sized, one outlook per task, rows as in its `sized`.

    Without a clock the tasks know nothing of each other.
    """
    if clocks:
        return _together(tasks, clocks)
    counting = [Clock(one.known_at - np.float64(0.5), np.arange(len(one), dtype=np.float64)) for one in tasks]
    return tuple(outlook for one, clock in zip(tasks, counting, strict=True) for outlook in _together([one], [clock]))


def _together(tasks: Sequence[Task], clocks: Sequence[Clock]) -> tuple[Outlook, ...]:
    first = np.cumsum([0, *(len(one) for one in tasks)])
    past = _past_of(tasks, np.concatenate([one.known_s for one in clocks]), first[:-1])
    moment_s = np.concatenate([one.moment_s for one in clocks])
    order = np.argsort(moment_s, kind="stable")
    place = np.concatenate([start + one.sized for start, one in zip(first, tasks, strict=False)])
    known = np.concatenate([one.known_at for one in tasks])[order].astype(np.int64)
    sized, n = SizedRuns(place[order], known, moment_s[order], order), len(order)
    sizes, hours, score, n_own = np.empty((n, len(CHANCES))), np.empty(n), np.empty(n), np.empty(n, np.int64)
    fill_outlooks(past, sized, sizes, hours, n_own, score)
    np.exp(sizes, out=sizes)
    ends = itertools.pairwise(np.cumsum([0, *(one.n_sized for one in tasks)]).tolist())
    return tuple(Outlook(sizes[a:b], hours[a:b], n_own[a:b], score[a:b]) for a, b in ends)


def _past_of(tasks: Sequence[Task], known_s: Floats, first: Ints) -> Past:
    task = np.repeat(np.arange(len(tasks)), [len(one) for one in tasks])
    codes = [np.concatenate([one.labels[name] for one in tasks]) for name in tasks[0].labels]
    labels = np.array(codes, dtype=np.int32).reshape(len(codes), len(task))
    sharing, widest = np.full(labels.shape, -1, dtype=np.int32), int(labels.max(initial=0)) + 1
    for row, code in zip(sharing, labels, strict=True):
        row[code >= 0] = np.unique((task * widest + code)[code >= 0], return_inverse=True)[1]
    by_end = np.argsort(known_s, kind="stable")
    return Past(
        use=np.log(np.concatenate([one.used_bytes for one in tasks])),
        request=np.log(np.concatenate([one.requested_bytes for one in tasks])),
        inputs=np.log1p(np.maximum(np.concatenate([one.inputs for one in tasks]), 0.0)),
        hours=np.concatenate([one.hours for one in tasks]),
        task=task,
        labels=labels,
        sharing=sharing,
        first=first,
        by_end=by_end,
        known_s=known_s[by_end],
    )


LEAST_HOURS = 1e-6


def cheapest_chains(outlook: Outlook, price_byte_h: Floats | float, time_to_failure: float) -> tuple[Floats, Floats]:
    """(n, STEPS) sizes in bytes, first and after kills (NaN = none left), and (n,) chances of the first kill.

    Rows of runs of whose task nothing was known are NaN.

    The price, (n,) or one for all, is of a kill on top of what its attempt is charged, in bytes x hours;
    `time_to_failure` is the share of the run time that a killed attempt is charged.
    """
    n = len(outlook.hours)
    result, chance = np.empty((n, STEPS)), np.empty(n)
    chains(outlook.sizes_bytes, price_byte_h / np.maximum(outlook.hours, LEAST_HOURS), time_to_failure, result, chance)
    return result, chance
