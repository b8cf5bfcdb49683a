"""A child process of its own group: started on a leash, ended with everything that it started, heard to the last."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

GRACE_S = 1.0
"""Between asking a child to end and making it end."""


def spawn(folder: Path, stderr: int) -> subprocess.Popen[str]:
    """Start the child of one request; its standard input is the leash, its output the progress."""
    child = subprocess.Popen(
        [sys.executable, "-m", "workprof.jobs", str(folder)],
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
    """Return why a child failed, in words: its refusal, its last line, or what its status means."""
    try:
        return str(json.loads((folder / "error.json").read_text(encoding="utf-8"))["message"])
    except (OSError, ValueError, KeyError):
        pass
    try:
        tail = (folder / "stderr.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    except OSError:
        tail = []
    if code == -signal.SIGKILL:
        return "the step was killed, most likely for lack of memory; use fewer rows (a sample) or a larger machine"
    return f"the step ended with status {code}: {' '.join(tail) or 'it left no message'}"
