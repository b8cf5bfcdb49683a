"""Recorded samples as runs on a grid of equal steps, and which runs and counters there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Floats, Ints, numbers_of
from workprof.core.errors import ColumnMissing, NoRows, SettingsError
from workprof.core.fields import settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.words import counted

if TYPE_CHECKING:
    import pandas as pd


SYSTEM72: tuple[str, ...] = (
    "cpu.user%",
    "cpu.system%",
    "cpu.idle%",
    "cpu.iowait%",
    "cpu.softirq%",
    "cpu.steal%",
    "sys.intr/s",
    "sys.ctxt/s",
    "sys.forks/s",
    "sys.procs_running",
    "sys.procs_blocked",
    "softirq.NET_RX/s",
    "softirq.BLOCK/s",
    "softirq.SCHED/s",
    "softirq.HRTIMER/s",
    "softirq.RCU/s",
    "softirq.TIMER/s",
    "irq.LOC/s",
    "irq.RES/s",
    "irq.CAL/s",
    "irq.TLB/s",
    "vm.pgfault/s",
    "vm.pgmajfault/s",
    "vm.pgpgin/s",
    "vm.pgpgout/s",
    "vm.pgalloc_normal/s",
    "vm.pgfree/s",
    "vm.pgactivate/s",
    "vm.pgreuse/s",
    "vm.thp_fault_alloc/s",
    "vm.workingset_refault_file/s",
    "vm.nr_dirtied/s",
    "vm.nr_written/s",
    "disk.reads/s",
    "disk.read_kb/s",
    "disk.writes/s",
    "disk.write_kb/s",
    "disk.io_ms/s",
    "disk.queue_ms/s",
    "disk.flushes/s",
    "net.lo.rx_kb/s",
    "net.lo.rx_pkts/s",
    "net.Tcp.InSegs/s",
    "net.Tcp.ActiveOpens/s",
    "net.Tcp.CurrEstab",
    "net.tcp_tw",
    "psi.cpu_some_ms/s",
    "psi.io_some_ms/s",
    "psi.io_full_ms/s",
    "perf.kmem:mm_page_alloc/s",
    "mem.MemFree_mb",
    "mem.Cached_mb",
    "mem.Dirty_mb",
    "mem.AnonPages_mb",
    "mem.Mapped_mb",
    "mem.Inactive(anon)_mb",
    "mem.Inactive(file)_mb",
    "mem.PageTables_mb",
    "mem.Committed_AS_mb",
    "perf.sched:sched_wakeup/s",
    "perf.skb:consume_skb/s",
    "perf.raw_syscalls:sys_enter/s",
    "perf.syscalls:sys_enter_futex/s",
    "perf.syscalls:sys_enter_read/s",
    "perf.syscalls:sys_enter_write/s",
    "perf.syscalls:sys_enter_sendto/s",
    "perf.workqueue:workqueue_execute_start/s",
    "perf.exceptions:page_fault_kernel/s",
    "perf.tlb:tlb_flush/s",
    "perf.timer:hrtimer_start/s",
    "perf.x86_fpu:x86_fpu_regs_activated/s",
    "perf.cpu-migrations/s",
)
"""The system-wide counters that phases are read from, by the recorder's names; none looks into the workload itself. A
dataset gives those of them that it has.

Source: Hossain et al. use 72 hardware and software counters of PerfSpect. Ours are software counters of /proc and
tracepoints of perf, chosen on recordings without hardware counters: only their number is the paper's.
"""
NOT_COUNTERS = ("row_id", "workload", "run", "t", "status")
OWN_PROCESSES = "proc."
RECORDED = frozenset(("cpu", "sys", "softirq", "irq", "vm", "mem", "disk", "net", "psi", "sched", "proc", "perf"))
"""Sources of the recorder's counters, of which system72 is a choice."""
FILLED_SAMPLES = 3
"""Gaps up to this long keep the value before them."""
LEAST_STEP_S = 1.0
NEARLY_WHOLE = 0.1
"""A period this near to whole seconds, as its share, is taken as whole: 1.003 s are 1 s, 2.5 s are not 2 s."""
REGULAR = 0.25
"""Times this far off the grid, in steps, make sampling uneven."""
MOST_SAMPLES = 1_000_000
"""Of a run on its grid; a longer one has broken times."""


@dataclass(frozen=True)
class Run:
    """One recorded run."""

    workload: str  # its label, '' where none is known
    run: str  # its name within the workload
    values: Floats  # (n_counters, T) on the grid; NaN = missing
    start_s: float  # time at which the first step begins, as recorded
    n_filled: int  # cells that took the value before a gap
    notes: tuple[str, ...]  # what was done to it, for people

    @property
    def name(self) -> str:
        """Name for people and for `find_run`."""
        return f"{self.workload}/{self.run}" if self.workload else self.run


@dataclass(frozen=True)
class Runs:
    """Runs with the same counters and the same step."""

    counters: tuple[str, ...]  # names
    step_s: float  # of the grid
    runs: tuple[Run, ...]  # sorted by workload and name
    n_dropped: int  # samples without a time
    notes: tuple[str, ...]  # about all runs

    @property
    def workloads(self) -> tuple[str, ...]:
        """Label of each run."""
        return tuple(run.workload for run in self.runs)


