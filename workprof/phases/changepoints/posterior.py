"""The whole table of run lengths of one series, for looking at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workprof.arrays import Floats
from workprof.errors import NotEnoughData
from workprof.phases.changepoints.prior import prior_of
from workprof.phases.changepoints.settings import ChangePointSettings
from workprof.phases.changepoints.standard_series import standard_series

MOST_SAMPLES = 4000
"""Its table has 128 MB."""


def log_posterior(series: Floats, settings: ChangePointSettings) -> Floats:
    """Return log P(r_t = r | y_1..y_t) at [t, r] (T + 1, T + 1), minus infinity where r > t. Nothing is pruned.

    P(r_t = 0) is the hazard at every t, whatever the data: no signal of a change. Look at P(r_t <= w), w of 3 or so.

    Args:
        series: (T,) one counter; missing samples are not scored and have no row.
        settings: priors and hazard.

    Raises:
        NotEnoughData: when the series is too long for a table.

    Source:
        CWD, equations 1-4. y_t is scored under the old run even when r_t = 0; r counts the samples after the change.
    """
    from workprof.phases.changepoints.run_lengths import RunLengths  # noqa: PLC0415  numba

    n_samples = int(np.count_nonzero(np.isfinite(series)))
    if n_samples > MOST_SAMPLES:
        raise NotEnoughData(f"a table of {n_samples:,} samples is too large; give at most {MOST_SAMPLES:,} of them")
    ready = standard_series(series[None], settings)
    values = ready.values[:, ready.present[0]]
    lengths = RunLengths(replace(prior_of(settings, len(series), float(np.mean(values**2))), prune=0.0), 1)
    table = np.full((n_samples + 1, n_samples + 1), -np.inf)
    table[0, 0] = 0.0
    for t in range(n_samples):
        lengths.take(values[:, t : t + 1])
        runs, probabilities = lengths.posterior()
        table[t + 1, runs] = probabilities
    return table
