"""Measures `configurations.csv`: three real workloads on nodes that are core masks and CPU quotas of this machine.

A configuration is a node type, how many such nodes share the work, the threads on each and the memory limit of each.
Every node type has its own runs of the benchmark suite, from which its scores come. Needs root, Linux with the cgroup
controllers cpu, cpuacct, cpuset and memory mounted apart (version 1), two cores, the six tools of the suite, xz and
GNU sort. It goes on where it was ended; start it until it says that all is done:

    python data/sample/configurations.py --folder /var/tmp/configurations --minutes 8

The folder then holds configurations.csv, of the runs so far, and configurations.benchmarks.jsonl.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import duckdb

CGROUPS = Path("/sys/fs/cgroup")
CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory")
PERIOD_US = 100_000
BEFORE_OTHERS = 200_000
"""Weight against whatever else runs here (of one process: 1,024), so that it is the quota that decides."""
MIB = 1 << 20


@dataclass(frozen=True)
class Node:
    """A part of this machine: on which cores it may run, how many of them it gets, how many such nodes fit."""

    masks: tuple[str, ...]
    cores: float
    counts: tuple[int, ...]


NODES = {
    "two-cores": Node(("0-1",), 2.0, (1,)),
    "three-halves": Node(("0-1",), 1.5, (1,)),
    "one-core": Node(("0", "1"), 1.0, (1, 2)),
    "half-core": Node(("0", "1", "0", "1"), 0.5, (1, 2, 4)),
    "quarter-core": Node(("0", "1", "0", "1"), 0.25, (2, 4)),
}
THREADS = (1, 2, 4)
MEMORY_MIB = (128, 512)
WORKLOADS = ("compress", "sort", "query")
PARTS = 4
REPEATS = 2
SUITE = ("--seconds-per-benchmark", "1", "--repeat", "3")
SUITE_S = 60.0
"""What the suite takes on a node, at most."""

PER_CORE, PER_GB, PER_NODE = 0.033, 0.0044, 0.005
"""Prices per hour: a virtual core, a GB of memory, and a node for its disk and address; about those of large clouds."""
COST_UNIT = 1e5
"""Costs are in cents of 1,000 runs."""

QUERY = """
import sys, duckdb
threads, memory, *parts = sys.argv[1:]
found = duckdb.connect()
found.execute(f"SET threads={threads}; SET memory_limit='{memory}MiB'; SET temp_directory='.'")
found.execute(
    "SELECT count(*), sum(total), max(kinds) FROM (SELECT key, sum(value) AS total, count(DISTINCT value % 97) AS kinds"
    " FROM read_parquet($parts) GROUP BY key)", {"parts": parts}
).fetchone()
"""


@dataclass(frozen=True)
class Run:
    """One run of a workload on a configuration."""

    workload: str
    machine: str
    count: int
    threads: int
    memory_mib: int
    repeat: int


class Group:
    """A control group of every controller: a node while something runs on it."""

    def __init__(self, name: str, mask: str, cores: float, memory_mib: int | None) -> None:
        self.places = {controller: CGROUPS / controller / name for controller in CONTROLLERS}
        for place in self.places.values():
            place.mkdir(exist_ok=True)
        self.write("cpuset", "cpuset.mems", "0")
        self.write("cpuset", "cpuset.cpus", mask)
        self.write("cpu", "cpu.shares", str(BEFORE_OTHERS))
        self.write("cpu", "cpu.cfs_period_us", str(PERIOD_US))
        self.write("cpu", "cpu.cfs_quota_us", str(round(cores * PERIOD_US)))
        if memory_mib is not None:
            self.write("memory", "memory.limit_in_bytes", str(memory_mib * MIB))

    def write(self, controller: str, name: str, text: str) -> None:
        """Set a value of the group."""
        (self.places[controller] / name).write_text(text)

    def number(self, controller: str, name: str) -> int:
        """Return a counter of the group."""
        return int((self.places[controller] / name).read_text())

    def table(self, controller: str, name: str) -> dict[str, int]:
        """Return counters of the group that stand in one file."""
        lines = (self.places[controller] / name).read_text().splitlines()
        return {key: int(value) for key, value in (line.split() for line in lines)}

    def start(self, command: str, folder: Path) -> subprocess.Popen[bytes]:
        """Start a line of shell inside the group."""
        enter = "".join(f"echo $$ > {place / 'cgroup.procs'}; " for place in self.places.values())
        return subprocess.Popen(["/bin/bash", "-c", enter + command], cwd=folder, stdout=subprocess.DEVNULL)

    def remove(self) -> None:
        """Take the group away once nothing runs in it."""
        for place in self.places.values():
            for _ in range(50):
                try:
                    place.rmdir()
                except OSError:  # its last process is not reaped yet
                    time.sleep(0.02)
                else:
                    break


def command_of(run: Run, worker: int, data: Path) -> str:
    """Return the line of shell that a worker runs on its parts of the input."""
    parts = [str(data / f"{run.workload}.{part}") for part in range(worker, PARTS, run.count)]
    words = " ".join(parts)
    if run.workload == "compress":
        return f"cat {words} | xz -1 -T{run.threads} --block-size=1MiB -M {run.memory_mib * 3 // 4}MiB > out.{worker}"
    if run.workload == "sort":
        return f"LC_ALL=C exec sort --parallel={run.threads} -S {run.memory_mib // 2}M -T . {words} -o out.{worker}"
    return f"exec {sys.executable} {data / 'script'} {run.threads} {run.memory_mib - 72} {words}"


def make_inputs(data: Path) -> None:
    """Write the inputs of the three workloads, each in four parts; the same every time."""
    (data / "script").write_text(QUERY)
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(5000)]
    odds = [1 / place for place in range(1, len(words) + 1)]
    for part in range(PARTS):
        drawn = draw.choices(words, odds, k=450_000)
        lines = (" ".join(drawn[at : at + 8]) for at in range(0, len(drawn), 8))
        (data / f"compress.{part}").write_text("\n".join(lines) + "\n")
        keys = (f"{draw.getrandbits(62):019d} {word}" for word in draw.choices(words, odds, k=600_000))
        (data / f"sort.{part}").write_text("\n".join(keys) + "\n")
        duckdb.execute(
            f"COPY (SELECT hash(range * {PARTS} + {part}) % 600000 AS key, range AS value FROM range(1000000))"
            f" TO '{data / f'query.{part}'}' (FORMAT parquet)"
        )


def measure(run: Run, data: Path, folder: Path) -> dict[str, float] | None:
    """Return runtime and low-level metrics of a run; None where a worker failed, as for want of memory."""
    node = NODES[run.machine]
    for path in (*sorted(data.iterdir()), *folder.iterdir()):
        if path.parent == folder:
            path.unlink()
        elif path.name.startswith(run.workload):
            path.read_bytes()  # so that every run finds its input in memory, paid for by nobody
    os.sync()
    groups = [
        Group(f"workprof-{worker}", node.masks[worker], node.cores, run.memory_mib) for worker in range(run.count)
    ]
    try:
        disk, begun = disk_busy_s(), time.perf_counter()
        workers = [group.start(command_of(run, worker, data), folder) for worker, group in enumerate(groups)]
        failed = sum(worker.wait() != 0 for worker in workers) > 0
        if run.workload == "sort" and run.count > 1 and not failed:
            failed = bool(groups[0].start("LC_ALL=C exec sort -m out.* -o out", folder).wait())
        runtime, busy = time.perf_counter() - begun, disk_busy_s() - disk
        if failed:
            return None
        used = sum(group.number("cpuacct", "cpuacct.usage") for group in groups) / 1e9
        ticks = [group.table("cpuacct", "cpuacct.stat") for group in groups]
        system = sum(one["system"] for one in ticks) / max(sum(sum(one.values()) for one in ticks), 1)
        peak = max(group.number("memory", "memory.max_usage_in_bytes") for group in groups)
        faults = sum(group.table("memory", "memory.stat")["pgmajfault"] for group in groups)
        held = sum(group.table("cpu", "cpu.stat")["throttled_time"] for group in groups) / 1e9
        return {
            "runtime": runtime,
            "cpu_percent": min(100.0, 100 * used / (runtime * node.cores * run.count)),
            "memory_percent": min(100.0, 100 * peak / (run.memory_mib * MIB)),
            "disk_percent": min(100.0, 100 * busy / runtime),
            "system_percent": 100 * system,
            "throttled_percent": 100 * held / (runtime * run.count),
            "major_faults": float(faults),
        }
    finally:
        for group in groups:
            group.remove()


def disk_busy_s() -> float:
    """Return for how long the disks of this machine were busy since it started."""
    lines = [line.split() for line in Path("/proc/diskstats").read_text().splitlines()]
    return sum(int(line[12]) for line in lines if line[2].rstrip("0123456789") == line[2]) / 1e3


def run_suite(machine: str, folder: Path) -> None:
    """Run the suite on one node of a type and keep its lines."""
    node = NODES[machine]
    group = Group("workprof-suite", node.masks[0], node.cores, None)
    made, note = folder / f"suite.{machine}.jsonl", f"{node.cores:g} cores of a shared machine, by mask and quota"
    made.unlink(missing_ok=True)
    try:
        line = (
            str(Path(sys.executable).with_name("workprof")),
            "nodes",
            "suite",
            "--node",
            machine,
            *SUITE,
            "--note",
            f"'{note}'",
        )
        if group.start(f"exec {' '.join(line)} -o {made} --disk {folder}", Path.cwd()).wait():
            raise SystemExit(f"the suite failed on {machine}")
    finally:
        group.remove()


def planned() -> list[Run]:
    """Return every run in the order in which it is made."""
    runs = [
        [
            Run(workload, machine, count, threads, memory, repeat)
            for workload, (machine, node) in product(WORKLOADS, NODES.items())
            for count, threads, memory in product(node.counts, THREADS, MEMORY_MIB)
        ]
        for repeat in range(REPEATS)
    ]
    draw = random.Random(0)
    return [run for again in runs for run in draw.sample(again, len(again))]


def rows(results: Path) -> Iterator[dict[str, object]]:
    """Yield a row for every run that ended well, with its cost."""
    for line in results.read_text().splitlines():
        run, found = json.loads(line)
        if found is None:
            continue
        node = NODES[run["machine"]]
        price = PER_NODE + node.cores * PER_CORE + run["memory_mib"] * MIB / 1e9 * PER_GB
        cost = COST_UNIT * price * run["count"] * found["runtime"] / 3600
        names = ("workload", "machine", "count", "threads", "memory_mib")
        metrics = {name: f"{value:.4g}" for name, value in found.items()}
        yield {name: run[name] for name in names} | {"cores": node.cores} | metrics | {"cost": f"{cost:.4g}"}


def main() -> None:
    """Measure until all is done or the time is up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    ends = time.monotonic() + 60 * given.minutes
    data, work, results = given.folder / "inputs", given.folder / "work", given.folder / "results.jsonl"
    for folder in (data, work):
        folder.mkdir(parents=True, exist_ok=True)
    if len(list(data.iterdir())) <= PARTS * len(WORKLOADS):
        make_inputs(data)
    suites = [name for name in NODES if not (given.folder / f"suite.{name}.jsonl").exists()]
    while suites and time.monotonic() + SUITE_S < ends:
        run_suite(suites.pop(0), given.folder)
    lines = results.read_text().splitlines() if results.exists() else []
    done = {tuple(json.loads(line)[0].values()) for line in lines}
    for run in planned():
        if time.monotonic() > ends:
            break
        if (values := tuple(asdict(run).values())) not in done:
            line = json.dumps([asdict(run), measure(run, data, work)])
            with results.open("a") as file:
                file.write(line + "\n")
            done.add(values)
    missing = len(planned()) - len(done)
    if suites or not done:
        sys.stdout.write("the suite is not through; start again to go on\n")
        return
    table = list(rows(results))
    with (given.folder / "configurations.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(table, key=lambda row: tuple(map(str, row.values()))))
    lines = "".join((given.folder / f"suite.{name}.jsonl").read_text() for name in NODES)
    (given.folder / "configurations.benchmarks.jsonl").write_text(lines)
    state = f"to go: {missing} runs; start again to go on" if missing else "all is done"
    sys.stdout.write(f"{state}; {len(table)} runs ended well, {len(done) - len(table)} failed\n")


if __name__ == "__main__":
    main()
