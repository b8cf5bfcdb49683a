"""Reads the JSON that `ioping -J` prints."""

from __future__ import annotations

from workprof.errors import TraceError
from workprof.nodes.metrics.units import converted
from workprof.nodes.parsers.reading import Reading, json_document, number_at, present, required

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


def parse_ioping(stdout: str, argv: tuple[str, ...]) -> Reading:
    """Return the metrics of ioping; rates and total_duration are of the time spent in requests, waits left out.

    Raises:
        TraceError: when the output is cut short, counts no request, or has several reports.
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
    return required(Reading(present(values)), ("latency_avg", "iops"))
