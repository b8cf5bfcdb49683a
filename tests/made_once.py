"""Homes that take long to fill: one process of a run of the tests fills each, the others wait for it; tests copy it."""

import fcntl
import os
import pickle


def made_once(tmp_path_factory, name, fill):
    """Return a folder and what `fill(folder)` returned in the process of this run that was the first to ask."""
    run = tmp_path_factory.getbasetemp()
    run = run.parent if "PYTEST_XDIST_WORKER" in os.environ else run
    answer = run / f"{name}.answer"
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            (run / name).mkdir()
            answer.write_bytes(pickle.dumps(fill(run / name)))
    return run / name, pickle.loads(answer.read_bytes())
