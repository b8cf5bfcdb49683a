"""Which benchmarks are run, in which order, by which commands: fixed ones, scaled only in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workprof.nodes.metrics.metrics import ASPECT_OF
from workprof.nodes.suite.settings import SuiteSettings

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
    """A run to come; `PORT` in a command stands for a free port that is chosen when it begins.

    Attributes:
        benchmark: one of the six.
        argv: the command.
        server: command of the server that it needs; empty = none.
        stress: command that competes with it; empty = none.
        expected_s: how long it is expected to take, beginning to end.
    """

    benchmark: str
    argv: tuple[str, ...]
    server: tuple[str, ...]
    stress: tuple[str, ...]
    expected_s: float


@dataclass(frozen=True)
class SuitePlan:
    """The runs in order.

    Attributes:
        runs: all that were asked for.
        within_budget: how many of them are expected to fit.
        expected_s: of those.
    """

    runs: tuple[PlannedRun, ...]
    within_budget: int
    expected_s: float


def plan_suite(settings: SuiteSettings) -> SuitePlan:
    """Return the runs of a suite in random order, stressed ones among them; the same seed gives the same plan.

    Source: perona.md 1.1 (tools), 1.4 (stress on the benchmark's own resource) and 1.5 (commands with JSON output).
    Ours runs benchmarks one at a time, and with a file and blocks of fio that fit a small machine.
    """
    rng = np.random.default_rng(settings.seed)
    runs = []
    for benchmark in settings.benchmarks:
        for stressed in _flags(rng, settings):
            runs.append(_planned(benchmark, settings, stressed))
    ordered = tuple(runs[position] for position in rng.permutation(len(runs)))
    ends = np.cumsum([run.expected_s for run in ordered])
    within = int(np.searchsorted(ends, settings.budget_s, side="right"))
    return SuitePlan(ordered, within, float(ends[within - 1]) if within else 0.0)


def _flags(rng: np.random.Generator, settings: SuiteSettings) -> list[bool]:
    n_stressed = round(settings.stress_share * settings.repeat)
    return [bool(flag) for flag in rng.permutation(np.arange(settings.repeat) < n_stressed)]


def _planned(benchmark: str, settings: SuiteSettings, stressed: bool) -> PlannedRun:
    command, server, extra_s = _COMMANDS[benchmark]
    return PlannedRun(
        benchmark,
        command(settings),
        server,
        STRESSES[ASPECT_OF[benchmark]] if stressed else (),
        settings.seconds_per_benchmark + extra_s + (1.0 if stressed else 0.0),
    )


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
"""What competes with a benchmark, by its resource (perona.md 1.6; the memory of a worker is halved)."""
