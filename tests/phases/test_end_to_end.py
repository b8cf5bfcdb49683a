"""From the recorder to the verdict: two loads recorded by the test, then another run of one of them."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from workprof.phases.library import LibrarySettings
from workprof.phases.matching import MatchRunSettings, match_run

COMPRESS = """
import os, time, zlib
end = time.monotonic() + {seconds}
while time.monotonic() < end:
    zlib.compress(os.urandom(1 << 18) + b"a" * (1 << 18), {level})
"""
QUIET_WRITES = """
import os, tempfile, time
end = time.monotonic() + {seconds}
with tempfile.NamedTemporaryFile() as file:
    while time.monotonic() < end:
        file.write(os.urandom({size}))
        os.fsync(file.fileno())
        time.sleep(0.25)
"""


def recorded(folder, workload, run, code):
    """Samples of a command, as `workprof record` writes them."""
    file = folder / f"{workload}-{run}.csv"
    command = [sys.executable, "-m", "workprof", "record", "-o", str(file), "--workload", workload, "--run", run]
    made = subprocess.run(
        [*command, "--no-perf", "--json", "--", sys.executable, "-c", code],
        env=os.environ | {"WORKPROF_HOME": str(folder)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["workload"] == workload
    return pd.read_csv(file)


@pytest.mark.soak
def test_a_further_run_of_a_recorded_load_is_recognised(tmp_path):
    library = []
    for run in range(3):
        library.append(recorded(tmp_path, "compression", str(run), COMPRESS.format(seconds=6 + run, level=1 + 2 * run)))
        size = 4096 * (run + 1)
        library.append(recorded(tmp_path, "writes", str(run), QUIET_WRITES.format(seconds=6 + run, size=size)))
    asked = recorded(tmp_path, "unlabelled", "9", COMPRESS.format(seconds=30, level=4)).assign(workload=None)
    own = tuple(name for name in asked.columns if name.startswith("proc."))  # whatever else this machine is doing
    settings = MatchRunSettings("9", LibrarySettings(counters=own))
    found = match_run({"samples": asked, "train": pd.concat(library)}, settings)
    assert found.verdict.nearest == "compression"
    assert len(found.matches) == 6
