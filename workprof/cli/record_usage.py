"""The job table that `workprof record --usage` appends to: one row per run, under the names of the store's fields."""

from __future__ import annotations

import csv
import io
import math
import platform
from collections.abc import Iterable
from pathlib import Path

from workprof.errors import SettingsError
from workprof.phases.recorder.recording import Outcome
from workprof.store.outputs import append, checked_output

COLUMNS = (
    *("job_name", "task_name", "workload", "run_name", "node", "status", "start_time_s", "end_time_s", "duration_s"),
    *("requested_cpu_percent", "requested_memory_bytes", "cpu_usage_percent", "mean_memory_bytes"),
    *("peak_memory_bytes", "read_bytes", "write_bytes", "read_count", "write_count", "ended_by"),
)
"""Requests are empty: fill them in, or map them, to see what a run asked for beside what it used."""

COMPLETED, FAILED = "completed", "failed"


class UsageFile:
    """A table of runs on disk.

    Raises:
        SettingsError: when the file holds another table, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = checked_output(path, option="--usage")
        if path.is_file():
            self._check(path.read_text(encoding="utf-8", errors="replace").partition("\n")[0])

    def append(self, outcome: Outcome) -> None:
        """Add the run as one line; several recordings may do so at a time."""
        cells = usage_cells(outcome)
        append(self._path, _line([cells.get(name, "") for name in COLUMNS]), header=_line(COLUMNS))

    def _check(self, header: str) -> None:
        if header and tuple(next(csv.reader([header]))) != COLUMNS:
            raise SettingsError(
                f"--usage {self._path} holds another table (it starts with {header[:60]!r}); give a new file"
            )


def _line(cells: Iterable[str]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()


def usage_cells(outcome: Outcome) -> dict[str, str]:
    """Return the cells of a run by column; a field that is not known has none.

    A run that --seconds ended counts as completed (`ended_by` tells): its use is that of the time recorded.
    """
    used = outcome.usage
    ended_by = "stop" if outcome.stopped else "seconds" if outcome.ended_after_s is None else "command"
    failed = outcome.stopped or outcome.rc not in (None, 0)
    numbers = {name: value for name, value in vars(used).items() if math.isfinite(value)}
    times = {"start_time_s": outcome.started_s, "end_time_s": outcome.started_s + outcome.duration_s}
    texts = {
        "job_name": f"{outcome.workload}-{outcome.run}",
        "task_name": outcome.workload,
        "workload": outcome.workload,
        "run_name": outcome.run,
        "node": platform.node(),
        "status": FAILED if failed else COMPLETED,
        "ended_by": ended_by,
    }
    return texts | {name: f"{value:.15g}" for name, value in (times | numbers).items()}
