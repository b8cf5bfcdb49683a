"""What benchmarks say of a machine: one number per kind of work, larger = faster."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from workprof.errors import NotEnoughData, SettingsError

SCORES = ("cpu", "linpack", "memory", "io")


@dataclass(frozen=True)
class MachineScores:
    """Scores of one machine; None = not measured, never 0.

    Attributes:
        machine: its name in the reports.
        cpu: sysbench cpu, events per second on one thread.
        linpack: floating-point rate (KFLOPS).
        memory: sysbench memory, transfer rate (MiB/s).
        io: disk requests per second.

    Raises:
        SettingsError: for a score that is not a positive number.
    """

    machine: str
    cpu: float | None = None
    linpack: float | None = None
    memory: float | None = None
    io: float | None = None

    def __post_init__(self) -> None:
        for name in SCORES:
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise SettingsError(
                    f"{name} of {self.machine} is {value}; a score is above 0, or absent if not measured"
                )


PUBLISHED_SCORES = {
    one.machine: one
    for one in (
        MachineScores("n1", cpu=369, linpack=3_620_426, memory=13_400, io=483),
        MachineScores("n2", cpu=467, linpack=4_045_289, memory=17_000, io=483),
        MachineScores("c2", cpu=523, linpack=4_602_096, memory=18_900, io=483),
        MachineScores("local", cpu=437, io=415),
        MachineScores("asok01", cpu=223, io=303),
        MachineScores("asok02", cpu=223, io=339),
    )
}
"""Source: n1, n2, c2 from Lotaru's code of June 2022 (perona.md 5.2, point 4 and the table's memory row); the other
three from `lotaru-g.csv` of py-lotaru (perona.md 5.3), which has no linpack and memory."""


def scores_of(machine: str, scores: Mapping[str, MachineScores]) -> MachineScores:
    """Return the scores of a machine.

    Raises:
        NotEnoughData: when there are none.
    """
    try:
        return scores[machine]
    except KeyError:
        known = ", ".join(sorted(scores)) or "none"
        raise NotEnoughData(
            f"there are no scores of machine {machine!r}, only of: {known}; give a file of scores"
        ) from None


def ratio(local: MachineScores, target: MachineScores, name: str) -> float:
    """Return score of local / score of target: how many times as long the target takes.

    Raises:
        NotEnoughData: when one of the two has no such score.
    """
    ours, theirs = getattr(local, name), getattr(target, name)
    if ours is None or theirs is None:
        lacking = local.machine if ours is None else target.machine
        raise NotEnoughData(f"machine {lacking} has no {name} score")
    return float(ours / theirs)


def scores_from_frame(frame: pd.DataFrame) -> dict[str, MachineScores]:
    """Return the scores per machine.

    Args:
        frame: columns machine, cpu, linpack, memory, io; NaN = not measured.

    Raises:
        SettingsError: for a machine named twice, or a score that is not above 0.
    """
    twice = frame["machine"][frame["machine"].duplicated()]
    if len(twice):
        raise SettingsError(f"machine {twice.iloc[0]!r} has two rows of scores; keep one")
    return {
        str(row["machine"]): MachineScores(
            str(row["machine"]), **{name: None if pd.isna(row[name]) else float(row[name]) for name in SCORES}
        )
        for row in frame.to_dict("records")
    }
