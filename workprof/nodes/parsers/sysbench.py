"""Reads the text that `sysbench cpu` and `sysbench memory` print."""

from __future__ import annotations

import re

from workprof.nodes.parsers.reading import Reading, in_unit, present, required, whole_lines

_N = r"([0-9][0-9.,]*)"
_VERSION = re.compile(r"^sysbench\s+(\S+)", re.MULTILINE)

_COMMON = {
    "total_time": rf"^[ \t]*total time:[ \t]*{_N}((?:[^\s0-9.,]\S*)?)[ \t\r]*$",
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
_WORDS = {"operation": r"^[ \t]*operation:[ \t]*(\S+)[ \t\r]*$", "scope": r"^[ \t]*scope:[ \t]*(\S+)[ \t\r]*$"}


def parse_cpu(stdout: str, argv: tuple[str, ...]) -> Reading:
    """Return the metrics of `sysbench cpu`.

    Raises:
        TraceError: when the output is cut short or a unit is unknown.
    """
    del argv  # everything that matters is printed
    benchmark, stdout = "cpu-sysbench", whole_lines(stdout)
    values = _shared(benchmark, stdout) | _numbers(benchmark, stdout, _CPU)
    values |= _of_unit(benchmark, stdout, {"events_per_second": _EVENTS}, "/sec")
    if values.get("total_time"):
        values["event_rate"] = values.get("total_number_of_events", float("nan")) / values["total_time"]
    reading = Reading(present(values), _version(stdout))
    return required(reading, ("events_per_second", "total_time", "total_number_of_events", "fairness_events_avg"))


def parse_memory(stdout: str, argv: tuple[str, ...]) -> Reading:
    """Return the metrics of `sysbench memory`.

    Raises:
        TraceError: when the output is cut short or a unit is unknown.
    """
    del argv  # everything that matters is printed
    benchmark, stdout = "memory-sysbench", whole_lines(stdout)
    values = _shared(benchmark, stdout) | _numbers(benchmark, stdout, _MEMORY)
    values |= _of_unit(benchmark, stdout, {"operation_rate": _OPERATIONS}, "/sec")
    words = {name: found.group(1) for name, pattern in _WORDS.items() if (found := _search(pattern, stdout))}
    reading = Reading(present(values), _version(stdout) | words)
    return required(reading, ("transfer_rate", "total_time", "total_number_of_events", "fairness_events_avg"))


def _shared(benchmark: str, stdout: str) -> dict[str, float]:
    """Return what both tests print; a time printed as 0.00 is smaller than what is printed, so it is absent."""
    times = _of_unit(benchmark, stdout, _EXECUTION, "s")
    if unit := _LATENCY_UNIT.search(stdout):
        times |= _of_unit(benchmark, stdout, _LATENCIES, unit.group(1))
    return _numbers(benchmark, stdout, _COMMON) | {name: value for name, value in times.items() if value > 0}


def _numbers(benchmark: str, stdout: str, patterns: dict[str, str]) -> dict[str, float]:
    found = {name: _search(pattern, stdout) for name, pattern in patterns.items()}
    return {name: in_unit(benchmark, name, one.group(1), one.group(2)) for name, one in found.items() if one}


def _of_unit(benchmark: str, stdout: str, patterns: dict[str, str], unit: str) -> dict[str, float]:
    found = {name: _search(pattern, stdout) for name, pattern in patterns.items()}
    return {name: in_unit(benchmark, name, one.group(1), unit) for name, one in found.items() if one}


def _search(pattern: str, stdout: str) -> re.Match[str] | None:
    return re.search(pattern, stdout, re.MULTILINE)


def _version(stdout: str) -> dict[str, str]:
    found = _VERSION.search(stdout)
    return {"version": f"sysbench {found.group(1)}"} if found else {}
