"""Benchmark runs of nodes whose speeds are known: every value is the speed times a constant, with chosen noise."""

import json

import numpy as np
import pandas as pd

from tests.shared_data import FOLDER

BENCHMARKS = {
    "cpu-sysbench": "cpu",
    "memory-sysbench": "memory",
    "disk-ioping": "disk",
    "network-iperf3": "network",
}
TAIL = """
    total time:                          2.0000s
    total number of events:              {events}
    events (avg/stddev):           100.0000/1.00
    execution time (avg/stddev):   2.0000/0.00
"""


def cpu_text(speed, threads=4):
    head = f"sysbench 1.0.20\nNumber of threads: {threads}\nPrime numbers limit: 10000\n"
    return f"{head}    events per second: {1000 * speed:.6f}\n{TAIL.format(events=2000)}"


def memory_text(speed):
    head = "sysbench 1.0.20\nNumber of threads: 4\n  block size: 1KiB\n  total size: 1024000MiB\n  operation: write\n"
    return f"{head}  scope: global\n100.00 MiB transferred ({500 * speed:.6f} MiB/sec)\n{TAIL.format(events=2000)}"


def ioping_text(speed):
    stat = {"count": 50, "time": 1e7 / speed, "size": 4096, "iops": 1e5 * speed, "bps": 4e8 * speed}
    stat |= {"min": 5e4 / speed, "avg": 1e5 / speed, "max": 3e5 / speed, "mdev": 1e4 / speed}
    return json.dumps([{"stat": stat, "load": stat, "target": {"fstype": "ext4"}}])


def iperf3_text(speed):
    way = {"bytes": 1e9 * speed, "bits_per_second": 8e9 * speed, "seconds": 1.0, "retransmits": 0}
    ends = ("sum_sent", "sum_received", "sum_sent_bidir_reverse", "sum_received_bidir_reverse")
    end = dict.fromkeys(ends, way) | {"cpu_utilization_percent": {"host_total": 50.0, "remote_total": 50.0}}
    return json.dumps({"start": {"version": "iperf 3.12", "test_start": {"reverse": 0}}, "end": end})


TEXTS = {
    "cpu-sysbench": (cpu_text, ["sysbench", "cpu", "--time=2", "run"]),
    "memory-sysbench": (memory_text, ["sysbench", "memory", "--time=2", "run"]),
    "disk-ioping": (ioping_text, ["ioping", "-w", "2", "-q", "-J", "/var/tmp"]),
    "network-iperf3": (iperf3_text, ["iperf3", "-c", "127.0.0.1", "-t", "2", "--bidir", "-J"]),
}


def run_of(node, benchmark, speed, started_s, **more):
    """Return one row of a table of benchmark runs."""
    text, argv = TEXTS[benchmark]
    row = {"node": node, "benchmark": benchmark, "argv": json.dumps(argv), "started_s": started_s}
    row |= {"finished_s": started_s + 2, "stressed": False, "rc": 0, "stdout": text(speed), "stderr": ""}
    return row | {"host": "{}", "provenance": "{}"} | more


def runs_of(speeds, n_runs=8, noise=0.01, seed=0, gap_s=60.0):
    """Return a table of runs.

    `speeds` is node -> a number, or node -> {aspect: number}; an aspect that is not named is not measured.
    """
    draw = np.random.default_rng(seed)
    rows = []
    for turn in range(n_runs):
        for node, speed in speeds.items():
            for benchmark, aspect in BENCHMARKS.items():
                own = speed.get(aspect) if isinstance(speed, dict) else speed
                if own is None:
                    continue
                rows.append(run_of(node, benchmark, own * draw.lognormal(0, noise), 1e9 + len(rows) + turn * gap_s))
    return numbered(rows)


def numbered(rows):
    """Return rows as the store gives them, with row ids."""
    frame = pd.DataFrame(rows)
    frame.insert(0, "row_id", np.arange(len(frame)))
    return frame


def development_runs():
    """Return the shared runs as a table of kind 'benchmarks'."""
    lines = (FOLDER / "benchmarks" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        row["started_s"], row["finished_s"] = row.pop("started"), row.pop("finished")
        row["argv"], row["host"], row["provenance"] = json.dumps(row["argv"]), json.dumps(row["host"]), "{}"
    return numbered(rows)
