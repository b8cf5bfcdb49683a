"""The registry of metrics: the 153 published names, each with a unit and a direction; the table of units."""

from collections import Counter

import pytest

from workprof.core.errors import UnitUnknown
from workprof.nodes.metrics import ASPECT_OF, ASPECTS, BENCHMARKS, METRICS, NUMERIC, UNITS, converted

# How many metrics Perona's public code parses of each benchmark; the paper says 153.
PUBLISHED = {
    "cpu-sysbench": 15,
    "memory-sysbench": 19,
    "disk-fio": 43,
    "disk-ioping": 9,
    "network-iperf3": 14,
    "network-qperf": 53,
}


def test_the_153_published_names():
    assert Counter(metric.benchmark for metric in METRICS.values() if metric.published) == PUBLISHED
    assert sum(PUBLISHED.values()) == 153
    for name in ("cpu-sysbench.events_per_second", "network-qperf.tcp_lat_rem_recv_msgs", "disk-fio.write_clat_05p"):
        assert METRICS[name].published


def test_every_metric_has_a_direction_and_a_unit():
    assert {metric.direction for metric in METRICS.values()} == {"higher", "lower", "context"}
    assert {metric.unit for metric in METRICS.values()} == {"s", "B", "B/s", "1/s", "1", "s/B", "1/B", "text"}
    assert len(NUMERIC) == len(METRICS) - 5
    for metric in METRICS.values():
        assert metric.name == f"{metric.benchmark}.{metric.short}"
        if "latency_avg" in metric.name or "clat_" in metric.name:
            assert metric.direction == "lower"


def test_every_benchmark_scores_its_aspect():
    assert set(ASPECT_OF.values()) == set(ASPECTS)
    assert tuple(sorted(BENCHMARKS)) == BENCHMARKS
    for benchmark in BENCHMARKS:
        scored = [metric for metric in METRICS.values() if metric.scored and metric.benchmark == benchmark]
        assert scored
        assert all(metric.direction != "context" for metric in scored)
    disk = [metric.short for metric in METRICS.values() if metric.scored and metric.aspect == "disk"]
    assert disk == ["read_bw", "write_bw", "latency_avg"]


@pytest.mark.parametrize(
    ("value", "unit", "wanted", "result"),
    [
        (1, "MiB/sec", "B/s", 1048576),
        (1, "MB/sec", "B/s", 1000000),
        (8, "bits/s", "B/s", 1),
        (250, "ms", "s", 0.25),
        (137, "% cpus", "1", 1.37),
        (1, "sec/GB", "s/B", 1e-9),
        (2, "GiB/s", "B/s", 2**31),
        (18.4, "K/sec", "1/s", 18400),
    ],
)
def test_units_are_exact(value, unit, wanted, result):
    assert converted(value, unit, wanted, "m") == pytest.approx(result, rel=1e-15)


@pytest.mark.parametrize(("unit", "wanted"), [("parsec", "s"), ("mib", "B"), ("s", "B"), ("%", "s"), ("MiB", "B/s")])
def test_a_unit_is_never_guessed(unit, wanted):
    with pytest.raises(UnitUnknown, match=f"m is in '{unit}'"):
        converted(1, unit, wanted, "m")


def test_every_unit_is_of_a_quantity_that_metrics_have():
    assert {unit.of for unit in UNITS.values()} <= {metric.unit for metric in METRICS.values()}
