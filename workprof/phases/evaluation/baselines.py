"""What recognition without phases achieves: the most frequent workload, the nearest means, boosted trees."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from workprof.arrays import Floats
from workprof.phases.learner import boosted
from workprof.phases.runs import Run

BASELINES = ("majority", "nearest_means", "boosted_means")


def baseline_predictions(train: Sequence[Run], test: Sequence[Run], seed: int) -> dict[str, list[str]]:
    """Return what each baseline takes the test runs for.

    'majority': the most frequent workload of training. 'nearest_means': the training run whose counter means are
    nearest, in standard deviations of training. 'boosted_means': boosted trees on mean and deviation of each counter
    over the whole run.
    """
    labels = np.array([run.workload for run in train])
    names, counts = np.unique(labels, return_counts=True)
    before, after = _summaries(train), _summaries(test)
    n = before.shape[1] // 2
    trees = boosted(before, labels, seed)
    return {
        "majority": [str(names[counts.argmax()])] * len(test),
        "nearest_means": [str(labels[i]) for i in _nearest(before[:, :n], after[:, :n])],
        "boosted_means": [str(name) for name in trees.predict(after)],
    }


def _summaries(runs: Sequence[Run]) -> Floats:
    """Return mean and deviation of each counter (n_runs, 2 * n_counters); 0 where it is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a counter without a sample
        rows = [np.concatenate([np.nanmean(run.values, axis=1), np.nanstd(run.values, axis=1)]) for run in runs]
    result: Floats = np.nan_to_num(np.array(rows))
    return result


def _nearest(before: Floats, after: Floats) -> list[int]:
    mean, sd = before.mean(axis=0), before.std(axis=0)
    sd[sd == 0] = 1.0
    known, asked = (before - mean) / sd, (after - mean) / sd
    return [int(((known - one) ** 2).sum(axis=1).argmin()) for one in asked]
