"""What our policy believes and what a failure costs it: one default for every table."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.errors import SettingsError


@dataclass(frozen=True)
class SizingSettings:
    """Settings of the policy `workprof`.

    Nothing here was fitted to a table: the values are priors, checked at half and twice their size.

    Attributes:
        price_runs: price of a failure beyond what its attempt is charged, in mean runs (bytes x hours used by the mean
            run of the initial histories). 0 = waste alone.
        by_input: runs with a like input count more, and sizes are carried along the input; else the task alone counts.
        quorum: share of the say of all ways of sizing that must hold a size for enough, 0-1.
        sharpness: how fast a way of sizing that did worse loses its say.
        lift: size after a failure over the largest use seen.
        unseen_runs: runs above all seen ones that are expected next to those; 1/2 is Jeffreys' prior.
        jump_share: share of the unseen runs that jump instead of continuing the tail.
        jump_scale: mean logarithm of a jump.
        least_scale: smallest mean logarithm of the tail's steps.
    """

    price_runs: float = 0.05
    by_input: bool = True
    quorum: float = 0.7
    sharpness: float = 4.0
    lift: float = 1.05
    unseen_runs: float = 0.5
    jump_share: float = 0.1
    jump_scale: float = 0.05
    least_scale: float = 0.002

    def __post_init__(self) -> None:
        if not 0 <= self.price_runs <= 1e6:
            raise SettingsError(f"price per failure is {self.price_runs} mean runs; give 0 to 1,000,000")
        if not 0 < self.quorum <= 1:
            raise SettingsError(f"quorum is {self.quorum}; give a share above 0, up to 1")
        if not (0 <= self.jump_share <= 1 and self.unseen_runs > 0 and self.sharpness >= 0):
            raise SettingsError("jump share is a share, unseen runs are above 0, sharpness is 0 or more")
        if not (self.lift >= 1 and self.jump_scale > 0 and self.least_scale > 0):
            raise SettingsError("lift is 1 or more, the scales are above 0")


DEFAULT = SizingSettings()

CAUTIOUS = SizingSettings(price_runs=200.0, by_input=False)
"""Nearly no failures: a failure costs as much as 200 mean runs, and no input is trusted to foresee a small run."""
