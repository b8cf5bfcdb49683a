"""What is recorded, how often and for how long."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workprof.errors import SettingsError

SHORTEST_INTERVAL_S = 0.1


@dataclass(frozen=True)
class RecordSettings:
    """Settings of one recording.

    Attributes:
        command: program and arguments; () = nothing is started, the host is watched for `seconds`.
        interval_s: between two samples.
        seconds: the longest that is recorded, the command is ended then; None = until the command ends.
        workload: label of the kind of work.
        run: label of this run.
        pids: servers that are up already; their process trees count with the command's.
        perf: whether `perf stat` counts beside /proc.
        quiet_s: rest between writing back what earlier work left in memory and the start; 0 = neither.
    """

    command: tuple[str, ...] = ()
    interval_s: float = 1.0
    seconds: float | None = None
    workload: str = "workload"
    run: str = "1"
    pids: tuple[int, ...] = ()
    perf: bool = True
    quiet_s: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.interval_s) and self.interval_s >= SHORTEST_INTERVAL_S):
            raise SettingsError(f"interval is {self.interval_s} s; give at least {SHORTEST_INTERVAL_S} s")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds >= self.interval_s):
            raise SettingsError(f"seconds is {self.seconds}; give at least one interval ({self.interval_s:g} s)")
        if not self.command and self.seconds is None:
            raise SettingsError(
                "there is no command and no --seconds; give a command after --, or the seconds to watch"
            )
        if not (math.isfinite(self.quiet_s) and 0 <= self.quiet_s <= 600):
            raise SettingsError(f"quiet is {self.quiet_s} s; give 0 to 600 s")
        for label, text in (("workload", self.workload), ("run", self.run)):
            if not text.strip() or "\n" in text:
                raise SettingsError(f"{label} is {text!r}; give a name on one line")
