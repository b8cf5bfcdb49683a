"""How a node's score has changed: its later runs against its earlier ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workprof.arrays import Bools, Floats
from workprof.nodes.metrics import ASPECT_OF
from workprof.nodes.ranking.aspect_scores import aspect_weights, mixed
from workprof.nodes.ranking.medians import Levels, OrientedRuns, levels_of
from workprof.nodes.ranking.places import interval
from workprof.nodes.ranking.records import Change
from workprof.nodes.ranking.settings import RankSettings

LATER, EARLIER = 1, 2
"""Added to the seed, so that the two windows are resampled apart."""


@dataclass(frozen=True)
class Windows:
    """Runs of two windows: (n_runs,) true where a run is in it; they meet at `split_s`."""

    earlier: Bools
    later: Bools
    split_s: float


def windows(started_s: Floats, settings: RankSettings) -> Windows:
    """Return the window that is looked at and the one of the same length before it; without one, the two halves.

    Args:
        started_s: (n_runs,) of all runs that are not excluded for another reason than the window.
        settings: with the window.
    """
    if settings.since_s is None:
        split = float(np.nanmedian(started_s))
        return Windows(started_s < split, started_s >= split, split)
    until = float(np.nanmax(started_s)) if settings.until_s is None else settings.until_s
    since = settings.since_s
    earlier = (started_s >= 2 * since - until) & (started_s < since)
    return Windows(earlier, (started_s >= since) & (started_s <= until), since)


def changes(runs: OrientedRuns, nodes: tuple[str, ...], settings: RankSettings) -> list[Change | None]:
    """Return for each node the score of its later runs / of its earlier ones; None without 3 runs in both."""
    if not np.isfinite(runs.started_s).any():
        return [None] * len(nodes)
    two = windows(runs.started_s, settings)
    earlier = levels_of(_only(runs, two.earlier), nodes, settings.n_draws, settings.seed + EARLIER)
    later = levels_of(_only(runs, two.later), nodes, settings.n_draws, settings.seed + LATER)
    return [_change((earlier, later), row, settings, two.split_s) for row in range(len(nodes))]


def _change(pair: tuple[Levels, Levels], row: int, settings: RankSettings, split_s: float) -> Change | None:
    earlier, later = pair
    both = replace(later, level=np.where(np.isfinite(earlier.level), later.level, np.nan))
    mix = mixed(aspect_weights(both, ASPECT_OF, np.arange(len(later.nodes)) == row), settings.shares)
    if mix is None:
        return None
    used = mix > 0
    draws = (later.draws[:, row, used] - earlier.draws[:, row, used]) @ mix[used]
    low, high = interval(draws, settings.confidence)
    if not np.isfinite(low):
        return None
    ratio = float(np.exp((later.level[row, used] - earlier.level[row, used]) @ mix[used]))
    return Change(ratio, low, high, split_s)


def _only(runs: OrientedRuns, chosen: Bools) -> OrientedRuns:
    return replace(
        runs,
        node=runs.node[chosen],
        benchmark=runs.benchmark[chosen],
        started_s=runs.started_s[chosen],
        logs=runs.logs[chosen],
    )
