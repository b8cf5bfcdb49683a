"""Groups of nodes that are alike, after Tarema: the silhouette chooses how many; the published code, defects kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import pandas as pd

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress
from workprof.core.shown import Shown
from workprof.core.words import counted
from workprof.nodes.detection_data import CORRECTED, FAITHFUL
from workprof.nodes.metrics import ASPECT_OF
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.scores import LEAST_RUNS, Levels, aspect_weights, levels_of, node_scores
from workprof.nodes.selection import OrientedRuns, RankSettings, oriented, select


@settings
class GroupSettings:
    """Which nodes are grouped by which runs; weights, score, prices and confidence of the ranking do not matter."""

    ranking: RankSettings = field(default_factory=RankSettings)
    mode: Annotated[
        str,
        Setting(
            "Definitions.",
            choices={CORRECTED: "workprof's own", FAITHFUL: "as published, defects included"},
            shown={CORRECTED: "Default", FAITHFUL: "As published"},
            label="Definitions",
        ),
    ] = CORRECTED
    n_resamples: Annotated[
        int,
        Setting(
            "Groupings of resampled runs behind the stability.",
            least=0,
            most=1000,
            flag="--resamples",
            label="Resampled groupings",
        ),
    ] = 100
    reference: Annotated[
        dict[str, str], Setting("Groups NODE=GROUP,... that the grouping is compared with.", empty="none")
    ] = field(default_factory=dict)


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that are alike."""

    nodes: tuple[str, ...]  # names in order
    # aspect -> 'low', 'mid', 'high', or 'alike' where the nodes do not differ (faithful: '0', '1', '2')
    labels: dict[str, str]
    scores: dict[str, float]  # aspect -> geometric mean of the members' scores (faithful: mean of the raw values)
    # aspect -> how many groups are weaker: clearly so, by 95 % of the resampled runs (faithful: whose value is less)
    above: dict[str, int]


@dataclass(frozen=True, repr=False)
class Groups(Shown):
    """A grouping."""

    settings: GroupSettings
    k: int  # groups
    silhouette: float  # mean over the nodes; NaN for one group
    groups: tuple[NodeGroup, ...]  # the largest first
    aspects: tuple[str, ...]  # that the grouping looked at
    silhouettes: dict[str, float]  # k as text -> mean silhouette
    stability: float  # mean adjusted Rand index with groupings of resampled runs; NaN without them
    reference_rand: float  # adjusted Rand index with the reference; NaN without one
    not_grouped: dict[str, str]  # node -> reason
    notes: tuple[str, ...]  # what a reader must know
    published: bool  # whether the published definitions were used


LEVEL = 0.05
"""Of the test whether nodes differ, shared by the aspects."""

LOW, MID, HIGH, ALIKE = "low", "mid", "high", "alike"


@dataclass(frozen=True)
class Features:
    """Log scores of the nodes that have all of them."""

    nodes: tuple[str, ...]  # names
    aspects: tuple[str, ...]  # of the columns
    log: Floats  # (n_nodes, n_aspects)
    draws: Floats  # (n_draws, n_nodes, n_aspects) of resampled runs
    differ: tuple[bool, ...]  # (n_aspects,) whether the nodes differ
    not_grouped: dict[str, str]  # node -> reason


def features_of(levels: Levels) -> Features:
    """The features of the nodes."""
    weights = aspect_weights(levels)
    scores = [node_scores(name, levels, row) for name, row in weights.items()]
    names = tuple(weights)
    log = np.column_stack([one.log for one in scores]) if scores else np.zeros((len(levels.nodes), 0))
    draws = np.stack([one.draws for one in scores], axis=2) if scores else np.zeros((0, *log.shape))
    whole = np.isfinite(log).all(axis=1)
    not_grouped = {}
    for row in np.flatnonzero(~whole):
        lacking = [name for name, value in zip(names, log[row], strict=True) if np.isnan(value)]
        not_grouped[levels.nodes[row]] = f"no usable run of {', '.join(lacking)}"
    level = LEVEL / max(len(names), 1)
    differ = tuple(_differ(log[whole, i], draws[:, whole, i], one.fewest[whole], level) for i, one in enumerate(scores))
    nodes = tuple(levels.nodes[row] for row in np.flatnonzero(whole))
    return Features(nodes, names, log[whole], draws[:, whole], differ, not_grouped)


