"""Starts a tool in a session of its own and ends it with everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workprof.errors import WorkprofError

TIMED_OUT = 124
GRACE_S = 2.0
START_S = 20.0
"""A server or a stress that is not up by then does not come."""

POLL_S = 0.02
KEPT_STDERR = 2000


@dataclass(frozen=True)
class Finished:
    """A tool that has ended.

    Attributes:
        started, finished: seconds since 1970.
        rc: its status, 124 when it was ended for taking too long; `stdout` is then empty.
    """

    started: float
    finished: float
    rc: int
    stdout: str
    stderr: str


def run_tool(argv: tuple[str, ...], folder: Path, limit_s: float) -> Finished:
    """Return what a tool printed, run in `folder`; it is ended after `limit_s` and on any interruption."""
    started = time.time()
    with _started(argv, folder, subprocess.PIPE) as process:
        try:
            out, err = process.communicate(timeout=limit_s)
            code = process.returncode
        except subprocess.TimeoutExpired:
            out, err, code = b"", f"ended after {limit_s:g} s".encode(), TIMED_OUT
    told = err.decode("utf-8", "replace")[-KEPT_STDERR:]
    return Finished(started, time.time(), code, out.decode("utf-8", "replace"), told)


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
    """Return whether nothing of the group is left; what is left gets the signal (0 = none)."""
    process.poll()  # a leader that nobody has asked for its status would count as there
    try:
        os.killpg(process.pid, how)
    except ProcessLookupError:
        return True
    return False


def free_port() -> int:
    """Return a port of the loopback interface on which nobody listens now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_listening(process: subprocess.Popen[bytes], port: int) -> None:
    """Return when the process listens on a port; to connect for a look would use up a server of one client.

    Raises:
        WorkprofError: when it ends or does not listen in time.
    """
    import psutil  # noqa: PLC0415  only the suite needs it

    def listens() -> bool:
        found = psutil.Process(process.pid).net_connections(kind="tcp")
        return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in found)

    _await(process, listens, f"listen on port {port}")


def await_children(process: subprocess.Popen[bytes]) -> None:
    """Return when the process has begun its work in children of its own.

    Raises:
        WorkprofError: when it ends or starts none in time.
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
