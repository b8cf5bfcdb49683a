"""The real dashboard as a process of its own on a port that the system chose, and the memory that is its own."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
STARTUP_S = 180
ENDING_S = 30


@dataclass(frozen=True)
class Server:
    """A dashboard that answers on a loopback port."""

    port: int
    process: psutil.Process
    log: Path

    def own_bytes(self):
        """Return the memory that only this process holds (unique set size); its libraries on disk are not counted."""
        return self.process.memory_full_info().uss

    def cpu_s(self):
        times = self.process.cpu_times()
        return times.user + times.system


@contextlib.contextmanager
def dashboard(home, *, script="app.py", **variables):
    """Run the dashboard (or another app's script) on a home folder, with further variables in its environment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = home.parent / f"{home.name}-{port}.log"
    environment = os.environ | {"WORKPROF_HOME": str(home), "WORKPROF_DATA": str(home.parent)} | variables
    environment.pop("WORKPROF_READONLY", None)
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    with log.open("wb") as written:
        child = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=written, stderr=written)
        try:
            _wait_until_it_answers(child, port, log)
            yield Server(port, psutil.Process(child.pid), log)
        finally:
            child.terminate()
            try:
                child.wait(ENDING_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait(ENDING_S)


def _wait_until_it_answers(child, port, log):
    end = time.monotonic() + STARTUP_S
    while time.monotonic() < end and child.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"no answer within {STARTUP_S} s (status {child.poll()}):\n{log.read_text()[-2000:]}")
