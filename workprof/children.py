"""A child process of its own group: started on a leash, ended with everything that it started, heard to the last.

`python -m workprof.children MODULE ARGUMENT...` runs a module on a leash, held before its libraries are loaded: when
the parent is gone, the child reads the end of its standard input and ends. So this file imports next to nothing.
"""

import atexit
import contextlib
import os
import runpy
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

from workprof.core.ending import ending_at_once

STDIN = 0
GRACE_S = 1.0
"""Between asking a child to end and making it end."""


def spawn(folder: Path, stderr: int) -> subprocess.Popen[str]:
    """Start the child of one request; its standard input is the leash, its output the progress."""
    child = subprocess.Popen(
        [sys.executable, "-m", "workprof.children", "workprof.jobs", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        start_new_session=True,
    )
    threading.Thread(target=_reap_group, args=(child,), daemon=True).start()
    return child


def _reap_group(child: subprocess.Popen[str]) -> None:
    """Once the child has ended, end what it started: a grandchild that keeps the pipe open would hold us up."""
    child.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def end(child: subprocess.Popen[str]) -> None:
    """Ask the child's process group to end, then make it."""
    for how, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        if child.poll() is not None:
            return
        try:
            os.killpg(child.pid, how)
        except ProcessLookupError:
            return
        try:
            child.wait(wait_s)
        except subprocess.TimeoutExpired:
            continue


def last_words(folder: Path, code: int) -> str:
    """Why a child failed that told no reason, in words: its last line, or what its status means."""
    try:
        tail = (folder / "stderr.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    except OSError:
        tail = []
    if code == -signal.SIGKILL:
        return "the step was killed, most likely for lack of memory; use fewer rows (a sample) or a larger machine"
    return f"the step ended with status {code}: {' '.join(tail) or 'it left no message'}"


def hold_leash() -> None:
    """End this process group when the parent closes our standard input (it does so by dying, too)."""

    def watch() -> None:
        while os.read(STDIN, 1):  # unbuffered: a buffered reader's lock would abort the interpreter's own end
            pass
        end_group()

    threading.Thread(target=watch, daemon=True).start()


def run_on_leash(module: str, arguments: list[str]) -> None:
    """Run a module as `python -m` does, for as long as the parent lives; this process leads its own group."""
    hold_leash()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # a server of uvicorn's raises the signal again once it ended
    with ending_at_once():
        atexit.register(_end_others)  # registered early, so it runs after the libraries have put away what is theirs
        sys.argv = [module, *arguments]
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except BrokenPipeError:  # the parent is gone, and this thread noticed it first
            end_group()
        finally:
            if select.select([STDIN], [], [], 0)[0]:  # nothing is ever written there: it is the end of the file
                end_group()


def _end_others() -> None:
    """Ask what this process started to end: the parent, which does that too, may be gone by then."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(os.getpgrp(), signal.SIGTERM)


def end_group() -> None:
    """End this process with everything that it started."""
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    run_on_leash(sys.argv[1], sys.argv[2:])
