"""Runtime of a task from its input size, learned from a few runs on one machine; the runs, and what is predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workprof.core.arrays import Floats
from workprof.core.errors import ColumnMissing, NoRows
from workprof.core.units import DURATION_FACTORS

TEST_SEQUENCES: dict[str, tuple[frozenset[int], frozenset[int]]] = {
    "eager": (frozenset({26308272}), frozenset({81035690})),
    "bacass": (frozenset({6781558}), frozenset({8113606})),
    "methylseq": (frozenset({55627460}), frozenset({73484606})),
    "atacseq": (frozenset({75192126}), frozenset({63053586})),
    "chipseq": (frozenset({28597378, 27241477}), frozenset({239695842, 191221075})),
}
"""Which `test` rows belong to the first and to the second part, by their NumberSequences. Source: Lotaru's
public code of June 2022."""


REPORT_COLUMNS = ("workflow", "task", "label", "sequences", "input_bytes", "runtime_s", "cpu_percent")
PARTS = (1, 2)
TaskKey = tuple[str, str]


@dataclass(frozen=True)
class TaskRuns:
    """Runs of one task, the smallest workflow input first."""

    input_bytes: Floats  # (n_runs,) of the task itself, uncompressed
    runtime_s: Floats  # (n_runs,) seconds, above 0
    cpu_percent: Floats  # (n_runs,) mean use, 100 = one core; NaN where it was not measured

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.runtime_s)

    def but_largest(self) -> TaskRuns:
        """All runs except the one of the largest workflow input."""
        return TaskRuns(self.input_bytes[:-1], self.runtime_s[:-1], self.cpu_percent[:-1])


@dataclass(frozen=True)
class TransferCase:
    """A run on a target machine, and the local runs that it is predicted from."""

    workflow: str
    task: str
    part: int
    target: str
    training: TaskRuns
    input_bytes: float
    runtime_s: float


@dataclass(frozen=True)
class TransferCases:
    """What is predicted."""

    cases: tuple[TransferCase, ...]  # in the order part, task, target
    n_untrained: int  # tasks and parts with a single local run, which leaves nothing to learn from
    n_absent: int  # predictions that fail because the target has no run of the task in that part


def task_runs(report: pd.DataFrame, part: int) -> dict[TaskKey, TaskRuns]:
    """The runs of part 1 or 2 per (workflow, task), the smallest input first; the report has `REPORT_COLUMNS`.

    Raises ColumnMissing when a column is absent.

    Source: Lotaru's public code of June 2022. Ours differs for workflows that the publication did not have: no rule
    says which of their test rows belongs to which part, so all count in both.
    """
    missing = [name for name in REPORT_COLUMNS if name not in report.columns]
    if missing:
        raise ColumnMissing(f"a report has no column {', '.join(missing)}")
    rows = report[_in_part(report, part)].sort_values("sequences", kind="stable")
    return {
        (str(workflow), str(task)): TaskRuns(
            runs["input_bytes"].to_numpy(np.float64),
            runs["runtime_s"].to_numpy(np.float64),
            runs["cpu_percent"].to_numpy(np.float64),
        )
        for (workflow, task), runs in rows.groupby(["workflow", "task"])
    }


def transfer_cases(reports: Mapping[str, pd.DataFrame], local: str, targets: tuple[str, ...]) -> TransferCases:
    """Every prediction from local to targets: per task and part, the largest run of both parts.

    The local machine is learned from without its largest run of the part. Where `targets` hold it, the model alone is
    tested.

    Raises NoRows when not a single prediction can be made.
    """
    runs = {
        (machine, part): task_runs(reports[machine], part)
        for machine in dict.fromkeys((local, *targets))
        for part in PARTS
    }
    cases: list[TransferCase] = []
    n_untrained = n_absent = 0
    for part in PARTS:
        for key, known in runs[local, part].items():
            training = known.but_largest()
            if not len(training):
                n_untrained += 1
                continue
            for target in targets:
                measured = [runs[target, other].get(key) for other in (part, 3 - part)]
                n_absent += sum(one is None for one in measured)
                cases.extend(
                    TransferCase(*key, part, target, training, float(one.input_bytes[-1]), float(one.runtime_s[-1]))
                    for one in measured
                    if one is not None
                )
    if not cases:
        raise NoRows(f"{local} and {', '.join(targets)} have no task in common with two or more runs on {local}")
    return TransferCases(tuple(cases), n_untrained, n_absent)


def _in_part(report: pd.DataFrame, part: int) -> pd.Series:
    test = report["label"] == "test"
    for workflow, halves in TEST_SEQUENCES.items():
        test &= (report["workflow"] != workflow) | report["sequences"].isin(halves[part - 1])
    return test | (report["label"] == f"train-{part}")


CORRELATED = 0.8
"""Pearson's r from which on input size tells runtime, as in Lotaru."""

