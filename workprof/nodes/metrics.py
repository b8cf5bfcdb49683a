"""What the six benchmarks measure: every metric with its unit and which way it points; the units that tools write."""

from collections.abc import Iterator
from dataclasses import dataclass

from workprof.core.errors import UnitUnknown
from workprof.core.units import GB, MEMORY_FACTORS

HIGHER, LOWER, CONTEXT = "higher", "lower", "context"
TEXT = "text"


@dataclass(frozen=True)
class Row:
    """Metrics that share a unit and a direction; `names` are separated by spaces."""

    unit: str
    direction: str
    names: str
    scored: bool = False
    published: bool = True


_SYSBENCH = (
    Row("s", LOWER, "latency_min latency_avg latency_max latency_95p"),
    Row("1", LOWER, "fairness_events_stddev"),
    Row("s", LOWER, "fairness_exctime_stddev"),
    Row("s", CONTEXT, "total_time latency_sum fairness_exctime_avg"),
    Row("1", CONTEXT, "total_number_of_events fairness_events_avg"),
    Row(TEXT, CONTEXT, "version"),
)

_CPU = (
    Row("1/s", HIGHER, "events_per_second", scored=True),
    *_SYSBENCH,
    Row("1", CONTEXT, "num_threads prime_numbers_limit"),
    Row("1/s", HIGHER, "event_rate", published=False),
)

_MEMORY = (
    Row("B/s", HIGHER, "transfer_rate", scored=True),
    *_SYSBENCH,
    Row("1", CONTEXT, "number_of_threads"),
    Row("B", CONTEXT, "block_size total_size transfer_size"),
    Row(TEXT, CONTEXT, "operation scope"),
    Row("1/s", HIGHER, "operation_rate", published=False),
)


def _fio_side(side: str) -> tuple[Row, ...]:
    def named(names: str) -> str:
        return " ".join(f"{side}_{name}" for name in names.split())

    return (
        Row("s", LOWER, named("clat_min clat_max clat_avg clat_stdev clat_05p clat_50p clat_95p")),
        Row("s", LOWER, named("lat_min lat_max lat_avg lat_stdev")),
        Row("B/s", HIGHER, named("bw_avg")),
        Row("B/s", CONTEXT, named("bw_min bw_max bw_stdev")),
        Row("1/s", HIGHER, named("iops_avg")),
        Row("1/s", CONTEXT, named("iops_min iops_max iops_stdev")),
        Row("B/s", HIGHER, named("bw"), scored=True, published=False),
        Row("1/s", HIGHER, named("iops"), published=False),
        Row("1", LOWER, named("bw_stdev_share iops_stdev_share"), published=False),
    )


_FIO = (
    *_fio_side("read"),
    *_fio_side("write"),
    Row("1", CONTEXT, "number_of_processes cpu_usr cpu_sys disk_util"),
    Row(TEXT, CONTEXT, "version"),
)

_IOPING = (
    Row("s", LOWER, "latency_avg", scored=True),
    Row("s", LOWER, "latency_min latency_max latency_mdev"),
    Row("1/s", HIGHER, "iops"),
    Row("B/s", HIGHER, "transfer_bitrate"),
    Row("1", CONTEXT, "number_of_requests"),
    Row("s", CONTEXT, "total_duration"),
    Row("B", CONTEXT, "transfer_size"),
)


def _iperf_direction(way: str) -> tuple[Row, ...]:
    return (
        Row("B/s", HIGHER, f"{way}_transfer_bitrate_receiver", scored=True),
        Row("B/s", HIGHER, f"{way}_transfer_bitrate_sender"),
        Row("B", CONTEXT, f"{way}_transfer_size_sender {way}_transfer_size_receiver"),
        Row("1", CONTEXT, f"{way}_transfer_retr_sender {way}_cpu_util_sender {way}_cpu_util_receiver"),
        Row("1/B", LOWER, f"{way}_retr_per_byte", published=False),
    )


def _qperf_side(prefix: str, counts: str) -> tuple[Row, ...]:
    shares = " ".join(f"{prefix}_cpus_{kind}" for kind in ("used", "user", "intr", "kernel", "iowait"))
    sizes = [name for name in counts.split() if name.endswith("bytes")]
    numbers = [name for name in counts.split() if name.endswith("msgs")]
    return (
        Row("1", CONTEXT, shares),
        Row("s", CONTEXT, f"{prefix}_real_time {prefix}_cpu_time"),
        Row("B", CONTEXT, " ".join(f"{prefix}_{name}" for name in sizes)),
        Row("1", CONTEXT, " ".join(f"{prefix}_{name}" for name in numbers)),
    )


