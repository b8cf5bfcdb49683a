"""How the runs of a key use memory, against those of it that had ended when they started; written slowly."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

LEAST_KNOWN = 5


@dataclass(frozen=True)
class KeyMemory:
    """Over the runs that know at least five others of their key.

    Attributes:
        runs: how many they are.
        log_sd: median of the standard deviation of log use of the known.
        of_largest: median of use over the largest known.
        above_largest: share of runs that use more than the largest known.
        needed: mean over GB·h requested of 1.25 times the largest known over the request, at most 1.
    """

    runs: int
    log_sd: float
    of_largest: float
    above_largest: float
    needed: float


def key_memory(rows: pd.DataFrame) -> KeyMemory:
    """Measure rows of the joined PAI sample; a key is what one user requests for one task."""
    spreads, shares, needed, weights = [], [], [], []
    for _, runs in rows.groupby(["user", "task_name", "plan_mem"]):
        start, end, use, request = (runs[name].to_numpy() for name in ("start_time", "end_time", "max_mem", "plan_mem"))
        for run in range(len(runs)):
            known = use[end <= start[run]]
            if len(known) < LEAST_KNOWN:
                continue
            spreads.append(np.log(known).std(ddof=1))
            shares.append(use[run] / known.max())
            needed.append(min(1.0, 1.25 * known.max() / request[run]))
            weights.append(request[run] * (end[run] - start[run]))
    return KeyMemory(
        runs=len(shares),
        log_sd=float(np.median(spreads)),
        of_largest=float(np.median(shares)),
        above_largest=float(np.mean(np.array(shares) > 1)),
        needed=float(np.average(needed, weights=weights)),
    )
