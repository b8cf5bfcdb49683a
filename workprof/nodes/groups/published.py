"""Groups of nodes as Tarema's code makes them, defects kept."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.errors import NotEnoughData
from workprof.nodes.groups.records import Groups, GroupSettings, NodeGroup
from workprof.nodes.groups.search import MOST_GROUPS, N_STARTS, by_size, k_means
from workprof.nodes.ranking.medians import OrientedRuns

RAW = {"cpu-sysbench.events_per_second": ("CPU_MT", 1.0), "memory-sysbench.transfer_rate": ("RAM", 1e9)}
"""Metric -> published name of the feature, and what one unit of it is; the memory rate is in GB/s."""

FEWEST = 3
DEFECTS = (
    "published definitions: always 3 groups (the smallest key is taken, not the best silhouette)",
    "published definitions: raw values without scaling, so the largest number decides",
    "the published value of the processor with one thread was not measured and is left out",
)


def published_groups(runs: OrientedRuns, nodes: tuple[str, ...], settings: GroupSettings) -> Groups:
    """Return the groups of the published code: nothing below 3 nodes, 3 groups above.

    Raises:
        NotEnoughData: for exactly 3 nodes, where the published code fails, and for nodes without the two benchmarks.

    Source: perona.md 4.1 and 4.4 (`NodeClustererService.groovy`): k-means for k = 3 .. min(10, n) - 1, the smallest k,
    labels from the quartiles over the centroids.
    """
    raw = _raw(runs, nodes)
    if len(nodes) == FEWEST:
        raise NotEnoughData(
            f"the published grouping fails at exactly {FEWEST} nodes; use mode corrected, or measure a fourth node"
        )
    labels, silhouettes = _published_search(raw, settings.ranking.seed) if len(nodes) > FEWEST else (None, {})
    groups = () if labels is None else _published_groups(raw, nodes, labels)
    short = () if groups else (f"published definitions: fewer than {FEWEST} nodes give no groups at all",)
    return Groups(
        settings=settings,
        k=len(groups),
        silhouette=silhouettes.get(str(FEWEST), float("nan")),
        groups=groups,
        aspects=tuple(name for name, _ in RAW.values()),
        silhouettes=silhouettes,
        stability=float("nan"),
        reference_rand=float("nan"),
        not_grouped={},
        notes=(*DEFECTS, *short),
        published=True,
    )


def _raw(runs: OrientedRuns, nodes: tuple[str, ...]) -> Floats:
    """Return (n_nodes, 2) medians in the published units."""
    raw = np.full((len(nodes), len(RAW)), np.nan)
    for column, (metric, (_, unit)) in enumerate(RAW.items()):
        values = runs.logs[:, runs.metrics.index(metric)]
        for row, node in enumerate(nodes):
            own = values[(runs.node == node) & np.isfinite(values)]
            if not len(own):
                raise NotEnoughData(f"node {node} has no value of {metric}, which the published grouping needs")
            raw[row, column] = np.exp(np.median(own)) / unit
    return raw


def _published_search(raw: Floats, seed: int) -> tuple[Ints, dict[str, float]]:
    from sklearn.metrics import silhouette_score  # noqa: PLC0415  heavy

    most = min(MOST_GROUPS, len(raw), len(np.unique(raw, axis=0)) + 1)
    found = {k: k_means(raw, k, seed, N_STARTS) for k in range(FEWEST, most)}
    if not found:
        raise NotEnoughData("the nodes have fewer than 3 different values; the published grouping needs 3")
    return by_size(found[FEWEST]), {str(k): float(silhouette_score(raw, labels)) for k, labels in found.items()}


def _published_groups(raw: Floats, nodes: tuple[str, ...], labels: Ints) -> tuple[NodeGroup, ...]:
    names = [name for name, _ in RAW.values()]
    centroids = np.array([raw[labels == group].mean(axis=0) for group in range(labels.max() + 1)])
    lower, upper = np.quantile(centroids, [0.25, 0.75], axis=0)
    made = []
    for group, centroid in enumerate(centroids):
        level = np.where(centroid <= lower, 0, np.where(centroid >= upper, 2, 1))
        told = {name: str(int(one)) for name, one in zip(names, level, strict=True)}
        scores = {name: float(value) for name, value in zip(names, centroid, strict=True)}
        made.append(NodeGroup(tuple(nodes[row] for row in np.flatnonzero(labels == group)), told, scores))
    return tuple(made)
