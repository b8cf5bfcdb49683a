"""Outputs of the six benchmark tools, in the tools' own forms, from a few numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

SECONDS = 2
THREADS = 4
NS = 1e9
MIB = 1024**2


@dataclass(frozen=True)
class Measure:
    """What a run measured: a rate, a second rate, and how uneven it was.

    Attributes:
        rate: of the tool: events/s, MiB/s, B/s read or sent, requests/s.
        other: second rate: B/s written or received, messages/s; the same as `rate` for tools with one.
        tail: slowest / mean latency, above 1.
        spread: standard deviation / mean.
        busy: share of one processor that the tool keeps busy, 0-1 or more.
    """

    rate: float
    other: float
    tail: float
    spread: float
    busy: float


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
    """Return what the tool would have printed; `benchmark` is a key of `ARGV`."""
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
    told = (
        "Running memory speed test with the following options:\n  block size: 1KiB\n  total size: 1024000MiB\n"
        "  operation: write\n  scope: global\n\n"
        f"Total operations: {operations} ({operations / SECONDS:.2f} per second)\n\n"
        f"{one.rate * SECONDS:.2f} MiB transferred ({one.rate:.2f} MiB/sec)\n"
    )
    return _sysbench(told, operations, THREADS * 1e3 / (operations / SECONDS), one)


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
