"""A recording: a generator of rows around a command. It writes nothing; page and command line share it.

Enter a `Recorder`, write each of its `rows()` at once, leave it; then it knows its outcome and what perf counted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np
from numpy.typing import NDArray

from workprof.phases.recorder.found import Found, Snapshot, row_between
from workprof.phases.recorder.outcome import Outcome, status_of
from workprof.phases.recorder.perf_events import Probe, probe
from workprof.phases.recorder.perf_stat import PerfStat
from workprof.phases.recorder.process_tree import ProcessTree
from workprof.phases.recorder.session import Ended, Session
from workprof.phases.recorder.settings import RecordSettings
from workprof.phases.recorder.system import PROC, System
from workprof.phases.recorder.usage import UsageMeter

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
        self.outcome = self._told(duration_s, ended)

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
        self.columns = self._first.found.columns
        if self.settings.command:
            self._session = Session(self.settings.command, self._output)
            self._tree.follow(self._session.number)

    def _waited(self, until_s: float) -> bool:
        """Return whether the command ended before a moment; at first its processes are looked at in between too."""
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
        return Row(after.at_s - self._first.at_s, row_between(self._first.found, before, after))

    def _snapshot(self) -> Snapshot:
        """Return all readings; the moment is that of the system's, which come first and are quick."""
        at_s, spent_s = time.monotonic(), time.thread_time()
        found = self._system.read().with_more(self._look())
        self._spent_s += time.thread_time() - spent_s
        return Snapshot(at_s, found)

    def _look(self) -> Found:
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

    def _told(self, duration_s: float, ended: Ended | None) -> Outcome:
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
