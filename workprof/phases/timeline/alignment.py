"""Which second of one run goes with which second of another: the warping path, for the picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.errors import NotEnoughData


@dataclass(frozen=True)
class Alignment:
    """Two runs laid over each other.

    Attributes:
        path: (n_steps, 2) samples of the first and the second run that go together, both rising.
        cost: sum of Manhattan distances along the path.
        mean_cost: that per step and counter.
    """

    path: Ints
    cost: float
    mean_cost: float


def alignment_of(first: Floats, second: Floats) -> Alignment:
    """Return how two runs go together with the least Manhattan distance over all counters.

    Args:
        first: (n_counters, T) normalised series, see `normalised`; missing samples count as the mean, 0.
        second: (n_counters, T') likewise.

    Raises:
        NotEnoughData: when a run has no sample, or the counters differ in number.
    """
    if first.shape[0] != second.shape[0] or 0 in (*first.shape, *second.shape):
        raise NotEnoughData(f"runs of {first.shape} and {second.shape} counters and samples cannot be aligned")
    from tslearn.metrics import dtw_path_from_metric  # noqa: PLC0415  heavy

    one, other = (np.ascontiguousarray(np.nan_to_num(series).T) for series in (first, second))
    path, cost = dtw_path_from_metric(one, other, metric="cityblock")
    steps = np.array(path, dtype=np.int64)
    return Alignment(steps, float(cost), float(cost) / (len(steps) * len(first)))
