"""Reads the JSON that `fio --output-format=json` prints."""

from __future__ import annotations

import math
from typing import Any

from workprof.errors import TraceError
from workprof.nodes.metrics.units import converted
from workprof.nodes.parsers.reading import NAN, Reading, json_document, number_at, present, required

SIDES = ("read", "write")
MOST_DIGITS = 6
"""Of a number of processes."""

_MOMENTS = {"min": "min", "max": "max", "avg": "mean", "stdev": "stddev"}
_PERCENTILES = {"05p": "5.000000", "50p": "50.000000", "95p": "95.000000"}
_BANDWIDTHS = {"min": "bw_min", "max": "bw_max", "avg": "bw_mean", "stdev": "bw_dev"}
_REQUESTS = {"min": "iops_min", "max": "iops_max", "avg": "iops_mean", "stdev": "iops_stddev"}


def parse_fio(stdout: str, argv: tuple[str, ...]) -> Reading:
    """Return the metrics of fio; a direction in which nothing was moved is absent, not zero.

    Raises:
        TraceError: when the output is cut short, a job failed, or there are several jobs.
    """
    del argv  # everything that matters is in the document
    document = json_document(stdout, "{")
    job = _only_job(document)
    values = _whole(document, job)
    for side in SIDES:
        if number_at(job, side, "total_ios") > 0:
            values |= _side(job, side)
    version = document.get("fio version")
    texts = {"version": version} if isinstance(version, str) else {}
    asked = [side for side in SIDES if f"{side}_bw" in values] or ["read"]
    return required(Reading(present(values), texts), [f"{side}_bw" for side in asked])


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


def _whole(document: Any, job: Any) -> dict[str, float]:
    disks = document.get("disk_util")
    busiest = [number_at(disk, "util") for disk in disks] if isinstance(disks, list) else []
    return {
        "number_of_processes": _processes(job),
        "cpu_usr": converted(number_at(job, "usr_cpu"), "%", "1", "cpu_usr"),
        "cpu_sys": converted(number_at(job, "sys_cpu"), "%", "1", "cpu_sys"),
        "disk_util": converted(max(busiest, default=NAN), "%", "1", "disk_util"),
    }


def _processes(job: Any) -> float:
    options = job.get("job options", {})
    asked = str(options.get("numjobs", "1")) if isinstance(options, dict) else "1"
    return float(asked) if asked.isascii() and asked.isdigit() and len(asked) <= MOST_DIGITS else NAN


def _side(job: Any, side: str) -> dict[str, float]:
    """Return the metrics of one direction; averages over samples are absent where fio took no sample."""
    values = {
        "bw": converted(number_at(job, side, "bw_bytes"), "B/s", "B/s", "bw"),
        "iops": number_at(job, side, "iops"),
        **_latencies(job, side),
        **(_sampled(job, side, "bw", _BANDWIDTHS, "KiB/s") if number_at(job, side, "bw_samples") > 0 else {}),
        **(_sampled(job, side, "iops", _REQUESTS, "/s") if number_at(job, side, "iops_samples") > 0 else {}),
    }
    return {f"{side}_{name}": value for name, value in values.items()}


def _latencies(job: Any, side: str) -> dict[str, float]:
    found = {}
    for kind in ("clat", "lat"):
        for name, theirs in _MOMENTS.items():
            found[f"{kind}_{name}"] = number_at(job, side, f"{kind}_ns", theirs)
    for name, theirs in _PERCENTILES.items():
        found[f"clat_{name}"] = number_at(job, side, "clat_ns", "percentile", theirs)
    return {name: converted(value, "ns", "s", name) for name, value in found.items()}


def _sampled(job: Any, side: str, kind: str, names: dict[str, str], unit: str) -> dict[str, float]:
    of = "B/s" if kind == "bw" else "1/s"
    found = {
        f"{kind}_{name}": converted(number_at(job, side, theirs), unit, of, kind) for name, theirs in names.items()
    }
    mean, spread = found[f"{kind}_avg"], found[f"{kind}_stdev"]
    share = spread / mean if mean > 0 and number_at(job, side, f"{kind}_samples") > 1 else math.nan
    return found | {f"{kind}_stdev_share": share}