def _differ(log: Floats, draws: Floats, n_runs: Ints, level: float) -> bool:
    """`nodes_differ` of the nodes that have an interval; of all where fewer than two have one."""
    known = n_runs >= LEAST_RUNS
    if known.sum() < 2:
        return nodes_differ(log, np.zeros((0, len(log))), 0, level)
    return nodes_differ(log[known], draws[:, known], int(n_runs[known].min()), level)


def nodes_differ(log: Floats, draws: Floats, n_runs: int, level: float = LEVEL) -> bool:
    """Whether nodes differ by more than resampled runs do; True without resamples, if they differ at all.

    `log` is (n_nodes,), `draws` (n_draws, n_nodes), NaN where a campaign has no value; `n_runs` are behind the thinnest
    score, and `level` is the share of alike nodes that are called different.

    Source: F test of a one-way analysis of variance; the variance of a node's score is that of its resamples, which is
    n / (n - 1) times too small.
    """
    from scipy.stats import f  # noqa: PLC0415  heavy

    n = len(log)
    if n < 2 or not np.ptp(log) > 0:
        return False
    draws = draws[np.isfinite(draws).all(axis=1)]
    if not len(draws):
        return True
    within = float(draws.var(axis=0).mean()) * n_runs / (n_runs - 1)
    if not within > 0:
        return True
    return bool(f.sf(float(log.var(ddof=1)) / within, n - 1, n * (n_runs - 1)) < level)


def level_label(value: float, all_values: Floats) -> str:
    """'low' up to the lower quartile of the nodes, 'high' from the upper one, else 'mid'."""
    lower, upper = np.quantile(all_values, [0.25, 0.75])
    if lower == upper:
        return ALIKE
    if value <= lower:
        return LOW
    return HIGH if value >= upper else MID


CLEARLY = 0.025
"""Quantile of a difference that must lie above 0: the lower end of a 95 % interval."""

MOST_GROUPS = 10
N_STARTS, N_STARTS_RESAMPLED = 10, 3


@dataclass(frozen=True)
class Grouping:
    """The best grouping."""

    labels: Ints  # (n_nodes,) group, the largest is 0; all 0 for one group
    silhouette: float  # mean over the nodes; NaN for one group
    silhouettes: dict[str, float]  # k as text -> mean silhouette

    @property
    def k(self) -> int:
        """Number of groups."""
        return int(self.labels.max(initial=0)) + 1


def best_grouping(features: Floats, least_silhouette: float, seed: int) -> Grouping:
    """The grouping with the largest mean silhouette, the smaller k on ties; one group where it is weak.

    `features` are (n_nodes, n_features), of any scale. k goes from 2 to min(10, n - 1).
    """
    from sklearn.metrics import silhouette_score  # noqa: PLC0415  heavy

    n = len(features)
    scaled = standardised(features)
    most = min(MOST_GROUPS, n - 1, len(np.unique(scaled, axis=0)))
    labels, silhouettes = {}, {}
    for k in range(2, most + 1):
        labels[k] = k_means(scaled, k, seed, N_STARTS)
        silhouettes[k] = float(silhouette_score(scaled, labels[k]))
    by_k = {str(k): value for k, value in silhouettes.items()}
    best = max(silhouettes, key=lambda k: (round(silhouettes[k], 9), -k), default=None)
    if best is None or silhouettes[best] <= least_silhouette:
        return Grouping(np.zeros(n, dtype=np.int64), float("nan"), by_k)
    return Grouping(by_size(labels[best]), silhouettes[best], by_k)


def k_means(scaled: Floats, k: int, seed: int, n_starts: int) -> Ints:
    """(n_nodes,) group by k-means with several seeded starts."""
    from sklearn.cluster import KMeans  # noqa: PLC0415  heavy

    labels = KMeans(n_clusters=k, n_init=n_starts, random_state=seed).fit_predict(scaled)
    return np.asarray(labels, dtype=np.int64)


def standardised(features: Floats) -> Floats:
    """Features with mean 0 and standard deviation 1; a constant one is all 0."""
    spread = features.std(axis=0)
    scaled: Floats = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


def by_size(labels: Ints) -> Ints:
    """The same groups numbered from the largest; of two alike the one that has the first node."""
    names, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    number = np.empty(len(names), dtype=np.int64)
    number[order] = np.arange(len(names))
    return np.asarray(number[np.searchsorted(names, labels)], dtype=np.int64)


