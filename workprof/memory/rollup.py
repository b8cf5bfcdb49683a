"""Roll-up: what the judged runs of the verdict held before and after, by task, workflow, run or namespace.

Nothing is seen in hindsight: every run has the size that was known before it was submitted, and killed
attempts are charged. Decisions change nothing here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, latest_of, numbers_if_present
from workprof.core.errors import ColumnMissing
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import HOUR_S
from workprof.memory.resources import CPU, MEMORY, Resource, resources_of
from workprof.memory.verdict import VerdictSettings, judgement_of

if TYPE_CHECKING:
    import pandas as pd


GROUPINGS = {
    "task": ("task_name",),
    "workflow": ("workload",),
    "run": ("run_name",),
    "namespace": ("namespace", "group"),
}
"""What rows may be, and the columns that say so, the first that is there."""
NO_NAME, ALL_RUNS = "(no name)", "all runs"


@settings
class RollupSettings:
    """What a row is, and which verdict is added up."""

    by: Annotated[str, Setting("What a row is.", choices=tuple(GROUPINGS), key="memory_by", label="Rows")] = "task"
    verdict: VerdictSettings = field(default_factory=VerdictSettings)


@dataclass(frozen=True)
class BeforeAfter:
    """An amount before and after."""

    before: float
    after: float


@dataclass(frozen=True)
class RollupRow:
    """One row, or the total. Memory and cores are held on average from the first start to the last end."""

    name: str
    n_runs: int
    memory_gb: BeforeAfter
    cores: BeforeAfter
    memory_gb_h: BeforeAfter
    n_failures: int  # kills that the sizes cost


@dataclass(frozen=True, repr=False)
class Rollup(Shown):
    """The judged runs before and after, the rows that save most first; the total is their sum."""

    settings: RollupSettings
    rows: tuple[RollupRow, ...]
    total: RollupRow
    left_out: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class _Held:
    """What the judged runs of a resource hold, by name. Amounts are in its unit x h."""

    names: tuple[str, ...]
    n_runs: Floats
    before: Floats
    after: Floats
    kills: Floats
    hours: float  # from the first start to the last end; without a clock, of all runs one by one

    def row_of(self, name: str) -> tuple[float, float, float, float]:
        """Runs, before, after and kills of a name; nothing where no run has it."""
        if name not in self.names:
            return 0.0, 0.0, 0.0, 0.0
        at = self.names.index(name)
        return float(self.n_runs[at]), float(self.before[at]), float(self.after[at]), float(self.kills[at])


def rollup_of(frames: Mapping[str, pd.DataFrame], settings: RollupSettings, progress: Progress = silent) -> Rollup:
    """What the judged runs held before and after; the table is as of `verdict_of`, with the column of the rows.

    Raises:
        ColumnMissing: when memory's columns are absent, or what makes the rows.
        NotEnoughData: when no run has a use of memory, or none has a request.
    """
    started = time.perf_counter()
    progress(None, "Adding up what runs hold")
    jobs, earlier = latest_of(frames["jobs"], settings.verdict.latest_runs)
    column = next((name for name in GROUPINGS[settings.by] if name in jobs.columns), "")
    if not column and settings.by != "task":
        names = " or ".join(GROUPINGS[settings.by])
        raise ColumnMissing(f"the table has no column {names}; choose other rows than by {settings.by}")
    clock = any(numbers_if_present(jobs, name) is not None for name in ("submit_time_s", "start_time_s", "end_time_s"))
    resources = resources_of(jobs, settings.verdict.target, settings.verdict.request_bytes, told=(column,))
    found = {one.name: one for one in resources if one.name in (MEMORY, CPU)}
    held = {name: _held(one, column, settings.verdict, clock=clock) for name, one in found.items()}
    rows = [_row(name, held) for name in held[MEMORY].names]
    rows.sort(key=lambda row: row.memory_gb_h.after - row.memory_gb_h.before)
    return Rollup(
        settings=settings,
        rows=tuple(rows),
        total=_total(rows),
        left_out=earlier | found[MEMORY].left_out,
        seconds=time.perf_counter() - started,
    )


def _held(resource: Resource, column: str, settings: VerdictSettings, *, clock: bool) -> _Held:
    judged = judgement_of(resource, settings)
    runs = resource.runs.take(slice(judged.first, len(resource.runs)))
    codes, names = resource.further.get(column, (np.zeros(len(resource.runs), dtype=np.int64), (ALL_RUNS,)))
    of = np.where(codes < 0, len(names), codes)[judged.first :]
    values = (np.ones(len(runs)), runs.booked, judged.charged, judged.killed.astype(np.float64))
    present, place = np.unique(of, return_inverse=True)
    sums = [np.bincount(place, one, len(present)).astype(np.float64) for one in values]
    span = float(runs.end_s.max() - runs.start_s.min()) / HOUR_S if clock else float(runs.hours.sum())
    own = tuple((*names, NO_NAME)[at] for at in present.tolist())
    return _Held(own, sums[0], sums[1], sums[2], sums[3], span)


def _row(name: str, held: Mapping[str, _Held]) -> RollupRow:
    n_runs, before, after, kills = held[MEMORY].row_of(name)
    cores = BeforeAfter(0.0, 0.0)
    if CPU in held:
        _, *booked, _ = held[CPU].row_of(name)
        cores = _on_average(booked[0], booked[1], held[CPU].hours)
    memory = _on_average(before, after, held[MEMORY].hours)
    return RollupRow(name, int(n_runs), memory, cores, BeforeAfter(before, after), int(kills))


def _on_average(before: float, after: float, hours: float) -> BeforeAfter:
    return BeforeAfter(before / hours, after / hours) if hours > 0 else BeforeAfter(0.0, 0.0)


def _total(rows: list[RollupRow]) -> RollupRow:
    def summed(name: str) -> BeforeAfter:
        amounts = [getattr(row, name) for row in rows]
        return BeforeAfter(sum(one.before for one in amounts), sum(one.after for one in amounts))

    names = ("memory_gb", "cores", "memory_gb_h")
    n_runs, n_failures = sum(row.n_runs for row in rows), sum(row.n_failures for row in rows)
    return RollupRow("total", n_runs, **{name: summed(name) for name in names}, n_failures=n_failures)
