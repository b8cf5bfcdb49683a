"""Values that repeat: a scrape slower than the query's step gives stairs, a target that has gone a plateau."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workprof.formats.measured import Check
from workprof.formats.telemetry.times import usual_step

STAIR_STEPS = 1.5
"""Values that change at most every so many steps are stairs."""

STALE_PERIODS = 3
"""So many periods without a change of any series at the end mean that the target had gone."""


def plateau_checks(series: list[pd.Series], run: str) -> tuple[Check, ...]:
    """Return what repeated values of one run's series tell; series that never change tell nothing."""
    filled = [one.dropna() for one in series]
    changing = [one for one in filled if len(one) > 1 and np.ptp(one.to_numpy(dtype=np.float64)) > 0]
    if not changing:
        return ()
    step = usual_step(changing[0].index.to_numpy(dtype=np.float64))
    period_s = float(np.median([_period(one) for one in changing]))
    found = []
    if step > 0 and period_s > STAIR_STEPS * step:
        told = (
            f"{run}: values change every {period_s:g} s although a point is given every {step:g} s (the target is "
            f"read less often); ask again with step={period_s:g}"
        )
        found.append(Check("stairs", "warning", len(changing), told))
    stale = min(_unchanged_end(one) for one in changing)
    if stale > STALE_PERIODS * max(period_s, step) / max(step, 1e-9):
        told = f"{run}: the last {stale:,} points repeat: the target had gone, Prometheus repeats for up to 5 minutes"
        found.append(Check("stale_end", "warning", stale, told))
    return tuple(found)


def _period(one: pd.Series) -> float:
    """Return the median time between two changes."""
    values, times = one.to_numpy(dtype=np.float64), one.index.to_numpy(dtype=np.float64)
    changed = times[1:][np.diff(values) != 0]
    return float(np.median(np.diff(changed))) if changed.size > 1 else float(np.median(np.diff(times)))


def _unchanged_end(one: pd.Series) -> int:
    values = one.to_numpy(dtype=np.float64)
    changes = np.flatnonzero(np.diff(values) != 0)
    return int(values.size - 2 - changes[-1]) if changes.size else int(values.size)
