"""Our policy: many ways to size a task compete on its own past, and the price of a failure decides how far to go."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats
from workprof.memory.policies.sequence import Sequence
from workprof.memory.policies.sizing_settings import SizingSettings
from workprof.memory.retry import RetrySettings, Sizes

KINDS = (0, 1, 2, 3)
"""How past sizes are carried to a run's input: as they were, by a line (times, plus), by a power law."""

SHARES = (0.15, 0.4, 1.0)
"""Share of the past that reaches the width of the weights; 1 = all runs alike."""

MARGINS = (0.0, 0.005, 0.02, 0.05)
"""Candidates are past sizes times 1 + this."""


class Workprof:
    """Sizes of least expected cost: charge of the run, of its retries, and the price of a failure.

    Every combination of `KINDS`, `SHARES` and `MARGINS` is a way of sizing: it weighs the past runs by the nearness of
    their inputs, carries their sizes to the new input, adds what no run has shown yet (half a run above the largest,
    with a tail as heavy as the largest sizes seen, one in ten of them a jump), and takes the cheapest size. On each
    past run every way is charged for what it would have chosen without that run. The say of a way falls with how surely
    it did worse than the best, and the smallest size that the quorum holds for enough is the first allocation. After a
    failure: the cheapest past size above it, then 1.05 x the largest seen, then doubled.

    The latest 400 runs are looked at; after 400 runs of a task one in 20 is a contest, and a size that
    looks at no input holds between them until a run fails. Where all inputs are alike, the ways differ in their
    margins alone.

    Source: ours; minimum expected waste with neighbours is memory.md 2.2, the tail is Hill's estimator.

    Args:
        settings: price and beliefs.
        name: in tables.
    """

    name = "workprof"

    def __init__(self, settings: SizingSettings, name: str = name) -> None:
        self.settings = settings
        self.name = name

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return first, second and largest sizes of the runs after the initial history."""
        from workprof.memory.kernels.choice import Belief  # noqa: PLC0415  numba
        from workprof.memory.kernels.tournament import compete  # noqa: PLC0415  numba

        s = self.settings
        belief = Belief(
            price_byte_h=s.price_runs * runs.mean_run_byte_h,
            time_to_failure=retry.time_to_failure,
            lift=s.lift,
            unseen_runs=s.unseen_runs,
            jump_share=s.jump_share,
            jump_scale=s.jump_scale,
            least_scale=s.least_scale,
            sharpness=s.sharpness,
            quorum=s.quorum,
        )
        found = compete(rows_of(runs), runs.n_known, ways_of(s, varied=bool(np.ptp(runs.inputs) > 0)), belief)
        return Sizes(found[:, 0], found[:, 1:])


def rows_of(runs: Sequence) -> Floats:
    """Return (4, n) sizes, hours, inputs and log inputs, as the kernels take them."""
    inputs = np.maximum(runs.inputs, 0.0)
    return np.array([runs.used_bytes, runs.hours, inputs, np.log1p(inputs)])


def ways_of(settings: SizingSettings, *, varied: bool) -> tuple[Floats, Floats, Floats]:
    """Return kinds, shares and margins: one way by the task alone, those that differ where inputs do not vary."""
    if not settings.by_input:
        return np.zeros(1), np.ones(1), np.zeros(1)
    if not varied:
        return np.zeros(1), np.ones(1), np.array(MARGINS)
    return np.array(KINDS, dtype=np.float64), np.array(SHARES), np.array(MARGINS)


def warm_sizing() -> None:
    """Compile (or load from the compiler's cache) the loops, so that no replay's clock runs meanwhile."""
    few = np.arange(1.0, 13.0)
    runs = Sequence("", few, few, few, few, 10, 1.0)
    Workprof(SizingSettings()).sizes(runs, RetrySettings())
