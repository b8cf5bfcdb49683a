"""Runs the six benchmark tools on this machine, one after the other, and yields a line per run.

The plan says which benchmarks run in which order, by which commands: fixed ones, scaled only in time. Running it starts
tools, in a temporary folder that is removed, and reads counters. No file of results is written here; whoever asks for
the lines writes each as it comes.
"""

import contextlib
import math
import platform
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.fields import Setting, settings
from workprof.core.units import MIB, format_bytes
from workprof.nodes.metrics import ASPECT_OF, BENCHMARKS
from workprof.nodes.processes import (
    HostWatch,
    ToolResult,
    await_children,
    await_listening,
    background,
    free_port,
    run_tool,
)


@settings
class SuiteSettings:
    """Which benchmarks are run, how often, how long, and beside which stress.

    Raises SettingsError for a value outside its bounds.
    """

    node: Annotated[str, Setting("Name of this machine, under which the runs are kept.", empty="its host name")] = ""
    seconds_per_benchmark: Annotated[
        int, Setting("How long a tool measures; published: 30.", "seconds", least=1, most=600)
    ] = 5
    repeat: Annotated[int, Setting("Runs of each benchmark, in random order.", least=1, most=1000)] = 1
    stress_share: Annotated[
        float,
        Setting(
            "Runs of each benchmark that compete with stress-ng for the same resource.",
            "share",
            least=0,
            most=0.9,
            flag="--stress",
        ),
    ] = 0.0
    budget_s: Annotated[
        float | None,
        Setting(
            "No run is begun that is not expected to end by then.",
            "s",
            above=0,
            empty="as long as the plan takes",
            flag="--budget",
        ),
    ] = None
    seed: Annotated[int, Setting("Seed of the order and of which runs are under load.", least=0)] = 0
    threads: Annotated[int, Setting("Threads of sysbench; the same on nodes to compare.", least=1, most=256)] = 4
    benchmarks: Annotated[
        tuple[str, ...],
        Setting("Benchmarks A,B,... of the six.", choices=BENCHMARKS, named={"all": BENCHMARKS}, some=True),
    ] = BENCHMARKS
    note: Annotated[str, Setting("Kept with every run, for what the suite cannot see.", empty="none")] = ""

    def __post_init__(self) -> None:
        if self.node and not self.node.strip():
            raise SettingsError("the node has no name; give --node NAME")

    @property
    def name(self) -> str:
        """Under which the runs are kept."""
        return self.node or socket.gethostname()

    @property
    def ends_s(self) -> float:
        """Seconds after which no run is begun; infinite without a budget."""
        return math.inf if self.budget_s is None else self.budget_s


HERE = "."
"""Tools run in a folder of their own, so that no path of this machine is in what is kept."""

SERVER_HOST = "127.0.0.1"
IOPING_REQUESTS = 100
FIO_SIZE_MIB = 128
STRESS_VM_MIB = 256
STRESS_FOREVER_S = 3600
"""A stress is ended when its run ends; this is what ends it should nobody be left to do so."""


@dataclass(frozen=True)
class PlannedRun:
    """A run to come; `PORT` in a command stands for a free port that is chosen when it begins."""

    benchmark: str  # one of the six
    argv: tuple[str, ...]  # the command
    server: tuple[str, ...]  # command of the server that it needs; empty = none
    stress: tuple[str, ...]  # command that competes with it; empty = none
    expected_s: float  # how long it is expected to take, beginning to end


@dataclass(frozen=True)
class SuitePlan:
    """The runs in order."""

    runs: tuple[PlannedRun, ...]  # all that were named
    within_budget: int  # how many of them are expected to fit
    expected_s: float  # of those


def plan_suite(settings: SuiteSettings) -> SuitePlan:
    """The runs of a suite in random order, stressed ones among them; the same seed gives the same plan.

    Source: tools, and stress on the benchmark's own resource, as in Perona (Scheinert et al. 2022). Ours asks for JSON
    where a tool has it, runs benchmarks one at a time, and has a file and blocks of fio that fit a small machine.
    """
    rng = np.random.default_rng(settings.seed)
    runs = []
    for benchmark in settings.benchmarks:
        command, server, extra_s = _COMMANDS[benchmark]
        n_stressed = round(settings.stress_share * settings.repeat)
        for stressed in rng.permutation(np.arange(settings.repeat) < n_stressed).tolist():
            stress = STRESSES[ASPECT_OF[benchmark]] if stressed else ()
            expected_s = settings.seconds_per_benchmark + extra_s + (1.0 if stressed else 0.0)
            runs.append(PlannedRun(benchmark, command(settings), server, stress, expected_s))
    ordered = tuple(runs[position] for position in rng.permutation(len(runs)))
    ends = np.cumsum([run.expected_s for run in ordered])
    within = int(np.searchsorted(ends, settings.ends_s, side="right"))
    return SuitePlan(ordered, within, float(ends[within - 1]) if within else 0.0)