def runs_of(samples: pd.DataFrame, counters: tuple[str, ...] = (), progress: Progress = silent) -> Runs:
    """The runs of a table of samples on a grid of one second, or of the period of slower recordings.

    A sample at t holds the step that ends at t. Several samples of a step become their mean; gaps of up to three steps
    keep the value before them and longer ones stay NaN; a counter that is absent from the table is NaN throughout.

    A row of `samples` is a sample: workload, run, t in seconds, counters. Without names the counters are those of
    `counters_in`.

    Raises:
        ColumnMissing: without a column 'run' or 't', or without any counter.
        NoRows: when no sample has a time.
    """
    rows_by_run = _rows_by_run(samples)
    names = counters or counters_in(samples)
    if not any(name in samples.columns for name in names):
        shown = ", ".join(str(name) for name in samples.columns[:8])
        raise ColumnMissing(f"the samples have none of {len(names)} counters, only {shown}; name counters they have")
    t = numbers_of(samples, "t")
    timed = np.isfinite(t)
    if not timed.any():
        raise NoRows("no sample has a time in column 't'; give seconds since the start of the run")
    table = np.full((len(samples), len(names)), np.nan)
    for column, name in enumerate(names):
        if name in samples.columns:
            table[:, column] = numbers_of(samples, name)
    groups = {key: own[np.argsort(t[own], kind="stable")] for key, rows in rows_by_run if len(own := rows[timed[rows]])}
    periods = [np.median(gaps) for rows in groups.values() if len(gaps := np.diff(np.unique(t[rows])))]
    usual = np.quantile(periods, 0.5, method="higher") if periods else LEAST_STEP_S  # one that a run has
    step_s = max(LEAST_STEP_S, float(np.round(usual, 0 if abs(usual - np.round(usual)) <= NEARLY_WHOLE * usual else 2)))
    runs = []
    for done, ((workload, name), rows) in enumerate(groups.items(), start=1):
        runs.append(_on_grid(Run(workload, name, table[rows].T, 0.0, 0, ()), t[rows], step_s))
        progress(done / len(groups), f"runs on the grid: {done} of {len(groups)}")
    others = [] if counters else _passed_over(samples, names)
    return Runs(names, step_s, tuple(runs), int((~timed).sum()), _notes(samples, names, step_s, others))


def counters_in(samples: pd.DataFrame, *, everything: bool = False) -> tuple[str, ...]:
    """The counters of a table: system72 as far as it has them, else (or for `everything`) all but proc.*."""
    present = [name for name in samples.columns if name not in NOT_COUNTERS]
    if not everything:
        known = tuple(name for name in SYSTEM72 if name in samples.columns)
        if known:
            return known
    others = tuple(str(name) for name in present if not str(name).startswith(OWN_PROCESSES))
    return tuple(name for name in others if np.isfinite(numbers_of(samples, name)).any())


def _passed_over(samples: pd.DataFrame, names: tuple[str, ...]) -> list[str]:
    """Counters that are not among system72, in a table that has some of these, and are not the recorder's either."""
    if not set(names) & set(SYSTEM72):
        return []
    rest = [str(name) for name in samples.columns if name not in (*NOT_COUNTERS, *names)]
    return [
        name for name in rest if name.partition(".")[0] not in RECORDED and np.isfinite(numbers_of(samples, name)).any()
    ]


def find_run(runs: Runs, name: str) -> int:
    """The position of a run that is named 'run' or 'workload/run'; '' = the first.

    Raises SettingsError for a name that no run has, or more than one.
    """
    if not name:
        return 0
    hits = [i for i, run in enumerate(runs.runs) if name in (run.name, run.run)]
    exact = [i for i in hits if runs.runs[i].name == name]
    if len(exact or hits) == 1:
        return (exact or hits)[0]
    known = ", ".join(run.name for run in (runs.runs[i] for i in hits[:12] or range(min(12, len(runs.runs)))))
    problem = f"{len(hits)} runs are called {name!r}; name one" if hits else f"there is no run {name!r}; choose"
    raise SettingsError(f"{problem} as workload/run: {known}{' ...' if len(runs.runs) > 12 else ''}")


def _rows_by_run(samples: pd.DataFrame) -> list[tuple[tuple[str, str], Ints]]:
    """Workload and name of each run, sorted, with the positions of its rows in their order.

    Raises ColumnMissing without a column 'run' or 't'.
    """
    for name in ("run", "t"):
        if name not in samples.columns:
            raise ColumnMissing(f"the samples have no column {name!r}; give workload, run, t and counters")
    rows: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(zip(texts_of(samples, "workload"), texts_of(samples, "run"), strict=True)):
        rows.setdefault(key, []).append(row)
    return [(key, np.array(own, dtype=np.int64)) for key, own in sorted(rows.items())]