def stability(draws: Floats, labels: Ints, n_resamples: int, seed: int) -> float:
    """Mean adjusted Rand index of the grouping with those of resampled runs, at the same k.

    `draws` is (n_draws, n_nodes, n_features); resamples with a missing value are passed over.
    """
    whole = draws[np.isfinite(draws).all(axis=(1, 2))][:n_resamples]
    k = int(labels.max(initial=0)) + 1
    if k < 2 or not len(whole):
        return float("nan")
    indices = [
        adjusted_rand(labels, k_means(standardised(one), k, seed, N_STARTS_RESAMPLED))
        for one in whole
        if len(np.unique(one, axis=0)) >= k
    ]
    return float(np.mean(indices)) if indices else float("nan")


def adjusted_rand(one: Ints, other: Ints) -> float:
    """The adjusted Rand index of two groupings of the same nodes."""
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415  heavy

    return float(adjusted_rand_score(one, other))


WEAK_SILHOUETTE = 0.25
"""At or below it there is no substantial structure. Source: Kaufman and Rousseeuw, Finding Groups in Data, 1990,
chapter 2."""

LEAST_NODES = 3


def group_nodes(frames: Mapping[str, pd.DataFrame], settings: GroupSettings, progress: Progress) -> Groups:
    """Nodes in groups, from `frames`: 'runs', raw; for exclude='flagged' also 'flagged' with row_id.

    Raises NotEnoughData when no run can be compared; in faithful mode also where the published code fails.

    Source: Tarema (Bader et al. 2021). Ours: scores that keep ratios, standardised, only the aspects in which nodes
    differ by more than their runs do, k by the largest mean silhouette.
    """
    progress(0.1, "reading the runs")
    parsed = parse_runs(frames["runs"])
    flagged = frames["flagged"]["row_id"].to_numpy(dtype=np.int64) if "flagged" in frames else None
    selection = select(parsed, settings.ranking, flagged)
    runs = oriented(parsed, selection.positions)
    if settings.mode == FAITHFUL:
        return published_groups(runs, selection.nodes, settings)
    levels = levels_of(runs, selection.nodes, settings.ranking.n_draws, settings.ranking.seed)
    progress(0.5, "grouping the nodes")
    features, seed = features_of(levels), settings.ranking.seed
    used = np.array(features.differ, dtype=np.bool_)
    n = len(features.nodes)
    grouping = Grouping(np.zeros(n, dtype=np.int64), float("nan"), {})
    if n >= LEAST_NODES and used.any():
        grouping = best_grouping(features.log[:, used], WEAK_SILHOUETTE, seed)
    members = [np.flatnonzero(grouping.labels == group) for group in range(grouping.k if n else 0)]
    above = _above(features, members)
    groups = Groups(
        settings=settings,
        k=len(members),
        silhouette=grouping.silhouette,
        groups=tuple(_group(features, rows, own) for rows, own in zip(members, above, strict=True)),
        aspects=tuple(name for name, differs in zip(features.aspects, used, strict=True) if differs),
        silhouettes=grouping.silhouettes,
        stability=stability(features.draws[:, :, used], grouping.labels, settings.n_resamples, seed),
        reference_rand=_reference_rand(features.nodes, grouping.labels, settings.reference),
        not_grouped=features.not_grouped,
        notes=_notes(features, grouping, used),
        published=False,
    )
    progress(1.0, "done")
    return groups


def _above(features: Features, members: Sequence[Ints]) -> Ints:
    """(n_groups, n_aspects) how many groups are clearly weaker; groups between which noise decides are above as many.

    From the weakest on, a group begins a new step where the step's first one is clearly weaker, else it is on its step.
    """
    above = np.zeros((len(members), len(features.aspects)), dtype=np.int64)
    for column in range(len(features.aspects)):
        means = [float(features.log[rows, column].mean()) for rows in members]
        draws = [features.draws[:, rows, column].mean(axis=1) for rows in members]
        order = sorted(range(len(members)), key=means.__getitem__)
        first = 0
        for place, group in enumerate(order):
            apart = draws[group] - draws[order[first]]
            apart = apart[np.isfinite(apart)]
            if means[group] > means[order[first]] and (not len(apart) or np.quantile(apart, CLEARLY) > 0):
                first = place
            above[group, column] = first
    return above


def _group(features: Features, rows: Ints, above: Ints) -> NodeGroup:
    means = features.log[rows].mean(axis=0)
    labels = {
        name: level_label(float(mean), features.log[:, i]) if features.differ[i] else ALIKE
        for i, (name, mean) in enumerate(zip(features.aspects, means, strict=True))
    }
    scores = {name: float(np.exp(mean)) for name, mean in zip(features.aspects, means, strict=True)}
    names = tuple(features.nodes[row] for row in rows)
    return NodeGroup(names, labels, scores, dict(zip(features.aspects, above.tolist(), strict=True)))


