"""What nodes are grouped by: the logarithms of their aspect scores, where nodes differ by more than their runs do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats
from workprof.nodes.metrics import ASPECT_OF
from workprof.nodes.ranking.aspect_scores import aspect_weights, scored
from workprof.nodes.ranking.medians import Levels

LEVEL = 0.05
"""Of the test whether nodes differ, shared by the aspects."""

LOW, MID, HIGH, ALIKE = "low", "mid", "high", "alike"


@dataclass(frozen=True)
class Features:
    """Log scores of the nodes that have all of them.

    Attributes:
        nodes: names.
        aspects: of the columns.
        log: (n_nodes, n_aspects).
        draws: (n_draws, n_nodes, n_aspects) of resampled runs.
        differ: (n_aspects,) whether the nodes differ.
        not_grouped: node -> reason.
    """

    nodes: tuple[str, ...]
    aspects: tuple[str, ...]
    log: Floats
    draws: Floats
    differ: tuple[bool, ...]
    not_grouped: dict[str, str]


def features_of(levels: Levels) -> Features:
    """Return the features of the nodes."""
    weights = aspect_weights(levels, ASPECT_OF)
    ones = [scored(name, levels, row) for name, row in weights.items()]
    names = tuple(weights)
    log = np.column_stack([one.log for one in ones]) if ones else np.zeros((len(levels.nodes), 0))
    whole = np.isfinite(log).all(axis=1)
    not_grouped = {
        levels.nodes[
            row
        ]: f"no usable run of {', '.join(name for name, x in zip(names, log[row], strict=True) if np.isnan(x))}"
        for row in np.flatnonzero(~whole)
    }
    draws = np.stack([one.draws for one in ones], axis=2) if ones else np.zeros((0, *log.shape))
    level = LEVEL / max(len(names), 1)
    differ = tuple(
        nodes_differ(log[whole, i], draws[:, whole, i], int(one.fewest[whole].min()) if whole.any() else 0, level)
        for i, one in enumerate(ones)
    )
    nodes = tuple(levels.nodes[row] for row in np.flatnonzero(whole))
    return Features(nodes, names, log[whole], draws[:, whole], differ, not_grouped)


def nodes_differ(log: Floats, draws: Floats, n_runs: int, level: float = LEVEL) -> bool:
    """Return whether nodes differ by more than resampled runs do; True without resamples, if they differ at all.

    Args:
        log: (n_nodes,) scores.
        draws: (n_draws, n_nodes); NaN where a node has too few runs.
        n_runs: behind the thinnest score.
        level: share of alike nodes that are called different.

    Source: F test of a one-way analysis of variance; the variance of a node's score is that of its resamples, which is
    n / (n - 1) times too small.
    """
    from scipy.stats import f  # noqa: PLC0415  heavy

    n = len(log)
    if n < 2 or not np.ptp(log) > 0:
        return False
    if not len(draws) or not np.isfinite(draws).all():
        return True
    within = float(draws.var(axis=0).mean()) * n_runs / (n_runs - 1)
    if not within > 0:
        return True
    return bool(f.sf(float(log.var(ddof=1)) / within, n - 1, n * (n_runs - 1)) < level)


def label(value: float, all_values: Floats) -> str:
    """Return 'low' up to the lower quartile of the nodes, 'high' from the upper one, else 'mid'."""
    lower, upper = np.quantile(all_values, [0.25, 0.75])
    if lower == upper:
        return ALIKE
    if value <= lower:
        return LOW
    return HIGH if value >= upper else MID
