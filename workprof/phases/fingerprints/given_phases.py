"""The fingerprint of a run whose phases are known already: seen live, or set by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workprof.arrays import Bools, Ints
from workprof.phases.fingerprints.fingerprints import Fingerprint
from workprof.phases.fingerprints.normalise import Normalised
from workprof.phases.fingerprints.statistics import phase_statistics
from workprof.phases.runs import Run


def fingerprint_of_phases(
    run: Run, series: Normalised, changes: Sequence[Ints], flags: Bools, distribution: str
) -> Fingerprint:
    """Return the fingerprint of a run.

    Args:
        run: as recorded.
        series: the same run, normalised.
        changes: of each counter, the first samples of the phases after the first.
        flags: (n_counters,) counters in which no change can be looked for.
        distribution: statistics of a phase, see `phase_statistics`.
    """
    summaries = [
        phase_statistics(one, own, distribution) for one, own in zip(series.for_statistics, changes, strict=True)
    ]
    n_phases = np.array([len(summary) for summary in summaries], dtype=np.int64)
    values = np.zeros((len(summaries), int(n_phases.max()), summaries[0].shape[1]))
    for row, summary in zip(values, summaries, strict=True):
        row[: len(summary)] = summary
    return Fingerprint(
        workload=run.workload,
        run=run.run,
        values=values,
        n_phases=n_phases,
        starts=np.concatenate([np.zeros(0, np.int64), *changes]),
        offsets=np.concatenate([[0], np.cumsum(n_phases - 1)]).astype(np.int64),
        flags=flags,
        missing=series.missing,
        n_samples=run.values.shape[1],
    )
