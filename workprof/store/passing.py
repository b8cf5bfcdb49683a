"""A trace read once, by the formats that every ingest takes, without leaving a dataset behind.

It is loaded into a home of its own below the spool, which is removed afterwards: same formats, same checks, same
refusals as `workprof ingest`.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from workprof.progress import Progress, silent
from workprof.settings import Settings
from workprof.store.reports import IngestOptions, IngestReport
from workprof.store.trace_store import TraceStore


@dataclass(frozen=True)
class PassingTrace:
    """The finished rows of a trace that was read once.

    Attributes:
        jobs: every column under its stored name, planted truth left out; texts as categories.
        report: of the reading.
        unfinished: rows that were left out because their job has not finished well.
    """

    jobs: pd.DataFrame
    report: IngestReport
    unfinished: int


def passing_trace(
    settings: Settings, paths: Sequence[Path], options: IngestOptions | None = None, progress: Progress = silent
) -> PassingTrace:
    """Return the finished rows of a trace.

    Args:
        settings: of the open home; the trace passes through its spool.
        paths: as for an ingest.
        options: how to read them.
        progress: told each step; may cancel.

    Raises:
        As `TraceStore.ingest`.
    """
    folder = settings.home / "spool" / f"passing-{uuid.uuid4().hex}"
    try:
        with TraceStore(replace(settings.at(folder), readonly=False)) as store:
            report = store.ingest(paths, options or IngestOptions(), progress)
            jobs = finished_rows(store, report.hash)
            unfinished = report.rows - len(jobs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return PassingTrace(jobs, report, unfinished)


def finished_rows(store: TraceStore, dataset: str) -> pd.DataFrame:
    """Return the finished rows of a dataset: every column but planted truth."""
    names = [column.name for column in store.columns(dataset) if not column.truth]
    return store.frame(dataset, names)
