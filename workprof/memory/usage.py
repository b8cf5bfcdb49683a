"""The runs that sizing rests on: use, request, hours; requests for runs without one; the curve of use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present, numbers_of, sorted_codes
from workprof.core.causes import (
    CAUSES,
    KILLS,
    LOWER_BOUND,
    OUT_OF_MEMORY,
    causes_of,
    still_running,
    was_killed_for_memory,
)
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.fields import Setting
from workprof.core.long_table import JobTable, parts_of
from workprof.core.text import near
from workprof.core.units import GB, HOUR_S

if TYPE_CHECKING:
    import pandas as pd


USAGE_COLUMNS = {"peak_rss": "peak_memory_bytes", "rss": "rss"}
"""What may be sized for: the peak decides whether a run is killed; the published harness compares with rss."""

TARGET_WORDS = {"peak_rss": "Peak RSS", "rss": "RSS"}

Target = Annotated[
    str,
    Setting(
        "What counts as the use of a run.",
        choices={
            "peak_rss": "the largest use, which decides whether it is killed",
            "rss": "what the published harness compares with",
        },
        key="memory_target",
        shown=TARGET_WORDS,
        label="Memory measure",
    ),
]
Task = Annotated[str, Setting("Name of the task.", empty="all tasks", key="memory_task")]
Request = Annotated[
    float,
    Setting(
        "Request of runs that have none in the table.",
        unit="bytes",
        least=0,
        empty="leave them out",
        key="memory_request",
        label="Assume one request for all",
    ),
]
Headroom = Annotated[
    float,
    Setting(
        "Kept free above the use of every run, as a share of it.", unit="share", least=0, most=5, key="memory_headroom"
    ),
]

NONE_FINISHED = "no run has finished, and sizes are of finished runs; the ledger adds up what others hold"

ALL_RUNS, NO_TASK = "all runs", "(no task name)"
"""Name of the one task of a table without task names."""


LABELS = (
    *("job_name", "user", "group", "workload", "run_name", "gpu_type"),
    *("requested_cpu_percent", "requested_gpu_percent", "instances"),
)
NO_INPUT = "none"
REQUEST = "request"
"""What is known of a run at submission besides its task, request and input."""


@dataclass(frozen=True)
class Runs:
    """Runs with a known use of memory and a known time, in the order of the table."""

    rows: Ints  # (n,) positions in the table that they come from
    task: Ints  # (n,) codes of their tasks
    tasks: tuple[str, ...]  # (n_tasks,) names, sorted
    used_bytes: Floats  # (n,) above 0
    # (n,) whether the use is only known to be at least `used_bytes`: measured by task only, or of a run that was killed
    # for memory
    lower_bound: Bools
    requested_bytes: Floats  # (n,) NaN where nothing was requested
    hours: Floats  # (n,) run time, 0 or more; some clocks have whole seconds
    submit_s: Floats  # (n,) time of submission, NaN where it is not known
    # (n,) when they began: the start, else the submission, else the end less the run time; NaN without any
    start_s: Floats
    end_s: Floats  # (n,) when they were over: the end, else start + run time; NaN where `start_s` is
    # what is known of a run at submission -> (n,) codes, -1 = missing: the columns of `LABELS` that the table has, and
    # 'request', a code per requested size
    labels: Mapping[str, Ints]
    left_out: Mapping[str, int]  # reason -> rows of the table that are not here

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, name: str) -> Runs:
        """The runs of one task; codes and names stay. Raises SettingsError as `task_named`."""
        return self.take(self.task == self.tasks.index(task_named(self.tasks, name)))

    def take(self, chosen: Bools | Ints) -> Runs:
        """Some of the runs; codes and names stay."""
        return replace(
            self,
            rows=self.rows[chosen],
            task=self.task[chosen],
            used_bytes=self.used_bytes[chosen],
            lower_bound=self.lower_bound[chosen],
            requested_bytes=self.requested_bytes[chosen],
            hours=self.hours[chosen],
            submit_s=self.submit_s[chosen],
            start_s=self.start_s[chosen],
            end_s=self.end_s[chosen],
            labels={name: codes[chosen] for name, codes in self.labels.items()},
        )


def rows_by_task(runs: Runs) -> list[Ints]:
    """The rows of each task, in the table's order; empty tasks are passed over."""
    order = np.argsort(runs.task, kind="stable")
    cuts = np.flatnonzero(np.diff(runs.task[order])) + 1
    return [rows for rows in np.split(order, cuts) if len(rows)]


