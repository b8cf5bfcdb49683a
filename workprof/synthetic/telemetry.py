"""Synthetic recordings with planted phases, and the truth: where each phase of each run ends, and in which counters."""

from __future__ import annotations

import csv
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.core.errors import SettingsError
from workprof.store.outputs import whole
from workprof.synthetic.report import SynthReport, check_room, check_size, truth_of

CPU = ("cpu.user%", "cpu.system%", "cpu.iowait%", "cpu.softirq%", "cpu.steal%", "cpu.idle%")
"""Shares of the processor; they add up to 100, the last is what the others leave."""

CPU_SCALE = (30.0, 12.0, 3.0, 1.0, 0.2)
"""Usual percent of all but the last."""


@dataclass(frozen=True)
class Kind:
    """A counter and its usual size; a level carries history from run to run, a rate does not."""

    name: str
    usual: float
    level: bool = False


KINDS = (
    Kind("sys.ctxt/s", 8000),
    Kind("sys.intr/s", 3000),
    Kind("sys.forks/s", 10),
    Kind("softirq.NET_RX/s", 400),
    Kind("softirq.BLOCK/s", 60),
    Kind("softirq.SCHED/s", 900),
    Kind("irq.RES/s", 500),
    Kind("vm.pgfault/s", 9000),
    Kind("vm.pgpgout/s", 4000),
    Kind("disk.reads/s", 40),
    Kind("disk.writes/s", 120),
    Kind("disk.write_kb/s", 6000),
    Kind("net.lo.rx_kb/s", 2500),
    Kind("net.Tcp.InSegs/s", 1500),
    Kind("psi.cpu_some_ms/s", 200),
    Kind("psi.io_some_ms/s", 30),
    Kind("mem.MemFree_mb", 4000, level=True),
    Kind("mem.Cached_mb", 2500, level=True),
    Kind("mem.AnonPages_mb", 800, level=True),
    Kind("sys.procs_running", 3),
)


COUNTERS = (*CPU, *(kind.name for kind in KINDS))
NAMES = ("cache", "database", "web", "training", "compress", "compile", "search", "stream", "backup", "archive")
MOVED_SHARE = 0.5
"""Of the counters, that a change of phase moves."""

LENGTHS_VARY, SIZES_VARY, SAMPLES_SCATTER = 0.25, 0.08, 0.12
WORKLOAD_SPREAD, PHASE_STEP = 0.8, (0.9, 1.8)
"""Standard deviation of a workload's log sizes, and the bounds of the log step between two phases."""

MOST_ROWS, ROW_BYTES = 1_000_000, 230
"""Of all runs together, which are in memory at a time; bytes of a row in the file."""

SHORTEST_PHASE_S = 4
HISTORY_STEP = 0.05
DIGITS = 6


@dataclass(frozen=True)
class TelemetrySettings:
    """What is made."""

    workloads: int = 6  # 2 to 10
    runs: int = 10  # of each workload
    seconds: int = 30  # rows of each run, at least 16
    seed: int = 0  # of every draw

    def __post_init__(self) -> None:
        check_size("runs", self.runs, self.seed)
        if not 2 <= self.workloads <= len(NAMES):
            raise SettingsError(f"workloads is {self.workloads}; give 2 to {len(NAMES)}")
        if self.seconds < 4 * SHORTEST_PHASE_S:
            raise SettingsError(f"seconds is {self.seconds}; give at least {4 * SHORTEST_PHASE_S}")
        if self.rows > MOST_ROWS:
            raise SettingsError(
                f"{self.workloads} workloads, {self.runs:,} runs of each and {self.seconds:,} seconds are "
                f"{self.rows:,} rows; give at most {MOST_ROWS:,}"
            )

    @property
    def rows(self) -> int:
        """Rows of all runs."""
        return self.workloads * self.runs * self.seconds


@dataclass(frozen=True)
class RunTruth:
    """The truth of one run."""

    workload: str
    run: str
    # ends of its phases but the last: the first sample of the next phase is one second later
    change_points_s: tuple[float, ...]
    # counters that each change moves. Shares of the processor move also where others fill the machine
    moved: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SyntheticTelemetry:
    """Recordings and their truth."""

    frame: pd.DataFrame  # columns workload, run, t and COUNTERS, a row per second
    truth: tuple[RunTruth, ...]  # a record per run, in the frame's order


@dataclass(frozen=True)
class _Workload:
    """sizes: (n_phases, n_counters) logs of sizes; moved: (n_phases - 1, n_counters); shares: (n_phases,) of a run."""

    sizes: NDArray[np.float64]
    moved: NDArray[np.bool_]
    shares: NDArray[np.float64]

    def reversed(self) -> _Workload:
        return _Workload(self.sizes[::-1], self.moved[::-1], self.shares[::-1])


