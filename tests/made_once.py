"""Homes that take long to fill: one process of a run of the tests fills each, the others wait for it; tests copy it.

`python -m tests.made_once` fills some beforehand, while another core checks the types (`make test`): with them
the loops are compiled that every process would else compile for itself.
"""

import fcntl
import os
import pickle
import subprocess
import sys
from pathlib import Path

from workprof.steps import about

GIVEN = "WORKPROF_TEST_HOMES"
"""Environment variable: the folder of homes that are made for one run of the tests; else that run's own."""


def made_once(tmp_path_factory, name, fill):
    """Return a folder and what `fill(folder)` returned in the process of this run that was the first to ask."""
    if given := os.environ.get(GIVEN):
        run = Path(given)
    else:
        run = tmp_path_factory.getbasetemp()
        run = run.parent if "PYTEST_XDIST_WORKER" in os.environ else run
    answer = run / f"{name}.answer"
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            (run / name).mkdir()
            answer.write_bytes(pickle.dumps(fill(run / name)))
    return run / name, pickle.loads(answer.read_bytes())


def keep(workbench, question, dataset, settings, record):
    """Keep a result made by hand: what is shown of it is looked at, not how it is found."""
    key = question.key(dataset, settings)
    workbench._cache.put(key, record, about(question.declared.question.step, key, dataset, settings, 12.0))


def main():
    """Fill the homes that come first and are copied most, and compile the tests."""
    from tests.pages import conftest, whole_home

    made_once(None, "whole", whole_home._fill)
    made_once(None, "prepared", conftest._prepare)
    subprocess.run([sys.executable, "-m", "pytest", "-m", "not soak", "--collect-only", "-qq"], check=True)


if __name__ == "__main__":
    main()