def task_named(tasks: Sequence[str], name: str) -> str:
    """The task of a name; the last part of a ':'-separated one will do where it is the only such task.

    Raises SettingsError when there is no such task, or more than one.
    """
    if name in tasks:
        return name
    result = [task for task in tasks if name and task.endswith(f":{name}")]
    if len(result) == 1:
        return result[0]
    if result:
        raise SettingsError(f"task {name!r} is short for {len(result)} tasks; choose one of {', '.join(result[:8])}")
    meant = near(name, (*tasks, *(task.rpartition(":")[2] for task in tasks)))
    raise SettingsError(f"there is no task {name!r}; choose one of {', '.join(tasks[:8])}{meant}")


def runs_of(jobs: pd.DataFrame, target: str = "peak_rss", *, unmeasured: bool = False) -> Runs:
    """The runs of a job table: the target's column and `duration_s`, further ones of the store where there are any.

    With `unmeasured` runs without a use are among them, which is NaN then, and there may be no other.

    Raises:
        SettingsError: for an unknown target.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no row is left.
    """
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    if target not in USAGE_COLUMNS:
        raise SettingsError(f"target is {target!r}; choose from {', '.join(USAGE_COLUMNS)}")
    if not len(jobs):
        raise NotEnoughData(NONE_FINISHED)
    for name in (USAGE_COLUMNS[target], "duration_s"):
        if name not in jobs.columns:
            lacks = f"memory sizing needs the column {name}, which the table lacks"
            raise ColumnMissing(f"{lacks}; {jobs.attrs.get('without_use') or 'map it when you ingest'}")
    used, seconds = numbers_of(jobs, USAGE_COLUMNS[target]), numbers_of(jobs, "duration_s")
    without_use, untimed = ~(used > 0), ~(seconds >= 0)
    left_out = {"no use of memory": int(without_use.sum()), "no run time": int((untimed & ~without_use).sum())}
    rows = np.flatnonzero(~untimed if unmeasured else ~(without_use | untimed))
    if not unmeasured and not len(rows):
        raise none_measured(len(jobs), target)
    requested = _or_nothing(jobs, "requested_memory_bytes")[rows]
    requested = np.where(requested > 0, requested, np.nan)
    task, tasks = _tasks(jobs, rows)
    start_s, end_s = _clock(jobs, seconds)
    return Runs(
        rows=rows,
        task=task,
        tasks=tasks,
        used_bytes=np.where(without_use, np.nan, used)[rows],
        lower_bound=_lower_bounds(jobs)[rows],
        requested_bytes=requested,
        hours=seconds[rows] / HOUR_S,
        submit_s=_or_nothing(jobs, "submit_time_s")[rows],
        start_s=start_s[rows],
        end_s=end_s[rows],
        labels=_labels(jobs, rows) | {REQUEST: pd.factorize(requested)[0].astype(np.int64)},
        left_out=left_out,
    )


def inputs_of(jobs: pd.DataFrame, runs: Runs, name: str) -> Floats:
    """(n,) inputs of the runs of a table, 0 where none is chosen, NaN where one is missing.

    Raises ColumnMissing where the table has no such column, or no number in it.
    """
    if name == NO_INPUT:
        return np.zeros(len(runs))
    if name not in jobs.columns:
        raise ColumnMissing(f"the table has no column {name} to size from; choose another input, or none")
    values = numbers_of(jobs, name)[runs.rows]
    if not np.isfinite(values).any():
        raise ColumnMissing(f"the column {name} has no numbers to size from; choose another input, or none")
    return values


def none_measured(n: int, target: str) -> NotEnoughData:
    """The error of so many rows without one that has a use and a run time."""
    return NotEnoughData(f"none of {n:,} rows has {USAGE_COLUMNS[target]} above 0 and a run time")


def _or_nothing(jobs: pd.DataFrame, name: str) -> Floats:
    result = numbers_if_present(jobs, name)
    return np.full(len(jobs), np.nan) if result is None else result


def _lower_bounds(jobs: pd.DataFrame) -> Bools:
    """(n_rows,) whether a row's use is only known to be at least so large."""
    return np.asarray((_or_nothing(jobs, LOWER_BOUND) > 0) | was_killed_for_memory(jobs))


