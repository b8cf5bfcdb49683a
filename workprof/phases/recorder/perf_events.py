"""The events that `perf stat` is asked for, and which of them this host has."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass

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
    """Return the events that count on this host: one call with all, then one by one, since one fails them all."""
    program = shutil.which("perf")
    if program is None:
        return Probe((), "perf is not installed: no perf.* columns")
    counted = _counted(program, events)
    if counted is None and _counted(program, SOFTWARE[:1]) is None:
        told = f"perf may not count the whole host (perf_event_paranoid is {_paranoia()}, be root or set it to -1)"
        return Probe((), f"{told}: no perf.* columns")
    if counted is None:
        counted = tuple(event for event in events if _counted(program, (event,)))
    lacking = [event for event in events if event not in counted]
    return Probe(counted, _told(lacking) if lacking else "")


def c_locale() -> dict[str, str]:
    """Return the environment with the C locale: decimal points, English words."""
    return os.environ | {"LC_ALL": "C"}


def _counted(program: str, events: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return which events gave a number; None where perf refused the call."""
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
    found = {words[FIELD_EVENT] for words in rows if not words[FIELD_VALUE].startswith("<")}
    return tuple(event for event in events if event in found)


def _told(lacking: list[str]) -> str:
    root = "" if os.geteuid() == 0 or not any(":" in event for event in lacking) else " (tracepoints need root)"
    return f"{len(lacking)} perf events do not count here{root}: {', '.join(lacking)}"


def _paranoia() -> str:
    try:
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as stream:  # noqa: PTH123  one word
            return stream.read().strip()
    except OSError:
        return "not readable"
