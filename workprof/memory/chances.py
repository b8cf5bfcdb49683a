"""How likely the next run of a key uses more than a size: learned on the past of all keys, forward in time.

The next run exceeds the largest of n independent ones with probability 1 / (n + 1). How far it goes beyond depends on
how the uses of its key are spread, and now and then a key changes as a whole. So, with w runs worth of history, s the
spread of the key's log use and m the size over the largest known use:

    P(use > m x largest) = exp(b0 - b1 log(w + 1)) x f x ((1 - h) (1 + z / 3)^(-3 b2) + h m^(-1 / t))
    z = log m x sqrt(2 log(w + 1)) / s

The first term is the chance of a record, the second how far a record of a stable key goes (a Lomax distribution), the
third how far a key goes that changes. All are learned from ended runs of the trace, with weak priors; f is the key's
own records over the expected ones. Runs that were submitted together, as those of an array, exceed together: where b
records come at once in the mean (of records), a key's own weigh 1 / b.
"""

from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.memory.known import Known, SizedRuns

FEWEST_KNOWN = 2
"""A key with fewer ended runs has no chances."""

PRIOR_SPREAD, PRIOR_SPREAD_RUNS, KEY_SPREAD_RUNS = 0.2, 2.0, 3.0
"""Of log use, what it weighs in the pooled spread, and what the pooled one weighs in a key's."""
PRIOR_RECORD = np.array([0.0, 1.0]), np.array([1.0, 4.0])
"""b0 and b1 of independent runs, and the precisions of both."""
PRIOR_BEYOND = (2.0, 0.1, 10.0, 0.5, 5.0)
"""Runs that the tail weighs; h and its runs; t and its runs."""
PRIOR_KEY_RECORDS = 2.0
PRIOR_LONGER_RUNS, MOST_LONGER = 5.0, 5.0
STEPS = 60


@dataclass(frozen=True)
class Chances:
    """A fitted model of one level of keys."""

    record: Floats  # (2,) b0, b1
    tail: float  # b2
    heavy_share: float  # h
    heavy_scale: float  # t
    spread: float  # pooled, of log use
    key_factor: Floats  # (n_keys,) f
    longer: float  # hours of runs that exceed the largest known use, over the mean hours of their key; 1 to 5
    n_runs: int  # learned from
    n_records: int  # of them, above the largest known use


def fit_chances(runs: SizedRuns, known: Known, level: int, past: Ints, n_keys: int, booked: float) -> Chances:
    """The model of runs that have ended, each `known` at its own moment; `booked` is the mean request x hours.

    Source: b0, b1: maximum a posteriori of a binomial model with a logarithmic link (Newton); b2, h, t: expectation
    maximisation of the mixture. Conditional quantiles of the forecaster and tags of samples gained nothing.
    """
    from workprof.memory import chance_kernels as kernels  # noqa: PLC0415  what only names a verdict loads no compiler

    key, cell, records = runs.levels[level], np.empty(len(past), dtype=np.int64), np.empty((4, len(past)))
    sums, seen, expected = np.zeros(5), np.zeros(n_keys), np.zeros(n_keys)
    figures = (known.n, known.running, known.largest, known.log_sum, known.log_squares, known.hours)
    n_runs, n_records, cells = kernels.look_back(
        past, key, (runs.use, runs.request, runs.hours, runs.submit_s), figures, cell, records, sums, seen
    )
    squares, free, own, usual, together = sums.tolist()
    burst = together / n_records if n_records else 1.0
    variance = (squares + PRIOR_SPREAD**2 * PRIOR_SPREAD_RUNS) / (free + PRIOR_SPREAD_RUNS)
    record = kernels.fit_records(cells, *PRIOR_RECORD, STEPS)
    beyond, log_weight, squared, n = records[:, :n_records]
    spread = np.sqrt((squared + variance * KEY_SPREAD_RUNS) / (n - 1 + KEY_SPREAD_RUNS))
    tail, share, scale = kernels.fit_beyond(beyond, np.sqrt(2 * log_weight) / spread, np.array(PRIOR_BEYOND), 2 * STEPS)
    kernels.add_chances(past, key, known.n, cell, cells, record, expected)
    longer = (own + PRIOR_LONGER_RUNS * booked) / (usual + PRIOR_LONGER_RUNS * booked) if booked > 0 else 1.0
    return Chances(
        record=record,
        tail=tail,
        heavy_share=share,
        heavy_scale=scale,
        spread=float(np.sqrt(variance)),
        key_factor=(seen + burst * PRIOR_KEY_RECORDS) / (expected + burst * PRIOR_KEY_RECORDS),
        longer=float(np.clip(longer, 1.0, MOST_LONGER)),
        n_runs=n_runs,
        n_records=n_records,
    )
