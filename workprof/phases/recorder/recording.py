"""A recording: a generator of rows around a command. It writes nothing; page and command line share it.

Enter a `Recorder`, write each of its `rows()` at once, leave it; then it knows its outcome and what perf counted.
"""

from __future__ import annotations

import math
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np
from numpy.typing import NDArray

from workprof.core.errors import SettingsError
from workprof.core.units import KIB, MIB
from workprof.phases.recorder.counters import PROC, Readings, Snapshot, System, row_between
from workprof.phases.recorder.perf import PerfStat, Probe, probe
from workprof.phases.recorder.processes import CommandExit, ProcessTree, Session

SHORTEST_INTERVAL_S = 0.1


@dataclass(frozen=True)
class RecordSettings:
    """Settings of one recording."""

    command: tuple[str, ...] = ()  # program and arguments; () = nothing is started, the host is watched for `seconds`
    interval_s: float = 1.0  # between two samples
    # the longest that is recorded, the command is ended then; None = until the command ends
    seconds: float | None = None
    workload: str = "workload"  # label of the kind of work
    run: str = "1"  # label of this run
    pids: tuple[int, ...] = ()  # servers that are up already; their process trees count with the command's
    perf: bool = True  # whether `perf stat` counts beside /proc
    quiet_s: float = 1.0  # rest between writing back what earlier work left in memory and the start; 0 = neither

    def __post_init__(self) -> None:
        if not (math.isfinite(self.interval_s) and self.interval_s >= SHORTEST_INTERVAL_S):
            raise SettingsError(f"interval is {self.interval_s} s; give at least {SHORTEST_INTERVAL_S} s")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds >= self.interval_s):
            raise SettingsError(f"seconds is {self.seconds}; give at least one interval ({self.interval_s:g} s)")
        if not self.command and self.seconds is None:
            raise SettingsError(
                "there is no command and no --seconds; give a command after --, or the seconds to watch"
            )
        if not (math.isfinite(self.quiet_s) and 0 <= self.quiet_s <= 600):
            raise SettingsError(f"quiet is {self.quiet_s} s; give 0 to 600 s")
        for label, text in (("workload", self.workload), ("run", self.run)):
            if not text.strip() or "\n" in text:
                raise SettingsError(f"{label} is {text!r}; give a name on one line")


@dataclass(frozen=True)
class Usage:
    """Use of the process tree; NaN = not known."""

    duration_s: float  # from the start of the command to its end, or to the end of the recording
    # largest sum of resident sets at a sample, or largest of one process at any time where that is larger: a peak of
    # several processes together between two samples is not seen
    peak_memory_bytes: float
    mean_memory_bytes: float  # over the samples with a process, weighted by their intervals
    cpu_usage_percent: float  # of one core, mean over the duration: the larger of the sampled tree's and the kernel's
    read_bytes: float  # from devices, sampled: what a process did after its last sample is lost; write_bytes likewise
    write_bytes: float
    read_count: float  # system calls that read; write_count: that write
    write_count: float


class UsageMeter:
    """Follows the process tree from look to look."""

    def __init__(self) -> None:
        self._last = Readings()
        self._at_s = math.nan
        self._peak_bytes = 0.0
        self._mb_s = 0.0
        self._seconds = 0.0

    def start(self, at_s: float) -> None:
        """Begin at a moment of the monotonic clock."""
        self._at_s = at_s

    def add(self, tree: Readings, at_s: float, peak_kb: float) -> None:
        """Take one look at the tree into account; what it shows held since the look before."""
        self._last = tree
        if tree.levels.get("proc.procs", 0) > 0:
            rss_mb, interval_s = tree.levels["proc.rss_mb"], at_s - self._at_s
            self._peak_bytes = max(self._peak_bytes, rss_mb * MIB, peak_kb * KIB)
            self._mb_s += rss_mb * interval_s
            self._seconds += interval_s
        self._at_s = at_s

    def usage(self, duration_s: float, ended: CommandExit | None) -> Usage:
        """The use in all."""
        totals = self._last.totals
        sampled_cpu_s = (totals.get("proc.cpu_user%", 0.0) + totals.get("proc.cpu_sys%", 0.0)) / 100
        cpu_s = max(sampled_cpu_s, ended.cpu_s if ended else 0.0)
        peak = max(self._peak_bytes, _kernel_peak_bytes(ended))
        return Usage(
            duration_s=duration_s,
            peak_memory_bytes=peak if peak > 0 else math.nan,
            mean_memory_bytes=self._mb_s * MIB / self._seconds if self._seconds else math.nan,
            cpu_usage_percent=100 * cpu_s / duration_s if duration_s > 0 else math.nan,
            read_bytes=totals.get("proc.read_kb/s", math.nan) * KIB,
            write_bytes=totals.get("proc.write_kb/s", math.nan) * KIB,
            read_count=totals.get("proc.syscr/s", math.nan),
            write_count=totals.get("proc.syscw/s", math.nan),
        )