def _cpu(settings: SuiteSettings) -> tuple[str, ...]:
    timed = (f"--threads={settings.threads}", f"--time={settings.seconds_per_benchmark}")
    return ("sysbench", "cpu", *timed, "--cpu-max-prime=10000", "run")


def _memory(settings: SuiteSettings) -> tuple[str, ...]:
    timed = (f"--threads={settings.threads}", f"--time={settings.seconds_per_benchmark}")
    sized = ("--memory-block-size=1K", "--memory-total-size=1000G", "--memory-oper=write", "--memory-scope=global")
    return ("sysbench", "memory", *timed, *sized, "run")


def _fio(settings: SuiteSettings) -> tuple[str, ...]:
    what = ("--name=workprof", f"--directory={HERE}", "--rw=randrw", "--iodepth=1", "--bs=256k")
    how_long = (f"--size={FIO_SIZE_MIB}M", f"--runtime={settings.seconds_per_benchmark}", "--time_based=1")
    return ("fio", *what, *how_long, "--unlink=1", "--output-format=json")


def _ioping(settings: SuiteSettings) -> tuple[str, ...]:
    seconds = settings.seconds_per_benchmark
    interval = f"{seconds / IOPING_REQUESTS:g}"
    return ("ioping", "-w", str(seconds), "-i", interval, "-G", "-L", "-q", "-J", HERE)


def _iperf3(settings: SuiteSettings) -> tuple[str, ...]:
    return ("iperf3", "-c", SERVER_HOST, "-p", "PORT", "-t", str(settings.seconds_per_benchmark), "--bidir", "-J")


