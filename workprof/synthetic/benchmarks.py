"""Synthetic benchmark runs with the truth: which were under stress and how much, and the tools' own outputs."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workprof.core.errors import SettingsError
from workprof.store.outputs import write_whole
from workprof.synthetic.report import SynthReport, check_room, check_size

SECONDS = 2
THREADS = 4
NS = 1e9
MIB = 1024**2


@dataclass(frozen=True)
class Measure:
    """What a run measured: a rate, a second rate, and how uneven it was."""

    rate: float  # of the tool: events/s, MiB/s, B/s read or sent, requests/s
    other: float  # second rate: B/s written or received, messages/s; the same as `rate` for tools with one
    tail: float  # slowest / mean latency, above 1
    spread: float  # standard deviation / mean
    busy: float  # share of one processor that the tool keeps busy, 0-1 or more


ARGV: Mapping[str, tuple[str, ...]] = {
    "cpu-sysbench": ("sysbench", "cpu", f"--threads={THREADS}", f"--time={SECONDS}", "--cpu-max-prime=10000", "run"),
    "memory-sysbench": (
        *("sysbench", "memory", f"--threads={THREADS}", f"--time={SECONDS}"),
        *("--memory-block-size=1K", "--memory-total-size=1000G", "run"),
    ),
    "disk-fio": (
        *("fio", "--name=w", "--rw=randrw", "--iodepth=1", "--bs=256k", "--size=128M", f"--runtime={SECONDS}"),
        *("--time_based=1", "--output-format=json"),
    ),
    "disk-ioping": ("ioping", "-w", str(SECONDS), "-i", "0.02", "-G", "-L", "-q", "-J", "."),
    "network-iperf3": ("iperf3", "-c", "127.0.0.1", "-t", str(SECONDS), "--bidir", "-J"),
    "network-qperf": ("qperf", "127.0.0.1", "-uu", "-vv", "-t", "1", "tcp_bw", "tcp_lat"),
}


def output_of(benchmark: str, one: Measure) -> str:
    """What the tool would have printed; `benchmark` is a key of `ARGV`."""
    writers = {
        "cpu-sysbench": _cpu,
        "memory-sysbench": _memory,
        "disk-fio": _fio,
        "disk-ioping": _ioping,
        "network-iperf3": _iperf3,
        "network-qperf": _qperf,
    }
    return writers[benchmark](one)


def _cpu(one: Measure) -> str:
    events = round(one.rate * SECONDS)
    head = "Prime numbers limit: 10000\n\nCPU speed:\n"
    return _sysbench(f"{head}    events per second: {one.rate:9.2f}\n", events, THREADS * 1e3 / one.rate, one)


def _memory(one: Measure) -> str:
    operations = round(one.rate * 1024 * SECONDS)
    text = (
        "Running memory speed test with the following options:\n  block size: 1KiB\n  total size: 1024000MiB\n"
        "  operation: write\n  scope: global\n\n"
        f"Total operations: {operations} ({operations / SECONDS:.2f} per second)\n\n"
        f"{one.rate * SECONDS:.2f} MiB transferred ({one.rate:.2f} MiB/sec)\n"
    )
    return _sysbench(text, operations, THREADS * 1e3 / (operations / SECONDS), one)


def _sysbench(middle: str, events: int, mean_ms: float, one: Measure) -> str:
    spent_s = SECONDS * THREADS * min(one.busy, 1.0)
    return (
        f"sysbench 1.0.20 (using system LuaJIT 2.1.0)\n\nNumber of threads: {THREADS}\n\n{middle}\n"
        f"General statistics:\n    total time: {SECONDS + 0.001 * one.tail:12.4f}s\n"
        f"    total number of events: {events:14}\n\nLatency (ms):\n"
        f"         min: {mean_ms * 0.9:20.2f}\n         avg: {mean_ms:20.2f}\n"
        f"         max: {mean_ms * one.tail:20.2f}\n         95th percentile: {mean_ms * (1 + one.spread):14.2f}\n"
        f"         sum: {spent_s * 1e3:20.2f}\n\nThreads fairness:\n"
        f"    events (avg/stddev):           {events / THREADS:.4f}/{events / THREADS * one.spread:.2f}\n"
        f"    execution time (avg/stddev):   {spent_s / THREADS:.4f}/{one.spread:.2f}\n\n"
    )


def _fio(one: Measure) -> str:
    job = {
        "jobname": "w",
        "error": 0,
        "job options": {"name": "w"},
        "read": _fio_side(one.rate, one),
        "write": _fio_side(one.other, one),
        "usr_cpu": 2.0 * one.busy,
        "sys_cpu": 40.0 * one.busy,
    }
    return json.dumps({"fio version": "fio-3.33", "jobs": [job], "disk_util": [{"name": "vda", "util": 90.0}]})


def _fio_side(rate: float, one: Measure) -> dict[str, object]:
    requests, kib = rate / (256 * 1024), rate / 1024
    mean_ns = NS / (2 * requests)
    latency = {
        "min": mean_ns * 0.5,
        "max": mean_ns * one.tail,
        "mean": mean_ns,
        "stddev": mean_ns * one.spread,
        "N": round(requests * SECONDS),
    }
    percentiles = {"5.000000": 0.6 * mean_ns, "50.000000": 0.95 * mean_ns, "95.000000": mean_ns * (1 + 2 * one.spread)}
    return {
        "io_bytes": round(rate * SECONDS),
        "bw_bytes": rate,
        "bw": kib,
        "iops": requests,
        "runtime": SECONDS * 1000,
        "total_ios": round(requests * SECONDS),
        "clat_ns": {**latency, "percentile": percentiles},
        "lat_ns": latency,
        **{f"bw_{name}": kib * by for name, by in (("min", 0.8), ("max", 1.2), ("mean", 1.0), ("dev", one.spread))},
        **{f"iops_{n}": requests * by for n, by in (("min", 0.8), ("max", 1.2), ("mean", 1), ("stddev", one.spread))},
    }


def _ioping(one: Measure) -> str:
    mean_ns, count = NS / one.rate, 99
    stat = {
        "count": count,
        "size": count * 262144,
        "time": count * mean_ns,
        "iops": one.rate,
        "bps": one.rate * 262144,
        "min": mean_ns * 0.6,
        "avg": mean_ns,
        "max": mean_ns * one.tail,
        "mdev": mean_ns * one.spread,
    }
    return json.dumps([{"target": {"fstype": "ext4"}, "stat": stat}])


def _iperf3(one: Measure) -> str:
    def side(rate: float) -> dict[str, float]:
        return {"seconds": float(SECONDS), "bytes": rate * SECONDS, "bits_per_second": 8 * rate}

    again = {"retransmits": round(10 * one.tail)}
    end = {
        "sum_sent": side(one.rate) | again,
        "sum_received": side(one.rate * 0.999),
        "sum_sent_bidir_reverse": side(one.other) | again,
        "sum_received_bidir_reverse": side(one.other * 0.999),
        "cpu_utilization_percent": {"host_total": 100 * one.busy, "remote_total": 90 * one.busy},
    }
    return json.dumps({"start": {"version": "iperf 3.12", "test_start": {"reverse": 0}}, "end": end})


def _qperf(one: Measure) -> str:
    cost, lat_ns = NS * NS / one.rate * one.busy, NS / one.other
    forth = {
        "bw": f"{one.rate:.0f} bytes/sec",
        "msg_rate": f"{one.rate / 65536:.0f} /sec",
        "msg_size": "65536 bytes",
        "time": "1000000000 ns",
        "timeout": "5000000000 ns",
        "send_cost": f"{cost:.0f} ns/GB",
        "recv_cost": f"{cost * 1.02:.0f} ns/GB",
        "send_cpus_used": f"{100 * one.busy:.0f} % cpus",
        "recv_cpus_used": f"{102 * one.busy:.0f} % cpus",
    }
    back = {
        "latency": f"{lat_ns:.0f} ns",
        "msg_rate": f"{one.other:.0f} /sec",
        "msg_size": "1 bytes",
        "time": "1000000000 ns",
        "timeout": "5000000000 ns",
        "loc_cpus_used": f"{50 * one.busy:.0f} % cpus",
        "rem_cpus_used": f"{51 * one.busy:.0f} % cpus",
    }
    blocks = (("tcp_bw", forth), ("tcp_lat", back))
    return "".join(
        f"{name}:\n" + "".join(f"    {key:16} = {value}\n" for key, value in block.items()) for name, block in blocks
    )


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

KINDS: dict[str, dict[str, float]] = {
    "compute": {"cpu": 1.0, "memory": 1.2, "disk": 0.8, "network": 1.2},
    "storage": {"cpu": 0.6, "memory": 0.8, "disk": 1.6, "network": 1.0},
    "general": {"cpu": 0.5, "memory": 0.6, "disk": 0.5, "network": 0.5},
}
"""Kind of node -> speed in each resource, of a mixed cluster."""

ALIKE = 0.02
"""Standard deviation of the logarithm of a speed, among nodes of a kind."""

FAILS_FROM, FAILS_TO = 0.6, 0.55
"""Share of the time after which a failing disk slows, and its speed at the end."""

START_S = 1_700_000_000.0
FAILED_SHARE = 0.005
NO_HOST_SHARE = 0.02


@dataclass(frozen=True)
class BenchmarkTraceSettings:
    """What is simulated; raises SettingsError for a number out of bounds."""

    nodes: int = 3  # number of nodes; their speeds halve from one to the next, so that the order is known
    mixed: bool = False  # instead the nodes are of the kinds in `KINDS`, by turns, and the disk of the last one fails
    repeat: int = 30  # runs of each (node, benchmark)
    stressed_share: float = 0.2  # of the runs, 0-1
    intensity: tuple[float, float] = (0.4, 1.0)  # least and largest strength of a stress, 0-1
    drift: float = 0.0  # change of the logarithm of every rate from the first run to the last; 0 = none
    labelled: bool = True  # False leaves 'stressed' empty
    seed: int = 0  # of every draw

    def __post_init__(self) -> None:
        check_size("nodes", self.nodes, self.seed, MOST_NODES)
        check_size("repeat", self.repeat, self.seed)
        if self.runs > MOST_RUNS:
            raise SettingsError(
                f"{self.nodes} nodes and repeat {self.repeat:,} are {self.runs:,} runs; give at most {MOST_RUNS:,}"
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
    """Runs in the form of the suite's file, and the truth."""

    lines: tuple[dict[str, Any], ...]  # one document per run, by time
    strength: tuple[float, ...]  # (n_runs,) of the stress, 0 = none
    speed: dict[str, dict[str, float]]  # node -> aspect -> speed