def _clock(jobs: pd.DataFrame, seconds: Floats) -> tuple[Floats, Floats]:
    """(n_rows,) starts and ends; an end before its start is a fault of the trace, and start + run time holds."""
    submit, start, end = (_or_nothing(jobs, name) for name in ("submit_time_s", "start_time_s", "end_time_s"))
    start = np.where(np.isfinite(start), start, np.where(np.isfinite(submit), submit, end - seconds))
    return start, np.where(end >= start, end, start + seconds)


def _labels(jobs: pd.DataFrame, rows: Ints) -> dict[str, Ints]:
    present = [name for name in LABELS if name in jobs.columns]
    return {name: sorted_codes(jobs[name].iloc[rows])[0] for name in present}


def _tasks(jobs: pd.DataFrame, rows: Ints) -> tuple[Ints, tuple[str, ...]]:
    """Codes and names of the tasks, by name; runs without a name are tasks of that name."""
    if "task_name" not in jobs.columns:
        return np.zeros(len(rows), dtype=np.int64), (ALL_RUNS,)
    named = jobs["task_name"].iloc[rows]
    if named.isna().any():
        named = named.astype("object").where(named.notna(), NO_TASK)
    return sorted_codes(named)


def lower_bound_words(n: int, n_runs: int) -> str:
    """That the use of so many runs is only a lower bound."""
    return f"use is only known per task for {n:,} of {n_runs:,} runs: a lower bound, from which nothing is lowered"


def with_flat_request(runs: Runs, request_bytes: float) -> Runs:
    """The runs with a request for those that have none; 0 bytes = as they are."""
    if not request_bytes:
        return runs
    requested = np.where(np.isnan(runs.requested_bytes), request_bytes, runs.requested_bytes)
    return replace(runs, requested_bytes=requested)


def requesting(runs: Runs) -> Runs:
    """The runs that have a request, the others counted in what is left out; raises NotEnoughData when none has."""
    known = ~np.isnan(runs.requested_bytes)
    if not known.any():
        raise NotEnoughData(
            "no run has a request of memory; give one that stands for all of them (in a shell: --request)"
        )
    return replace(runs.take(known), left_out=dict(runs.left_out) | {"no request": int((~known).sum())})


@dataclass(frozen=True)
class Evidence:
    """Runs that did not finish, and what they tell."""

    cause: str  # one of `CAUSES`
    n_runs: int  # rows
    n_bounds: int  # of them, those that size others: killed for memory, so their use is at least their limit
    # run time that was lost, or, of runs that still run, that is known so far; rows without one add nothing
    hours: float
    requested_gb_h: float  # request x those hours; rows without a request add nothing


def finished_of(jobs: pd.DataFrame) -> pd.DataFrame:
    """The rows that finished and were never killed for memory, without the column that says so.

    They are all of a table without that column.
    """
    done, rows = causes_of(jobs) < 0, jobs.drop(columns="finished", errors="ignore")
    return (rows if done.all() else rows[done]).reset_index(drop=True)


def finished_for_sizes(jobs: pd.DataFrame, target: str) -> pd.DataFrame:
    """The finished rows; one whose use is only a lower bound counts as using its request, if that is more.

    Nothing says that less would do.
    """
    finished, column = finished_of(jobs), USAGE_COLUMNS[target]
    bounds = _or_nothing(finished, LOWER_BOUND) > 0
    if not bounds.any() or column not in finished.columns:
        return finished
    used, requested = numbers_of(finished, column), _or_nothing(finished, "requested_memory_bytes")
    result: pd.DataFrame = finished.assign(**{column: np.where(bounds, np.fmax(used, requested), used)})
    return result


def killed_for_memory(jobs: pd.DataFrame, target: str, last_s: float | None = None) -> pd.DataFrame:
    """The rows that were killed for memory, with their limit as their use where none above it was measured.

    A row without a run time, or without either a limit or a use, tells nothing and is not among them; one that still
    runs has run up to the end of the trace, which is `last_s` where these are rows of a longer one.
    """
    killed, column = was_killed_for_memory(jobs), USAGE_COLUMNS[target]
    rows, ran = jobs[killed], _ran_s(jobs, _last_s(jobs) if last_s is None else last_s)[killed]
    bound = np.fmax(_or_nothing(rows, column), _or_nothing(rows, "requested_memory_bytes"))
    result: pd.DataFrame = rows.assign(**{column: bound, "duration_s": ran})[(bound > 0) & (ran >= 0)]
    return result


