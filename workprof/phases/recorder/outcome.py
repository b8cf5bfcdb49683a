"""How a recording ended."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.phases.recorder.settings import RecordSettings
from workprof.phases.recorder.usage import Usage

COMPLETE, SHORT, FAILED = "complete", "short", "failed"
ENOUGH_ROWS = 0.9
"""Share of the expected rows below which a recording is short."""


@dataclass(frozen=True)
class Outcome:
    """A recording that has ended.

    Attributes:
        started_s: epoch seconds.
        rows: samples taken.
        counters: columns, perf's included.
        duration_s: from the start to the end of the command or of the recording.
        ended_after_s: when the command ended by itself; None = it still ran at the end of the recording.
        rc: its exit status then (negative: the signal), else None.
        stopped: from outside, before the command or the time was over.
        status: complete, short (less than 90 % of the expected rows) or failed (stopped from outside, or rc is not 0).
        seconds_per_sample: mean processor time that one sample took.
        usage: of the command's process tree.
        notes: what is missing and why.
    """

    workload: str
    run: str
    started_s: float
    rows: int
    counters: int
    duration_s: float
    ended_after_s: float | None
    rc: int | None
    stopped: bool
    status: str
    seconds_per_sample: float
    usage: Usage
    notes: tuple[str, ...]


def status_of(settings: RecordSettings, rows: int, duration_s: float, rc: int | None, stopped: bool) -> str:
    """Return how a recording is marked."""
    if stopped or rc not in (None, 0):
        return FAILED
    planned_s = settings.seconds if settings.seconds is not None else duration_s
    expected = max(int(planned_s / settings.interval_s + 1e-9), 1)
    return COMPLETE if rows >= ENOUGH_ROWS * expected else SHORT
