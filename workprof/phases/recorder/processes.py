"""Processes: every one of the host in one pass over /proc, the command's session, and what its tree has done.

A command gets a session of its own: it is started, awaited, and ended with everything that it left in its session.
"""

import os
import re
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from workprof.core.errors import SettingsError
from workprof.core.units import KIB, MIB
from workprof.phases.recorder.counters import Readings

GONE = ("Z", "X", "x")
"""States of processes that have ended and only wait to be reaped."""


@dataclass(frozen=True)
class ProcessLine:
    """One process. `born_ticks` with the number names it for good: numbers are used again."""

    pid: int
    parent: int
    session: int
    minor_faults: int
    major_faults: int
    born_ticks: int


def process_table(proc: Path) -> dict[int, ProcessLine]:
    """The living processes by number; one that ends while they are read is left out."""
    table = {}
    for name in os.listdir(proc):  # noqa: PTH208  a Path per process would double the cost of a sample
        if name.isdigit():
            line = _line(f"{proc}/{name}/stat")
            if line is not None:
                table[line.pid] = line
    return table


def _line(path: str) -> ProcessLine | None:
    try:
        with open(path, "rb") as stream:  # noqa: PTH123  as above
            content = stream.read()
    except OSError:
        return None
    number, _, rest = content.partition(b" (")
    words = rest.rpartition(b")")[2].split()  # the name itself may hold spaces and brackets
    if len(words) < 20 or words[0].decode() in GONE:
        return None
    return ProcessLine(
        pid=int(number),
        parent=int(words[1]),
        session=int(words[3]),
        minor_faults=int(words[7]),
        major_faults=int(words[9]),
        born_ticks=int(words[19]),
    )


def descendants(table: dict[int, ProcessLine], roots: set[int]) -> set[int]:
    """The roots that live and everything that they started, directly or not."""
    children: dict[int, list[int]] = {}
    for line in table.values():
        children.setdefault(line.parent, []).append(line.pid)
    result: set[int] = set()
    waiting = [pid for pid in roots if pid in table]
    while waiting:
        pid = waiting.pop()
        if pid not in result:
            result.add(pid)
            waiting.extend(children.get(pid, ()))
    return result


GRACE_S = 4.0
"""From the request to end (SIGTERM) to the order (SIGKILL)."""

KILLED_S = 10.0
"""Nothing survives the order, but a process that waits for a device obeys only when the device answers."""

LOOK_S = 0.02
PROC = Path("/proc")


@dataclass(frozen=True)
class CommandExit:
    """How a command ended, with what the kernel counted of it and of the children that it waited for."""

    rc: int  # exit status, negative = the signal's number
    cpu_s: float  # processor time
    peak_bytes: int  # largest resident set of any one of them


class Session:
    """A running command. The process group is not enough to end it: timeout(1), for one, leaves the group."""

    def __init__(self, command: tuple[str, ...], output: IO[bytes] | int | None = None) -> None:
        try:
            self._child = subprocess.Popen(command, start_new_session=True, stdout=output)
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"{command[0]!r} cannot be started ({error}); give a program and its arguments after --"
            ) from error
        self.number = self._child.pid
        self._watch = os.pidfd_open(self.number)
        self.ended: CommandExit | None = None

    def wait(self, seconds: float) -> bool:
        """Whether the command has ended, at the latest after `seconds`. It is not reaped: its number stays."""
        return bool(select.select([self._watch], [], [], max(seconds, 0.0))[0])

    def end(self, grace_s: float = GRACE_S) -> CommandExit:
        """How the command ended, after ending whatever of its session still runs."""
        if self.ended is None:
            self._signal(signal.SIGTERM)
            patience = time.monotonic() + grace_s
            while self._members() and time.monotonic() < patience:
                time.sleep(LOOK_S)
            patience = time.monotonic() + KILLED_S
            while self._members() and time.monotonic() < patience:
                self._signal(signal.SIGKILL)
                time.sleep(LOOK_S)
            self.ended = self._reaped()
            os.close(self._watch)
        return self.ended

    def _members(self) -> list[int]:
        return [line.pid for line in process_table(PROC).values() if line.session == self.number]

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._members():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue  # it was quicker

    def _reaped(self) -> CommandExit:
        _, status, usage = os.wait4(self.number, 0)
        self._child.returncode = os.waitstatus_to_exitcode(status)
        return CommandExit(self._child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * KIB)


RATES = (
    *("proc.cpu_user%", "proc.cpu_sys%", "proc.minflt/s", "proc.majflt/s", "proc.read_kb/s", "proc.write_kb/s"),
    *("proc.rchar_kb/s", "proc.wchar_kb/s", "proc.syscr/s", "proc.syscw/s", "proc.vcsw/s", "proc.ivcsw/s"),
)
LEVELS = ("proc.procs", "proc.threads", "proc.fds", "proc.rss_mb", "proc.vms_mb")
HIDDEN = "processes of another user hide their files and bytes: proc.fds and proc.read/write leave them out"

PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
Name = tuple[int, int]


@dataclass(frozen=True)
class ProcessState:
    """One process at one moment."""

    totals: tuple[float, ...]  # since its birth, in the order of RATES
    levels: tuple[float, ...]  # in the order of LEVELS
    peak_kb: float  # its largest resident set so far, kibibytes


class ProcessTree:
    """Sums processes from sample to sample.

    A process that ends never makes a sum fall: what counts is its growth, floored at 0. One born during the recording
    counts from its birth; what it did after its last sample is lost. Servers count from the first sample on.
    Resident sets are added up, so that memory which processes share counts in each.

    Attributes:
        peak_kb: the largest resident set that any one process had so far, kibibytes.
        notes: what could not be read.
    """

    def __init__(self, pids: tuple[int, ...] = (), proc: Path = Path("/proc")) -> None:
        table = process_table(proc)
        for pid in pids:
            if pid not in table:
                raise SettingsError(f"--pid {pid} is no running process; give the number of one that is up")
        self._proc = proc
        self._roots = set(pids)
        self._session: int | None = None
        self._members: set[Name] = set()
        self._seen: dict[Name, tuple[float, ...]] = {}
        self._grown = [0.0] * len(RATES)
        self.peak_kb = 0.0
        self.notes: tuple[str, ...] = ()
        self._baseline(table)

    def follow(self, session: int) -> None:
        """Count the processes of a session, and what they start, from now on."""
        self._session = session
        self._roots.add(session)

    def read(self) -> Readings:
        """The growth since the first sample as totals, and the levels."""
        levels = [0.0] * len(LEVELS)
        seen = {}
        for line in self._present(process_table(self._proc)):
            state = self._state(line)
            if state is None:
                continue
            name = (line.pid, line.born_ticks)
            before = self._seen.get(name, (0.0,) * len(RATES))
            for at, (was, now) in enumerate(zip(before, state.totals, strict=True)):
                self._grown[at] += max(now - was, 0.0)
            levels = [whole + part for whole, part in zip(levels, state.levels, strict=True)]
            self.peak_kb = max(self.peak_kb, state.peak_kb)
            seen[name] = state.totals
        self._seen = seen
        totals = dict(zip(RATES, self._grown, strict=True))
        return Readings(totals=totals, levels=dict(zip(LEVELS, levels, strict=True)))

    def _baseline(self, table: dict[int, ProcessLine]) -> None:
        for line in self._present(table):
            state = self._state(line)
            if state is not None:
                self._seen[line.pid, line.born_ticks] = state.totals

    def _present(self, table: dict[int, ProcessLine]) -> list[ProcessLine]:
        """The members that live; who was one once stays one, also after its parent's end."""
        members = {pid for pid, born in self._members if pid in table and table[pid].born_ticks == born}
        session = {line.pid for line in table.values() if line.session == self._session}
        present = [table[pid] for pid in descendants(table, self._roots | members | session)]
        self._members = {(line.pid, line.born_ticks) for line in present}
        return present

    def _state(self, line: ProcessLine) -> ProcessState | None:
        process = _process(line.pid)
        if process is None:
            return None
        try:
            with process.oneshot():
                times, memory, switches = process.cpu_times(), process.memory_info(), process.num_ctx_switches()
                threads = process.num_threads()
                moved, files = self._moved(process)
        except psutil.Error:
            return None  # it ended while it was read
        cpu = (100 * times.user, 100 * times.system, float(line.minor_faults), float(line.major_faults))
        levels = (1.0, float(threads), files, memory.rss / MIB, memory.vms / MIB)
        changes = (float(switches.voluntary), float(switches.involuntary))
        return ProcessState((*cpu, *moved, *changes), levels, self._peak_kb(line.pid))

    def _peak_kb(self, pid: int) -> float:
        try:
            status = (self._proc / str(pid) / "status").read_text(errors="replace")
        except OSError:
            return 0.0
        match = PEAK.search(status)
        return float(match.group(1)) if match else 0.0

    def _moved(self, process: psutil.Process) -> tuple[tuple[float, ...], float]:
        try:
            io = process.io_counters()
            files = process.num_fds()
        except psutil.AccessDenied:
            self.notes = (HIDDEN,)
            return (0.0,) * 6, 0.0
        kb = (io.read_bytes / KIB, io.write_bytes / KIB, io.read_chars / KIB, io.write_chars / KIB)
        return (*kb, io.read_count, io.write_count), float(files)


def _process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None