KS_CONFIDENCE = 0.9
"""Of the critical value in Online-P: .369 at n = 10 is the tabulated one of this confidence."""


@dataclass(frozen=True)
class LocalRuntime:
    """What a model says of the machine that it learned from."""

    runtime_s: float  # predicted
    from_line: bool  # True = the line through the runs, False = their median, because size does not tell runtime


def correlation(runs: TaskRuns) -> float:
    """Pearson's r of input size and runtime; NaN where one of them never changes or there is one run."""
    if len(runs) < 2 or not np.ptp(runs.input_bytes) > 0 or not np.ptp(runs.runtime_s) > 0:
        return float("nan")
    return float(np.corrcoef(runs.input_bytes, runs.runtime_s)[0, 1])


def naive(runs: TaskRuns, input_bytes: float) -> float:
    """mean(runtime / size) times the size, in seconds.

    Source: Lotaru's public code of June 2022; ours differs in nothing.
    """
    return float(np.mean(runs.runtime_s / runs.input_bytes) * input_bytes)


def online_m(runs: TaskRuns, input_bytes: float) -> float:
    """The runtime per byte of the run nearest in size times the size, or the median runtime, in seconds.

    Source: as `naive` (the first of equally near runs; r above, not at, 0.8); ours differs in nothing.
    """
    if correlation(runs) > CORRELATED:
        nearest = int(np.argmin(np.abs(runs.input_bytes - input_bytes)))
        return float(runs.runtime_s[nearest] / runs.input_bytes[nearest] * input_bytes)
    return float(np.median(runs.runtime_s))


def online_p(runs: TaskRuns, input_bytes: float, rng: np.random.Generator, n_draws: int) -> Floats:
    """(n_draws,) runtimes in seconds as `online_m`, but draws from a fitted distribution in place of the median.

    Source: as `naive`. The published comparison of a p-value with the critical value of the distance is a
    slip, and a gamma of shape = mean (in milliseconds, scale 1) hardly ever fits; both are kept. Ours differs in the
    draws, and computes the critical value instead of looking it up.
    """
    if correlation(runs) > CORRELATED or len(runs) < 2 or not np.ptp(runs.runtime_s) > 0:
        return np.full(n_draws, online_m(runs, input_bytes))
    from scipy import stats  # noqa: PLC0415  heavy

    millisecond = DURATION_FACTORS["ms"]
    runtimes_ms = runs.runtime_s / millisecond
    mean, spread = float(runtimes_ms.mean()), float(runtimes_ms.std(ddof=1))
    critical = float(stats.kstwo.ppf(KS_CONFIDENCE, len(runs)))
    if stats.kstest(runtimes_ms, stats.norm(mean, spread).cdf).pvalue > critical:
        return rng.normal(mean, spread, n_draws) * millisecond
    if stats.kstest(runtimes_ms, stats.gamma(mean).cdf).pvalue > critical:
        return rng.gamma(mean, size=n_draws) * millisecond
    return np.full(n_draws, np.median(runs.runtime_s))


def line_or_median(runs: TaskRuns, input_bytes: float) -> LocalRuntime:
    """The least-squares line at this size, or the median runtime where r is below 0.8.

    Source: Lotaru's model (Bader et al. 2022); ours differs in nothing. The line may be negative far outside.
    """
    if not correlation(runs) >= CORRELATED:
        return LocalRuntime(float(np.median(runs.runtime_s)), from_line=False)
    size, time = runs.input_bytes, runs.runtime_s
    apart = size - size.mean()
    slope = float(apart @ (time - time.mean()) / (apart @ apart))
    return LocalRuntime(float(time.mean() + slope * (input_bytes - size.mean())), from_line=True)


def busy_share(runs: TaskRuns) -> float:
    """The share (0-1) of the runtime in which the task computes, as its largest run shows it.

    A core or more in use counts as computing all the time; below that, the rest is waiting. The largest run stands
    for the larger one that is predicted: start-up, when a task waits, weighs less there. 1 where use is not known.
    """
    known: Floats = runs.cpu_percent[np.isfinite(runs.cpu_percent)]
    return float(np.clip(known[-1] / 100, 0.0, 1.0)) if len(known) else 1.0
