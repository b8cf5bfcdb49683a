"""How far a sweep is: groups, runs, what was left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from workprof.charts.sweep.runs import ALGORITHM_WORDS, METRIC_WORDS, SCALER_WORDS
from workprof.profiles.sweep import GroupSettings, SweepGroup

Pairs = Sequence[tuple[GroupSettings, SweepGroup | None]]


@dataclass(frozen=True)
class Standing:
    """How far a sweep is.

    Attributes:
        groups, groups_done: of the grid.
        runs, runs_done: of the grid; left-out sizes count as neither done nor open.
        runs_left_out: sizes that the rows cannot hold.
    """

    groups: int
    groups_done: int
    runs: int
    runs_done: int
    runs_left_out: int

    @classmethod
    def of(cls, pairs: Pairs) -> Standing:
        """Return the standing of a grid's groups, each with its result or None."""
        kept = [result for _, result in pairs if result is not None]
        left_out = sum(len(result.left_out) for result in kept)
        asked = sum(len(settings.sizes) for settings, _ in pairs)
        return cls(len(pairs), len(kept), asked - left_out, sum(len(result.runs) for result in kept), left_out)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.groups_done == self.groups

    def fraction(self, of_running_group: float | None) -> float:
        """Return the share of the groups that is done, 0-1, the part of the running one included."""
        return min(1.0, (self.groups_done + (of_running_group or 0.0)) / max(1, self.groups))

    def words(self) -> str:
        """Return '3 of 8 groups, 21 of 56 runs'."""
        left_out = f" ({self.runs_left_out:,} left out)" if self.runs_left_out else ""
        return f"{self.groups_done:,} of {self.groups:,} groups, {self.runs_done:,} of {self.runs:,} runs{left_out}"


def left_out_table(pairs: Pairs) -> pd.DataFrame:
    """Return one line per size that was left out, with the reason; no line where none was."""
    return pd.DataFrame(
        [
            {
                "algorithm": ALGORITHM_WORDS[settings.algorithm],
                "scaler": SCALER_WORDS[settings.scaler],
                "metric": METRIC_WORDS[settings.metric],
                "size": int(size),
                "reason": reason,
            }
            for settings, result in pairs
            if result is not None
            for size, reason in result.left_out.items()
        ],
        columns=["algorithm", "scaler", "metric", "size", "reason"],
    )
