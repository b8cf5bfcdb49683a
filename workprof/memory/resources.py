"""The resources of a trace that a verdict sizes: memory, CPU, GPU, time limit; and the keys of its rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, in_time, numbers_if_present, numbers_of, sorted_codes
from workprof.core.causes import CAUSES, KILLS, TIMED_OUT, causes_of, was_killed_for_memory
from workprof.core.service_windows import service_windows
from workprof.core.units import GB, HOUR_S, MIB, PERCENT_FACTORS
from workprof.memory.known import SizedRuns, codes_of, dense
from workprof.memory.ledger_runs import node_counts
from workprof.memory.usage import finished_of, requesting, runs_of, with_flat_request, with_killed

if TYPE_CHECKING:
    import pandas as pd


MEMORY, CPU, GPU, TIME = "memory", "cpu", "gpu", "time limit"
UNITS = {MEMORY: "GB", CPU: "cores", GPU: "GPUs", TIME: "h"}

JUST_ABOVE = 1 + 1e-9
"""A run that was killed used more than its limit, by at least this."""

PLACES = ("cluster", "namespace", "workload", "task_name", "container")
"""What names a container of Kubernetes."""
KEY_COLUMNS = ("cluster", "namespace", "user", "group", "workload", "task_name", "container")
"""Columns that name a row."""
OWNER_KIND, PER_CPU = "owner_kind", "ReqMem"
TOLD = (OWNER_KIND, "init_container", PER_CPU)
"""Further columns that exports need: what made a pod, whether a container runs first, a request as Slurm has it."""
OTHER_STATE = "a state other than finished or killed for memory"
"""Why a run is no ground for sizes: it goes on, failed, or was cancelled."""
UNMEASURED_KILL = "a kill for memory, but neither limit nor use, or no run time"
COARSE = ("user", "group", "workload")
"""What a submit script knows of a user's run whose name is new."""

KUBERNETES_STEP, PLAIN_STEP = 64 * MIB / GB, 0.1
MINUTES_STEP = 1 / 12
LEAST_USE = 1e-3
"""Shares of a core or a GPU below it count as it: a use has a logarithm."""


Texts = dict[str, tuple[Ints, tuple[str, ...]]]
"""Column -> (n,) codes, -1 = missing, and their names, sorted."""


@dataclass(frozen=True)
class Resource:
    """The runs of one resource, and the names of their keys. Amounts are in `unit`."""

    name: str
    unit: str
    runs: SizedRuns
    places: Ints  # (n,) rows of the table that sizes rest on: those that finished, then those killed for memory
    step: float  # sizes are multiples of it
    known_from: str  # when a run counts as submitted: 'submit_time_s' or 'start_time_s'
    columns: tuple[tuple[str, ...], ...]  # of the key of each level; 'request' among them
    texts: Texts
    further: Texts  # the same of the columns that exports need
    left_out: dict[str, int]
    timed: Bools  # (n,) whether a time of the run is known; the others come last
    nodes: Ints  # (n,) that each runs on; memory is that of one of them

    def key_of(self, run: int, level: int) -> dict[str, str]:
        """Column -> value of the key of a run."""
        result = {}
        for column in self.columns[level]:
            if column in self.texts:
                codes, names = self.texts[column]
                if codes[run] >= 0:
                    result[column] = names[codes[run]]
        return result

    def told_of(self, row: Ints, n_rows: int) -> list[dict[str, str]]:
        """Of each row the columns of `further` in which all its runs agree; `row` is of each run."""
        result: list[dict[str, str]] = [{} for _ in range(n_rows)]
        for column, (codes, names) in self.further.items():
            low, high = np.full(n_rows, len(names)), np.full(n_rows, -1)
            np.minimum.at(low, row, codes)
            np.maximum.at(high, row, codes)
            for at in np.flatnonzero((low == high) & (high >= 0)).tolist():
                result[at][column] = names[high[at]]
        return result


def resources_of(
    jobs: pd.DataFrame, target: str, request_bytes: float, told: Sequence[str] = TOLD
) -> tuple[Resource, ...]:
    """The resources of a job table whose use and request it has; memory first.

    `finished` and `status` are there where some did not finish. `request_bytes` is of runs without a request; 0 = they
    are left out. The columns `told` are kept beside those of the keys.

    Raises:
        ColumnMissing: when memory's columns are absent.
        NotEnoughData: when no run has a use of memory and a time, or none has a request.
    """
    jobs = with_windows(jobs)
    return (_of_memory(jobs, target, request_bytes, told), *further_resources(jobs, told))


def further_resources(jobs: pd.DataFrame, told: Sequence[str] = TOLD) -> tuple[Resource, ...]:
    """The resources but memory of a table whose services are windows."""
    found = (_of_percent(jobs, CPU, told), _of_percent(jobs, GPU, told), _of_time(jobs, told))
    return tuple(one for one in found if one is not None)


