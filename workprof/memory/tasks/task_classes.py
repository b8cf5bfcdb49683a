"""Light, moderate and heavy tasks: which tasks fit one small size, which a medium one, and which need a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats
from workprof.errors import SettingsError
from workprof.memory.bins.search import best_edges, needs_of
from workprof.units import GB

LIGHT, MODERATE, HEAVY = "light", "moderate", "heavy"
CLASSES = (LIGHT, MODERATE, HEAVY)

LIGHT_GB, MODERATE_GB = 5.0, 20.0
"""The thesis' sizes of light and moderate tasks (its Table 12)."""

FIXED, AUTO = "fixed", "auto"


@dataclass(frozen=True)
class ClassSettings:
    """Where the classes end.

    Attributes:
        limits: 'fixed' = as given here; 'auto' = the three sizes that cover all tasks most cheaply.
        light_gb: size of light tasks, GB.
        moderate_gb: size of moderate tasks, GB; not below `light_gb`.
        headroom: share of its largest use that a task keeps free above it, 0-3.
        weight: of a task in the automatic limits: 'count' (its runs) or 'time' (their hours).
    """

    limits: str = FIXED
    light_gb: float = LIGHT_GB
    moderate_gb: float = MODERATE_GB
    headroom: float = 0.05
    weight: str = "time"

    def __post_init__(self) -> None:
        if self.limits not in (FIXED, AUTO):
            raise SettingsError(f"limits is {self.limits!r}; choose from {FIXED}, {AUTO}")
        if self.weight not in ("count", "time"):
            raise SettingsError(f"weight is {self.weight!r}; choose from count, time")
        if not 0 < self.light_gb <= self.moderate_gb < float("inf"):
            raise SettingsError(
                f"light ends at {self.light_gb} GB and moderate at {self.moderate_gb} GB; give two sizes above 0, "
                "the first not above the second"
            )
        if not 0 <= self.headroom <= 3:
            raise SettingsError(f"headroom is {self.headroom}; give a share between 0 and 3, such as 0.05")


@dataclass(frozen=True)
class TaskClasses:
    """The class of every task.

    Attributes:
        light_bytes, moderate_bytes: where the classes end.
        classes: (n_tasks,) 'light', 'moderate' or 'heavy'.
        counts: class -> tasks.
    """

    light_bytes: float
    moderate_bytes: float
    classes: tuple[str, ...]
    counts: dict[str, int]


def task_classes(most_bytes: Floats, weights: Floats, settings: ClassSettings) -> TaskClasses:
    """Return the classes of tasks.

    Args:
        most_bytes: (n_tasks,) largest use of each task.
        weights: (n_tasks,) runs or hours; they matter to the automatic limits only.
        settings: limits and headroom.

    Source:
        The load-aware provisioning thesis, section 5.2, which names the classes by eye (Figure 13) and states no rule.
        Ours: light when largest use x (1 + headroom) <= light size, moderate when <= moderate size, else heavy.
    """
    needed = most_bytes * (1.0 + settings.headroom)
    light, moderate = settings.light_gb * GB, settings.moderate_gb * GB
    if settings.limits == AUTO and len(needed):
        light, moderate = _cheapest_limits(needed, weights)
    codes = np.searchsorted(np.array([light, moderate]), needed)
    classes = tuple(CLASSES[code] for code in codes)
    return TaskClasses(light, moderate, classes, {name: classes.count(name) for name in CLASSES})


def _cheapest_limits(needed: Floats, weights: Floats) -> tuple[float, float]:
    """Return the two lower of the three cheapest sizes; with fewer sizes than three there are no heavy tasks."""
    counted = weights if weights.sum() > 0 else np.ones(len(needed))
    edges = best_edges(needs_of(needed, counted), len(CLASSES))[-1].edges_bytes
    return float(edges[0]), float(edges[min(1, len(edges) - 1)])
