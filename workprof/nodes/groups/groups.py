"""Groups of nodes that are alike, after Tarema; ours scales the scores and lets the silhouette choose how many."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from workprof.arrays import Bools, Ints
from workprof.errors import SettingsError
from workprof.nodes.groups.features import ALIKE, Features, features_of, label
from workprof.nodes.groups.published import published_groups
from workprof.nodes.groups.records import FAITHFUL, Groups, GroupSettings, NodeGroup
from workprof.nodes.groups.search import Grouping, adjusted_rand, best_grouping, stability
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.ranking.medians import levels_of
from workprof.nodes.ranking.selection import oriented, select
from workprof.progress import Progress

WEAK_SILHOUETTE = 0.25
"""At or below it there is no substantial structure. Source: Kaufman and Rousseeuw, Finding Groups in Data, 1990,
chapter 2."""

LEAST_NODES = 3


def group_nodes(frames: Mapping[str, pd.DataFrame], settings: GroupSettings, progress: Progress) -> Groups:
    """Return the nodes in groups.

    Args:
        frames: 'runs', raw.
        settings: which runs, which definitions.
        progress: told how far it is.

    Raises:
        NotEnoughData: when no run can be compared; in faithful mode also where the published code fails.

    Source: perona.md 4.4 (Tarema). Ours: scores that keep ratios, standardised, only the aspects in which nodes differ
    by more than their runs do, k by the largest mean silhouette.
    """
    progress(0.1, "reading the runs")
    parsed = parse_runs(frames["runs"])
    selection = select(parsed, settings.ranking)
    runs = oriented(parsed, selection.kept)
    if settings.mode == FAITHFUL:
        return published_groups(runs, selection.nodes, settings)
    levels = levels_of(runs, selection.nodes, settings.ranking.n_draws, settings.ranking.seed)
    progress(0.5, "grouping the nodes")
    found = _groups(features_of(levels), settings)
    progress(1.0, "done")
    return found


def _groups(features: Features, settings: GroupSettings) -> Groups:
    used = np.array(features.differ, dtype=np.bool_)
    seed, n = settings.ranking.seed, len(features.nodes)
    one = Grouping(np.zeros(n, dtype=np.int64), float("nan"), {})
    log, draws = features.log[:, used], features.draws[:, :, used]
    grouping = best_grouping(log, WEAK_SILHOUETTE, seed) if n >= LEAST_NODES and used.any() else one
    members = [np.flatnonzero(grouping.labels == group) for group in range(grouping.k if n else 0)]
    return Groups(
        settings=settings,
        k=len(members),
        silhouette=grouping.silhouette,
        groups=tuple(_group(features, rows) for rows in members),
        aspects=tuple(name for name, differs in zip(features.aspects, used, strict=True) if differs),
        silhouettes=grouping.silhouettes,
        stability=stability(draws, grouping.labels, settings.n_resamples, seed),
        reference_rand=_reference_rand(features.nodes, grouping.labels, settings.reference),
        not_grouped=features.not_grouped,
        notes=_notes(features, grouping, used),
        published=False,
    )


def _group(features: Features, rows: Ints) -> NodeGroup:
    means = features.log[rows].mean(axis=0)
    labels = {
        name: label(float(mean), features.log[:, i]) if features.differ[i] else ALIKE
        for i, (name, mean) in enumerate(zip(features.aspects, means, strict=True))
    }
    scores = {name: float(np.exp(mean)) for name, mean in zip(features.aspects, means, strict=True)}
    return NodeGroup(tuple(features.nodes[row] for row in rows), labels, scores)


def _notes(features: Features, grouping: Grouping, used: Bools) -> tuple[str, ...]:
    notes, n = [], len(features.nodes)
    alike = [name for name, differs in zip(features.aspects, used, strict=True) if not differs]
    if n < LEAST_NODES:
        notes.append(f"{n} nodes are too few to group; {LEAST_NODES} are needed: one group")
    elif not used.any():
        notes.append("the nodes do not differ by more than their runs do in any aspect: one group")
    elif grouping.k == 1:
        best = max(grouping.silhouettes.values(), default=float("nan"))
        notes.append(f"no grouping stands out (best mean silhouette {best:.2f}, needed {WEAK_SILHOUETTE}): one group")
    if alike and used.any():
        notes.append(f"nodes do not differ by more than their runs do in {', '.join(alike)}: not looked at")
    if not np.isfinite(features.draws).all():
        notes.append("some benchmarks have fewer than 3 runs on a node: stability is of the others' resamples, or none")
    return tuple(notes)


def _reference_rand(nodes: tuple[str, ...], labels: Ints, reference: Mapping[str, str]) -> float:
    if not reference:
        return float("nan")
    lacking = [node for node in nodes if node not in reference]
    if lacking:
        raise SettingsError(f"the reference says nothing of node {lacking[0]!r}; give every node a group")
    given = np.unique([reference[node] for node in nodes], return_inverse=True)[1]
    return adjusted_rand(np.asarray(given, dtype=np.int64), labels)
