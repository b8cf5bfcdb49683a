"""What the killed processes were doing: an ingest, and a job in a child of its own."""

import ctypes
import json
import os
import resource
import shutil
import struct
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from tests.faults.soundness import PATIENCE_S
from tests.faults.squares import ROOT_STEP, STEP, Asked, Squares
from workprof.cli.main import COMMANDS, GROUPS, main, registered
from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.profiles.settings import ProfileSettings
from workprof.steps import Request, about
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore
from workprof.workbench import Workbench

ROWS = 20_000
CAPABILITY_VERSION_3 = 0x20080522

for module in (*COMMANDS, *GROUPS):
    registered(module)  # imported here, once, and not in every fork


def settings_of(home):
    return Settings(home=Path(home), data=Path(home), memory_limit_bytes=GIB)


def request(dataset, seed, seconds=0.3):
    asked = Asked(seed, seconds)
    extra = about(ROOT_STEP, ROOT_STEP.key(dataset.hash, asked), dataset.name, asked, 0.0)
    return Request(STEP, dataset.name, asked, STEP.key(dataset.hash, asked), {ROOT_STEP.name: extra})


def start_squares(workbench, dataset, seed, seconds=0.3):
    frame = pd.DataFrame({"x": np.arange(1000.0)})
    return workbench._jobs.start(request(workbench.dataset(dataset), seed, seconds), lambda: {"jobs": frame})


def fit_settings(seed):
    return ProfileSettings(min_cluster_size=20 + seed)


def write_trace(path, rows=ROWS):
    """Write a generic trace with one bad row."""
    numbers = ((i, i % 7, i * 7919 % 10007, (i * 31337 % 4001 + 1) * 10**6) for i in range(rows))
    lines = (f"job{i},t{task},{took}.{i % 97},{used},8000000000\n" for i, task, took, used in numbers)
    header = "job_name,task_name,duration_s,peak_memory_bytes,requested_memory_bytes\n"
    path.write_text(header + "".join(lines) + "bad,t,x,1,1\n")
    return path


def ingest(home, tell, trace):
    with TraceStore(settings_of(home)) as store:
        tell("opened")
        store.ingest([Path(trace)], IngestOptions(format="generic"), lambda _, message: tell(message))


def job(home, tell, seed):
    with Workbench(settings_of(home)) as workbench:
        tell("opened")
        start_squares(workbench, "kept", int(seed))
        _follow(workbench, tell)


def starved(home, tell, asked):
    """Start a job on a disk with little room: no file may grow beyond it, or a file that fills the disk leaves it.

    Then there is room again, and what was made stays.
    """
    asked = json.loads(asked)
    with Workbench(settings_of(home)) as workbench:
        tell("opened")
        _narrow(home, asked)
        key = start_squares(workbench, "kept", asked["seed"]).key
        _follow(workbench, tell)
        found = workbench._cache.get(key, Squares)
        tell(f"in memory: {found.seed if found else found}")
        tell(f"told: {workbench.not_saved}")
        _widen(asked)
        end = time.monotonic() + PATIENCE_S
        while workbench.not_saved and time.monotonic() < end:
            time.sleep(0.05)
            assert workbench._cache.get(key, Squares) is not None
        tell(f"told then: {workbench.not_saved}")


def _narrow(home, asked):
    if asked["filler"]:
        with Path(asked["filler"]).open("wb") as stream:
            stream.write(b"\0" * max(0, shutil.disk_usage(home).free - asked["room"]))
    else:
        _no_file_longer_than(asked["room"], resource.RLIM_INFINITY)


def _no_file_longer_than(soft, hard):
    sys.dont_write_bytecode = True  # Python keeps a compiled file that was cut short, and never loads it again
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _widen(asked):
    if asked["filler"]:
        Path(asked["filler"]).unlink()
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def fit(home, tell, seed):
    with Workbench(settings_of(home)) as workbench:
        tell("opened")
        workbench.profiles.start("few", fit_settings(int(seed)))
        _follow(workbench, tell)


def command(_, __, asked):
    """Run one command of the real command line."""
    asked = json.loads(asked)
    os.environ.update(asked["variables"])
    if asked["powerless"]:
        give_up_powers()
    if asked["most_bytes"] is not None:
        _no_file_longer_than(asked["most_bytes"], asked["most_bytes"])
    main(asked["arguments"])


def give_up_powers():
    """Drop every capability of root's, on Linux; for others there is nothing to drop."""
    header, none = struct.pack("=Ii", CAPABILITY_VERSION_3, 0), bytes(24)
    if ctypes.CDLL(None, use_errno=True).capset(header, none):
        raise OSError(ctypes.get_errno(), "capset")


def _follow(workbench, tell):
    (view,) = workbench.jobs()
    while view.active:
        tell(view.message)
        time.sleep(0.01)
        view = workbench.job(view.key)
    tell(f"{view.state}: {view.message}")


WORKS = {"ingest": ingest, "job": job, "starved": starved, "fit": fit, "command": command}
