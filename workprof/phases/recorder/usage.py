"""What a recorded command used in all: one row of a job table."""

from __future__ import annotations

import math
import resource
from dataclasses import dataclass

from workprof.phases.recorder.found import Found
from workprof.phases.recorder.session import Ended
from workprof.units import KIB, MIB


@dataclass(frozen=True)
class Usage:
    """Use of the process tree; NaN = not known.

    Attributes:
        duration_s: from the start of the command to its end, or to the end of the recording.
        peak_memory_bytes: largest sum of resident sets at a sample, or largest of one process at any time where that
            is larger: a peak of several processes together between two samples is not seen.
        mean_memory_bytes: over the samples with a process, weighted by their intervals.
        cpu_usage_percent: of one core, mean over the duration: the larger of the sampled tree's and the kernel's.
        read_bytes: from devices, sampled: what a process did after its last sample is lost; write_bytes likewise.
        read_count: system calls that read; write_count: that write.
    """

    duration_s: float
    peak_memory_bytes: float
    mean_memory_bytes: float
    cpu_usage_percent: float
    read_bytes: float
    write_bytes: float
    read_count: float
    write_count: float


class UsageMeter:
    """Follows the process tree from look to look."""

    def __init__(self) -> None:
        self._last = Found()
        self._at_s = math.nan
        self._peak_bytes = 0.0
        self._mb_s = 0.0
        self._seconds = 0.0

    def start(self, at_s: float) -> None:
        """Begin at a moment of the monotonic clock."""
        self._at_s = at_s

    def add(self, tree: Found, at_s: float, peak_kb: float) -> None:
        """Take one look at the tree into account; what it shows held since the look before."""
        self._last = tree
        if tree.levels.get("proc.procs", 0) > 0:
            rss_mb, interval_s = tree.levels["proc.rss_mb"], at_s - self._at_s
            self._peak_bytes = max(self._peak_bytes, rss_mb * MIB, peak_kb * KIB)
            self._mb_s += rss_mb * interval_s
            self._seconds += interval_s
        self._at_s = at_s

    def usage(self, duration_s: float, ended: Ended | None) -> Usage:
        """Return the use in all."""
        totals = self._last.totals
        sampled_cpu_s = (totals.get("proc.cpu_user%", 0.0) + totals.get("proc.cpu_sys%", 0.0)) / 100
        cpu_s = max(sampled_cpu_s, ended.cpu_s if ended else 0.0)
        peak = max(self._peak_bytes, _told_peak(ended))
        return Usage(
            duration_s=duration_s,
            peak_memory_bytes=peak if peak > 0 else math.nan,
            mean_memory_bytes=self._mb_s * MIB / self._seconds if self._seconds else math.nan,
            cpu_usage_percent=100 * cpu_s / duration_s if duration_s > 0 else math.nan,
            read_bytes=totals.get("proc.read_kb/s", math.nan) * KIB,
            write_bytes=totals.get("proc.write_kb/s", math.nan) * KIB,
            read_count=totals.get("proc.syscr/s", math.nan),
            write_count=totals.get("proc.syscw/s", math.nan),
        )


def _told_peak(ended: Ended | None) -> float:
    """Return the kernel's peak of one process of the command, 0 where it may be that of the recorder itself.

    A started process inherits the peak of its starter, so only a larger one is its own.
    """
    if ended is None:
        return 0.0
    inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    return float(ended.peak_bytes) if ended.peak_bytes > inherited else 0.0
