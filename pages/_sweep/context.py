"""What every view of the Sweep page is handed."""

from __future__ import annotations

from dataclasses import dataclass

from pages._frame.visit import Visit
from workprof.store.reports import Dataset
from workprof.workbench.sweeps import SweepState


@dataclass(frozen=True)
class View:
    """A sweep on the page: where it comes from and how it stands."""

    visit: Visit
    dataset: Dataset
    state: SweepState
