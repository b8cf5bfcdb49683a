"""How many times as long a task takes on another machine, from the benchmark scores of both and what is known of it."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.core.errors import NotEnoughData, SettingsError

SCORES = ("cpu", "linpack", "memory", "io")


@dataclass(frozen=True)
class MachineScores:
    """Scores of one machine; None = not measured, never 0.

    Raises SettingsError for a score that is not a positive number.
    """

    machine: str  # its name in the reports
    cpu: float | None = None  # sysbench cpu, events per second on one thread
    linpack: float | None = None  # floating-point rate (KFLOPS)
    memory: float | None = None  # sysbench memory, transfer rate (MiB/s)
    io: float | None = None  # disk requests per second

    def __post_init__(self) -> None:
        for name in SCORES:
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise SettingsError(
                    f"{name} of {self.machine} is {value}; a score is above 0, or absent if not measured"
                )


PUBLISHED_SCORES = {
    one.machine: one
    for one in (
        MachineScores("n1", cpu=369, linpack=3_620_426, memory=13_400, io=483),
        MachineScores("n2", cpu=467, linpack=4_045_289, memory=17_000, io=483),
        MachineScores("c2", cpu=523, linpack=4_602_096, memory=18_900, io=483),
        MachineScores("local", cpu=437, io=415),
        MachineScores("asok01", cpu=223, io=303),
        MachineScores("asok02", cpu=223, io=339),
    )
}
"""Source: n1, n2, c2 from Lotaru's public code of June 2022; the other three from `lotaru-g.csv` of py-lotaru, which
has no linpack and memory."""


def scores_of(machine: str, scores: Mapping[str, MachineScores]) -> MachineScores:
    """The scores of a machine; raises NotEnoughData when there are none."""
    try:
        return scores[machine]
    except KeyError:
        known = ", ".join(sorted(scores)) or "none"
        raise NotEnoughData(
            f"there are no scores of machine {machine!r}, only of: {known}; give a file of scores"
        ) from None


def ratio(local: MachineScores, target: MachineScores, name: str) -> float:
    """Score of local / score of target: how many times as long the target takes.

    Raises NotEnoughData when one of the two has no such score.
    """
    ours, theirs = getattr(local, name), getattr(target, name)
    if ours is None or theirs is None:
        lacking = local.machine if ours is None else target.machine
        raise NotEnoughData(f"machine {lacking} has no {name} score")
    return float(ours / theirs)


def scores_from_frame(frame: pd.DataFrame) -> dict[str, MachineScores]:
    """The scores per machine, of columns machine, cpu, linpack, memory, io; NaN = not measured.

    Raises SettingsError for a machine named twice, or a score that is not above 0.
    """
    twice = frame["machine"][frame["machine"].duplicated()]
    if len(twice):
        raise SettingsError(f"machine {twice.iloc[0]!r} has two rows of scores; keep one")
    return {
        str(row["machine"]): MachineScores(
            str(row["machine"]), **{name: None if pd.isna(row[name]) else float(row[name]) for name in SCORES}
        )
        for row in frame.to_dict("records")
    }


TaskBenchmarks = Mapping[tuple[str, str], Mapping[str, float]]
"""(workflow, task) in lower case -> machine -> seconds that a short run of the task itself takes there."""


@cache
def published_task_benchmarks() -> TaskBenchmarks:
    """The medians of three short runs of each task on six machines.

    Source: `bio-bench-*.csv` of Lotaru's public code (Bader et al. 2024). Tasks that were not measured there (-1 or 1
    on every machine) are left out.
    """
    table = pd.read_csv(Path(__file__).with_name("lotaru_a.csv"))
    keys = zip(table["workflow"].astype(str), table["task"].astype(str), strict=True)
    rows = table.drop(columns=["workflow", "task"]).to_dict("records")
    return {key: {str(name): float(value) for name, value in row.items()} for key, row in zip(keys, rows, strict=True)}


def task_ratio(benchmarks: TaskBenchmarks, task: tuple[str, str], local: str, target: str) -> float | None:
    """How many times as long the target takes for a short run of the task; None where nothing tells.

    Source: Lotaru-A (Bader et al. 2024): median run on the target / on the local machine; a task that was not measured
    takes the median of its workflow's. Ours differs in nothing.
    """
    key = (task[0].lower(), task[1].lower())
    known = {one: row[target] / row[local] for one, row in benchmarks.items() if {local, target} <= row.keys()}
    if key in known:
        return known[key]
    others = [value for (workflow, _), value in known.items() if workflow == key[0]]
    return float(np.median(others)) if others else None


@dataclass(frozen=True)
class TaskTraits:
    """What a factor may know of a task besides the machines' scores."""

    busy: float = 1.0  # share (0-1) of the runtime in which it computes
    # how many times as long the target takes for a short run of the task itself; None = not measured
    own_ratio: float | None = None
    # by how much its runtimes follow the scores, as runs on further machines show; 1 = as the scores say
    exponent: float = 1.0


