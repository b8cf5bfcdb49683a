"""`perf stat` beside a recording: which events this host has, started before it, laid onto its rows by time."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workprof.phases.recorder.processes import PROC, process_table

SOFTWARE = ("context-switches", "cpu-migrations", "minor-faults", "major-faults", "task-clock")
HARDWARE = (
    *("cycles", "instructions", "branches", "branch-misses", "cache-references", "cache-misses", "L1-dcache-loads"),
    *("L1-dcache-load-misses", "LLC-load-misses", "dTLB-load-misses", "iTLB-load-misses"),
)
_SYSCALLS = (
    *("futex", "read", "write", "openat", "mmap", "fsync", "fdatasync", "sendto", "recvfrom", "epoll_wait"),
)  # fmt: skip
TRACEPOINTS = (
    *("sched:sched_wakeup", "sched:sched_process_fork", "sched:sched_process_exec", "raw_syscalls:sys_enter"),
    *(f"syscalls:sys_enter_{name}" for name in _SYSCALLS),
    *("exceptions:page_fault_user", "exceptions:page_fault_kernel", "kmem:mm_page_alloc", "tlb:tlb_flush"),
    *("timer:hrtimer_start", "timer:timer_start", "irq:softirq_entry", "irq_vectors:reschedule_entry"),
    *("irq_vectors:call_function_single_entry", "msr:write_msr", "x86_fpu:x86_fpu_regs_activated"),
    *("filemap:mm_filemap_add_to_page_cache", "block:block_rq_issue", "writeback:writeback_dirty_folio"),
    *("ext4:ext4_da_write_begin", "ext4:ext4_sync_file_enter", "jbd2:jbd2_start_commit", "net:net_dev_xmit"),
    *("net:netif_receive_skb", "skb:consume_skb", "sock:inet_sock_set_state", "workqueue:workqueue_execute_start"),
)
"""kmem:kmalloc and kmem:kmem_cache_alloc are left out: they cost a quarter of a busy server's throughput."""

EVENTS = (*SOFTWARE, *TRACEPOINTS, *HARDWARE)
PROBE_LIMIT_S = 20.0
FIELD_VALUE, FIELD_EVENT = 0, 2


@dataclass(frozen=True)
class Probe:
    """Events that can be counted here, and why the others cannot ('' where all can)."""

    events: tuple[str, ...]
    note: str


def probe(events: tuple[str, ...] = EVENTS) -> Probe:
    """The events that count on this host: one call with all, then one by one, since one fails them all."""
    program = shutil.which("perf")
    if program is None:
        return Probe((), "perf is not installed: no perf.* columns")
    counted = _counted(program, events)
    if counted is None and _counted(program, SOFTWARE[:1]) is None:
        refused = f"perf may not count the whole host (perf_event_paranoid is {_paranoia()}, be root or set it to -1)"
        return Probe((), f"{refused}: no perf.* columns")
    if counted is None:
        counted = tuple(event for event in events if _counted(program, (event,)))
    lacking = [event for event in events if event not in counted]
    return Probe(counted, _lacking_note(lacking) if lacking else "")


def c_locale() -> dict[str, str]:
    """The environment with the C locale: decimal points, English words."""
    return os.environ | {"LC_ALL": "C"}