def _within(test: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The rows with the test's name before every metric."""
    return tuple(
        Row(row.unit, row.direction, " ".join(f"{test}_{name}" for name in row.names.split()), row.scored)
        for row in rows
    )


_QPERF = (
    *_within(
        "tcp_bw",
        (
            Row("B/s", HIGHER, "bandwidth", scored=True),
            Row("1/s", HIGHER, "msg_rate"),
            Row("s/B", LOWER, "send_cost recv_cost"),
            Row("1", CONTEXT, "access_recv"),
            Row("B", CONTEXT, "msg_size"),
            Row("s", CONTEXT, "time timeout"),
            *_qperf_side("send", "bytes msgs"),
            *_qperf_side("recv", "bytes msgs"),
        ),
    ),
    *_within(
        "tcp_lat",
        (
            Row("s", LOWER, "latency", scored=True),
            Row("1/s", HIGHER, "msg_rate"),
            Row("B", CONTEXT, "msg_size"),
            Row("s", CONTEXT, "time timeout"),
            *_qperf_side("loc", "send_bytes recv_bytes send_msgs recv_msgs"),
            *_qperf_side("rem", "send_bytes recv_bytes send_msgs recv_msgs"),
        ),
    ),
)

DECLARED: dict[str, tuple[Row, ...]] = {
    "cpu-sysbench": _CPU,
    "disk-fio": _FIO,
    "disk-ioping": _IOPING,
    "memory-sysbench": _MEMORY,
    "network-iperf3": (*_iperf_direction("tx_c"), *_iperf_direction("rx_c")),
    "network-qperf": _QPERF,
}


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
    """One number (or word) that a benchmark reports."""

    name: str  # "<benchmark>.<metric>", the metric under the name that Perona gave it
    benchmark: str  # one of `BENCHMARKS`
    unit: str  # 's', 'B', 'B/s', '1/s', '1' (a share or a count), 's/B' (cost), '1/B', or 'text'
    direction: str  # 'higher' or 'lower' is better, or 'context': never oriented
    scored: bool  # it makes the benchmark's part of the aspect score
    published: bool  # one of the 153 of Perona; False = derived here from the same output

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
            for short in row.names.split():
                yield Metric(f"{benchmark}.{short}", benchmark, row.unit, row.direction, row.scored, row.published)


METRICS: dict[str, Metric] = {metric.name: metric for metric in _metrics()}
"""By full name; benchmarks in the order of `BENCHMARKS`.

Source: the 153 published names are those that Perona's public code parses; directions and scored metrics are declared
here. All of fio's latencies are lower-is-better, minimum and 5th percentile too; its scored bandwidths are those of the
whole run, because the published averages over samples do not exist in a run of a second.
"""

NUMERIC: tuple[str, ...] = tuple(name for name, metric in METRICS.items() if metric.unit != TEXT)
"""The columns of every table of values; what is text (versions, operation, scope) belongs to a run's parameters."""


_TIMES = {
    "s": 1.0,
    "sec": 1.0,
    "ms": 1e-3,
    "msec": 1e-3,
    "us": 1e-6,
    "usec": 1e-6,
    "ns": 1e-9,
    "nsec": 1e-9,
    "min": 60.0,
    "h": 3600.0,
    "hours": 3600.0,
}
_SIZES = MEMORY_FACTORS | {"bytes": 1.0, "byte": 1.0, "TB": 1e12, "TiB": 1024.0**4}
_RATES = {"/s": 1.0, "/sec": 1.0, "K/sec": 1e3, "M/sec": 1e6, "G/sec": 1e9}


@dataclass(frozen=True)
class Unit:
    """A unit as a tool writes it."""

    of: str  # what it is converted to: 's', 'B', 'B/s', '1/s', 's/B' or '1'
    factor: float  # a value times this is in that


UNITS: dict[str, Unit] = {
    "": Unit("1", 1.0),
    "%": Unit("1", 0.01),
    "% cpus": Unit("1", 0.01),
    **{name: Unit("s", factor) for name, factor in _TIMES.items()},
    **{name: Unit("B", factor) for name, factor in _SIZES.items()},
    **{f"{name}/{per}": Unit("B/s", factor) for name, factor in _SIZES.items() for per in ("s", "sec")},
    "bits/s": Unit("B/s", 1 / 8),
    **{name: Unit("1/s", factor) for name, factor in _RATES.items()},
    **{f"{name}/GB": Unit("s/B", factor / GB) for name, factor in _TIMES.items()},
}
"""By the tool's own writing, upper and lower case kept."""


def converted(value: float, unit: str, wanted: str, metric: str) -> float:
    """A value in the unit that a metric is kept in.

    Raises UnitUnknown when the unit is not in `UNITS` or is of another quantity.
    """
    known = UNITS.get(unit)
    if known is None:
        raise UnitUnknown(f"{metric} is in {unit!r}, a unit that is not known")
    if known.of != wanted:
        raise UnitUnknown(f"{metric} is in {unit!r}, which is no {wanted}")
    return value * known.factor
