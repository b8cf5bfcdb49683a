"""Steps that the tests of the job runner start in real child processes."""

import base64
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workprof.core.errors import NotEnoughData
from workprof.core.progress import so_far
from workprof.store.entries import About, as_line


@dataclass(frozen=True)
class Asked:
    rows: int = 1
    seconds: float = 0.0
    how: str = "sum"
    pid_file: str = ""


@dataclass(frozen=True)
class Told:
    total: float
    values: NDArray[np.float64]
    zone: int
    seconds: float


def run(frames, settings: Asked, progress) -> Told:
    jobs = frames["jobs"]
    if settings.how == "refuse":
        raise NotEnoughData(f"{len(jobs)} rows are too few; load more")
    if settings.how == "forge":  # hand over what is no result, and a result of another request
        told = Told(777.0, np.zeros(1), 0, 0.0)
        line = as_line(told, About("another:key:step:1", "step", "dataset", {}, {}, 0.0, "2026"))
        for passed in ({**line, "arrays": base64.b64encode(b"PK no archive").decode()}, {"about": 1}, line):
            print(json.dumps({"passed": passed}), flush=True)
    if settings.how == "tell":
        so_far(lambda: Told(1.0, np.arange(2.0), 0, 0.0))
    if settings.how == "crash":
        os.abort()
    if settings.how == "stubborn":
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if settings.pid_file:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        Path(settings.pid_file).write_text(f"{os.getpid()} {child.pid}")
    end = time.monotonic() + settings.seconds
    while time.monotonic() < end:
        progress(0.5, "half way")
        time.sleep(0.05)
    values = jobs["x"].to_numpy(dtype=float)
    return Told(float(values.sum()), values, int(jobs.attrs.get("utc_offset_s", 0)), 0.25)
