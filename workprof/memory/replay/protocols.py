"""In which order a replay meets the runs, and which of them are history from the start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.errors import NotEnoughData
from workprof.memory.policies.sequence import Sequence
from workprof.memory.runs import Runs

SIZEY, SUBMIT_TIME = "sizey", "submit-time"
PROTOCOLS = (SIZEY, SUBMIT_TIME)

SIZEY_FEWEST_RUNS = 34
SIZEY_ONLINE_SHARE = 0.7
SIZEY_TARGET, SIZEY_INPUT = "rss", "rchar"


@dataclass(frozen=True)
class Ordered:
    """The tasks of a table, ready for a replay.

    Attributes:
        sequences: one per task.
        moments: per task, (n,) what the curve is ordered by: time of submission where known, else the place in order.
        cold: whether the initial histories are charged too, at their requests.
        n_without_input: runs whose input was missing; they take the median of their task's initial history.
        left_out: reason -> runs.
    """

    sequences: tuple[Sequence, ...]
    moments: tuple[Floats, ...]
    cold: bool
    n_without_input: int
    left_out: dict[str, int]


def sizey_order(runs: Runs, inputs: Floats, seed: int) -> Ordered:
    """Return the tasks as the published harness shuffles them: 30 % history, 70 % one after another.

    Tasks with fewer than 34 runs, then tasks with a run time of 0, are left out.

    Source: memory.md 1.1 and 2.1; `train_test_split(test_size=0.7, random_state=seed)` of scikit-learn per task.

    Raises:
        NotEnoughData: when no task is left.
    """
    from sklearn.model_selection import train_test_split  # noqa: PLC0415  heavy

    left_out = {"task with fewer than 34 runs": 0, "task with a run time of 0": 0}
    orders: list[tuple[Ints, int]] = []
    for rows in _rows_by_task(runs):
        if len(rows) < SIZEY_FEWEST_RUNS:
            left_out["task with fewer than 34 runs"] += len(rows)
        elif (runs.hours[rows] == 0).any():
            left_out["task with a run time of 0"] += len(rows)
        else:
            known, online = train_test_split(rows, test_size=SIZEY_ONLINE_SHARE, random_state=seed)
            orders.append((np.concatenate([known, online]), len(known)))
    if not orders:
        raise NotEnoughData("no task has 34 runs with a run time above 0; replay in the order of submission instead")
    return _ordered(runs, inputs, orders, left_out, seed=seed)


def submit_order(runs: Runs, inputs: Floats, cold_runs: int) -> Ordered:
    """Return the tasks in the order of submission (of the table where no time is known), cold at first.

    A run is known to those submitted after it, though it may not have finished by then.

    Args:
        runs: of the table.
        inputs: (n,) NaN where missing.
        cold_runs: runs of each task that start at their request.
    """
    orders = []
    for rows in _rows_by_task(runs):
        by_time = rows[np.argsort(runs.submit_s[rows], kind="stable")]
        orders.append((by_time, min(cold_runs, len(rows))))
    return _ordered(runs, inputs, orders, {}, seed=None)


def _rows_by_task(runs: Runs) -> list[Ints]:
    """Return the rows of each task, in the table's order; empty tasks are passed over."""
    order = np.argsort(runs.task, kind="stable")
    cuts = np.flatnonzero(np.diff(runs.task[order])) + 1
    return [rows for rows in np.split(order, cuts) if len(rows)]


def _ordered(
    runs: Runs, inputs: Floats, orders: list[tuple[Ints, int]], left_out: dict[str, int], *, seed: int | None
) -> Ordered:
    known = np.concatenate([rows[:n_known] for rows, n_known in orders])
    mean_run = float((runs.used_bytes[known] * runs.hours[known]).mean())
    sequences, moments, n_without = [], [], 0
    for rows, n_known in orders:
        filled, n_missing = _filled(inputs[rows], n_known)
        n_without += n_missing
        sequences.append(
            Sequence(
                task=runs.tasks[int(runs.task[rows[0]])],
                used_bytes=runs.used_bytes[rows],
                hours=runs.hours[rows],
                requested_bytes=runs.requested_bytes[rows],
                inputs=filled,
                n_known=n_known,
                mean_run_byte_h=mean_run,
                seed=seed or 0,
            )
        )
        places = np.arange(len(rows), dtype=np.float64)
        timed = seed is None and bool(np.isfinite(runs.submit_s[rows]).all())
        moments.append(runs.submit_s[rows] if timed else places)
    return Ordered(tuple(sequences), tuple(moments), seed is None, n_without, left_out)


def _filled(inputs: Floats, n_known: int) -> tuple[Floats, int]:
    """Return inputs without gaps, and how many there were: the median of the initial history, 0 where that has none."""
    missing = ~np.isfinite(inputs)
    if not missing.any():
        return inputs, 0
    early = inputs[:n_known][~missing[:n_known]]
    return np.where(missing, float(np.median(early)) if len(early) else 0.0, inputs), int(missing.sum())
