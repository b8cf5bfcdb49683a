"""What the whole machine did while a benchmark ran: busy, memory, disk, network; mean and maximum."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from types import TracebackType

import numpy as np

INTERVAL_S = 0.2


@dataclass(frozen=True)
class Snapshot:
    """Counters at one moment, growing since the machine was started; NaN = not told here.

    Attributes:
        at_s: monotonic clock.
        busy_s, total_s: time of all cores; waiting for a disk is not busy.
        memory_used_kib: what is not available to programs.
        read_bytes, written_bytes: of all disks.
        disk_busy_s: of the busiest disk.
        received_bytes: of all interfaces, loopback included.
    """

    at_s: float
    busy_s: float
    total_s: float
    memory_used_kib: float
    read_bytes: float
    written_bytes: float
    disk_busy_s: float
    received_bytes: float


def snapshot() -> Snapshot:
    """Return the counters now."""
    import psutil  # noqa: PLC0415  only the suite needs it

    cpu, memory, disks = psutil.cpu_times(), psutil.virtual_memory(), psutil.disk_io_counters(perdisk=True) or {}
    whole, network = psutil.disk_io_counters(), psutil.net_io_counters()
    total = sum(getattr(cpu, name) for name in cpu._fields if not name.startswith("guest"))  # guests count as user
    absent = float("nan")
    return Snapshot(
        at_s=time.monotonic(),
        busy_s=total - cpu.idle - getattr(cpu, "iowait", 0.0),
        total_s=total,
        memory_used_kib=(memory.total - memory.available) / 1024,
        read_bytes=whole.read_bytes if whole else absent,
        written_bytes=whole.write_bytes if whole else absent,
        disk_busy_s=max((getattr(disk, "busy_time", absent) / 1000 for disk in disks.values()), default=absent),
        received_bytes=network.bytes_recv if network else absent,
    )


class HostWatch:
    """Takes snapshots while its block runs; `summary` tells what happened in it."""

    def __init__(self) -> None:
        self._snapshots: list[Snapshot] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> HostWatch:
        self._snapshots.append(snapshot())
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self._snapshots.append(snapshot())

    def _watch(self) -> None:
        while not self._over.wait(INTERVAL_S):
            self._snapshots.append(snapshot())

    def summary(self) -> dict[str, float]:
        """Return mean and maximum of each measure under the names of perona.md 1.6; what is not told is left out."""
        return summarised(self._snapshots)


def summarised(snapshots: list[Snapshot]) -> dict[str, float]:
    """Return `<measure>_mean` and `<measure>_max` of consecutive snapshots.

    Means are over the whole time, so that intervals of unequal length weigh what they last; maxima are over intervals.
    """
    wall = np.diff([one.at_s for one in snapshots])
    cores = np.diff([one.total_s for one in snapshots])
    rates = {
        "cpu_busy_pct": (100 * np.diff([one.busy_s for one in snapshots]), cores),
        "disk_read_bytes_per_s": (np.diff([one.read_bytes for one in snapshots]), wall),
        "disk_write_bytes_per_s": (np.diff([one.written_bytes for one in snapshots]), wall),
        "disk_io_util_pct": (100 * np.diff([one.disk_busy_s for one in snapshots]), wall),
        "net_in_bytes_per_s": (np.diff([one.received_bytes for one in snapshots]), wall),
    }
    used = np.array([one.memory_used_kib for one in snapshots])
    found = {"memory_used_kib_mean": float(used.mean()), "memory_used_kib_max": float(used.max())}
    for name, (amounts, lengths) in rates.items():
        passed = lengths > 0
        each = amounts[passed] / lengths[passed]
        if name.endswith("_pct"):
            each = np.clip(each, 0, 100)  # the kernel's counters are not read at one moment, and waiting may go back
        if len(each):
            found[f"{name}_mean"] = float(np.average(each, weights=lengths[passed]))
            found[f"{name}_max"] = float(each.max())
    return {name: value for name, value in found.items() if np.isfinite(value)}
