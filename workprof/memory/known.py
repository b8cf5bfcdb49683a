"""What is known of the peers of a run at a moment: of its key, the runs that have ended by then.

A key is what a submit script can look up before the run: user, task and request, or what a trace has of these. A run
counts from its end on; one that was submitted and has not ended counts as running.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class SizedRuns:
    """Runs of one resource, in order of their submission."""

    rows: Ints  # (n,) positions in the table
    use: Floats  # (n,) above 0; of `killed` and `bound` runs at least so much
    request: Floats  # (n,) above 0
    hours: Floats  # (n,) 0 or more
    submit_s: Floats  # (n,) not falling
    start_s: Floats  # (n,) when they began to hold what they request
    end_s: Floats  # (n,) after the submission
    killed: Bools  # (n,) by the trace, for this resource: the use is above the request
    bound: Bools  # (n,) the use is a lower bound: it never lowers
    enforced: bool  # whether a use above the request will kill once sizes are applied
    levels: tuple[Ints, ...]  # (n,) codes of keys, the finest first

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def booked(self) -> Floats:
        """(n,) request x hours."""
        return self.request * self.hours

    @cached_property
    def by_end(self) -> Ints:
        """(n,) their places in order of their ends."""
        return np.argsort(self.end_s, kind="stable")

    def take(self, chosen: Bools | Ints | slice) -> SizedRuns:
        """Some of the runs, in their order; codes stay."""
        return replace(
            self,
            rows=self.rows[chosen],
            use=self.use[chosen],
            request=self.request[chosen],
            hours=self.hours[chosen],
            submit_s=self.submit_s[chosen],
            start_s=self.start_s[chosen],
            end_s=self.end_s[chosen],
            killed=self.killed[chosen],
            bound=self.bound[chosen],
            levels=tuple(level[chosen] for level in self.levels),
        )


@dataclass(frozen=True)
class Known:
    """Of each query: what its key's ended runs show."""

    n: Floats  # (m,) ended runs
    running: Floats  # (m,) submitted and not ended
    largest: Floats  # (m,) largest use
    log_sum: Floats  # (m,) sum of log use
    log_squares: Floats  # (m,) sum of squares of log use
    hours: Floats  # (m,) sum of hours
    above: Floats  # (m,) runs whose use was above their request, where that will kill
    cut: Floats  # (m,) runs that were killed: what they would have used is not known
    asked: Floats  # (m,) request of the run that was submitted last; 0 without any
    cut_use: Floats  # (m,) largest use that is known of the killed runs; 0 without any

    def take(self, chosen: Bools | Ints | slice) -> Known:
        """Some of the queries."""
        return Known(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    @property
    def weight(self) -> Floats:
        """(m,) runs that the ended ones are worth: n^2 / (n + running), as those that end first are the small ones."""
        return self.n * self.n / np.maximum(self.n + self.running, 1.0)

    @property
    def squares(self) -> Floats:
        """(m,) sum of squared deviations of log use from its mean."""
        result: Floats = np.maximum(self.log_squares - self.log_sum**2 / np.maximum(self.n, 1.0), 0.0)
        return result

    @property
    def mean_hours(self) -> Floats:
        """(m,) hours of an ended run."""
        result: Floats = self.hours / np.maximum(self.n, 1.0)
        return result


def known_of(runs: SizedRuns, query_s: Floats, of: Ints | None = None) -> tuple[Known, ...]:
    """Of every level what is known, as `known_at`; levels whose keys are the same runs share it."""
    found: list[Known] = []
    for level, key in enumerate(runs.levels):
        finer = runs.levels[level - 1]
        same = level > 0 and _alike(finer, key)
        found.append(found[-1] if same else known_at(runs, level, query_s, of))
    return tuple(found)


def _alike(finer: Ints, coarser: Ints) -> bool:
    """Whether two codings of runs tell the same runs apart."""
    if not len(finer) or finer.max() != coarser.max():
        return False
    first = np.full(int(finer.max()) + 1, -1, dtype=np.int64)
    first[finer] = coarser
    return bool((first[finer] == coarser).all())


def known_at(runs: SizedRuns, level: int, query_s: Floats, of: Ints | None = None) -> Known:
    """What is known of the peers of each run, in order of submission, at a moment (n,) of its own.

    A peer that ends just then has ended, one that is submitted just then is not known. Of runs that are not among `of`
    nothing is filled.
    """
    from workprof.memory.verdict_kernels import pass_events  # noqa: PLC0415  what only names a verdict loads no compiler

    key = runs.levels[level]
    n_keys = int(key.max()) + 1 if len(key) else 0
    out = np.zeros((10, len(runs)))
    pass_events(
        key,
        n_keys,
        np.log(runs.use),
        runs.use,
        runs.hours,
        runs.request,
        runs.killed,
        (runs.use > runs.request) & ~runs.killed & runs.enforced,
        runs.submit_s,
        runs.end_s,
        runs.by_end,
        query_s,
        np.argsort(query_s, kind="stable") if of is None else of[np.argsort(query_s[of], kind="stable")],
        out,
    )
    return Known(*out)


MOST_CODES = 2**62


def dense(values: Ints | Floats) -> Ints:
    """(n,) ranks of values among the different ones."""
    if values.dtype.kind == "i" and len(values) and values.min() >= 0 and values.max() < 4 * len(values) + 1000:
        there = np.zeros(int(values.max()) + 1, dtype=np.int64)
        there[values] = 1
        ranks: Ints = (np.cumsum(there) - 1)[values]
        return ranks
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def codes_of(parts: Sequence[Ints], coded: Callable[[Ints], Ints] = dense) -> Ints:
    """(n,) codes of the combinations of (n,) codes, -1 among them, in the order that `coded` gives values."""
    result, most = np.zeros(len(parts[0]), dtype=np.int64), 1
    for part in parts:
        wide = int(part.max(initial=0)) + 2
        if most * wide > MOST_CODES:
            result = coded(result)
            most = int(result.max(initial=0)) + 1
        result, most = result * wide + part + 1, most * wide
    return coded(result)


def first_of(values: Ints) -> tuple[Ints, Ints]:
    """Of each different value the first place that has it, in their order, and (n,) ranks."""
    place = dense(values)
    first = np.empty(int(place.max(initial=-1)) + 1, dtype=np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]  # of equal ones the first is written last
    return first, place