def texts_of(samples: pd.DataFrame, name: str) -> list[str]:
    """A column as texts, '' where it is empty or absent."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    if name not in samples.columns:
        return [""] * len(samples)
    return ["" if pd.isna(text) else str(text) for text in samples[name]]


def _on_grid(run: Run, t: Floats, step_s: float) -> Run:
    """The run with the mean of each step's samples, short gaps filled."""
    cells = np.round(t / step_s).astype(np.int64)
    finer = len(t) > 1 and bool(np.median(np.diff(t)) < 0.75 * step_s)
    if finer:
        cells = np.ceil(t / step_s - 0.05).astype(np.int64)  # several samples a step: each lies in the step it ends in
    first, length = int(cells[0]), int(cells[-1] - cells[0]) + 1
    if length > MOST_SAMPLES:
        raise SettingsError(
            f"run {run.name} spans {length:,} steps of {step_s:g} s; give t in seconds since the start of the run"
        )
    present = np.isfinite(run.values)
    total, count = np.zeros((2, len(run.values), length))
    for counter in range(len(run.values)):
        total[counter] = np.bincount(cells - first, np.where(present, run.values, 0.0)[counter], length)
        count[counter] = np.bincount(cells - first, present[counter], length)
    values = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    filled = _filled(values)
    n_filled = int(np.isnan(values).sum() - np.isnan(filled).sum())
    return Run(
        run.workload,
        run.run,
        filled,
        (first - 1) * step_s,
        n_filled,
        _notes_of(run.name, t, cells, step_s, n_filled, finer=finer),
    )


def _filled(values: Floats) -> Floats:
    """The values with gaps of up to three samples filled with the one before; longer gaps stay as they are."""
    result = values.copy()
    for row in result:
        present = np.flatnonzero(~np.isnan(row))
        if len(present) in (0, len(row)):
            continue
        for before, after in zip(present, [*present[1:], len(row)], strict=True):
            if 1 < after - before <= FILLED_SAMPLES + 1:
                row[before + 1 : after] = row[before]
    return result


def _notes_of(name: str, t: Floats, cells: Ints, step_s: float, n_filled: int, *, finer: bool) -> tuple[str, ...]:
    doubled, holes = len(cells) - len(np.unique(cells)), int(cells[-1] - cells[0]) + 1 - len(np.unique(cells))
    uneven = 0 if finer else int((np.abs(t / step_s - np.round(t / step_s)) > REGULAR).sum())
    texts = [
        (doubled, f"{doubled} samples share a step of {step_s:g} s with another; their mean is taken"),
        (holes, f"{holes} steps of {step_s:g} s have no sample"),
        (uneven, f"{uneven} samples lie off the steps of {step_s:g} s: sampling is uneven and was brought to the grid"),
        (n_filled, f"{n_filled} missing values took the value before them"),
        (len(t) < 2, "one sample only: one phase"),
    ]
    return tuple(f"{name}: {text}" for count, text in texts if count)


def _notes(samples: pd.DataFrame, names: tuple[str, ...], step_s: float, others: list[str]) -> tuple[str, ...]:
    absent = [name for name in names if name not in samples.columns]
    lacking = [f"{len(absent)} of {len(names)} counters are absent and count as missing: {', '.join(absent[:5])}"]
    slow = [f"samples are {step_s:g} s apart; phases are counted in steps of that"]
    passed = [
        f"{counted(len(others), 'further counter')} not compared beside those of system72: {', '.join(others[:5])}; "
        "`all` as counters takes them"
    ]
    told = (lacking if absent else [], slow if step_s > LEAST_STEP_S else [], passed if others else [])
    return tuple(note for own in told for note in own)


@settings
class RunListSettings:
    """A list of runs has no settings."""


@dataclass(frozen=True)
class RunLine:
    """One run."""

    workload: str  # its label, '' where none is known
    run: str  # its name within the workload
    samples: int  # rows
    first_s: float  # time of the first sample; NaN without any time
    last_s: float  # of the last one
    status: str  # 'complete', 'short' or 'failed'; '' where it is not told

    @property
    def name(self) -> str:
        """Name as in `Run`."""
        return f"{self.workload}/{self.run}" if self.workload else self.run


@dataclass(frozen=True, repr=False)
class RunList(Shown):
    """The runs by workload and name."""

    runs: tuple[RunLine, ...]

    @property
    def workloads(self) -> tuple[str, ...]:
        """Labels that there are, each once."""
        return tuple(dict.fromkeys(line.workload for line in self.runs if line.workload))


def run_list(frames: Mapping[str, pd.DataFrame], settings: RunListSettings, progress: Progress) -> RunList:
    """The runs of `frames['samples']`; raises ColumnMissing without a column 'run' or 't'."""
    del settings, progress
    samples = frames["samples"]
    rows_by_run = _rows_by_run(samples)
    t, status = numbers_of(samples, "t"), texts_of(samples, "status")
    lines = []
    for (workload, run), rows in rows_by_run:
        times = t[rows][np.isfinite(t[rows])]
        first, last = (float(times.min()), float(times.max())) if len(times) else (float("nan"), float("nan"))
        lines.append(RunLine(workload, run, len(rows), first, last, status[rows[-1]]))
    return RunList(tuple(lines))
