"""Synthetic benchmark runs with the truth: which runs were under stress, how much, and how fast every node is.

Nodes have a speed per resource; runs scatter around it, a stressed run loses a share of it and has longer tails, a
node may drift, and now and then a run fails or a host value is missing. Effects of stress are of the size of the
development runs' (median of three to twenty of a metric's scatter), with weak ones among them; nothing is fitted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workprof.errors import SettingsError
from workprof.store.outputs import write_whole
from workprof.synthetic.benchmark_outputs import ARGV, MIB, SECONDS, Measure, output_of
from workprof.synthetic.report import SynthReport, check_room, check_size

RATES: dict[str, tuple[float, float]] = {
    "cpu-sysbench": (4000.0, 4000.0),
    "disk-fio": (600e6, 580e6),
    "disk-ioping": (3000.0, 3000.0),
    "memory-sysbench": (7000.0, 7000.0),
    "network-iperf3": (2.5e9, 1.4e9),
    "network-qperf": (3.8e9, 34e3),
}
"""Of a node of speed 1, in the units of `Measure`."""

ASPECT = {name: name.split("-")[0] for name in RATES}
NOISE = {"cpu": 0.03, "memory": 0.1, "disk": 0.08, "network": 0.15}
"""Standard deviation of the logarithm of a rate."""

LOST = {"cpu": 0.35, "memory": 0.45, "disk": 0.6, "network": 0.45}
"""Share of the rate that full stress takes."""

MOST_NODES, MOST_RUNS, RUN_BYTES = 1_000, 100_000, 1_500
"""Runs of all nodes together, which are in memory at a time; bytes of a run in the file."""

START_S = 1_700_000_000.0
FAILED_SHARE = 0.005
NO_HOST_SHARE = 0.02


@dataclass(frozen=True)
class BenchmarkTraceSettings:
    """What is simulated.

    Attributes:
        nodes: number of nodes; their speeds halve from one to the next, so that the order is known.
        repeat: runs of each (node, benchmark).
        stressed_share: of the runs, 0-1.
        intensity: least and largest strength of a stress, 0-1.
        drift: change of the logarithm of every rate from the first run to the last; 0 = none.
        labelled: False leaves 'stressed' empty.
        seed: of every draw.

    Raises:
        SettingsError: for a number out of bounds.
    """

    nodes: int = 3
    repeat: int = 30
    stressed_share: float = 0.2
    intensity: tuple[float, float] = (0.4, 1.0)
    drift: float = 0.0
    labelled: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        check_size("nodes", self.nodes, self.seed, MOST_NODES)
        check_size("repeat", self.repeat, self.seed)
        if self.runs > MOST_RUNS:
            raise SettingsError(
                f"{self.nodes} nodes and repeat {self.repeat:,} are {self.runs:,} runs; ask for at most {MOST_RUNS:,}"
            )
        low, high = self.intensity
        for name, value in (("stressed_share", self.stressed_share), ("intensity", low), ("intensity", high)):
            if not 0 <= value <= 1:
                raise SettingsError(f"{name} is {value}; give a share from 0 to 1")
        if low > high or abs(self.drift) > 3:
            raise SettingsError(f"intensity {low} to {high} and drift {self.drift}: give low <= high and |drift| <= 3")

    @property
    def runs(self) -> int:
        """Runs of all benchmarks on all nodes."""
        return self.nodes * self.repeat * len(RATES)


@dataclass(frozen=True)
class BenchmarkTrace:
    """Runs in the form of the suite's file, and the truth.

    Attributes:
        lines: one document per run, by time.
        strength: (n_runs,) of the stress, 0 = none.
        speed: node -> aspect -> speed.
    """

    lines: tuple[dict[str, Any], ...]
    strength: tuple[float, ...]
    speed: dict[str, dict[str, float]]


def benchmark_trace(settings: BenchmarkTraceSettings | None = None) -> BenchmarkTrace:
    """Return simulated runs of the six benchmarks; the same settings give the same runs."""
    asked = settings or BenchmarkTraceSettings()
    rng = np.random.default_rng(asked.seed)
    names = [f"node-{number + 1}" for number in range(asked.nodes)]
    speed = {name: dict.fromkeys(NOISE, 0.5**number) for number, name in enumerate(names)}
    told = list(_runs(asked, speed, rng))
    return BenchmarkTrace(tuple(line for line, _ in told), tuple(strength for _, strength in told), speed)


def write_benchmark_trace(path: Path, settings: BenchmarkTraceSettings) -> SynthReport:
    """Write simulated runs as JSON lines; `truth_strength` of each line is the strength of its stress.

    Raises:
        SettingsError: when they cannot be written.
        DiskFull: when there is no room.
    """
    started = time.perf_counter()
    check_room(path, f"{settings.runs:,} runs", settings.runs * RUN_BYTES)
    trace = benchmark_trace(settings)
    pairs = zip(trace.lines, trace.strength, strict=True)
    text = "".join(json.dumps(line | {"truth_strength": strength}) + "\n" for line, strength in pairs)
    write_whole(path, text.encode())
    rows = len(trace.lines)
    return SynthReport(path, rows, time.perf_counter() - started, {path.name: rows}, path.stat().st_size)


def _runs(
    asked: BenchmarkTraceSettings, speed: dict[str, dict[str, float]], rng: np.random.Generator
) -> Iterator[tuple[dict[str, Any], float]]:
    plan = [(node, benchmark) for node in speed for benchmark in RATES for _ in range(asked.repeat)]
    clock = START_S
    for place, number in enumerate(rng.permutation(len(plan)).tolist()):
        node, benchmark = plan[number]
        stressed = bool(rng.random() < asked.stressed_share)
        strength = float(rng.uniform(*asked.intensity)) if stressed else 0.0
        drifted = asked.drift * place / max(len(plan) - 1, 1)
        measured = _measure(benchmark, speed[node][ASPECT[benchmark]] * np.exp(drifted), strength, rng)
        line = _line(node, benchmark, clock, measured, rng)
        yield (
            line | {"stressed": stressed if asked.labelled else None, "host": _host(benchmark, strength, rng)},
            strength,
        )
        clock += SECONDS + 1.0 + float(rng.exponential(1.0))


def _measure(benchmark: str, speed: float, strength: float, rng: np.random.Generator) -> Measure:
    aspect = ASPECT[benchmark]
    kept = 1 - LOST[aspect] * strength
    first, second = (
        rate * speed * kept * float(np.exp(NOISE[aspect] * rng.standard_normal())) for rate in RATES[benchmark]
    )
    tail = 3 * float(np.exp(0.3 * rng.standard_normal())) * (1 + 6 * strength)
    spread = 0.1 * float(np.exp(0.3 * rng.standard_normal())) * (1 + 2 * strength)
    return Measure(first, second, tail, spread, 0.9 * kept * float(np.exp(0.05 * rng.standard_normal())))


def _line(node: str, benchmark: str, clock: float, one: Measure, rng: np.random.Generator) -> dict[str, Any]:
    failed = bool(rng.random() < FAILED_SHARE)
    return {
        "node": node,
        "benchmark": benchmark,
        "argv": list(ARGV[benchmark]),
        "started": clock,
        "finished": clock + SECONDS,
        "rc": 124 if failed else 0,
        "stdout": "" if failed else output_of(benchmark, one),
        "stderr": "",
    }


def _host(benchmark: str, strength: float, rng: np.random.Generator) -> dict[str, float]:
    """Return machine-wide values over the run; {} where none were recorded."""
    if rng.random() < NO_HOST_SHARE:
        return {}
    aspect, noise = ASPECT[benchmark], np.exp(0.1 * rng.standard_normal(4))
    values = {
        "cpu_busy_pct": min(60 * noise[0] * (1 + 0.3 * strength * (aspect == "cpu")), 100.0),
        "memory_used_kib": 500 * MIB / 1024 * noise[1] * (1 + 0.4 * strength * (aspect == "memory")),
        "disk_write_bytes_per_s": (4e8 if aspect == "disk" else 4e3) * noise[2] * (1 + 0.5 * strength),
        "net_in_bytes_per_s": (4e9 if aspect == "network" else 0.0) * noise[3],
    }
    return {
        f"{name}_{kind}": value * by for name, value in values.items() for kind, by in (("mean", 1.0), ("max", 1.3))
    }
