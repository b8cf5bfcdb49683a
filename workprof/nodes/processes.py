"""Runs a tool with everything that it starts, and watches the machine meanwhile.

A tool runs in a session of its own, which is ended whole. The watch takes counters of the whole machine: processor,
memory, disks, network.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from workprof.core.errors import WorkprofError

TIMED_OUT = 124
GRACE_S = 2.0
START_S = 20.0
"""A server or a stress that is not up by then does not come."""

POLL_S = 0.02
MOST_STDERR = 2000


@dataclass(frozen=True)
class ToolResult:
    """A tool that has ended."""

    started: float  # and `finished`: seconds since 1970
    finished: float
    rc: int  # its status, 124 when it was ended for taking too long; `stdout` is then empty
    stdout: str
    stderr: str


def run_tool(argv: tuple[str, ...], folder: Path, limit_s: float) -> ToolResult:
    """What a tool printed, run in `folder`; it is ended after `limit_s` and on any interruption."""
    started = time.time()
    with _started(argv, folder, subprocess.PIPE) as process:
        try:
            out, err = process.communicate(timeout=limit_s)
            code = process.returncode
        except subprocess.TimeoutExpired:
            out, err, code = b"", f"ended after {limit_s:g} s".encode(), TIMED_OUT
    stdout, stderr = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")[-MOST_STDERR:]
    return ToolResult(started, time.time(), code, stdout, stderr)


@contextlib.contextmanager
def background(argv: tuple[str, ...], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a tool, its output thrown away, as long as the block lasts."""
    with _started(argv, folder, subprocess.DEVNULL) as process:
        yield process


@contextlib.contextmanager
def _started(argv: tuple[str, ...], folder: Path, output: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        argv,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        env=os.environ | {"LC_ALL": "C"},  # numbers with a point, words in English
    )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the session of a process: asked first, made to after a moment, nothing of it left."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        if _group_is_gone(process, how):
            break
        deadline = time.monotonic() + GRACE_S
        while time.monotonic() < deadline and not _group_is_gone(process):
            time.sleep(POLL_S)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _group_is_gone(process: subprocess.Popen[bytes], how: int = 0) -> bool:
    """Whether nothing of the group is left; what is left gets the signal (0 = none)."""
    process.poll()  # an ended leader counts as there until its status is read
    try:
        os.killpg(process.pid, how)
    except ProcessLookupError:
        return True
    return False


def free_port() -> int:
    """A port of the loopback interface on which nobody listens now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_listening(process: subprocess.Popen[bytes], port: int) -> None:
    """When the process listens on a port; to connect for a look would use up a server of one client.

    Raises WorkprofError when it ends or does not listen in time.
    """
    import psutil  # noqa: PLC0415  only the suite needs it

    def listens() -> bool:
        connections = psutil.Process(process.pid).net_connections(kind="tcp")
        return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in connections)

    _await(process, listens, f"listen on port {port}")


def await_children(process: subprocess.Popen[bytes]) -> None:
    """When the process has begun its work in children of its own.

    Raises WorkprofError when it ends or starts none in time.
    """
    import psutil  # noqa: PLC0415  only the suite needs it

    _await(process, lambda: bool(psutil.Process(process.pid).children()), "start its workers")


def _await(process: subprocess.Popen[bytes], ready: Callable[[], bool], what: str) -> None:
    tool = Path(str(process.args[0])).name if isinstance(process.args, (list, tuple)) else "the tool"
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise WorkprofError(f"{tool} ended with status {process.returncode} before it could {what}")
        if ready():
            return
        time.sleep(POLL_S)
    raise WorkprofError(f"{tool} did not {what} within {START_S:g} s")


INTERVAL_S = 0.2


@dataclass(frozen=True)
class Snapshot:
    """Counters at one moment, growing since the machine was started; NaN = not told here."""

    at_s: float  # monotonic clock
    busy_s: float  # and `total_s`: time of all cores; waiting for a disk is not busy
    total_s: float
    memory_used_kib: float  # what is not available to programs
    read_bytes: float  # and `written_bytes`: of all disks
    written_bytes: float
    disk_busy_s: float  # of the busiest disk
    received_bytes: float  # of all interfaces, loopback included


def snapshot() -> Snapshot:
    """The counters now."""
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
        """Mean and maximum of each measure, see `host_summary`."""
        return host_summary(self._snapshots)


def host_summary(snapshots: list[Snapshot]) -> dict[str, float]:
    """`<measure>_mean` and `<measure>_max` of consecutive snapshots; what the machine does not tell is left out.

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
    summary = {"memory_used_kib_mean": float(used.mean()), "memory_used_kib_max": float(used.max())}
    for name, (amounts, lengths) in rates.items():
        passed = lengths > 0
        each = amounts[passed] / lengths[passed]
        if name.endswith("_pct"):
            each = np.clip(each, 0, 100)  # the kernel's counters are not read at one moment, and waiting may go back
        if len(each):
            summary[f"{name}_mean"] = float(np.average(each, weights=lengths[passed]))
            summary[f"{name}_max"] = float(each.max())
    return {name: value for name, value in summary.items() if np.isfinite(value)}