def _kernel_peak_bytes(ended: CommandExit | None) -> float:
    """The kernel's peak of one process of the command, 0 where it may be that of the recorder itself.

    A started process inherits the peak of its starter, so only a larger one is its own.
    """
    if ended is None:
        return 0.0
    inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    return float(ended.peak_bytes) if ended.peak_bytes > inherited else 0.0


COMPLETE, SHORT, FAILED = "complete", "short", "failed"
ENOUGH_ROWS = 0.9
"""Share of the expected rows below which a recording is short."""


@dataclass(frozen=True)
class Outcome:
    """A recording that has ended."""

    workload: str
    run: str
    started_s: float  # epoch seconds
    rows: int  # samples taken
    counters: int  # columns, perf's included
    duration_s: float  # from the start to the end of the command or of the recording
    ended_after_s: float | None  # when the command ended by itself; None = it still ran at the end of the recording
    rc: int | None  # its exit status then (negative: the signal), else None
    stopped: bool  # from outside, before the command or the time was over
    # complete, short (less than 90 % of the expected rows) or failed (stopped from outside, or rc is not 0)
    status: str
    seconds_per_sample: float  # mean processor time that one sample took
    usage: Usage  # of the command's process tree
    notes: tuple[str, ...]  # what is missing and why


def status_of(settings: RecordSettings, rows: int, duration_s: float, rc: int | None, stopped: bool) -> str:
    """How a recording is marked."""
    if stopped or rc not in (None, 0):
        return FAILED
    planned_s = settings.seconds if settings.seconds is not None else duration_s
    expected = max(int(planned_s / settings.interval_s + 1e-9), 1)
    return COMPLETE if rows >= ENOUGH_ROWS * expected else SHORT


SHORTEST_SHARE = 0.5
"""A last interval shorter than this share of the usual one gives no row, unless it is the only one."""

EARLY_LOOKS_S = (0.0, 0.01, 0.05, 0.2, 0.5)
"""Moments at which a command's processes are looked at before the first sample, for commands that are soon over."""


@dataclass(frozen=True)
class Row:
    """One sample: seconds since the start at the end of its interval, and the values by column, NaN = no value."""

    t_s: float
    values: tuple[float, ...]


