"""A home with datasets that tell themselves apart: each has its own word in every text, and its own numbers."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from workprof import ProfileSettings, Workbench
from workprof.core.settings import Settings
from workprof.memory.verdict import VerdictSettings
from workprof.store.reports import IngestOptions, ProfileNote
from workprof.synthetic.pai import write_pai_sample

SAMPLES = Path(__file__).parents[2] / "data" / "sample"
TEXTS = ("user", "task_name", "group", "workload", "job_name")
ROWS = {"zinnia": 700, "kestrel": 900}
"""Word of a dataset -> its rows. The names of the datasets are others: every session may see those."""


@dataclass(frozen=True)
class Known:
    """A dataset of jobs, and the word that stands in all its texts and in those of no other."""

    word: str
    hash: str
    rows: int


@dataclass(frozen=True)
class Furnished:
    """The datasets of jobs by word, and the hashes of the datasets of other kinds by kind."""

    jobs: dict
    others: dict


def furnish(home):
    """Return what a new home holds; the profiles and a plan are computed, so that no page starts a job."""
    with Workbench(Settings(home=home, data=home.parent)) as workbench:
        reports = [workbench.ingest([SAMPLES / name]) for name in ("benchmarks.jsonl", "telemetry.csv")]
        jobs = {word: _ingested(workbench, home.parent, word, rows) for word, rows in ROWS.items()}
        return Furnished(jobs, {workbench.dataset(report.hash).kind: report.hash for report in reports})


def _ingested(workbench, folder, word, rows):
    path = folder / f"trace-of-{rows}.parquet"
    write_marked(path, word, rows)
    report = workbench.ingest([path], IngestOptions())
    workbench.profiles(report.hash)
    workbench.set_profile_note(report.hash, ProfileSettings(), ProfileNote(0, f"{word} crowd", f"{word} note"))
    workbench.verdict(report.hash, VerdictSettings())
    return Known(word, report.hash, report.rows)


def write_marked(path, word, rows, seed=0):
    """Write a trace whose every text begins with a word."""
    write_pai_sample(path, rows, seed + rows)
    jobs = pd.read_parquet(path)
    for column in TEXTS:
        jobs[column] = word + jobs[column]
    jobs.to_parquet(path)
