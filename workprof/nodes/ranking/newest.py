"""Nodes whose newest runs are worse than their own history: the reason in words, and what to do."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats
from workprof.nodes.ranking.medians import OrientedRuns
from workprof.nodes.ranking.records import Degraded
from workprof.units import format_share

LEAST_EARLIER = 3
"""Earlier runs; with fewer there is not enough history (perona.md 4.3)."""

CUT = 3.5
"""Robust z-score from which a value is an outlier. Source: Iglewicz and Hoaglin, How to Detect and Handle Outliers,
1993, for 0.6745 (x - median) / MAD."""

MAD_TO_SD = 1.4826
RERUN, EXCLUDE = "re-run", "exclude"


def degraded_nodes(runs: OrientedRuns, nodes: tuple[str, ...]) -> list[Degraded | None]:
    """Return for each node what its newest runs show, the worst benchmark; None = no sign.

    The newest run of each benchmark is compared with all earlier ones of the node by median and MAD of the mean of its
    oriented logarithms. A spread below the typical one of that benchmark is taken as the typical one. If the run before
    it was already as bad, the repetition agrees and the node should be excluded; else the benchmark is to be run again.
    """
    histories = {
        (node, benchmark): _history(runs, node, benchmark)
        for node in nodes
        for benchmark in dict.fromkeys(runs.benchmarks)
    }
    return [_worst(node, histories) for node in nodes]


def _worst(node: str, histories: dict[tuple[str, str], Floats]) -> Degraded | None:
    worst: tuple[float, Degraded] | None = None
    for (of_node, benchmark), history in histories.items():
        if of_node != node or len(history) <= LEAST_EARLIER:
            continue
        typical = typical_spread([other for (_, name), other in histories.items() if name == benchmark])
        z = badness(history[:-1], history[-1], typical)
        if z < CUT or (worst is not None and z <= worst[0]):
            continue
        repeated = len(history) > LEAST_EARLIER + 1 and badness(history[:-2], history[-2], typical) >= CUT
        worst = z, _told(benchmark, history, z, repeated=repeated)
    return None if worst is None else worst[1]


def _told(benchmark: str, history: Floats, z: float, *, repeated: bool) -> Degraded:
    share = 1 - float(np.exp(history[-1] - np.median(history[:-1])))
    runs = "the newest two runs are" if repeated else "the newest run is"
    action = EXCLUDE if repeated else RERUN
    reason = (
        f"{benchmark}: {runs} {format_share(share, 0)} below the median of {len(history) - 1 - repeated} earlier ones "
        f"(robust z-score {z:.1f}, cut {CUT})"
    )
    return Degraded(benchmark, reason, action)


def badness(earlier: Floats, newest: float, typical: float) -> float:
    """Return how many robust standard deviations a run lies below the median of the earlier ones."""
    centre = float(np.median(earlier))
    spread = max(MAD_TO_SD * float(np.median(np.abs(earlier - centre))), typical)
    if spread == 0:
        return 0.0 if newest >= centre else float("inf")
    return (centre - newest) / spread


def typical_spread(histories: list[Floats]) -> float:
    """Return the median over the nodes of 1.4826 MAD of a benchmark; 0 without a history."""
    spreads = [
        MAD_TO_SD * float(np.median(np.abs(one - np.median(one)))) for one in histories if len(one) > LEAST_EARLIER
    ]
    return float(np.median(spreads)) if spreads else 0.0


def _history(runs: OrientedRuns, node: str, benchmark: str) -> Floats:
    """Return the mean oriented logarithm of each run of a benchmark on a node that has every metric, oldest first."""
    here = np.flatnonzero((runs.node == node) & (runs.benchmark == benchmark))
    own = np.flatnonzero(np.array(runs.benchmarks) == benchmark)
    here = here[np.argsort(runs.started_s[here], kind="stable")]
    means: Floats = runs.logs[np.ix_(here, own)].mean(axis=1)
    return means[np.isfinite(means)]