class Recorder:
    """Counters around one command.

    Attributes:
        columns: names of a row's values; known once the recorder is entered, as are `perf_columns`.
        perf_rates: (n_rows, n_perf_columns) what perf counted, laid onto the rows; known once the recorder is left.
        outcome: how the recording ended; likewise.
    """

    def __init__(self, settings: RecordSettings, output: IO[bytes] | int | None = None, proc: Path = PROC) -> None:
        self.settings = settings
        self.columns: tuple[str, ...] = ()
        self.perf_columns: tuple[str, ...] = ()
        self.perf_rates: NDArray[np.float64] = np.zeros((0, 0))
        self.outcome: Outcome | None = None
        self._output = output
        self._system = System(proc)
        self._tree = ProcessTree(settings.pids)
        self._meter = UsageMeter()
        self._probe = Probe((), "")
        self._perf: PerfStat | None = None
        self._session: Session | None = None
        self._ends: list[float] = []
        self._spent_s = 0.0
        self._ended_after_s: float | None = None
        self._finished = False

    def __enter__(self) -> Recorder:
        """Start perf, take the first snapshot, start the command."""
        settings = self.settings
        self._probe = probe() if settings.perf else Probe((), "")
        if settings.quiet_s > 0:
            os.sync()  # what earlier work left to write would be counted as this command's
            time.sleep(settings.quiet_s)
        try:
            if self._probe.events:
                self._perf = PerfStat(self._probe.events, settings.interval_s)
                self.perf_columns = self._perf.columns
            self._begin()
        except BaseException:
            self._close_perf()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the command's session and perf, and tell how it went."""
        duration_s = self._ended_after_s or time.monotonic() - self._first.at_s
        try:
            ended = self._session.end() if self._session else None
        finally:
            self._close_perf()
        self.outcome = self._outcome(duration_s, ended)

    def rows(self) -> Iterator[Row]:
        """Yield a row per interval until the command ends or the time is over; late ones are not made up for."""
        settings, first = self.settings, self._first.at_s
        deadline = first + settings.seconds if settings.seconds is not None else np.inf
        while not self._finished:
            passed = int((time.monotonic() - first) / settings.interval_s + 1e-6)
            gone = self._waited(min(first + (passed + 1) * settings.interval_s, deadline))
            now = time.monotonic()
            if gone:
                self._ended_after_s = now - first
            self._finished = gone or now >= deadline
            if now - self._last.at_s >= SHORTEST_SHARE * settings.interval_s or not self._ends:
                yield self._row()

    def _begin(self) -> None:
        self._started_s = time.time()
        at_s = time.monotonic()
        self._first = self._last = Snapshot(at_s, self._system.read().with_more(self._tree.read()))
        self._meter.start(at_s)
        self.columns = self._first.readings.columns
        if self.settings.command:
            self._session = Session(self.settings.command, self._output)
            self._tree.follow(self._session.number)

    def _waited(self, until_s: float) -> bool:
        """Whether the command ended before a moment; at first its processes are looked at in between too."""
        if self._session is None:
            time.sleep(max(until_s - time.monotonic(), 0.0))
            return False
        for after_s in () if self._ends else EARLY_LOOKS_S:
            if self._session.wait(min(self._first.at_s + after_s, until_s) - time.monotonic()):
                return True
            self._look()
        return self._session.wait(until_s - time.monotonic())

    def _row(self) -> Row:
        before, after = self._last, self._snapshot()
        self._last = after
        self._ends.append(after.at_s)
        return Row(after.at_s - self._first.at_s, row_between(self._first.readings, before, after))

    def _snapshot(self) -> Snapshot:
        """All readings; the moment is that of the system's, which come first and are quick."""
        at_s, spent_s = time.monotonic(), time.thread_time()
        readings = self._system.read().with_more(self._look())
        self._spent_s += time.thread_time() - spent_s
        return Snapshot(at_s, readings)

    def _look(self) -> Readings:
        tree = self._tree.read()
        self._meter.add(tree, time.monotonic(), self._tree.peak_kb)
        return tree

    def _close_perf(self) -> None:
        if self._perf is not None:
            try:
                self._perf.stop()
                self.perf_rates = self._perf.rates(np.array(self._ends))
            finally:
                self._perf.remove()
                self._perf = None

    def _outcome(self, duration_s: float, ended: CommandExit | None) -> Outcome:
        settings, rows, stopped = self.settings, len(self._ends), not self._finished
        rc = ended.rc if ended and self._ended_after_s is not None else None
        return Outcome(
            workload=settings.workload,
            run=settings.run,
            started_s=self._started_s,
            rows=rows,
            counters=len(self.columns) + len(self.perf_columns),
            duration_s=duration_s,
            ended_after_s=self._ended_after_s,
            rc=rc,
            stopped=stopped,
            status=status_of(settings, rows, duration_s, rc, stopped),
            seconds_per_sample=self._spent_s / max(rows, 1),
            usage=self._meter.usage(duration_s, ended),
            notes=tuple(note for note in (*self._system.notes, *self._tree.notes, self._probe.note) if note),
        )