@dataclass(frozen=True)
class Services:
    """The runs that go on and are judged by windows of their time."""

    n_services: int
    n_windows: int
    longest_s: float  # the time that the longest of them was seen


def services_of(jobs: pd.DataFrame) -> Services | None:
    """The services of a table, None where it has none."""
    found = service_windows(jobs)
    if not found.row.size:
        return None
    return Services(len(np.unique(found.row)), found.row.size, float(np.bincount(found.row, found.length_s).max()))


def with_windows(jobs: pd.DataFrame) -> pd.DataFrame:
    """The table with the windows of services in place of their rows: each window is a run that has ended.

    A service that was killed for memory was killed in the window of its largest use.
    """
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    if "windows" not in jobs.columns or not jobs["windows"].notna().any():
        return jobs.drop(columns="windows", errors="ignore")
    found = service_windows(jobs)
    parts = jobs.iloc[found.row].drop(columns="windows")
    n = len(parts)
    of_largest = np.zeros(n, dtype=bool)
    if n:
        order = np.lexsort((np.nan_to_num(found.peak_memory_bytes), found.row))
        of_largest[order[np.r_[np.flatnonzero(np.diff(found.row[order])), n - 1]]] = True
    kills = numbers_if_present(parts, KILLS)
    told: dict[str, Any] = {
        "submit_time_s": found.start_s,
        "start_time_s": found.start_s,
        "end_time_s": found.end_s,
        "duration_s": found.length_s,
        "peak_memory_bytes": found.peak_memory_bytes,
        "cpu_usage_percent": found.cpu_usage_percent,
        "finished": True,
    }
    if kills is not None:
        told[KILLS] = np.where(of_largest, kills, 0.0)
    rest = jobs.drop(columns="windows").drop(index=jobs.index[np.unique(found.row)])
    if "finished" not in rest.columns:
        rest = rest.assign(finished=True)
    windows = parts.assign(**told)
    return windows if rest.empty else pd.concat([rest, windows[rest.columns]], ignore_index=True)


def _of_memory(jobs: pd.DataFrame, target: str, request_bytes: float, told: Sequence[str]) -> Resource:
    n_finished, n_killed = len(finished_of(jobs)), int(was_killed_for_memory(jobs).sum())
    table = with_killed(jobs, target)
    runs = requesting(with_flat_request(runs_of(table, target), request_bytes))
    request = runs.requested_bytes / GB
    kills = numbers_if_present(table, KILLS)
    killed = runs.rows >= n_finished
    if kills is not None:
        killed |= kills[runs.rows] > 0
    bound = runs.lower_bound & ~killed
    use = runs.used_bytes / GB
    use = np.where(killed, np.maximum(use, request * JUST_ABOVE), np.where(bound, np.maximum(use, request), use))
    pods = _has(table, "namespace")
    return _in_order(
        _Told(
            MEMORY,
            UNITS[MEMORY],
            table.iloc[runs.rows],
            (use, request, runs.hours),
            (runs.submit_s, runs.start_s, runs.end_s),
            (killed, bound),
            step=KUBERNETES_STEP if pods else PLAIN_STEP,
            enforced=pods,
            left_out={
                OTHER_STATE: len(jobs) - n_finished - n_killed,
                UNMEASURED_KILL: n_killed - (len(table) - n_finished),
                **runs.left_out,
            },
        ),
        told,
    )


def _of_percent(jobs: pd.DataFrame, name: str, told: Sequence[str]) -> Resource | None:
    needed = f"{name}_usage_percent", f"requested_{name}_percent", "duration_s"
    if not {*needed} <= {*jobs.columns}:
        return None
    table = finished_of(jobs)
    use, request, seconds = (numbers_of(table, column) for column in needed)
    counts = (use >= 0) & (request > 0) & (seconds >= 0)
    if not counts.any():
        return None
    unit = PERCENT_FACTORS["cores"]
    asked = request[counts] / unit
    clock = clock_of(table, seconds)
    return _in_order(
        _Told(
            name,
            UNITS[name],
            table[counts],
            (np.maximum(use[counts] / unit, LEAST_USE), asked, seconds[counts] / HOUR_S),
            tuple(times[counts] for times in clock),
            (np.zeros(len(asked), dtype=bool), np.zeros(len(asked), dtype=bool)),
            step=_granularity(asked),
            enforced=False,
            left_out={"no use or no request": int((~counts).sum())},
        ),
        told,
    )


