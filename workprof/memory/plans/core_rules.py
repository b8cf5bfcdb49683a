"""How many cores a task gets under a plan."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.units import PERCENT_FACTORS

NON_PARALLEL_TO_ONE, KEEP = "non_parallel_to_one", "keep"
CORE_RULES = (NON_PARALLEL_TO_ONE, KEEP)

ONE_CORE_PERCENT = PERCENT_FACTORS["cores"]
SHARE_WITHIN = 0.95


def cores_after(cores: Floats, used_percent: Floats, task: Ints, rule: str) -> tuple[Floats, Ints]:
    """Return (n,) cores that runs get, never more than they ask for, and the codes of the tasks that get one.

    Args:
        cores: (n,) asked for, NaN where nothing was.
        used_percent: (n,) CPU use, 100 = one core, NaN where it was not measured.
        task: (n,) codes.
        rule: 'keep', or 'non_parallel_to_one'.

    Source:
        The load-aware provisioning thesis, Table 12: non-parallel tasks get one core. It names the parallel tasks by
        what they are; ours is not parallel when 95 % of its measured runs use one core at most (mean over the run).
    """
    changed, single = cores.copy(), []
    for code in np.unique(task) if rule == NON_PARALLEL_TO_ONE else ():
        own = task == code
        measured = used_percent[own & ~np.isnan(used_percent)]
        if len(measured) and np.quantile(measured, SHARE_WITHIN) <= ONE_CORE_PERCENT:
            changed[own] = np.minimum(cores[own], 1.0)
            single.append(code)
    return changed, np.array(single, dtype=np.int64)
