"""Runs of a task on a machine, in two parts, and the runs that are predicted from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workprof.arrays import Floats
from workprof.errors import ColumnMissing, NoRows
from workprof.nodes.transfer.published import TEST_SEQUENCES

REPORT_COLUMNS = ("workflow", "task", "label", "sequences", "input_bytes", "runtime_s", "cpu_percent")
PARTS = (1, 2)
TaskKey = tuple[str, str]


@dataclass(frozen=True)
class TaskRuns:
    """Runs of one task, the smallest workflow input first.

    Attributes:
        input_bytes: (n_runs,) of the task itself, uncompressed.
        runtime_s: (n_runs,) seconds, above 0.
        cpu_percent: (n_runs,) mean use, 100 = one core; NaN where it was not measured.
    """

    input_bytes: Floats
    runtime_s: Floats
    cpu_percent: Floats

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.runtime_s)

    def but_largest(self) -> TaskRuns:
        """Return all runs except the one of the largest workflow input."""
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
    """What is predicted.

    Attributes:
        cases: in the order part, task, target.
        n_untrained: tasks and parts with a single local run, which leaves nothing to learn from.
        n_absent: predictions that fail because the target has no run of the task in that part.
    """

    cases: tuple[TransferCase, ...]
    n_untrained: int
    n_absent: int


def task_runs(report: pd.DataFrame, part: int) -> dict[TaskKey, TaskRuns]:
    """Return the runs of a part per (workflow, task), the smallest input first.

    Args:
        report: one machine's runs with `REPORT_COLUMNS`.
        part: 1 or 2.

    Raises:
        ColumnMissing: when a column is absent.

    Source: perona.md 5.2, points 1 and 2. Ours differs for workflows that the publication did not have: no rule says
    which of their test rows belongs to which part, so all count in both.
    """
    missing = [name for name in REPORT_COLUMNS if name not in report.columns]
    if missing:
        raise ColumnMissing(f"a report has no column {', '.join(missing)}")
    kept = report[_in_part(report, part)].sort_values("sequences", kind="stable")
    return {
        (str(workflow), str(task)): TaskRuns(
            runs["input_bytes"].to_numpy(np.float64),
            runs["runtime_s"].to_numpy(np.float64),
            runs["cpu_percent"].to_numpy(np.float64),
        )
        for (workflow, task), runs in kept.groupby(["workflow", "task"])
    }


def transfer_cases(reports: Mapping[str, pd.DataFrame], local: str, targets: tuple[str, ...]) -> TransferCases:
    """Return every prediction from local to targets: per task and part, the largest run of both parts.

    Args:
        reports: machine -> its runs with `REPORT_COLUMNS`.
        local: the machine that is learned from, without its largest run of the part.
        targets: may hold `local` itself: then the model alone is tested.

    Raises:
        NoRows: when not a single prediction can be made.
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
