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
from typer.core import TyperCommand

from workprof.cli.console import Json, emit, warn
from workprof.core.errors import SettingsError
from workprof.core.roles import whoami
from workprof.core.units import format_bytes, format_duration
from workprof.formats.telemetry.own import RecordingFile
from workprof.phases.recorder.recording import Outcome, Recorder, RecordSettings
from workprof.store.outputs import append as append_line, checked_output
from workprof.store.text_shape import MAX_LINE_BYTES

INTERRUPTED = 130
SIGNALLED = 128
"""A shell adds the number of the signal that ended a command."""

STOPPED_BY = (signal.SIGINT, signal.SIGTERM)
"""A shell starts what runs in the background deaf to SIGINT, so that one is handled too."""

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

--usage -o FILE.csv writes no counters: it adds a line about the run to a job table, of which Memory sizes jobs. It does
not rest before nor count with perf, prints nothing to stdout and ends as COMMAND does, so that it can stand before the
command of any job. Many may write to one FILE at a time.
"""

ALONE = Path("-")
"""Stands for the file of --usage where none is named: -o is the job table, and no counters are written."""


class OptionalFile(TyperCommand):
    """A command whose --usage takes a file, or none where another option or -- follows it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the file that --usage leaves out."""
        valued = {name for one in self.params if not getattr(one, "is_flag", False) for name in one.opts}
        at, args = 0, list(args)
        while at < len(args) and args[at].startswith("-") and args[at] != "--":  # what follows is the command's own
            if args[at] == "--usage" and (at + 1 == len(args) or args[at + 1].startswith("-")):
                args[at] = f"--usage={ALONE}"
            at += 2 if args[at] in valued else 1
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    """Add the command."""
    context_settings = {"allow_interspersed_args": False}
    app.command("record", help=HELP, cls=OptionalFile, context_settings=context_settings)(record)


def record(
    context: typer.Context,
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
    usage: Annotated[
        Path | None,
        typer.Option(
            "--usage", help="Append the run to this job table, FILE.csv; without FILE to -o, and nothing else."
        ),
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="Add to the runs that FILE.csv holds.")] = False,
    quiet: Annotated[
        float,
        typer.Option("--settle", "--quiet", help="Seconds of rest before; 0: no write-back either. Once --quiet."),
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """Run the command and write its counters."""
    alone = usage == ALONE
    rests = not alone or str(getattr(context.get_parameter_source("quiet"), "name", "")) != "DEFAULT"
    settings = RecordSettings(
        command=tuple(command or ()),
        interval_s=interval,
        seconds=seconds,
        workload=workload or (Path(command[0]).name if command else "host"),
        run=run or datetime.now().astimezone().strftime("%Y%m%d-%H%M%S"),
        pids=tuple(pid or ()),
        perf=not (no_perf or alone),
        quiet_s=quiet if rests else 0.0,
    )
    if alone and output is None:
        raise SettingsError("--usage names no job table; give -o FILE.csv, or --usage FILE.csv beside the counters")
    table = UsageFile(output if alone and output else usage) if usage else None
    recorder = Recorder(settings, output=sys.stderr.fileno() if as_json else None)
    file = None
    if not alone:
        file = RecordingFile(output or default_file(settings), settings.workload, settings.run, append=append)
    started = time.perf_counter()
    stopped = _recorded(recorder, file)
    outcome = recorder.outcome
    if outcome is not None:
        result = record_json(outcome, file.path if file else output or ALONE, time.perf_counter() - started)
        _emit_outcome(outcome, result, file, table, as_json)
    if stopped:
        raise typer.Exit(INTERRUPTED)
    if alone and outcome is not None and outcome.rc:
        raise typer.Exit(outcome.rc if outcome.rc > 0 else SIGNALLED - outcome.rc)


def default_file(settings: RecordSettings) -> Path:
    """Return the file that a recording goes to unless one is named."""
    stem = re.sub(r"[^\w.-]+", "_", f"{settings.workload}-{settings.run}").strip(".")
    return Path(f"{stem or 'recording'}.csv")


def record_json(outcome: Outcome, file: Path, seconds: float) -> dict[str, Any]:
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


def _recorded(recorder: Recorder, file: RecordingFile | None) -> bool:
    """Write the rows as they come, where there is a file for them; tell whether the recording was stopped from outside.

    What there is is kept.
    """
    before = {number: signal.signal(number, _stop) for number in STOPPED_BY}
    stopped = False
    try:
        with recorder:
            if file:
                file.begin(recorder.columns)
            for row in recorder.rows():
                if file:
                    file.write(row.t_s, row.values)
    except KeyboardInterrupt:
        stopped = True
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if file and recorder.outcome is None:
            file.abandon()
        elif file:
            file.finish(recorder.perf_columns, recorder.perf_rates)
    return stopped


def _emit_outcome(
    outcome: Outcome, result: dict[str, Any], file: RecordingFile | None, table: UsageFile | None, as_json: bool
) -> None:
    if file:
        file.write_outcome(result)
    if table:
        table.append(outcome)
    if file is None and not as_json:
        warn(f"{outcome.workload}, run {outcome.run}, in {result['file']}: {_use(outcome)}")
        return
    for note in outcome.notes:
        warn(f"note: {note}")
    emit(result, as_json, lambda: _text(outcome, Path(result["file"])))


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _or_none(value: float) -> float | None:
    return value if value == value else None  # noqa: PLR0124  NaN is not itself


def _text(outcome: Outcome, file: Path) -> str:
    return (
        f"{outcome.workload}, run {outcome.run}: {outcome.status}, {outcome.rows:,} rows x {outcome.counters} counters "
        f"in {file}\n{_use(outcome)}; a sample cost {outcome.seconds_per_sample * 1000:.1f} ms"
    )


def _use(outcome: Outcome) -> str:
    used = outcome.usage
    ended = "was still running" if outcome.rc is None else f"ended with {outcome.rc}"
    return (
        f"the command {ended} after {format_duration(outcome.duration_s)}; peak memory "
        f"{format_bytes(used.peak_memory_bytes)}, CPU {used.cpu_usage_percent:.0f} % of one core"
    )


BEFORE = (
    *("job_name", "task_name", "workload", "run_name", "node", "status", "start_time_s", "end_time_s", "duration_s"),
    *("requested_cpu_percent", "requested_memory_bytes", "cpu_usage_percent", "mean_memory_bytes"),
    *("peak_memory_bytes", "read_bytes", "write_bytes", "read_count", "write_count", "ended_by"),
)
"""Of tables that an earlier release began: they are continued as they are."""

COLUMNS = (*BEFORE, "user", "exit_status")
"""Requests are empty: fill them in, or map them, to see what a run requested beside what it used."""

COMPLETED, FAILED, KILLED = "completed", "failed", "killed"
KILLS = (-9, -15, 137, 143)
"""Exit statuses of a command that SIGKILL or SIGTERM ended, or whose shell says so."""


class UsageFile:
    """A table of runs on disk; raises SettingsError when the file holds another table, or cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = checked_output(path, option="--usage")
        self._columns()

    def append(self, outcome: Outcome) -> None:
        """Add the run as one line; several recordings may do so at a time."""
        cells, columns = usage_cells(outcome), self._columns()
        append_line(self._path, _line([cells.get(name, "") for name in columns]), header=_line(columns))

    def _columns(self) -> tuple[str, ...]:
        """Return the columns that the file has, or that it shall have."""
        if not self._path.is_file():
            return COLUMNS
        with self._path.open(encoding="utf-8", errors="replace") as stream:
            header = stream.readline(MAX_LINE_BYTES)
        result = tuple(next(csv.reader([header]), ()))
        if result in ((), COLUMNS, BEFORE):
            return result or COLUMNS
        raise SettingsError(
            f"--usage {self._path} holds another table (it starts with {header.rstrip()[:60]!r}); give a new file"
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
        "status": KILLED if outcome.rc in KILLS else FAILED if failed else COMPLETED,
        "ended_by": ended_by,
        "user": whoami(),
        "exit_status": "" if outcome.rc is None else str(outcome.rc if outcome.rc >= 0 else SIGNALLED - outcome.rc),
    }
    return texts | {name: f"{value:.15g}" for name, value in (times | numbers).items()}