def synthetic_telemetry(settings: TelemetrySettings | None = None) -> SyntheticTelemetry:
    """Recordings of every workload in turn (a round is a run of each), with the truth."""
    settings = settings or TelemetrySettings()
    draw = np.random.default_rng((settings.seed, 72))
    names = NAMES[: settings.workloads]
    workloads = {name: _workload(draw) for name in names}
    if len(names) >= 4:
        workloads[names[-1]] = workloads[names[-2]].reversed()
    history = np.zeros(len(COUNTERS))
    runs: dict[tuple[str, str], tuple[pd.DataFrame, RunTruth]] = {}
    for number in range(1, settings.runs + 1):
        for name in draw.permutation(names):
            history = history + draw.normal(0, HISTORY_STEP, len(COUNTERS)) * _levels()
            made = _run(workloads[name], settings.seconds, history, draw)
            runs[name, str(number)] = _frame_and_truth(str(name), str(number), *made)
    keys = [(name, str(number)) for name in names for number in range(1, settings.runs + 1)]
    frame = pd.concat([runs[key][0] for key in keys], ignore_index=True)
    return SyntheticTelemetry(frame, tuple(runs[key][1] for key in keys))


def write_synthetic_telemetry(path: Path, settings: TelemetrySettings | None = None) -> SynthReport:
    """Write recordings as `workprof record` does, and the truth beside them (FILE.truth.json).

    Raises:
        SettingsError: when they cannot be written.
        DiskFull: when there is no room; then neither is left.
    """
    started = time.perf_counter()
    settings = settings or TelemetrySettings()
    check_room(path, f"{settings.rows:,} rows", settings.rows * ROW_BYTES)
    made, truth = synthetic_telemetry(settings), truth_of(path)
    with whole(path.parent, path) as aside:
        with (aside / path.name).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(made.frame.columns)
            for row in made.frame.itertuples(index=False):
                writer.writerow([*row[:2], *(f"{value:.{DIGITS}g}" for value in row[2:])])
        document = json.dumps([asdict(one) for one in made.truth], indent=1) + "\n"
        (aside / truth.name).write_text(document, encoding="utf-8")
    rows = len(made.frame)
    size = path.stat().st_size + truth.stat().st_size
    return SynthReport(path, rows, time.perf_counter() - started, {path.name: rows}, size)


def _levels() -> NDArray[np.bool_]:
    return np.array([False] * len(CPU) + [kind.level for kind in KINDS])


def _workload(draw: np.random.Generator) -> _Workload:
    n_phases, n_counters = int(draw.integers(2, 5)), len(COUNTERS)
    sizes = [draw.normal(0, WORKLOAD_SPREAD, n_counters)]
    moved = draw.random((n_phases - 1, n_counters)) < MOVED_SHARE
    moved[:, len(CPU) - 1] = False  # idle is what the others leave
    for change in moved:
        towards_usual = np.where(sizes[-1] > 0, -1, 1)  # sizes neither run away nor vanish
        sizes.append(sizes[-1] + change * towards_usual * draw.uniform(*PHASE_STEP, n_counters))
    return _Workload(np.array(sizes), moved, draw.dirichlet(np.full(n_phases, 8.0)))


def _run(
    workload: _Workload, seconds: int, history: NDArray[np.float64], draw: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """(seconds, n_counters) values, (n_phases - 1,) ends of phases, and what each end moves."""
    shares = workload.shares * draw.uniform(1 - LENGTHS_VARY, 1 + LENGTHS_VARY, workload.shares.size)
    ends = _ends(shares / shares.sum(), seconds)
    phase = np.searchsorted(ends, np.arange(seconds), side="right")
    logs = workload.sizes + draw.normal(0, SIZES_VARY, workload.sizes.shape[1]) + history
    scatter = draw.normal(0, SAMPLES_SCATTER, (seconds, workload.sizes.shape[1]))
    usual = np.array([*CPU_SCALE, 1.0, *(kind.usual for kind in KINDS)])
    values = usual * np.exp(logs[phase] + scatter)
    values[:, : len(CPU)] = _shares_of_time(values[:, : len(CPU) - 1])
    return values, ends, workload.moved


def _ends(shares: NDArray[np.float64], seconds: int) -> NDArray[np.int64]:
    """Where phases end, each at least SHORTEST_PHASE_S long."""
    spare = seconds - SHORTEST_PHASE_S * shares.size
    lengths = SHORTEST_PHASE_S + np.diff(np.round(np.cumsum(shares) * spare), prepend=0)
    return np.cumsum(lengths)[:-1].astype(np.int64)


def _shares_of_time(busy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Busy and idle percent that add up to 100; a machine of which more is wanted than it has is full."""
    whole = busy.sum(axis=1, keepdims=True)
    fitted = busy * np.minimum(1.0, 99.0 / whole)
    return np.hstack([fitted, 100 - fitted.sum(axis=1, keepdims=True)])


def _frame_and_truth(
    name: str, number: str, values: NDArray[np.float64], ends: NDArray[np.int64], moved: NDArray[np.bool_]
) -> tuple[pd.DataFrame, RunTruth]:
    frame = pd.DataFrame(values, columns=list(COUNTERS))
    frame.insert(0, "t", np.arange(1.0, len(values) + 1))
    frame.insert(0, "run", number)
    frame.insert(0, "workload", name)
    names = tuple(tuple(np.array(COUNTERS)[change].tolist()) for change in moved)
    return frame, RunTruth(name, number, tuple(map(float, ends)), names)