def _qperf(settings: SuiteSettings) -> tuple[str, ...]:
    each_s = str(max(1, settings.seconds_per_benchmark // 2))
    return ("qperf", SERVER_HOST, "-lp", "PORT", "-uu", "-vv", "-t", each_s, "-ar", "1", "tcp_bw", "tcp_lat")


_COMMANDS: dict[str, tuple[Callable[[SuiteSettings], tuple[str, ...]], tuple[str, ...], float]] = {
    "cpu-sysbench": (_cpu, (), 0.3),
    "memory-sysbench": (_memory, (), 0.3),
    "disk-fio": (_fio, (), 2.0),  # it lays out its file first
    "disk-ioping": (_ioping, (), 0.3),
    "network-iperf3": (_iperf3, ("iperf3", "-s", "-1", "-B", SERVER_HOST, "-p", "PORT"), 0.5),
    "network-qperf": (_qperf, ("qperf", "-lp", "PORT"), 1.5),  # two tests of at least a second each
}

_ENDLESS = ("-t", str(STRESS_FOREVER_S))
STRESSES: dict[str, tuple[str, ...]] = {
    "cpu": ("stress-ng", "--cpu", "2", "--cpu-load", "60", *_ENDLESS),
    "memory": ("stress-ng", "--vm", "2", "--vm-bytes", f"{STRESS_VM_MIB}M", "--vm-keep", *_ENDLESS),
    "disk": ("stress-ng", "--hdd", "2", "--hdd-bytes", "64M", "--temp-path", HERE, *_ENDLESS),
    "network": ("stress-ng", "--sock", "2", "--sock-port", "PORT", *_ENDLESS),
}
"""What competes with a benchmark, by its resource."""


PACKAGES = {name: name for name in ("fio", "ioping", "iperf3", "qperf", "stress-ng", "sysbench")}
"""Tool -> Debian package."""

_VERSION_FLAG = {"ioping": "-v"}
_PATIENCE_S = 30


@dataclass(frozen=True)
class Machine:
    """What does not change while the suite runs."""

    kernel: str
    cpu_model: str
    cores: int


def tools_of(runs: Iterable[PlannedRun]) -> tuple[str, ...]:
    """The tools that runs need, sorted."""
    commands = [command for run in runs for command in (run.argv, run.server, run.stress) if command]
    return tuple(sorted({command[0] for command in commands}))


def missing_tools(tools: Iterable[str]) -> tuple[str, ...]:
    """Those of the tools that are not installed."""
    return tuple(tool for tool in tools if shutil.which(tool) is None)


def require_tools(tools: Iterable[str]) -> None:
    """Do nothing when all tools are there.

    Raises SettingsError, which names what is missing and the Debian packages that have it.
    """
    missing = missing_tools(tools)
    if missing:
        packages = " ".join(PACKAGES[tool] for tool in missing)
        raise SettingsError(f"not installed: {', '.join(missing)}; on Debian: apt-get install {packages}")


def version_of(tool: str) -> str:
    """The first line in which a tool tells its version, its name before it; '' when it tells none."""
    try:
        printed = subprocess.run(
            [tool, _VERSION_FLAG.get(tool, "--version")],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (printed.stdout.strip() or printed.stderr.strip()).splitlines()
    number = re.search(r"[0-9]+(\.[0-9]+)+", lines[0]) if lines else None
    return f"{tool} {number.group()}" if number else ""


def this_machine() -> Machine:
    """The kernel, processor and usable cores of this machine; '' or 0 where it does not tell."""
    import psutil  # noqa: PLC0415  only the suite needs it

    model = None
    with contextlib.suppress(OSError):
        cpus = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        model = re.search(r"^model name\s*:\s*(.+)$", cpus, re.MULTILINE)
    cpu_model = model.group(1).strip() if model else platform.processor()
    return Machine(f"{platform.system()} {platform.release()}", cpu_model, psutil.cpu_count() or 0)


SPARE_BYTES = 4 * FIO_SIZE_MIB * MIB
"""Free disk that a suite wants: fio's file, those of the stress beside it, and as much again."""

STRESS_TOOL = "stress-ng"
NOT_STARTED = 126
PATIENCE_S, PATIENCE_FACTOR = 30.0, 4.0
"""A tool is ended after four times its expected time and half a minute: a slow machine is slow, not broken."""


@dataclass(frozen=True)
class RunLine:
    """One run as it is kept, one JSON object per line."""

    node: str
    benchmark: str
    argv: tuple[str, ...]
    started: float
    finished: float
    stressed: bool | None  # None = the stress ended before the run did, so it is not known
    rc: int
    stdout: str
    stderr: str
    host: dict[str, float] = field(default_factory=dict)
    # tool_version, kernel, cpu_model, cores, threads, seconds given, the stress and its trouble
    provenance: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The object that a line of the file holds."""
        return asdict(self) | {"argv": list(self.argv)}


def run_suite(plan: SuitePlan, settings: SuiteSettings, disk: Path) -> Iterator[RunLine]:
    """A line per run as it ends, in a folder inside `disk`; stops before a run not expected to fit the budget.

    Raises SettingsError when a tool is missing, or the disk has no room.
    """
    tools = tools_of(plan.runs)
    require_tools(tools)
    _require_room(disk)
    versions, machine = {tool: version_of(tool) for tool in tools}, this_machine()
    ends_at = time.monotonic() + settings.ends_s
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
    provenance: dict[str, Any] = {
        "tool_version": versions[run.argv[0]],
        "threads": settings.threads,
        "seconds_per_benchmark": settings.seconds_per_benchmark,
        **asdict(machine),
    }
    if run.stress:
        provenance["stress"] = list(run.stress)
    if settings.note:
        provenance["note"] = settings.note
    return provenance


def _line(run: PlannedRun, settings: SuiteSettings, folder: Path, provenance: dict[str, Any]) -> RunLine:
    """One run, its server and its stress up before it and ended after it."""
    port = str(free_port())
    argv = tuple(port if word == "PORT" else word for word in run.argv)
    begun = time.time()
    stressed: bool | None = bool(run.stress)
    with contextlib.ExitStack() as beside:
        try:
            stress = _start_beside(beside, run.stress, str(free_port()), folder)
            if run.server:
                _start_beside(beside, run.server, port, folder)
        except (WorkprofError, OSError) as error:
            finished, host = ToolResult(begun, time.time(), NOT_STARTED, "", str(error)), {}
        else:
            with HostWatch() as watch:
                finished = run_tool(argv, folder, PATIENCE_FACTOR * run.expected_s + PATIENCE_S)
            host = watch.summary()
            if stress is not None and stress.poll() is not None:
                stressed, provenance = None, provenance | {"stress_ended_with": stress.returncode}
    return RunLine(
        settings.name,
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


def _start_beside(
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