def benchmark_trace(settings: BenchmarkTraceSettings | None = None) -> BenchmarkTrace:
    """Simulated runs of the six benchmarks; the same settings give the same runs."""
    request = settings or BenchmarkTraceSettings()
    rng = np.random.default_rng(request.seed)
    speed = _mixed(request.nodes, rng) if request.mixed else _halving(request.nodes)
    runs = list(_runs(request, speed, rng))
    return BenchmarkTrace(tuple(line for line, _ in runs), tuple(strength for _, strength in runs), speed)


def _halving(nodes: int) -> dict[str, dict[str, float]]:
    return {f"node-{number + 1}": dict.fromkeys(NOISE, 0.5**number) for number in range(nodes)}


def _mixed(nodes: int, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    result: dict[str, dict[str, float]] = {}
    for number in range(nodes):
        kind = list(KINDS)[number % len(KINDS)]
        own = np.exp(ALIKE * rng.standard_normal(len(NOISE)))
        speeds = {name: KINDS[kind][name] * float(by) for name, by in zip(NOISE, own, strict=True)}
        result[f"{kind}-{number // len(KINDS) + 1}"] = speeds
    return result


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
    settings: BenchmarkTraceSettings, speed: dict[str, dict[str, float]], rng: np.random.Generator
) -> Iterator[tuple[dict[str, Any], float]]:
    plan = [(node, benchmark) for node in speed for benchmark in RATES for _ in range(settings.repeat)]
    clock = START_S
    for place, number in enumerate(rng.permutation(len(plan)).tolist()):
        node, benchmark = plan[number]
        stressed = bool(rng.random() < settings.stressed_share)
        strength = float(rng.uniform(*settings.intensity)) if stressed else 0.0
        passed = place / max(len(plan) - 1, 1)
        now = speed[node][ASPECT[benchmark]] * np.exp(settings.drift * passed)
        if settings.mixed and ASPECT[benchmark] == "disk" and node == list(speed)[-1]:
            now *= 1 - (1 - FAILS_TO) * max(passed - FAILS_FROM, 0.0) / (1 - FAILS_FROM)
        measured = _measure(benchmark, now, strength, rng)
        line = _line(node, benchmark, clock, measured, rng)
        yield (
            line | {"stressed": stressed if settings.labelled else None, "host": _host(benchmark, strength, rng)},
            strength,
        )
        clock += SECONDS + 1.0 + float(rng.exponential(1.0))