def _last_s(jobs: pd.DataFrame) -> float:
    """When the last run was over; -inf where that is not known."""
    return float(np.fmax.reduce(_clock(jobs, _or_nothing(jobs, "duration_s"))[1], initial=-np.inf))


def _ran_s(jobs: pd.DataFrame, last_s: float) -> Floats:
    """(n,) run times, of runs that go on up to the end of the trace; NaN where that is not known."""
    seconds = _or_nothing(jobs, "duration_s")
    still = still_running(jobs)
    if not still.any() or not np.isfinite(last_s):
        return seconds
    return np.where(still & np.isnan(seconds), last_s - _clock(jobs, seconds)[0], seconds)


JUST_ABOVE = 1 + 1e-9


def with_killed(jobs: pd.DataFrame, target: str) -> pd.DataFrame:
    """The rows that sizes rest on: those that finished, then those killed for memory.

    A killed run counts as one that uses just more than its limit: it is a kill where its request is enforced, and a
    size that holds it is above its limit.
    """
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    finished, killed = finished_for_sizes(jobs, target), killed_for_memory(jobs, target)
    if killed.empty:
        return finished
    column = USAGE_COLUMNS[target]
    above = killed.assign(**{column: killed[column] * JUST_ABOVE}).drop(columns=["finished", KILLS], errors="ignore")
    return pd.concat([finished, above.assign(**{LOWER_BOUND: 1.0})], ignore_index=True)


def evidence_of(jobs: JobTable, target: str) -> tuple[Evidence, ...]:
    """What did not finish, by cause, in the order of `CAUSES`; empty where all rows did."""
    found = [(_last_s(part), part[causes_of(part) >= 0]) for part in parts_of(jobs)]
    lost = [part for _, part in found if len(part)]
    if not lost:
        return ()
    last_s, sums = max(last for last, _ in found), np.zeros((4, len(CAUSES)))
    for part in lost:
        codes = causes_of(part)
        seconds, requested = _ran_s(part, last_s), _or_nothing(part, "requested_memory_bytes")
        start, end = _clock(part, seconds)
        ran = np.where(seconds >= 0, seconds, end - start)
        hours = np.nan_to_num(np.maximum(ran, 0.0)) / HOUR_S
        gb_h = np.nan_to_num(np.maximum(requested, 0.0)) * hours / GB
        sums[:3] += [np.bincount(codes, one, len(CAUSES)) for one in (np.ones(len(part)), hours, gb_h)]
        sums[3, CAUSES.index(OUT_OF_MEMORY)] += len(killed_for_memory(part, target, last_s))
    return tuple(
        Evidence(cause, int(n), int(n_bounds), hours, gb_h)
        for cause, (n, hours, gb_h, n_bounds) in zip(CAUSES, sums.T.tolist(), strict=True)
        if n
    )


MOST_POINTS = 2_000
TAIL_POINTS = 250
"""The largest values are kept one by one: they decide about failures."""


@dataclass(frozen=True)
class UsageCurve:
    """Points of an ECDF."""

    used_bytes: Floats  # (n_points,) increasing
    share: Floats  # (n_points,) of the runs that used at most that much
    hours_share: Floats  # (n_points,) of the hours of those runs; the shares of runs again when no run took time
    exact: bool  # whether every run is a point


def usage_curve(used_bytes: Floats, hours: Floats) -> UsageCurve:
    """The ECDF of (n,) uses, with at most `MOST_POINTS` points."""
    order = np.argsort(used_bytes, kind="stable")
    values, n = used_bytes[order], len(used_bytes)
    share = np.arange(1, n + 1) / n
    passed = np.cumsum(hours[order])
    hours_share = passed / passed[-1] if passed[-1] > 0 else share
    drawn = np.arange(n)
    if n > MOST_POINTS:
        body = np.linspace(0, n - TAIL_POINTS - 1, MOST_POINTS - TAIL_POINTS).round().astype(np.int64)
        drawn = np.concatenate([np.unique(body), np.arange(n - TAIL_POINTS, n)])
    return UsageCurve(values[drawn], share[drawn], hours_share[drawn], n <= MOST_POINTS)
