"""How much of what was asked for is used: memory and CPU, every run counting as one or by its hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.columns import numbers_if_present
from workprof.memory.runs import Runs
from workprof.units import HOUR_S

if TYPE_CHECKING:
    import pandas as pd

MEMORY, CPU = "memory", "cpu"


@dataclass(frozen=True)
class Utilisation:
    """Use over request of one resource.

    Attributes:
        resource: 'memory' (bytes) or 'cpu' (percent, 100 = one core).
        n: runs with a use and a request.
        n_without_request: runs with a use only; they are in no sum.
        n_without_use: rows with a request only.
        used: sum of the uses of the n runs.
        requested: sum of their requests.
        utilisation: used / requested; NaN without a run. Above 1 where runs use more than they ask for.
        utilisation_by_time: the same, runs weighted by their hours; NaN when no run took time.
    """

    resource: str
    n: int
    n_without_request: int
    n_without_use: int
    used: float
    requested: float
    utilisation: float
    utilisation_by_time: float


@dataclass(frozen=True)
class Pairs:
    """Uses and requests, NaN where there is none, and hours; all (n,)."""

    used: Floats
    requested: Floats
    hours: Floats

    def take(self, chosen: Bools | Ints) -> Pairs:
        """Return some of the rows."""
        return Pairs(self.used[chosen], self.requested[chosen], self.hours[chosen])


def utilisation_of(pairs: Pairs, resource: str) -> Utilisation:
    """Return the utilisation of rows.

    Source:
        The load-aware provisioning thesis, Table 5 (by count, from the largest use of every run); by time is ours.
    """
    used, requested = pairs.used > 0, pairs.requested > 0
    both = used & requested
    hours = np.where(pairs.hours >= 0, pairs.hours, 0.0)[both]
    use, request = pairs.used[both], pairs.requested[both]
    return Utilisation(
        resource=resource,
        n=int(both.sum()),
        n_without_request=int((used & ~requested).sum()),
        n_without_use=int((requested & ~used).sum()),
        used=float(use.sum()),
        requested=float(request.sum()),
        utilisation=_ratio(use, request, np.ones(len(use))),
        utilisation_by_time=_ratio(use, request, hours),
    )


def memory_pairs(runs: Runs) -> Pairs:
    """Return use and request of memory, in bytes."""
    return Pairs(runs.used_bytes, runs.requested_bytes, runs.hours)


def cpu_pairs(jobs: pd.DataFrame) -> Pairs:
    """Return use and request of CPU of every row, in percent; NaN throughout where the table has no such column.

    Traces keep the mean use over a run where the thesis has the largest sample, so ours is the lower figure.
    """
    nothing = np.full(len(jobs), np.nan)
    columns = [numbers_if_present(jobs, name) for name in ("cpu_usage_percent", "requested_cpu_percent", "duration_s")]
    used, requested, seconds = (nothing if column is None else column for column in columns)
    return Pairs(used, requested, seconds / HOUR_S)


def _ratio(used: Floats, requested: Floats, weights: Floats) -> float:
    below = float((requested * weights).sum())
    return float((used * weights).sum()) / below if below > 0 else float("nan")
