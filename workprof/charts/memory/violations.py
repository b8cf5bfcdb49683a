"""The runs that a plan is too small for, in words and as a table."""

from __future__ import annotations

import pandas as pd

from workprof.charts.memory.tasks import shown
from workprof.charts.text import counted
from workprof.memory.plan import Violations
from workprof.units import GB, format_share


def violations_sentence(found: Violations) -> str:
    """Return how many runs of the history are above their size."""
    if not found.n_above:
        return f"None of {counted(found.n_runs, 'run')} of this history is above its size."
    share = format_share(found.n_above / found.n_runs)
    listed = "" if found.n_above <= len(found.row_ids) else f"; the worst {len(found.row_ids)} are listed"
    are = "is" if found.n_above == 1 else "are"
    return f"{found.n_above:,} of {counted(found.n_runs, 'run')} ({share}) {are} above the size of the plan{listed}."


def violations_table(found: Violations) -> pd.DataFrame:
    """Return one line per listed run, the one that is short by most first."""
    return pd.DataFrame(
        {
            "row_id": found.row_ids,
            "task": [shown(task) for task in found.tasks],
            "used_gb": found.used_bytes / GB,
            "size_gb": found.size_bytes / GB,
            "short_gb": found.short_bytes / GB,
            "hours": found.hours,
            "full_name": found.tasks,
        }
    )
