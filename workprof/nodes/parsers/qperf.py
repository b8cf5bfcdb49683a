"""Reads the text that the client of `qperf ... tcp_bw tcp_lat` prints, with and without -uu."""

from __future__ import annotations

import re

from workprof.errors import TraceError
from workprof.nodes.metrics.metrics import METRICS
from workprof.nodes.parsers.reading import Reading, in_unit, required

QPERF = "network-qperf"
PRIMARY = {"tcp_bw": "bandwidth", "tcp_lat": "latency"}
_HEAD = re.compile(r"^(\w+):\s*$")
_LINE = re.compile(r"^\s+(\w+)\s*=\s*([-0-9.,]+)\s*(.*)$")
_EXACT = re.compile(r"^(\S+) \(([0-9,]+)\)$")
_NAMES = {"bw": "bandwidth"}


def parse_qperf(stdout: str, argv: tuple[str, ...]) -> Reading:
    """Return the metrics of qperf; what it leaves out (counters that are zero or unset) is absent.

    Raises:
        TraceError: when a test that was asked for is missing, or a line or its unit is unknown.
    """
    values: dict[str, float] = {}
    test = ""
    for line in _lines(stdout):
        if head := _HEAD.match(line):
            test = head.group(1)
        elif line.strip():
            values |= _metric(test, line)
    asked = [one for one in PRIMARY if one in argv] or [one for one in PRIMARY if f"{one}:" in stdout] or list(PRIMARY)
    return required(Reading(values), [f"{one}_{PRIMARY[one]}" for one in asked])


def _lines(stdout: str) -> list[str]:
    """Return the lines; a last one without end and unit is left out: its number may be cut."""
    lines = stdout.splitlines()
    last = _LINE.match(lines[-1].rstrip()) if lines and not stdout.endswith("\n") else None
    return lines[:-1] if last and not last.group(3) else lines


def _metric(test: str, line: str) -> dict[str, float]:
    """Return the metric of a line; nothing for a line of a test or a counter that is not one of ours."""
    found = _LINE.match(line.rstrip())
    if found is None:
        raise TraceError(f"line {line.strip()[:60]!r} is not of the form name = number unit")
    name, number, unit = found.groups()
    short = f"{test}_{_NAMES.get(name, name)}"
    if f"{QPERF}.{short}" not in METRICS:
        return {}
    if exact := _EXACT.match(unit):  # 64 KiB (65,536): the bytes themselves follow
        number, unit = exact.group(2), "bytes"
    return {short: in_unit(QPERF, short, number, unit)}