def _counted(program: str, events: tuple[str, ...]) -> tuple[str, ...] | None:
    """Which events gave a number; None where perf refused the call."""
    command = (program, "stat", "-a", "-x,", "-e", ",".join(events), "--", "sleep", "0.01")
    try:
        done = subprocess.run(
            command, env=c_locale(), capture_output=True, text=True, timeout=PROBE_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    rows = [line.split(",") for line in done.stderr.splitlines() if line.count(",") >= 3]
    counted = {words[FIELD_EVENT] for words in rows if not words[FIELD_VALUE].startswith("<")}
    return tuple(event for event in events if event in counted)


def _lacking_note(lacking: list[str]) -> str:
    root = "" if os.geteuid() == 0 or not any(":" in event for event in lacking) else " (tracepoints need root)"
    return f"{len(lacking)} perf events do not count here{root}: {', '.join(lacking)}"


def _paranoia() -> str:
    try:
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as stream:  # noqa: PTH123  one word
            return stream.read().strip()
    except OSError:
        return "not readable"


SHORTEST_INTERVAL_S = 0.05
"""perf ends with an interval of what is left; shorter ones say nothing."""

FIRST_EXEC_S = 3.0
LOOK_S = 0.004
END_S = 5.0


class PerfStat:
    """A running `perf stat`. Its time 0 is when its child becomes `sleep`."""

    def __init__(self, events: tuple[str, ...], interval_s: float) -> None:
        self.columns = tuple(f"perf.{event}/s" for event in events)
        self._events = events
        self._folder = Path(tempfile.mkdtemp(prefix="workprof-perf-"))
        self._file = self._folder / "perf.csv"
        command = ["perf", "stat", "-a", "-I", str(round(interval_s * 1000)), "-x", ",", "-o", str(self._file)]
        self._child = subprocess.Popen(
            [*command, "-e", ",".join(events), "--", "sleep", "infinity"],
            env=c_locale(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.began_s = self._awaited_start()

    def rates(self, ends_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n_rows, n_events) rates of the intervals that end nearest to `ends_s` (monotonic clock), else NaN."""
        times_s, values = intervals(self._text(), self._events)
        return nearest(times_s + self.began_s, values, ends_s)

    def stop(self) -> None:
        """End perf; it writes its last interval."""
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGINT)
            try:
                self._child.wait(END_S)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()

    def remove(self) -> None:
        """Remove perf's own file."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _text(self) -> str:
        return self._file.read_text(encoding="utf-8", errors="replace") if self._file.is_file() else ""

    def _awaited_start(self) -> float:
        patience = time.monotonic() + FIRST_EXEC_S
        while time.monotonic() < patience and self._child.poll() is None:
            children = [line for line in process_table(PROC).values() if line.parent == self._child.pid]
            if any(_named(line.pid) == "sleep" for line in children):
                break
            time.sleep(LOOK_S)
        return time.monotonic()


def intervals(text: str, events: tuple[str, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of perf's intervals, (n,) seconds, and rates per second, (n, n_events); NaN = not counted."""
    cells: dict[float, dict[str, float]] = {}
    for line in text.splitlines():
        words = line.split(",")
        if line.startswith("#") or len(words) < 4:
            continue
        try:
            at, value = float(words[0]), float(words[1])
        except ValueError:
            continue  # <not counted>
        cells.setdefault(at, {})[words[3]] = value
    ends = np.array(sorted(cells))
    lengths = np.diff(ends, prepend=0.0)
    values = np.array([[cells[end].get(event, np.nan) for event in events] for end in ends]).reshape(-1, len(events))
    long_enough = lengths >= SHORTEST_INTERVAL_S
    return ends[long_enough], values[long_enough] / lengths[long_enough, None]


def nearest(
    ends_s: NDArray[np.float64], values: NDArray[np.float64], rows_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """For each row the values of the interval whose end is nearest, NaN where none is within one interval."""
    joined = np.full((rows_s.size, values.shape[1]), np.nan)
    if ends_s.size == 0 or rows_s.size == 0:
        return joined
    after = np.clip(np.searchsorted(ends_s, rows_s), 1, max(ends_s.size - 1, 1))
    before = after - 1
    after = np.minimum(after, ends_s.size - 1)
    at = np.where(np.abs(ends_s[after] - rows_s) < np.abs(ends_s[before] - rows_s), after, before)
    usual = float(np.median(np.diff(ends_s))) if ends_s.size > 1 else np.inf
    near = np.abs(ends_s[at] - rows_s) <= usual
    joined[near] = values[at[near]]
    return joined


def _named(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
