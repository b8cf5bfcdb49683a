"""Reads what the six benchmark tools print: JSON or text in, metrics in one set of units out."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workprof.core.errors import TraceError
from workprof.nodes.metrics import METRICS, converted

NAN = float("nan")
THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d*)?")


@dataclass(frozen=True)
class ParsedOutput:
    """The metrics of one run."""

    # by short name, in the metric's own unit; a metric that the output does not have is not in it
    numbers: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)  # versions, words and options, by short name


def json_document(stdout: str, opening: str) -> Any:
    """The JSON document of an output, notes before its first brace and words after its end left out.

    Raises TraceError when there is none, it is cut short, or another one follows.
    """
    start = stdout.find(opening)
    if start < 0:
        raise TraceError(f"output holds no JSON (no {opening!r}); run the tool with its JSON option")
    try:
        document, end = json.JSONDecoder().raw_decode(stdout[start:])
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a ValueError too
        raise TraceError(f"output is no whole JSON document, it may be cut short: {error}") from error
    if stdout[start + end :].lstrip().startswith(opening):
        raise TraceError("output holds several JSON documents; give each run a line of its own")
    return document


def number_at(document: Any, *path: str | int) -> float:
    """The finite number that stands at a path of keys and positions, NaN where there is none.

    Raises TraceError when something else stands there.
    """
    place = document
    for step in path:
        place = _child(place, step)
        if place is None:
            return NAN
    if isinstance(place, bool) or not isinstance(place, (int, float)) or not abs(place) < math.inf:
        raise TraceError(f"{'.'.join(map(str, path))} is {str(place)[:40]!r}, not a number")
    try:
        return float(place)
    except OverflowError as error:
        raise TraceError(f"{'.'.join(map(str, path))} is {str(place)[:40]}..., too large a number") from error


def _child(place: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return place[step] if isinstance(place, Sequence) and len(place) > step else None
    return place.get(step) if isinstance(place, Mapping) else None


def present(values: Mapping[str, float]) -> dict[str, float]:
    """The values that are there: those that are not NaN."""
    return {name: value for name, value in values.items() if not math.isnan(value)}


def in_unit(benchmark: str, short: str, text: str, unit: str) -> float:
    """A printed number, with or without thousands commas, in the unit of its metric.

    Raises TraceError when it is no number, has a decimal comma, or its unit is unknown or of another quantity.
    """
    name = f"{benchmark}.{short}"
    if "," in text and not THOUSANDS.fullmatch(text):
        raise TraceError(f"{name} is {text[:40]!r}, with a decimal comma; run it with LC_ALL=C")
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = NAN
    if not math.isfinite(value):
        raise TraceError(f"{name} is {text[:40]!r}, not a number")
    return converted(value, unit, METRICS[name].unit, name)


def whole_lines(stdout: str) -> str:
    """The lines of an output that have an end; the last one, without, may be cut within a number."""
    return stdout[: stdout.rfind("\n") + 1]


def required(output: ParsedOutput, names: Sequence[str]) -> ParsedOutput:
    """The parsed output as it is.

    Raises TraceError when it lacks one of the names: the output is cut short, or of another tool.
    """
    missing = [name for name in names if name not in output.numbers]
    if missing:
        raise TraceError(f"output has no {', '.join(missing)}; it may be cut short, or of another tool or option")
    return output


_N = r"([0-9][0-9.,]*)"
_VERSION = re.compile(r"^sysbench\s+(\S+)", re.MULTILINE)

_COMMON = {
    "total_time": rf"^[ \t]*(?:total time|time elapsed):[ \t]*{_N}((?:[^\s0-9.,]\S*)?)[ \t\r]*$",
    "total_number_of_events": rf"^[ \t]*total number of events:[ \t]*{_N}()[ \t\r]*$",
    "fairness_events_avg": rf"^[ \t]*events \(avg/stddev\):[ \t]*{_N}()/{_N}[ \t\r]*$",
    "fairness_events_stddev": rf"^[ \t]*events \(avg/stddev\):[ \t]*[0-9.,]+/{_N}()[ \t\r]*$",
}
_EXECUTION = {
    "fairness_exctime_avg": rf"^[ \t]*execution time \(avg/stddev\):[ \t]*{_N}/[0-9.,]+[ \t\r]*$",
    "fairness_exctime_stddev": rf"^[ \t]*execution time \(avg/stddev\):[ \t]*[0-9.,]+/{_N}[ \t\r]*$",
}
_LATENCIES = {
    "latency_min": rf"^[ \t]*min:[ \t]*{_N}[ \t\r]*$",
    "latency_avg": rf"^[ \t]*avg:[ \t]*{_N}[ \t\r]*$",
    "latency_max": rf"^[ \t]*max:[ \t]*{_N}[ \t\r]*$",
    "latency_95p": rf"^[ \t]*95th percentile:[ \t]*{_N}[ \t\r]*$",
    "latency_sum": rf"^[ \t]*sum:[ \t]*{_N}[ \t\r]*$",
}
_LATENCY_UNIT = re.compile(r"^Latency \((\S+)\):", re.MULTILINE)
_CPU = {
    "num_threads": rf"^[ \t]*Number of threads:[ \t]*{_N}()[ \t\r]*$",
    "prime_numbers_limit": rf"^[ \t]*Prime numbers limit:[ \t]*{_N}()[ \t\r]*$",
}
_EVENTS = rf"^[ \t]*events per second:[ \t]*{_N}[ \t\r]*$"
_MEMORY = {
    "number_of_threads": rf"^[ \t]*Number of threads:[ \t]*{_N}()[ \t\r]*$",
    "block_size": rf"^[ \t]*block size:[ \t]*{_N}((?:[^\s0-9.,]\S*)?)[ \t\r]*$",
    "total_size": rf"^[ \t]*total size:[ \t]*{_N}((?:[^\s0-9.,]\S*)?)[ \t\r]*$",
    "transfer_size": rf"^[ \t]*{_N} (\S+) transferred \(",
    "transfer_rate": rf"^[ \t]*[0-9.,]+ \S+ transferred \({_N} (\S+)\)",
}
_OPERATIONS = rf"^[ \t]*Total operations:\s*[0-9]+ \({_N} per second\)"
_REPORT = re.compile(r"^[ \t]*total number of events:", re.MULTILINE)
_FATAL = re.compile(r"^FATAL: .*", re.MULTILINE)
_WORDS = {"operation": r"^[ \t]*operation:[ \t]*(\S+)[ \t\r]*$", "scope": r"^[ \t]*scope:[ \t]*(\S+)[ \t\r]*$"}


def parse_cpu(stdout: str, argv: tuple[str, ...]) -> ParsedOutput:
    """The metrics of `sysbench cpu`; raises TraceError when the output is cut short or a unit is unknown."""
    del argv  # everything that matters is printed
    benchmark, stdout = "cpu-sysbench", _one_report(whole_lines(stdout))
    values = _shared(benchmark, stdout) | _numbers(benchmark, stdout, _CPU)
    values |= _of_unit(benchmark, stdout, {"events_per_second": _EVENTS}, "/sec")
    if values.get("total_time"):
        values["event_rate"] = values.get("total_number_of_events", float("nan")) / values["total_time"]
    output = ParsedOutput(present(values), _version(stdout))
    return required(output, ("events_per_second", "total_time", "total_number_of_events", "fairness_events_avg"))


def parse_memory(stdout: str, argv: tuple[str, ...]) -> ParsedOutput:
    """The metrics of `sysbench memory`; raises TraceError when the output is cut short or a unit is unknown."""
    del argv  # everything that matters is printed
    benchmark, stdout = "memory-sysbench", _one_report(whole_lines(stdout))
    values = _shared(benchmark, stdout) | _numbers(benchmark, stdout, _MEMORY)
    values |= _of_unit(benchmark, stdout, {"operation_rate": _OPERATIONS}, "/sec")
    words = {name: match.group(1) for name, pattern in _WORDS.items() if (match := _search(pattern, stdout))}
    output = ParsedOutput(present(values), _version(stdout) | words)
    return required(output, ("transfer_rate", "total_time", "total_number_of_events", "fairness_events_avg"))


def _one_report(stdout: str) -> str:
    """The output as it is.

    Raises TraceError when it is of sysbench before 1.0, whose MB are of 1,048,576 bytes and which prints no rates of
    events, when it tells of an error, or holds several reports.
    """
    version = _version(stdout).get("version", "")
    if version.startswith("sysbench 0."):
        raise TraceError(f"output is of {version.rstrip(':')}, which counts otherwise; run sysbench 1.0 or later")
    if fatal := _FATAL.search(stdout):
        raise TraceError(f"sysbench reports: {fatal[0][:200]}")
    if (n_reports := len(_REPORT.findall(stdout))) > 1:
        raise TraceError(f"output holds {n_reports} reports; give each run a line of its own")
    return stdout


def _shared(benchmark: str, stdout: str) -> dict[str, float]:
    """What both tests print; a time printed as 0.00 is smaller than what is printed, so it is absent."""
    times = _of_unit(benchmark, stdout, _EXECUTION, "s")
    if unit := _LATENCY_UNIT.search(stdout):
        times |= _of_unit(benchmark, stdout, _LATENCIES, unit.group(1))
    return _numbers(benchmark, stdout, _COMMON) | {name: value for name, value in times.items() if value > 0}


def _numbers(benchmark: str, stdout: str, patterns: dict[str, str]) -> dict[str, float]:
    matches = {name: _search(pattern, stdout) for name, pattern in patterns.items()}
    return {name: in_unit(benchmark, name, one.group(1), one.group(2)) for name, one in matches.items() if one}


def _of_unit(benchmark: str, stdout: str, patterns: dict[str, str], unit: str) -> dict[str, float]:
    matches = {name: _search(pattern, stdout) for name, pattern in patterns.items()}
    return {name: in_unit(benchmark, name, one.group(1), unit) for name, one in matches.items() if one}


def _search(pattern: str, stdout: str) -> re.Match[str] | None:
    return re.search(pattern, stdout, re.MULTILINE)


def _version(stdout: str) -> dict[str, str]:
    match = _VERSION.search(stdout)
    return {"version": f"sysbench {match.group(1)}"} if match else {}


SIDES = ("read", "write")
INTERRUPTED = "fio: terminating on signal"
MOST_DIGITS = 6
"""Of a number of processes."""

_MOMENTS = {"min": "min", "max": "max", "avg": "mean", "stdev": "stddev"}
_PERCENTILES = {"05p": "5.000000", "50p": "50.000000", "95p": "95.000000"}
_BANDWIDTHS = {"min": "bw_min", "max": "bw_max", "avg": "bw_mean", "stdev": "bw_dev"}
_REQUESTS = {"min": "iops_min", "max": "iops_max", "avg": "iops_mean", "stdev": "iops_stddev"}


def parse_fio(stdout: str, argv: tuple[str, ...]) -> ParsedOutput:
    """The metrics of fio; a direction in which nothing was moved is absent, not zero.

    Raises TraceError when the output is cut short, fio was interrupted, a job failed, or there are several jobs.
    """
    del argv  # everything that matters is in the document
    document = json_document(stdout, "{")
    if INTERRUPTED in stdout:
        raise TraceError("fio was interrupted: its numbers are of a part of the run; run it again")
    job = _only_job(document)
    disks, options = (
        document.get("disk_util"),
        _options(document.get("global options")) | _options(job.get("job options")),
    )
    busiest = [number_at(disk, "util") for disk in disks] if isinstance(disks, list) else []
    n_jobs = options.get("numjobs", "1")
    is_number = n_jobs.isascii() and n_jobs.isdigit() and len(n_jobs) <= MOST_DIGITS
    values = {
        "number_of_processes": float(n_jobs) if is_number else NAN,
        "cpu_usr": converted(number_at(job, "usr_cpu"), "%", "1", "cpu_usr"),
        "cpu_sys": converted(number_at(job, "sys_cpu"), "%", "1", "cpu_sys"),
        "disk_util": converted(max(busiest, default=NAN), "%", "1", "disk_util"),
    }
    for side in SIDES:
        if number_at(job, side, "total_ios") > 0:
            values |= _side(job, side)
    version = document.get("fio version")
    texts = {name: value.lower() for name, value in options.items()}
    texts |= {"version": version} if isinstance(version, str) else {}
    sides = [side for side in SIDES if f"{side}_bw" in values] or ["read"]
    return required(ParsedOutput(present(values), texts), [f"{side}_bw" for side in sides])


def _options(options: Any) -> dict[str, str]:
    return {str(name): str(value) for name, value in options.items()} if isinstance(options, dict) else {}


def _only_job(document: Any) -> Any:
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list) or not jobs or not isinstance(jobs[0], dict):
        raise TraceError("output has no jobs; it is not of fio --output-format=json")
    if len(jobs) > 1:
        raise TraceError(f"output has {len(jobs)} jobs; add --group_reporting, so that they are one")
    failed = number_at(jobs[0], "error")
    if failed > 0:
        raise TraceError(f"fio reports error {failed:.0f} of its job")
    return jobs[0]


def _side(job: Any, side: str) -> dict[str, float]:
    """The metrics of one direction; averages over samples are absent where fio took no sample."""
    latencies_ns = {
        f"{kind}_{name}": number_at(job, side, f"{kind}_ns", theirs)
        for kind in ("clat", "lat")
        for name, theirs in _MOMENTS.items()
    }
    for name, theirs in _PERCENTILES.items():
        latencies_ns[f"clat_{name}"] = number_at(job, side, "clat_ns", "percentile", theirs)
    latencies = {name: converted(value, "ns", "s", name) for name, value in latencies_ns.items()}
    values = {
        "bw": converted(number_at(job, side, "bw_bytes"), "B/s", "B/s", "bw"),
        "iops": number_at(job, side, "iops"),
        **latencies,
        **(_sampled(job, side, "bw", _BANDWIDTHS, "KiB/s") if number_at(job, side, "bw_samples") > 0 else {}),
        **(_sampled(job, side, "iops", _REQUESTS, "/s") if number_at(job, side, "iops_samples") > 0 else {}),
    }
    return {f"{side}_{name}": value for name, value in values.items()}


def _sampled(job: Any, side: str, kind: str, names: dict[str, str], unit: str) -> dict[str, float]:
    of = "B/s" if kind == "bw" else "1/s"
    values = {
        f"{kind}_{name}": converted(number_at(job, side, theirs), unit, of, kind) for name, theirs in names.items()
    }
    mean, spread = values[f"{kind}_avg"], values[f"{kind}_stdev"]
    share = spread / mean if mean > 0 and number_at(job, side, f"{kind}_samples") > 1 else math.nan
    return values | {f"{kind}_stdev_share": share}


_KEYS = {
    "number_of_requests": ("count", "", "1"),
    "total_duration": ("time", "ns", "s"),
    "transfer_size": ("size", "B", "B"),
    "iops": ("iops", "/s", "1/s"),
    "transfer_bitrate": ("bps", "B/s", "B/s"),
    "latency_min": ("min", "ns", "s"),
    "latency_avg": ("avg", "ns", "s"),
    "latency_max": ("max", "ns", "s"),
    "latency_mdev": ("mdev", "ns", "s"),
}


def parse_ioping(stdout: str, argv: tuple[str, ...]) -> ParsedOutput:
    """The metrics of ioping; rates and total_duration are of the time spent in requests, waits left out.

    Raises TraceError when the output is cut short, counts no request, or has several reports.
    """
    del argv  # everything that matters is in the document
    reports = json_document(stdout, "[")
    if not isinstance(reports, list) or len(reports) != 1:
        raise TraceError(f"output has {len(reports)} reports; leave out -p, so that there is one")
    if not number_at(reports, 0, "stat", "count") > 0:
        raise TraceError("output counts no request; give ioping more time or a shorter interval")
    values = {
        name: converted(number_at(reports, 0, "stat", key), unit, of, name) for name, (key, unit, of) in _KEYS.items()
    }
    return required(ParsedOutput(present(values)), ("latency_avg", "iops"))


FORTH, BACK = "tx_c", "rx_c"


def parse_iperf3(stdout: str, argv: tuple[str, ...]) -> ParsedOutput:
    """The metrics of iperf3 over TCP; a direction that was not tested is absent.

    Raises TraceError when the output is cut short, of UDP or of the server, or iperf3 reports an error.
    """
    del argv  # everything that matters is in the document
    document = json_document(stdout, "{")
    if "error" in document:
        raise TraceError(f"iperf3 reports: {str(document['error'])[:200]}")
    start = document.get("start")
    told = start if isinstance(start, dict) else {}
    test = told.get("test_start")
    if isinstance(test, dict) and str(test.get("protocol", "TCP")).upper() != "TCP":
        protocol = str(test["protocol"])[:20]
        raise TraceError(f"iperf3 sent {protocol}; run it over TCP, as the rate of UDP is that of its option -b")
    if "accepted_connection" in told:
        raise TraceError("output is of iperf3's server (-s), which does not know both ends; give that of the client")
    reverse = number_at(document, "start", "test_start", "reverse") > 0
    first = BACK if reverse else FORTH
    values = _direction(document, first, "")
    if not math.isnan(number_at(document, "end", "sum_received_bidir_reverse", "bytes")):
        values |= _direction(document, BACK, "_bidir_reverse")
    version = told.get("version")
    texts = {"version": version} if isinstance(version, str) else {}
    return required(ParsedOutput(present(values), texts), (f"{first}_transfer_bitrate_receiver",))


def _direction(document: Any, way: str, suffix: str) -> dict[str, float]:
    """One direction: at its sender and its receiver; the client is the sender of `tx_c`."""
    sent, received = (document, "end", f"sum_sent{suffix}"), (document, "end", f"sum_received{suffix}")
    ends = ("host_total", "remote_total") if way == FORTH else ("remote_total", "host_total")
    busy = [number_at(document, "end", "cpu_utilization_percent", end) for end in ends]
    sent_bytes, again = number_at(*sent, "bytes"), number_at(*sent, "retransmits")
    values = {
        "transfer_size_sender": sent_bytes,
        "transfer_size_receiver": number_at(*received, "bytes"),
        "transfer_bitrate_sender": _bitrate(number_at(*sent, "bits_per_second")),
        "transfer_bitrate_receiver": _bitrate(number_at(*received, "bits_per_second")),
        "transfer_retr_sender": again,
        "cpu_util_sender": converted(busy[0], "%", "1", "cpu_util_sender"),
        "cpu_util_receiver": converted(busy[1], "%", "1", "cpu_util_receiver"),
        "retr_per_byte": again / sent_bytes if sent_bytes > 0 else float("nan"),
    }
    return {f"{way}_{name}": value for name, value in values.items()}


def _bitrate(bits_per_second: float) -> float:
    return converted(bits_per_second, "bits/s", "B/s", "transfer_bitrate")


QPERF = "network-qperf"
PRIMARY = {"tcp_bw": "bandwidth", "tcp_lat": "latency"}
_HEAD = re.compile(r"^(\w+):\s*$")
_LINE = re.compile(r"^\s+(\w+)\s*=\s*([-0-9.,]+)\s*(.*)$")
_EXACT = re.compile(r"^(\S+) \(([0-9,]+)\)$")
_NAMES = {"bw": "bandwidth"}


def parse_qperf(stdout: str, argv: tuple[str, ...]) -> ParsedOutput:
    """The metrics of qperf; what it leaves out (counters that are zero or unset) is absent.

    Raises TraceError when a test that was named is missing or stands twice, or a line or its unit is unknown.
    """
    values: dict[str, float] = {}
    test, seen = "", set[str]()
    for line in _lines(stdout):
        if head := _HEAD.match(line):
            test = head.group(1)
            if test in seen:
                raise TraceError(f"output holds {test} twice; give each run a line of its own")
            seen.add(test)
        elif line.strip():
            values |= _metric(test, line)
    tests = [one for one in PRIMARY if one in argv] or [one for one in PRIMARY if f"{one}:" in stdout] or list(PRIMARY)
    return required(ParsedOutput(values), [f"{one}_{PRIMARY[one]}" for one in tests])


def _lines(stdout: str) -> list[str]:
    """The lines; a last one without end and unit is left out: its number may be cut."""
    lines = stdout.splitlines()
    last = _LINE.match(lines[-1].rstrip()) if lines and not stdout.endswith("\n") else None
    return lines[:-1] if last and not last.group(3) else lines


def _metric(test: str, line: str) -> dict[str, float]:
    """The metric of a line; nothing for a line of a test or a counter that is not one of ours."""
    match = _LINE.match(line.rstrip())
    if match is None:
        raise TraceError(f"line {line.strip()[:60]!r} is not of the form name = number unit")
    name, number, unit = match.groups()
    short = f"{test}_{_NAMES.get(name, name)}"
    if f"{QPERF}.{short}" not in METRICS:
        return {}
    if exact := _EXACT.match(unit):  # 64 KiB (65,536): the bytes themselves follow
        number, unit = exact.group(2), "bytes"
    return {short: in_unit(QPERF, short, number, unit)}


PARSERS: dict[str, Callable[[str, tuple[str, ...]], ParsedOutput]] = {
    "cpu-sysbench": parse_cpu,
    "disk-fio": parse_fio,
    "disk-ioping": parse_ioping,
    "memory-sysbench": parse_memory,
    "network-iperf3": parse_iperf3,
    "network-qperf": parse_qperf,
}


def parse_output(benchmark: str, stdout: str, argv: tuple[str, ...] = ()) -> ParsedOutput:
    """The metrics of one run.

    Raises TraceError when the benchmark is unknown, the output is empty or cut short, or a unit is unknown.
    """
    if benchmark not in PARSERS:
        raise TraceError(f"benchmark {benchmark[:40]!r} is none of {', '.join(PARSERS)}")
    if not stdout.strip():
        raise TraceError("output is empty")
    return PARSERS[benchmark](stdout, argv)
