"""What the benchmark suite is asked to do."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workprof.errors import SettingsError
from workprof.nodes.metrics.metrics import BENCHMARKS

LONGEST_S, MOST_RUNS, MOST_THREADS = 600, 1000, 256


@dataclass(frozen=True)
class SuiteSettings:
    """Bounds are checked when it is made.

    Attributes:
        node: name under which the runs are kept.
        seconds_per_benchmark: whole seconds that a tool measures, 1 to 600 (the published runs: 30).
        repeat: runs of each benchmark.
        stress_share: share of the runs of each benchmark that compete with stress-ng for the same resource, 0 to 0.9.
        budget_s: no run is begun that is not expected to end by then; infinite = as long as the plan takes.
        seed: of the order and of the choice of the stressed runs.
        threads: of sysbench, the same on every node that is to be compared.
        benchmarks: which of the six.
        note: kept with every run, for what the suite cannot see.

    Raises:
        SettingsError: for a value outside its bounds.
    """

    node: str
    seconds_per_benchmark: int = 5
    repeat: int = 1
    stress_share: float = 0.0
    budget_s: float = math.inf
    seed: int = 0
    threads: int = 4
    benchmarks: tuple[str, ...] = BENCHMARKS
    note: str = ""

    def __post_init__(self) -> None:
        if not self.node.strip():
            raise SettingsError("the node has no name; give --node NAME")
        if not 1 <= self.seconds_per_benchmark <= LONGEST_S:
            raise SettingsError(f"seconds per benchmark is {self.seconds_per_benchmark}; give 1 to {LONGEST_S}")
        if not 1 <= self.repeat <= MOST_RUNS:
            raise SettingsError(f"repeat is {self.repeat}; give 1 to {MOST_RUNS}")
        if not 0 <= self.stress_share <= 0.9:
            raise SettingsError(f"stress is {self.stress_share}; give a share from 0 to 0.9")
        if not self.budget_s > 0:
            raise SettingsError(f"budget is {self.budget_s} s; give more than 0")
        if not 1 <= self.threads <= MOST_THREADS:
            raise SettingsError(f"threads is {self.threads}; give 1 to {MOST_THREADS}")
        unknown = [name for name in self.benchmarks if name not in BENCHMARKS]
        if unknown or not self.benchmarks:
            raise SettingsError(f"benchmarks are {', '.join(unknown) or 'none'}; choose from {', '.join(BENCHMARKS)}")
