"""Parsers: the output of a benchmark tool in, its metrics in one set of units out."""

from __future__ import annotations

from collections.abc import Callable

from workprof.errors import TraceError
from workprof.nodes.parsers.fio import parse_fio
from workprof.nodes.parsers.ioping import parse_ioping
from workprof.nodes.parsers.iperf3 import parse_iperf3
from workprof.nodes.parsers.qperf import parse_qperf
from workprof.nodes.parsers.reading import Reading
from workprof.nodes.parsers.sysbench import parse_cpu, parse_memory

PARSERS: dict[str, Callable[[str, tuple[str, ...]], Reading]] = {
    "cpu-sysbench": parse_cpu,
    "disk-fio": parse_fio,
    "disk-ioping": parse_ioping,
    "memory-sysbench": parse_memory,
    "network-iperf3": parse_iperf3,
    "network-qperf": parse_qperf,
}


def parse_output(benchmark: str, stdout: str, argv: tuple[str, ...] = ()) -> Reading:
    """Return the metrics of one run.

    Raises:
        TraceError: when the benchmark is unknown, the output is empty or cut short, or a unit is unknown.
    """
    if benchmark not in PARSERS:
        raise TraceError(f"benchmark {benchmark[:40]!r} is none of {', '.join(PARSERS)}")
    if not stdout.strip():
        raise TraceError("output is empty")
    return PARSERS[benchmark](stdout, argv)
