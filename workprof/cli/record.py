"""`workprof record`: the counters of this host while a command runs, and the job table that `--usage` appends to."""

from __future__ import annotations

import csv
import io
import math
import platform
import re
import signal
import sys
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from workprof.cli.console import Json, emit, warn
from workprof.core.errors import SettingsError
from workprof.core.units import format_bytes, format_duration
from workprof.formats.telemetry.own import RecordingFile
from workprof.phases.recorder.recording import Outcome, Recorder, RecordSettings
from workprof.store.outputs import append as append_line
from workprof.store.outputs import checked_output

INTERRUPTED = 130
STOPPED_BY = (signal.SIGINT, signal.SIGTERM)
"""A shell starts what runs in the background deaf to SIGINT, so that one is asked for too."""

HELP = """Record the counters of this host by the second while COMMAND runs.

Options stand before the --. The file has a row per sample: workload,run,t and the counters of /proc (cpu, sys, softirq,
irq, vm, mem, disk, net, psi), of the command's processes (proc) and of perf stat (perf), if it may count here. Until
the end it is FILE.csv.partial; then perf's columns are joined, and FILE.runs.jsonl tells how the run ended.

What to know: everything on the host counts, not the command alone, so record on an idle machine; load generator and
server share the counters. Earlier work is written back to disk and 1 s waited first. For a series shuffle the order,
since memory levels carry the history of the machine. Children that live for less than a sample are under-counted in
proc.*: prefer the system-wide columns. Processor time of niced threads is in cpu.nice%, and cpu.steal% of a virtual
machine may move for reasons outside. perf's 41 events cost up to 15 % of a busy server; --no-perf leaves them out.
The command runs in a session of its own, and whatever is left of that session at the end is ended. Ctrl-C ends the
recording and keeps what it has, marked as failed.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("record", help=HELP, context_settings={"allow_interspersed_args": False})(record)


def record(
    command: Annotated[list[str] | None, typer.Argument(help="COMMAND and its arguments, after --.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="FILE.csv; default WORKLOAD-RUN.csv.")] = None,
    interval: Annotated[float, typer.Option("--interval", help="Seconds between samples.")] = 1.0,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="End after so long; default: with COMMAND.")
    ] = None,
    workload: Annotated[str | None, typer.Option("--workload", help="Kind of work; default: COMMAND's name.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Label of this run; default: date and time.")] = None,
    pid: Annotated[
        list[int] | None, typer.Option("--pid", help="A server that is up already; may be repeated.")
    ] = None,
    no_perf: Annotated[bool, typer.Option("--no-perf", help="Do not count with perf stat.")] = False,
    usage: Annotated[Path | None, typer.Option("--usage", help="Append the run to this job table, FILE.csv.")] = None,
    append: Annotated[bool, typer.Option("--append", help="Add to the runs that FILE.csv holds.")] = False,
    quiet: Annotated[float, typer.Option("--quiet", help="Seconds of rest before; 0: no write-back either.")] = 1.0,
    as_json: Json = False,
) -> None:
    """Run the command and write its counters."""
    settings = RecordSettings(
        command=tuple(command or ()),
        interval_s=interval,
        seconds=seconds,
        workload=workload or (Path(command[0]).name if command else "host"),
        run=run or datetime.now().astimezone().strftime("%Y%m%d-%H%M%S"),
        pids=tuple(pid or ()),
        perf=not no_perf,
        quiet_s=quiet,
    )
    table = UsageFile(usage) if usage else None
    recorder = Recorder(settings, output=sys.stderr.fileno() if as_json else None)
    file = RecordingFile(output or default_file(settings), settings.workload, settings.run, append=append)
    started = time.perf_counter()
    stopped = _recorded(recorder, file)
    if recorder.outcome is not None:
        answer = record_answer(recorder.outcome, file.path, time.perf_counter() - started)
        _tell(recorder.outcome, answer, file, table, as_json)
    if stopped:
        raise typer.Exit(INTERRUPTED)


def default_file(settings: RecordSettings) -> Path:
    """Return the file that a recording goes to unless one is named."""
    stem = re.sub(r"[^\w.-]+", "_", f"{settings.workload}-{settings.run}").strip(".")
    return Path(f"{stem or 'recording'}.csv")


def record_answer(outcome: Outcome, file: Path, seconds: float) -> dict[str, Any]:
    """Return the JSON document of a recording."""
    used = outcome.usage
    return {
        "workload": outcome.workload,
        "run": outcome.run,
        "started": outcome.started_s,
        "rows": outcome.rows,
        "counters": outcome.counters,
        "ended_after": outcome.ended_after_s,
        "rc": outcome.rc,
        "file": str(file),
        "status": outcome.status,
        "duration_s": outcome.duration_s,
        "usage": {name: _or_none(value) for name, value in vars(used).items()},
        "seconds_per_sample": outcome.seconds_per_sample,
        "notes": list(outcome.notes),
        "seconds": seconds,
    }


def _recorded(recorder: Recorder, file: RecordingFile) -> bool:
    """Write the rows as they come; tell whether the recording was stopped from outside. What there is is kept."""
    before = {number: signal.signal(number, _stop) for number in STOPPED_BY}
    stopped = False
    try:
        with recorder:
            file.begin(recorder.columns)
            for row in recorder.rows():
                file.write(row.t_s, row.values)
    except KeyboardInterrupt:
        stopped = True
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if recorder.outcome is None:
            file.abandon()
        else:
            file.finish(recorder.perf_columns, recorder.perf_rates)
    return stopped


def _tell(
    outcome: Outcome, answer: dict[str, Any], file: RecordingFile, table: UsageFile | None, as_json: bool
) -> None:
    file.tell(answer)
    if table:
        table.append(outcome)
    for note in outcome.notes:
        warn(f"note: {note}")
    emit(answer, as_json, lambda: _text(outcome, file.path))


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _or_none(value: float) -> float | None:
    return value if value == value else None  # noqa: PLR0124  NaN is not itself


def _text(outcome: Outcome, file: Path) -> str:
    used = outcome.usage
    ended = "was still running" if outcome.rc is None else f"ended with {outcome.rc}"
    return (
        f"{outcome.workload}, run {outcome.run}: {outcome.status}, {outcome.rows:,} rows x {outcome.counters} counters "
        f"in {file}\nthe command {ended} after {format_duration(outcome.duration_s)}; "
        f"peak memory {format_bytes(used.peak_memory_bytes)}, CPU {used.cpu_usage_percent:.0f} % of one core; "
        f"a sample cost {outcome.seconds_per_sample * 1000:.1f} ms"
    )


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
        append_line(self._path, _line([cells.get(name, "") for name in COLUMNS]), header=_line(COLUMNS))

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
