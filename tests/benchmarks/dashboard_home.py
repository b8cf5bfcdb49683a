"""A home as it is after a morning's work: the 100,001-row sample with its profiles, and the bundled measurements."""

import atexit
import functools
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.published_sample import ROWS

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "sample"


@dataclass(frozen=True)
class WorkedHome:
    """A home folder and the dataset of jobs in it."""

    folder: Path
    jobs: str


@functools.cache
def worked_home() -> WorkedHome:
    """Return the home; made once in this process, removed at its end."""
    from workprof import Settings, Workbench
    from workprof.synthetic.pai import write_pai_sample

    folder = Path(tempfile.mkdtemp(prefix="workprof-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_pai_sample(folder / "sample.parquet", ROWS, 0)
    with Workbench(Settings(home=folder / "home", data=folder)) as workbench:
        for name in ("benchmarks.jsonl", "telemetry.csv"):
            workbench.ingest([SAMPLES / name])
        jobs = workbench.ingest([folder / "sample.parquet"]).hash
        workbench.profiles(jobs)
    return WorkedHome(folder / "home", jobs)
