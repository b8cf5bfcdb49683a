"""Reads the text that `sysbench cpu` and `sysbench memory` print."""

from __future__ import annotations

import re

from workprof.nodes.parsers.reading import Reading, in_unit, present, required, whole_lines

_N = r"([0-9][0-9.,]*)"
_VERSION = re.compile(r"^sysbench\s+(\S+)", re.MULTILINE)

_COMMON = {
    "total_time": rf"^\s*total time:\s*{_N}(\S*)\s*$",
    "total_number_of_events": rf"^\s*total number of events:\s*{_N}()\s*$",
    "fairness_events_avg": rf"^\s*events \(avg/stddev\):\s*{_N}()/{_N}\s*$",
    "fairness_events_stddev": rf"^\s*events \(avg/stddev\):\s*[0-9.,]+/{_N}()\s*$",
}
_EXECUTION = {
    "fairness_exctime_avg": rf"^\s*execution time \(avg/stddev\):\s*{_N}/[0-9.,]+\s*$",
    "fairness_exctime_stddev": rf"^\s*execution time \(avg/stddev\):\s*[0-9.,]+/{_N}\s*$",
}
_LATENCIES = {
    "latency_min": rf"^\s*min:\s*{_N}\s*$",
    "latency_avg": rf"^\s*avg:\s*{_N}\s*$",
    "latency_max": rf"^\s*max:\s*{_N}\s*$",
    "latency_95p": rf"^\s*95th percentile:\s*{_N}\s*$",
    "latency_sum": rf"^\s*sum:\s*{_N}\s*$",
}
_LATENCY_UNIT = re.compile(r"^Latency \((\S+)\):", re.MULTILINE)
_CPU = {
    "num_threads": rf"^\s*Number of threads:\s*{_N}()\s*$",
    "prime_numbers_limit": rf"^\s*Prime numbers limit:\s*{_N}()\s*$",
}
_EVENTS = rf"^\s*events per second:\s*{_N}\s*$"
_MEMORY = {
    "number_of_threads": rf"^\s*Number of threads:\s*{_N}()\s*$",
    "block_size": rf"^\s*block size:\s*{_N}(\S*)\s*$",
    "total_size": rf"^\s*total size:\s*{_N}(\S*)\s*$",
    "transfer_size": rf"^\s*{_N} (\S+) transferred \(",
    "transfer_rate": rf"^\s*[0-9.,]+ \S+ transferred \({_N} (\S+)\)",
}
_OPERATIONS = rf"^\s*Total operations:\s*[0-9]+ \({_N} per second\)"
_WORDS = {"operation": r"^\s*operation:\s*(\S+)\s*$", "scope": r"^\s*scope:\s*(\S+)\s*$"}


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
