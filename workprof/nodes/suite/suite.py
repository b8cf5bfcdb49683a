"""Runs the six benchmark tools on this machine, one after the other, and yields a line per run.

This module faces the machine: it starts tools, in a temporary folder that is removed, and reads counters. It writes no
file of results; whoever asks for the lines writes each as it comes.
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from workprof.errors import SettingsError, WorkprofError
from workprof.nodes.suite.host import HostWatch
from workprof.nodes.suite.plan import FIO_SIZE_MIB, PlannedRun, SuitePlan
from workprof.nodes.suite.process import (
    Finished,
    await_children,
    await_listening,
    background,
    free_port,
    run_tool,
)
from workprof.nodes.suite.settings import SuiteSettings
from workprof.nodes.suite.tools import Machine, require_tools, this_machine, tools_of, version_of
from workprof.units import MIB, format_bytes

SPARE_BYTES = 4 * FIO_SIZE_MIB * MIB
"""Free disk that a suite wants: fio's file, those of the stress beside it, and as much again."""

STRESS_TOOL = "stress-ng"
NOT_STARTED = 126
PATIENCE_S, PATIENCE_FACTOR = 30.0, 4.0
"""A tool is ended after four times its expected time and half a minute: a slow machine is slow, not broken."""


@dataclass(frozen=True)
class RunLine:
    """One run as it is kept, one JSON object per line.

    Attributes:
        stressed: None = the stress ended before the run did, so it is not known.
        provenance: tool_version, kernel, cpu_model, cores, threads, seconds asked for, the stress and its trouble.
    """

    node: str
    benchmark: str
    argv: tuple[str, ...]
    started: float
    finished: float
    stressed: bool | None
    rc: int
    stdout: str
    stderr: str
    host: dict[str, float] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the object that a line of the file holds."""
        return asdict(self) | {"argv": list(self.argv)}


def run_suite(plan: SuitePlan, settings: SuiteSettings, disk: Path) -> Iterator[RunLine]:
    """Yield a line per run as it ends; stops before a run that is not expected to fit the budget.

    Args:
        plan: of `workprof.nodes.suite.plan.plan_suite`.
        settings: the plan was made from.
        disk: folder on the disk that is measured; a folder inside it is used and removed.

    Raises:
        SettingsError: when a tool is missing, or the disk has no room.
    """
    tools = tools_of(plan.runs)
    require_tools(tools)
    _require_room(disk)
    versions, machine = {tool: version_of(tool) for tool in tools}, this_machine()
    ends_at = time.monotonic() + settings.budget_s
    for run in plan.runs:
        if time.monotonic() + run.expected_s > ends_at:
            return
        with tempfile.TemporaryDirectory(prefix="workprof-suite-", dir=disk, ignore_cleanup_errors=True) as folder:
            yield _line(run, settings, Path(folder), _provenance(run, settings, versions, machine))


def _require_room(disk: Path) -> None:
    import psutil  # noqa: PLC0415  only the suite needs it

    if not disk.is_dir():
        raise SettingsError(f"{disk} is no folder; give one on the disk that is to be measured")
    free = psutil.disk_usage(str(disk)).free
    if free < SPARE_BYTES:
        raise SettingsError(
            f"{disk} has {format_bytes(free)} free; the disk benchmarks want {format_bytes(SPARE_BYTES)}"
        )


def _provenance(run: PlannedRun, settings: SuiteSettings, versions: dict[str, str], machine: Machine) -> dict[str, Any]:
    told: dict[str, Any] = {
        "tool_version": versions[run.argv[0]],
        "threads": settings.threads,
        "seconds_per_benchmark": settings.seconds_per_benchmark,
        **asdict(machine),
    }
    if run.stress:
        told["stress"] = list(run.stress)
    if settings.note:
        told["note"] = settings.note
    return told


def _line(run: PlannedRun, settings: SuiteSettings, folder: Path, provenance: dict[str, Any]) -> RunLine:
    """Return one run, its server and its stress up before it and ended after it."""
    port = str(free_port())
    argv = tuple(port if word == "PORT" else word for word in run.argv)
    begun = time.time()
    stressed: bool | None = bool(run.stress)
    with contextlib.ExitStack() as beside:
        try:
            stress = _up(beside, run.stress, str(free_port()), folder)
            if run.server:
                _up(beside, run.server, port, folder)
        except (WorkprofError, OSError) as error:
            finished, host = Finished(begun, time.time(), NOT_STARTED, "", str(error)), {}
        else:
            with HostWatch() as watch:
                finished = run_tool(argv, folder, PATIENCE_FACTOR * run.expected_s + PATIENCE_S)
            host = watch.summary()
            if stress is not None and stress.poll() is not None:
                stressed, provenance = None, provenance | {"stress_ended_with": stress.returncode}
    return RunLine(
        settings.node,
        run.benchmark,
        argv,
        finished.started,
        finished.finished,
        stressed,
        finished.rc,
        finished.stdout,
        finished.stderr,
        host,
        provenance,
    )


def _up(
    beside: contextlib.ExitStack, command: tuple[str, ...], port: str, folder: Path
) -> subprocess.Popen[bytes] | None:
    """Start what a run needs beside it and return it when it is ready; None for an empty command."""
    if not command:
        return None
    process = beside.enter_context(background(tuple(port if word == "PORT" else word for word in command), folder))
    if command[0] == STRESS_TOOL:
        await_children(process)
    else:
        await_listening(process, int(port))
    return process
