"""What earlier computations of this home took: the ground of an estimate."""

from __future__ import annotations

from pages._frame.visit import Visit
from workprof.charts.estimate import EarlierRun


def runs(visit: Visit, step: str) -> tuple[EarlierRun, ...]:
    """Return the kept computations of a step with the rows of their datasets, newest first."""
    rows = {entry.hash: entry.finished_rows for entry in visit.workbench.datasets()}
    kept = ((about.key.partition(":")[0], about) for about in visit.workbench.runs() if about.step == step)
    return tuple(
        EarlierRun(dataset, rows[dataset], about.settings, about.seconds) for dataset, about in kept if dataset in rows
    )