def _notes(features: Features, grouping: Grouping, used: Bools) -> tuple[str, ...]:
    notes, n = [], len(features.nodes)
    alike = [name for name, differs in zip(features.aspects, used, strict=True) if not differs]
    if n < LEAST_NODES:
        notes.append(f"{counted(n, 'node')} can be grouped; {LEAST_NODES} are needed: too few to group")
    elif not used.any():
        notes.append("differences are within noise in every aspect: one group")
    elif grouping.k == 1:
        best = max(grouping.silhouettes.values(), default=float("nan"))
        notes.append(f"no grouping stands out (best mean silhouette {best:.2f}, needed {WEAK_SILHOUETTE}): one group")
    if alike and used.any():
        notes.append(f"{', '.join(alike)} ignored: differences are within noise")
    if not np.isfinite(features.draws).all():
        notes.append(
            "some benchmarks have fewer than 3 runs on a node: it takes no part in the test whether nodes differ; "
            "stability is of the others' resamples, or none"
        )
    return tuple(notes)


def _reference_rand(nodes: tuple[str, ...], labels: Ints, reference: Mapping[str, str]) -> float:
    if not reference:
        return float("nan")
    lacking = [node for node in nodes if node not in reference]
    if lacking:
        raise SettingsError(f"the reference says nothing of node {lacking[0]!r}; give every node a group")
    given = np.unique([reference[node] for node in nodes], return_inverse=True)[1]
    return adjusted_rand(np.asarray(given, dtype=np.int64), labels)


RAW = {"cpu-sysbench.events_per_second": ("CPU_MT", 1.0), "memory-sysbench.transfer_rate": ("RAM", 1e9)}
"""Metric -> published name of the feature, and what one unit of it is; the memory rate is in GB/s."""
PUBLISHED_ASPECTS = {name: ASPECT_OF[metric.partition(".")[0]] for metric, (name, _) in RAW.items()}
"""Published name of a feature -> the aspect that it belongs to."""

FEWEST = 3
DEFECTS = (
    "published definitions: always 3 groups (the smallest key is taken, not the best silhouette)",
    "published definitions: raw values without scaling, so the largest number decides",
    "the published value of the processor with one thread was not measured and is excluded",
)


def published_groups(runs: OrientedRuns, nodes: tuple[str, ...], settings: GroupSettings) -> Groups:
    """The groups of the published code: nothing below 3 nodes, 3 groups above.

    Raises NotEnoughData for exactly 3 nodes, where the published code fails, and for nodes without the two benchmarks.

    Source: Tarema's public code (`NodeClustererService.groovy`): k-means for k = 3 .. min(10, n) - 1, the smallest k,
    labels from the quartiles over the centroids.
    """
    raw = _raw(runs, nodes)
    if len(nodes) == FEWEST:
        raise NotEnoughData(
            f"the published grouping fails at exactly {FEWEST} nodes; use the default definitions, or measure a fourth"
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
    """(n_nodes, 2) medians in the published units."""
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
    labels = {k: k_means(raw, k, seed, N_STARTS) for k in range(FEWEST, most)}
    if not labels:
        raise NotEnoughData("the nodes have fewer than 3 different values; the published grouping needs 3")
    return by_size(labels[FEWEST]), {str(k): float(silhouette_score(raw, one)) for k, one in labels.items()}


def _published_groups(raw: Floats, nodes: tuple[str, ...], labels: Ints) -> tuple[NodeGroup, ...]:
    names = [name for name, _ in RAW.values()]
    centroids = np.array([raw[labels == group].mean(axis=0) for group in range(labels.max() + 1)])
    lower, upper = np.quantile(centroids, [0.25, 0.75], axis=0)
    groups = []
    for group, centroid in enumerate(centroids):
        level = np.where(centroid <= lower, 0, np.where(centroid >= upper, 2, 1))
        level_labels = {name: str(int(one)) for name, one in zip(names, level, strict=True)}
        scores = {name: float(value) for name, value in zip(names, centroid, strict=True)}
        above = dict(zip(names, (centroids < centroid).sum(axis=0).tolist(), strict=True))
        members = tuple(nodes[row] for row in np.flatnonzero(labels == group))
        groups.append(NodeGroup(members, level_labels, scores, above))
    return tuple(groups)
