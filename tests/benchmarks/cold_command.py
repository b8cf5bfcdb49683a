"""A command whose answer is kept, against an empty process that imports the same libraries: processor time.

The libraries are the modules of others that the command has loaded when it ends. Told beside it: help, which loads
none. The sides take turns, five times; medians count.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measure import ROOT, Measured, median

SAMPLE = ROOT / "data" / "sample" / "pai_sample.parquet"
COMMAND = ("memory", "plan", "pai_sample")
SAID = """
import contextlib, io, sys
from workprof.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(sys.argv[1:])
own = ("workprof", "__main__", *sys.stdlib_module_names)
print(*(name for name in sys.modules if name.partition(".")[0] not in own))
"""
EMPTY = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)"


def used_s(home: Path, *arguments: str) -> tuple[float, str]:
    """Return the processor time of a Python process and its children, s, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | {"WORKPROF_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def run() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        home, command = Path(folder) / "home", ("-m", "workprof.cli", *COMMAND)
        used_s(home, "-m", "workprof.cli", "ingest", str(SAMPLE))
        used_s(home, *command)
        libraries = used_s(home, "-c", SAID, *COMMAND)[1].split()
        sides = (command, ("-c", EMPTY, *libraries), (*command[:-1], "--help"))
        times = zip(*([used_s(home, *side)[0] for side in sides] for _ in range(5)), strict=True)
    ours, theirs, helped = (median(list(one)) for one in times)
    return Measured(
        ratio=theirs / ours,
        ours_s=ours,
        reference_s=theirs,
        ours_mb=None,
        reference_mb=None,
        reference="an empty process with the same imports; 0.5 is the bar",
        note=f"processor time of `{' '.join(COMMAND)}`, whose answer is kept; its help takes {helped:.2f} s",
    )
