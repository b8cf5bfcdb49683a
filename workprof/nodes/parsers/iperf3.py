"""Reads the JSON that the client of `iperf3 -J` prints."""

from __future__ import annotations

import math
from typing import Any

from workprof.errors import TraceError
from workprof.nodes.metrics.units import converted
from workprof.nodes.parsers.reading import Reading, json_document, number_at, present, required

FORTH, BACK = "tx_c", "rx_c"


def parse_iperf3(stdout: str, argv: tuple[str, ...]) -> Reading:
    """Return the metrics of iperf3 over TCP; a direction that was not asked for is absent.

    Raises:
        TraceError: when the output is cut short or iperf3 reports an error.
    """
    del argv  # everything that matters is in the document
    document = json_document(stdout, "{")
    if "error" in document:
        raise TraceError(f"iperf3 reports: {str(document['error'])[:200]}")
    reverse = number_at(document, "start", "test_start", "reverse") > 0
    first = BACK if reverse else FORTH
    values = _direction(document, first, "")
    if not math.isnan(number_at(document, "end", "sum_received_bidir_reverse", "bytes")):
        values |= _direction(document, BACK, "_bidir_reverse")
    start = document.get("start")
    version = start.get("version") if isinstance(start, dict) else None
    texts = {"version": version} if isinstance(version, str) else {}
    return required(Reading(present(values), texts), (f"{first}_transfer_bitrate_receiver",))


def _direction(document: Any, way: str, suffix: str) -> dict[str, float]:
    """Return one direction: at its sender and its receiver; the client is the sender of `tx_c`."""
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
