"""The stop about memory: what sizes from history would save, and what they would break."""

from __future__ import annotations

import math

from workprof.charts.memory.frontier import frontier_chart
from workprof.charts.memory.policies import NOW, OURS, saving_words
from workprof.charts.memory.words import gb_h, number
from workprof.charts.text import counted
from workprof.charts.tour.stop import TourStop
from workprof.memory.replay import PolicyFigures, ReplayResult

NO_PRICE = 0.0
"""Of a failure beyond the GB·h that it wastes."""


def memory_stop(found: ReplayResult) -> TourStop:
    """Return what sizes from history would save, and how many attempts they would break.

    Args:
        found: a replay of our policy beside that of the requests of now.
    """
    ours, now = found.policies[OURS], found.policies[NOW]
    safest = min(found.policies.values(), key=lambda one: (one.failures, one.wasted_gb_h))
    return TourStop(
        headline=f"Sized from their own history, {counted(found.n_test, 'run')} would be charged {saving_words(ours)} "
        f"memory over time ({gb_h(now.charged_gb_h)} to {gb_h(ours.charged_gb_h)}{_interval(ours)}), and "
        f"{number(ours.failures)} attempts would be killed for memory instead of {number(now.failures)}.",
        means="Saving and risk are one choice: every point of the picture is a policy on the same runs, and the price "
        "of a failure picks the point.",
        means_not=f"None of them is free of failures and cheap: the safest ({number(safest.failures)} killed) is "
        f"charged {gb_h(safest.charged_gb_h)}. Nothing here has been tried on a running cluster.",
        charts=(frontier_chart(found, NO_PRICE),),
    )


def _interval(one: PolicyFigures) -> str:
    low, high = one.saving.low, one.saving.high
    return f"; 95 % interval of the saving {100 * low:.1f} to {100 * high:.1f} %" if math.isfinite(low + high) else ""