COMPUTE_SCORES = ("cpu", "linpack", "memory")
FactorRule = Callable[[MachineScores, MachineScores, TaskTraits], float]


@dataclass(frozen=True)
class Factor:
    """A rule for the factor."""

    name: str  # of the setting
    title: str  # what it is, in words
    rule: FactorRule  # (local, target, what is known of the task) -> factor
    scales_median: bool  # whether it also applies to tasks whose runtime does not follow their input size


def shared_scores(local: MachineScores, target: MachineScores) -> list[str]:
    """Which of the compute scores both machines have."""
    return [name for name in COMPUTE_SCORES if getattr(local, name) is not None and getattr(target, name) is not None]


def compute_ratio(local: MachineScores, target: MachineScores, own_ratio: float | None = None) -> float:
    """The median of the cpu, linpack and memory ratios that both machines have (of two: the geometric mean).

    Each of the three is one kind of computing; the median keeps a benchmark that is untypical of the work, such as
    sysbench's integer division, from deciding alone.

    `own_ratio`, of the task's own benchmark, is one more ratio.

    Raises NotEnoughData when they share none of the three, and there is no benchmark of the task.
    """
    shared = shared_scores(local, target)
    if not shared and own_ratio is None:
        raise NotEnoughData(
            f"machines {local.machine} and {target.machine} share no score of {', '.join(COMPUTE_SCORES)}"
        )
    ratios = [ratio(local, target, name) for name in shared] + ([own_ratio] if own_ratio is not None else [])
    return float(np.exp(np.median(np.log(ratios))))


def task_mix(local: MachineScores, target: MachineScores, busy: float, own_ratio: float | None = None) -> float:
    """Busy * compute ratio + (1 - busy) * io ratio; the compute ratio alone where a machine has no io score.

    Source: Lotaru's idea of 2022, where the share came from a run at reduced clock
    frequency; ours takes it from the CPU use that the local runs show, so that it needs no further runs.
    """
    computing = compute_ratio(local, target, own_ratio)
    if local.io is None or target.io is None:
        return computing
    return busy * computing + (1 - busy) * ratio(local, target, "io")


SCORES_THAT_AGREE = 2
"""Compute scores that two machines need in common to be believed beside a task's own benchmark: a single one cannot be
checked against another, and the time of the task itself says more of it."""


def with_own_benchmark(local: MachineScores, target: MachineScores, busy: float, own_ratio: float | None) -> float:
    """The geometric mean of `task_mix`, the task's own benchmark one more kind of computing, and the cpu ratio.

    The benchmark alone where the machines share too few scores. Two rules with equal weight, as forecasts are combined:
    on the six pairs of n1, n2 and c2 without history neither the mix (.1048 from n2 to n1) nor the task's own benchmark
    (Lotaru-A, .103 there) is the better one everywhere; their like with the cpu ratio is at most Lotaru-A on all six.

    Source: ours; the benchmark is Lotaru-A's.
    """
    if own_ratio is not None and len(shared_scores(local, target)) < SCORES_THAT_AGREE:
        return own_ratio
    mixed = task_mix(local, target, busy, own_ratio)
    if own_ratio is None or local.cpu is None or target.cpu is None:
        return mixed
    return math.sqrt(mixed * ratio(local, target, "cpu"))


LEAST_EVIDENCE = 0.1
"""Squared log ratio of two machines' scores from which on a task's own runs there weigh as much as the scores: machines
that are alike tell nothing of how a task follows them. With an error of .1 in a task's log ratio and exponents that
scatter by .3 it is (.1 / .3)^2; between .03 and .3 the errors over the six pairs of n1, n2 and c2 hardly change."""