def _measure(benchmark: str, speed: float, strength: float, rng: np.random.Generator) -> Measure:
    aspect = ASPECT[benchmark]
    remaining = 1 - LOST[aspect] * strength
    first, second = (
        rate * speed * remaining * float(np.exp(NOISE[aspect] * rng.standard_normal())) for rate in RATES[benchmark]
    )
    tail = 3 * float(np.exp(0.3 * rng.standard_normal())) * (1 + 6 * strength)
    spread = 0.1 * float(np.exp(0.3 * rng.standard_normal())) * (1 + 2 * strength)
    return Measure(first, second, tail, spread, 0.9 * remaining * float(np.exp(0.05 * rng.standard_normal())))


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
    """Machine-wide values over the run; {} where none were recorded."""
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


TASK_SPEEDS = {"n1": 1.0, "n2": 1.27}
"""Machine with published scores -> how fast it runs every task of the reports."""
SIZES_GB = {"train-1": (1.0, 2.0, 3.0, 4.0), "train-2": (1.5, 2.5, 3.5, 4.5), "test": (20.0,)}


def write_execution_reports(folder: Path, n_tasks: int = 8, seed: int = 0) -> None:
    """Reports of tasks on two machines, as `workprof.formats.lotaru` reads them: linear in the size, 5 % noise."""
    random = np.random.default_rng(seed)
    lines = {machine: ["Workflow,Task,Label,Machine,NumberSequences,TaskInputSizeUncompressed,Realtime,%cpu"]
             for machine in TASK_SPEEDS}  # fmt: skip
    for task in range(n_tasks):
        start_s, per_gb_s = random.uniform(5, 60), random.uniform(2, 40)
        for label, size in ((label, size) for label, sizes in SIZES_GB.items() for size in sizes):
            for machine, speed in TASK_SPEEDS.items():
                taken_ms = 1000 * (start_s + per_gb_s * size) / speed * random.lognormal(0, 0.05)
                told = f"flow-{task % 2},task-{task},{label},{machine},100,{size * 1e9:.0f},{taken_ms:.0f},100"
                lines[machine].append(told)
    for machine, own in lines.items():
        place = folder / machine / "results_flow" / f"execution_report_{machine}.csv"
        place.parent.mkdir(parents=True)
        place.write_text("\n".join(own) + "\n")
