"""How memory and cores are rolled up: rows, measure, plan, price."""

from __future__ import annotations

from dataclasses import dataclass, field

from workprof.errors import SettingsError
from workprof.memory.money import Price
from workprof.memory.plans.core_rules import CORE_RULES, NON_PARALLEL_TO_ONE
from workprof.memory.plans.plans import PlanSettings
from workprof.memory.rollup.measures import MEAN, MEASURES

GROUPINGS = {
    "task": ("task_name",),
    "workflow": ("workload",),
    "run": ("run_name",),
    "namespace": ("namespace", "group"),
}
"""What rows may be, and the columns that say so, the first that is there."""


@dataclass(frozen=True)
class RollupSettings:
    """Settings of a roll-up.

    Attributes:
        by: one of `GROUPINGS`.
        measure: 'mean', 'peak' or 'one_each'.
        plan: how the sizes after are chosen.
        cores: 'non_parallel_to_one' (tasks that use one core at most get one) or 'keep'.
        request_bytes: request of runs that have none in the table; 0 = those runs are left out.
        price: of memory.
    """

    by: str = "task"
    measure: str = MEAN
    plan: PlanSettings = field(default_factory=PlanSettings)
    cores: str = NON_PARALLEL_TO_ONE
    request_bytes: float = 0.0
    price: Price = field(default_factory=Price)

    def __post_init__(self) -> None:
        for name, choices in (("by", tuple(GROUPINGS)), ("measure", MEASURES), ("cores", CORE_RULES)):
            if getattr(self, name) not in choices:
                raise SettingsError(f"{name} is {getattr(self, name)!r}; choose from {', '.join(choices)}")
        if not 0 <= self.request_bytes < float("inf"):
            raise SettingsError(f"request_bytes is {self.request_bytes}; give bytes, 0 for none")