def per_task(local: MachineScores, target: MachineScores, traits: TaskTraits) -> float:
    """The factor of scores and the task's own benchmark, to the power of its exponent."""
    return float(with_own_benchmark(local, target, traits.busy, traits.own_ratio) ** traits.exponent)


def exponent(measured: Iterable[tuple[float, float]]) -> float:
    """By how much a task's runtimes follow the scores of machines: least squares, held near 1.

    `measured` has for each further machine the ln of the factor that the scores say, and of the one that the task's
    runs on the same inputs show.
    """
    pairs = list(measured)
    both = sum(expected * shown for expected, shown in pairs) + LEAST_EVIDENCE
    return both / (sum(expected * expected for expected, _ in pairs) + LEAST_EVIDENCE)


def lotaru_a(local: MachineScores, target: MachineScores, traits: TaskTraits) -> float:
    """The ratio of the task's own benchmark, see `task_ratio`.

    Raises NotEnoughData when it was measured on neither of the machines.
    """
    if traits.own_ratio is None:
        raise NotEnoughData(f"no task of the workflow has a benchmark on both {local.machine} and {target.machine}")
    return traits.own_ratio


def lotaru(local: MachineScores, target: MachineScores, _traits: TaskTraits) -> float:
    """.5 (.5 cpu + .5 linpack) + .5 io, each a ratio local / target; the task counts for nothing.

    Source: Lotaru (Bader et al. 2022); ours differs in nothing.
    """
    computing = (ratio(local, target, "cpu") + ratio(local, target, "linpack")) / 2
    return (computing + ratio(local, target, "io")) / 2


def _cpu(local: MachineScores, target: MachineScores, _traits: TaskTraits) -> float:
    return ratio(local, target, "cpu")


def _cpu_and_memory(local: MachineScores, target: MachineScores, _traits: TaskTraits) -> float:
    return (ratio(local, target, "cpu") + ratio(local, target, "memory")) / 2


FACTORS = {
    one.name: one
    for one in (
        Factor("none", "no factor", lambda _l, _t, _b: 1.0, scales_median=False),
        Factor("lotaru", "Lotaru 2022, as published", lotaru, scales_median=False),
        Factor(
            "lotaru-g",
            "Lotaru-G 2023, as published: half cpu, half io",
            lambda local, target, _t: (ratio(local, target, "cpu") + ratio(local, target, "io")) / 2,
            scales_median=False,
        ),
        Factor("lotaru_a", "Lotaru-A 2023, as published: the task's own benchmark", lotaru_a, scales_median=False),
        Factor("cpu-ratio", "ratio of sysbench cpu", _cpu, scales_median=False),
        Factor("cpu-memory", "half cpu, half memory", _cpu_and_memory, scales_median=False),
        Factor("cpu-ratio-all", "ratio of sysbench cpu, for medians too", _cpu, scales_median=True),
        Factor("cpu-memory-all", "half cpu, half memory, for medians too", _cpu_and_memory, scales_median=True),
        Factor(
            "task-mix",
            "computing and waiting scaled apart, per task",
            lambda local, target, traits: task_mix(local, target, traits.busy),
            scales_median=True,
        ),
        Factor(
            "per-task",
            "task-mix, own benchmark and cpu ratio together, as far as runs on further machines follow them",
            per_task,
            scales_median=True,
        ),
    )
}
DEFAULT_FACTOR = "per-task"
"""Ours, for reasons and not for a grid's best: it keeps the ratio of the scores, no benchmark decides alone, a faster
core does not shorten waiting, and a task that was measured elsewhere is believed. It was picked with sight of the
errors on n1, n2 and c2, so its row by Table III is in-sample; leaving each workflow out (`workflow_holdout`), learning
on n1 or c2 instead of n2, and each pair with the third machine as history test the choice."""


def factor_named(name: str) -> Factor:
    """The factor of that name; raises SettingsError when there is none."""
    try:
        return FACTORS[name]
    except KeyError:
        raise SettingsError(f"factor is {name!r}; choose from {', '.join(FACTORS)}") from None
