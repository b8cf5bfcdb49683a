"""What the six benchmarks measure: every metric with its unit and which way it points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workprof.nodes.metrics.declared import CONTEXT, DECLARED, HIGHER, LOWER, TEXT, Row

__all__ = ["ASPECTS", "ASPECT_OF", "BENCHMARKS", "CONTEXT", "HIGHER", "LOWER", "METRICS", "NUMERIC", "TEXT", "Metric"]

ASPECT_OF = {
    "cpu-sysbench": "cpu",
    "disk-fio": "disk",
    "disk-ioping": "disk",
    "memory-sysbench": "memory",
    "network-iperf3": "network",
    "network-qperf": "network",
}
"""Which resource a benchmark measures."""

BENCHMARKS: tuple[str, ...] = tuple(sorted(ASPECT_OF))
ASPECTS = ("cpu", "memory", "disk", "network")


@dataclass(frozen=True)
class Metric:
    """One number (or word) that a benchmark reports.

    Attributes:
        name: "<benchmark>.<metric>", the metric under the name that Perona gave it.
        benchmark: one of `BENCHMARKS`.
        unit: 's', 'B', 'B/s', '1/s', '1' (a share or a count), 's/B' (cost), '1/B', or 'text'.
        direction: 'higher' or 'lower' is better, or 'context': never oriented.
        scored: it makes the benchmark's part of the aspect score.
        published: one of the 153 of Perona; False = derived here from the same output.
    """

    name: str
    benchmark: str
    unit: str
    direction: str
    scored: bool
    published: bool

    @property
    def short(self) -> str:
        """The name without the benchmark."""
        return self.name.removeprefix(self.benchmark + ".")

    @property
    def aspect(self) -> str:
        """The resource that its benchmark measures."""
        return ASPECT_OF[self.benchmark]


def _metrics() -> Iterator[Metric]:
    for benchmark in BENCHMARKS:
        for row in DECLARED[benchmark]:
            yield from _of_row(benchmark, row)


def _of_row(benchmark: str, row: Row) -> Iterator[Metric]:
    for short in row.names.split():
        yield Metric(f"{benchmark}.{short}", benchmark, row.unit, row.direction, row.scored, row.published)


METRICS: dict[str, Metric] = {metric.name: metric for metric in _metrics()}
"""By full name; benchmarks in the order of `BENCHMARKS`.

Source: names from perona.md 1.2 (153); directions and scored metrics from perona.md 2.2. Where the table is silent
(minimum and 5th percentile of fio's latencies) latencies are lower-is-better; fio's scored bandwidths are those of the
whole run, because the published averages over samples do not exist in a run of a second.
"""

NUMERIC: tuple[str, ...] = tuple(name for name, metric in METRICS.items() if metric.unit != TEXT)
"""The columns of every table of values; what is text (versions, operation, scope) belongs to a run's parameters."""
