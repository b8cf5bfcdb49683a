"""Roll-up: what the judged runs of the verdict held before and after, by task, workflow, run or namespace.

Nothing is seen in hindsight: every run has the size that was known before it was submitted, and killed
attempts are charged. Decisions change nothing here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, latest_of
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
    """One row, or the total. Memory and cores are held on average from the first start to the last end.

    Cores are NaN where the table does not tell requests and use of them.
    Runs, kills and GB·h are of runs with a request of memory.
    """

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
    n_untimed: int  # judged runs without any time: they are in no average where others have one
    seconds: float


@dataclass(frozen=True)
class _Held:
    """What the judged runs of a resource hold, by name. Amounts are in its unit x h, averages in its unit."""

    names: tuple[str, ...]
    values: Floats  # (6, n_names): runs, kills, before and after, and these two on average
    n_untimed: int

    def row_of(self, name: str) -> Floats:
        """(6,) values of a name; nothing where no run has it."""
        return self.values[:, self.names.index(name)] if name in self.names else np.zeros(len(self.values))


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
    resources = resources_of(jobs, settings.verdict.target, settings.verdict.request_bytes, told=(column,))
    found = {one.name: one for one in resources if one.name in (MEMORY, CPU)}
    held = {name: _held(one, column, settings.verdict) for name, one in found.items()}
    rows = [_row(name, held) for name in dict.fromkeys(name for one in held.values() for name in one.names)]
    rows.sort(key=lambda row: row.memory_gb_h.after - row.memory_gb_h.before)
    return Rollup(
        settings=settings,
        rows=tuple(rows),
        total=_total(rows),
        left_out=earlier | found[MEMORY].left_out,
        n_untimed=held[MEMORY].n_untimed,
        seconds=time.perf_counter() - started,
    )


def _held(resource: Resource, column: str, settings: VerdictSettings) -> _Held:
    judged = judgement_of(resource, settings)
    runs, timed = resource.runs.take(slice(judged.first, len(resource.runs))), resource.timed[judged.first :]
    codes, names = resource.further.get(column, (np.zeros(len(resource.runs), dtype=np.int64), (ALL_RUNS,)))
    of = np.where(codes < 0, len(names), codes)[judged.first :]
    counts, hours = np.ones(len(runs), dtype=bool), float(runs.hours.sum())  # without a clock: of all runs one by one
    if timed.any():  # from the first start to the last end
        counts, hours = timed, float(runs.end_s[timed].max() - runs.start_s[timed].min()) / HOUR_S
    average = [
        np.where(counts, amount, 0.0) / hours if hours > 0 else amount * 0 for amount in (runs.booked, judged.charged)
    ]
    values = (np.ones(len(runs)), judged.killed.astype(np.float64), runs.booked, judged.charged, *average)
    present, place = np.unique(of, return_inverse=True)
    sums = np.array([np.bincount(place, one, len(present)) for one in values], dtype=np.float64)
    own = tuple((*names, NO_NAME)[at] for at in present.tolist())
    return _Held(own, sums, int((~counts).sum()))


def _row(name: str, held: Mapping[str, _Held]) -> RollupRow:
    n_runs, kills, before, after, *memory = held[MEMORY].row_of(name).tolist()
    *_, cores_before, cores_after = held[CPU].row_of(name).tolist() if CPU in held else (math.nan, math.nan)
    cores = BeforeAfter(cores_before, cores_after)
    return RollupRow(name, int(n_runs), BeforeAfter(*memory), cores, BeforeAfter(before, after), int(kills))


def _total(rows: list[RollupRow]) -> RollupRow:
    def summed(name: str) -> BeforeAfter:
        amounts = [getattr(row, name) for row in rows]
        return BeforeAfter(sum(one.before for one in amounts), sum(one.after for one in amounts))

    names = ("memory_gb", "cores", "memory_gb_h")
    n_runs, n_failures = sum(row.n_runs for row in rows), sum(row.n_failures for row in rows)
    return RollupRow("total", n_runs, **{name: summed(name) for name in names}, n_failures=n_failures)
