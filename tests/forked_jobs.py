"""Jobs of a page without the seconds that their imports take: one process imports once and forks the children of jobs.

A child is as `workprof.children.spawn` starts it: a group and a leash of its own, its output the progress, its status
that of the step. So start the jobs of all tests, but for `core`, `faults` and `load`, and of servers and commands in
processes of their own (`tests/conftest.py`).
"""

import atexit
import contextlib
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from pathlib import Path

from workprof import children

ROOT = Path(__file__).resolve().parents[1]
FDS = 4
MOST_BYTES = 1 << 20
IMPORTS = (
    *("hdbscan", "workprof.steps"),
    *(f"workprof.{room}.questions" for room in ("profiles", "forecasts", "memory", "nodes", "phases")),
    *("workprof.profiles.fit", "workprof.phases.library", "workprof.phases.evaluation", "workprof.memory.replay"),
)
"""What children of jobs import, most of it whatever they do."""


@functools.cache
def _server():
    """Return the socket of the process that forks, which ends with this one."""
    own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.forked_jobs", str(its.fileno())]
    process = subprocess.Popen(
        command, env=environment, cwd=ROOT, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
    )
    its.close()

    def end():
        own.close()
        process.wait()

    atexit.register(end)
    return own


def spawn(folder, stderr):
    """Start a child: a fork, once the process that forks is ready."""
    if select.select([_server()], [], [], 0)[0]:
        return Child(folder, stderr)
    return children.spawn(folder, stderr)


class Child:
    """A child of a job, with what `workprof.jobs` asks of a Popen."""

    def __init__(self, folder, stderr):
        its_in, leash = os.pipe()
        told, its_out = os.pipe()
        self._status, its_status = os.pipe()
        asked = {"folder": str(folder), "environment": dict(os.environ), "cwd": str(Path.cwd())}
        socket.send_fds(_server(), [json.dumps(asked).encode()], [its_in, its_out, stderr, its_status])
        for one in (its_in, its_out, its_status):
            os.close(one)
        self.stdin, self.stdout = os.fdopen(leash, "w"), os.fdopen(told)
        self.pid, self.returncode = int(os.read(self._status, 16)), None
        self._ended = threading.Event()
        threading.Thread(target=self._reap, daemon=True).start()

    def _reap(self):
        self.returncode = int(os.read(self._status, 16))
        os.close(self._status)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._ended.set()

    def poll(self):
        return self.returncode

    def wait(self, timeout=None):
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired("job", timeout)
        return self.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stdout.close()
        self.stdin.close()
        self.wait()


def _forked(asked, given):
    """Fork a child, in a process that waits for it: its id and its status are written where they are read."""
    *own, status = given
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(status)
        _child(asked, own)
    for one in own:
        os.close(one)
    os.write(status, f"{pid}\n".encode().ljust(16))
    os.write(status, f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode().ljust(16))
    os._exit(0)


def _child(asked, own):
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, one in enumerate(own):
            os.dup2(one, number)
            os.close(one)
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["cwd"])
        sys.modules.pop("workprof.jobs", None)
        children.run_on_leash("workprof.jobs", [asked["folder"]])
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:  # noqa: BLE001  the job shows its last line
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main():
    import importlib

    asks = socket.socket(fileno=int(sys.argv[1]))
    for name in IMPORTS:
        importlib.import_module(name)
    asks.send(b"ready")  # which is never read, and so can always be seen
    while True:
        document, given, _, _ = socket.recv_fds(asks, MOST_BYTES, FDS)
        if not document:
            break
        if os.fork() == 0:
            asks.close()
            _forked(json.loads(document), given)
        for one in given:
            os.close(one)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


if __name__ == "__main__":
    main()