def _of_time(jobs: pd.DataFrame, told: Sequence[str]) -> Resource | None:
    limit, seconds = (numbers_if_present(jobs, name) for name in ("time_limit_s", "duration_s"))
    if limit is None or seconds is None:
        return None
    causes = causes_of(jobs)
    ended = causes < 0
    timed_out = causes == CAUSES.index(TIMED_OUT)
    counts = (ended | timed_out) & (limit > 0) & (seconds > 0)
    if not counts.any():
        return None
    asked, took, killed = limit[counts] / HOUR_S, seconds[counts] / HOUR_S, timed_out[counts]
    return _in_order(
        _Told(
            TIME,
            UNITS[TIME],
            jobs[counts],
            (np.where(killed, np.maximum(took, asked * JUST_ABOVE), took), asked, np.ones(len(asked))),
            tuple(times[counts] for times in clock_of(jobs, seconds)),
            (killed, np.zeros(len(asked), dtype=bool)),
            step=MINUTES_STEP,
            enforced=False,
            left_out={"no time limit or no duration": int((~counts).sum())},
        ),
        told,
    )


def _granularity(requests: Floats) -> float:
    """1 where whole cores or GPUs are requested, else 0.1."""
    return 1.0 if np.allclose(requests, np.round(requests)) else 0.1


def _has(table: pd.DataFrame, name: str) -> bool:
    return name in table.columns and bool(table[name].notna().any())


def clock_of(table: pd.DataFrame, seconds: Floats) -> tuple[Floats, Floats, Floats]:
    """(n,) submission, start and end of the rows of a table, from (n,) run times where they are not said."""
    nothing = np.full(len(table), np.nan)
    found = (numbers_if_present(table, name) for name in ("submit_time_s", "start_time_s", "end_time_s"))
    submit, start, end = (nothing if one is None else one for one in found)
    start = np.where(np.isfinite(start), start, np.where(np.isfinite(submit), submit, end - seconds))
    return submit, start, np.where(end >= start, end, start + seconds)


@dataclass(frozen=True)
class _Told:
    """What a table tells of a resource, before its runs are put in order."""

    name: str
    unit: str
    table: pd.DataFrame  # (n,) rows that count
    amounts: tuple[Floats, Floats, Floats]  # (n,) use, request, hours
    clock: tuple[Floats, ...]  # (n,) submission, start, end
    evidence: tuple[Bools, Bools]  # (n,) killed for the resource, use is a lower bound
    step: float
    enforced: bool
    left_out: dict[str, int]


def _in_order(told: _Told, kept: Sequence[str]) -> Resource:
    """Runs in order of submission; those without any time come last, as if each ended when it began.

    Of one moment they come by their other times, what they used and requested, and their names: a trace whose times
    are days has the same answer however its file is sorted.
    """
    table, (submit, start, end) = told.table, told.clock
    by_submission = bool(np.isfinite(submit).any())
    known = np.where(np.isfinite(submit), submit, start)
    last = np.nanmax(end) if np.isfinite(end).any() else 0.0
    timed = np.isfinite(known)
    known = np.where(timed, known, last + 1 + np.arange(len(known)))
    end = np.fmax(end, np.nextafter(known, np.inf))  # no run is known when it is submitted itself
    named = texts_of(table, KEY_COLUMNS)
    order = in_time(known, start, end, *told.amounts, *told.evidence, *(codes for codes, _ in named.values()))
    use, request, hours = (values[order] for values in told.amounts)
    killed, bound = (flags[order] for flags in told.evidence)
    texts, further = (_taken(found, order) for found in (named, texts_of(table, kept)))
    columns = key_columns(texts)
    requests = dense(request)
    levels = tuple(codes_of([requests if one == "request" else texts[one][0] for one in level]) for level in columns)
    return Resource(
        name=told.name,
        unit=told.unit,
        runs=SizedRuns(
            order.astype(np.int64),
            use,
            request,
            hours,
            known[order],
            np.where(np.isfinite(start), start, known)[order],
            end[order],
            killed,
            bound,
            told.enforced,
            levels,
        ),
        places=table.index.to_numpy(dtype=np.int64)[order],
        step=told.step,
        known_from="submit_time_s" if by_submission else "start_time_s",
        columns=columns,
        texts=texts,
        further=further,
        left_out=told.left_out,
        timed=timed[order],
        nodes=node_counts(table)[order],
    )


def texts_of(table: pd.DataFrame, names: Sequence[str]) -> Texts:
    """The columns that hold something."""
    return {name: sorted_codes(table[name]) for name in names if _has(table, name)}


def _taken(texts: Texts, order: Ints) -> Texts:
    return {name: (codes[order], values) for name, (codes, values) in texts.items()}


def key_columns(texts: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """The columns of the key of each level, the finest first.

    The finest is what somebody can change: (cluster, namespace, workload, task, container) in Kubernetes, whose
    manifest holds one request; elsewhere (user, task) or the task, with the request. Then the same without the request;
    then, for users whose jobs have ever new names, (user, group, workload) with the request.
    """
    if "namespace" in texts:
        return (tuple(name for name in PLACES if name in texts),)
    own = tuple(name for name in ("user", "task_name") if name in texts)
    levels = [(*own, "request"), own]
    if "user" in texts:
        levels.append((*(name for name in COARSE if name in texts), "request"))
    return tuple(level for level in dict.fromkeys(levels) if level)
