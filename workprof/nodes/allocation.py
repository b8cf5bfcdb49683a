"""Tarema's allocation: tasks labelled by what they used before, placed on the group of nodes that suits them best.

Groups are ranked in each resource. A task is labelled in each by where its past use lies among that of all tasks: the
borders are the shares of the cluster that the groups hold, the weakest first, so that a group with a quarter of the
cores gets the quarter of the tasks that use them least. A task goes to the group whose ranks differ least from its
labels, the more powerful one on ties, and to the next where no node is free.

Source: Bader et al., Tarema: Adaptive Resource Allocation for Scalable Scientific Workflows in Heterogeneous Clusters,
IEEE BigData 2021. Ours differs: capacity is counted in places for tasks, not in cores, and labels are of all tasks at
once, where the published one learns them as the workflow runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
import pandas as pd

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress
from workprof.core.shown import Shown
from workprof.nodes.advice import MOVED, moved_per_s, numbers
from workprof.nodes.groups import PUBLISHED_ASPECTS, Groups, GroupSettings, group_nodes
from workprof.nodes.metrics import ASPECTS
from workprof.nodes.selection import RankSettings


@dataclass(frozen=True)
class Cluster:
    """Nodes in groups."""

    group: Ints  # (n_nodes,) group of each node, from 0
    scores: Floats  # (n_groups, n_resources) of each group, higher is better
    places: Ints  # (n_nodes,) tasks that run on a node at a time

    @property
    def group_places(self) -> Floats:
        """(n_groups,) tasks that run on each group at a time."""
        held = np.bincount(self.group, weights=self.places, minlength=len(self.scores))
        return np.asarray(held, dtype=np.float64)


def group_ranks(scores: Floats) -> Ints:
    """(n_groups, n_resources) ranks from 1 = weakest; equal scores share the lower rank."""
    return np.asarray(1 + (scores[None, :, :] < scores[:, None, :]).sum(axis=1), dtype=np.int64)


def label_borders(used: Floats, cluster: Cluster) -> tuple[Floats, ...]:
    """The uses that part the labels, for each resource (n_levels - 1,), ascending; NaN where no use is known.

    `used` is (n_tasks, n_resources) past use, NaN = not known. Shares of tasks are those of the groups' places.
    """
    places, borders = cluster.group_places, []
    for ranks, values in zip(group_ranks(cluster.scores).T, used.T, strict=True):
        shares = np.array([places[ranks == level].sum() for level in np.unique(ranks)]) / places.sum()
        known, at = values[np.isfinite(values)], np.minimum(np.cumsum(shares)[:-1], 1.0)
        borders.append(np.quantile(known, at) if len(known) else np.full(len(at), np.nan))
    return tuple(borders)


def labels_within(used: Floats, borders: tuple[Floats, ...], cluster: Cluster) -> Ints:
    """(n_tasks, n_resources) labels from 1 = uses least; 0 where the use is NaN. A use on a border is below it."""
    ranks, labels = group_ranks(cluster.scores), np.zeros(used.shape, dtype=np.int64)
    for resource, limits in enumerate(borders):
        known = np.isfinite(used[:, resource]) & np.isfinite(limits).all()
        levels = np.unique(ranks[:, resource])
        labels[known, resource] = levels[np.searchsorted(limits, used[known, resource], side="left")]
    return labels


def task_labels(used: Floats, cluster: Cluster) -> Ints:
    """(n_tasks, n_resources) labels from 1 = uses least, among these tasks; 0 where the use is NaN, not known."""
    return labels_within(used, label_borders(used, cluster), cluster)


def preferred_groups(labels: Ints, cluster: Cluster) -> Ints:
    """(n_tasks, n_groups) groups, the most suitable first; a resource without a label does not count."""
    ranks = group_ranks(cluster.scores)
    apart = (np.abs(labels[:, None, :] - ranks[None, :, :]) * (labels[:, None, :] > 0)).sum(axis=2)
    power = ranks.sum(axis=1)
    return np.asarray([np.lexsort((np.arange(len(power)), -power, row)) for row in apart], dtype=np.int64)


PROFILE, TASK_NAME = "profile", "task_name"
KIND = "kind"
"""Column of the jobs: the kind that each is of."""
REPLAYED = (
    "replayed on 282 tasks of three machines, this allocation gained nothing: 1.008 [1.001, 1.016] of the time of "
    "fastest-first (docs/results.md)"
)
HELD = {"cpu": ("cpu_usage_percent",), "memory": ("peak_memory_bytes", "mean_memory_bytes")}
"""Aspect -> columns of what jobs use of it, the best one first."""
LACKING = {
    "cpu": "no use of the CPU",
    "memory": "no use of memory",
    "disk": "no bytes read or written with a run time",
    "network": "no bytes received or sent with a run time",
}
"""Aspect -> what a trace does not hold where it does not count."""
UNIT_OF = {"cpu": "%", "memory": "bytes"} | dict.fromkeys(MOVED, "bytes per second")


@settings
class AllocationSettings:
    """The trace whose kinds of jobs are placed, and the groups of nodes that they are placed on."""

    jobs: Annotated[str, Setting("Jobs: a dataset; its default clustering is used.")]
    clustering: str = ""
    """Key of a kept clustering; '' = the default one's, which the workbench fills in where kinds are profiles."""

    by: Annotated[
        str,
        Setting(
            "By what jobs are of one kind.",
            choices={PROFILE: "by their profile", TASK_NAME: "by their task name"},
            shown={PROFILE: "Profile", TASK_NAME: "Task name"},
            label="Kinds of jobs",
            key="nodes_kinds",
        ),
    ] = PROFILE
    places: Annotated[
        dict[str, int],
        Setting("Tasks that run on a node at a time, NODE=N,... A node without one has 1.", least=1, empty="1 each"),
    ] = field(default_factory=dict)
    grouping: GroupSettings = field(default_factory=GroupSettings)

    @property
    def ranking(self) -> RankSettings:
        """Which runs the groups rest on."""
        return self.grouping.ranking


@dataclass(frozen=True)
class RankedGroup:
    """A group of nodes."""

    nodes: tuple[str, ...]  # names in order
    ranks: dict[str, int]  # aspect that counts -> rank from 1 = weakest; shared where groups do not differ clearly
    places: int  # tasks that run on its nodes at a time


@dataclass(frozen=True)
class UsedResource:
    """What the trace tells of a resource."""

    aspect: str  # of nodes that it belongs to
    source: str  # columns that tell it
    unit: str  # of a use and of the borders: '%' (100 = one core), 'bytes' or 'bytes per second'
    n_jobs: int  # that tell it
    counts: bool  # whether the nodes differ in it, so that groups have ranks and kinds labels
    borders: tuple[float, ...]  # uses that part the labels, ascending; empty where it does not count


@dataclass(frozen=True)
class PlacedKind:
    """A kind of jobs."""

    name: str  # 'profile 3', or the task name
    n_jobs: int  # of the kind
    used: dict[str, float]  # aspect -> median use in the unit of the resource; NaN where no job tells it
    labels: dict[str, int]  # aspect that counts -> label from 1 = uses least; 0 = not known
    groups: tuple[int, ...]  # numbers of the groups from 0, the one that suits best first


@dataclass(frozen=True, repr=False)
class Allocation(Shown):
    """Kinds of jobs on groups of nodes."""

    settings: AllocationSettings
    kinds: tuple[PlacedKind, ...]  # the one with most jobs first
    groups: tuple[RankedGroup, ...]  # of nodes, the largest first, as `group_nodes` numbers them
    resources: tuple[UsedResource, ...]  # of which the trace tells the use
    n_jobs: int  # whose uses set the borders, those of no kind included
    notes: tuple[str, ...]  # what a reader must know; those of the grouping are in it


def allocate(frames: Mapping[str, pd.DataFrame], settings: AllocationSettings, progress: Progress) -> Allocation:
    """Each kind of jobs with the groups of nodes, the one that suits it best first.

    A kind is labelled by its median use, among the uses of all jobs.

    `frames`: 'runs', raw, and 'flagged', see `group_nodes`; 'jobs' with any of cpu_usage_percent, peak_memory_bytes,
    mean_memory_bytes, read_bytes, write_bytes (of disks), network_in_bytes, network_out_bytes, duration_s (NaN = not
    known), and `kind`, missing where a job is of none.

    Raises:
        NotEnoughData: when no node is in a group, no job is of a kind, or the jobs tell nothing of what they use.
        SettingsError: when `places` names a node that there is not.

    Source: Tarema (Bader et al. 2021); the head of this module says what differs.
    """
    grouping = replace(settings.grouping, n_resamples=0, reference={})
    grouped = group_nodes(frames, grouping, lambda share, words: progress(0.8 * (share or 0.0), words))
    if not grouped.groups:
        raise NotEnoughData("no node is in a group; choose more runs, or other definitions of the groups")
    jobs = frames["jobs"]
    kinds = pd.Categorical(jobs[KIND])
    sizes = pd.Series(kinds.codes).value_counts().drop(-1, errors="ignore").sort_index()
    sizes = sizes.sort_values(ascending=False, kind="stable")
    if sizes.empty:
        raise NotEnoughData(f"no run of the trace has a {settings.by.replace('_', ' ')}; choose another kind of jobs")
    sources, uses = _uses(jobs)
    if not sources:
        lacking = ", ".join(map(_columns, ASPECTS))
        raise NotEnoughData(f"the trace does not hold what its runs use: no value of {lacking}")
    progress(0.9, "labelling the jobs")
    counted = [aspect for aspect in sources if aspect in _compared(grouped)]
    cluster = _cluster_of(grouped, counted, settings.places)
    medians = uses.groupby(np.asarray(kinds.codes)).median().loc[sizes.index]
    borders = label_borders(uses[counted].to_numpy(), cluster)
    labels = labels_within(medians[counted].to_numpy(), borders, cluster)
    names = [str(kinds.categories[code]) for code in sizes.index]
    parts = dict(zip(counted, borders, strict=True))
    rows = zip(names, sizes, medians.to_numpy(), labels, preferred_groups(labels, cluster), strict=True)
    allocation = Allocation(
        settings=settings,
        kinds=tuple(
            PlacedKind(
                name,
                int(size),
                dict(zip(sources, map(float, used), strict=True)),
                dict(zip(counted, map(int, own), strict=True)),
                tuple(map(int, order)),
            )
            for name, size, used, own, order in rows
        ),
        groups=tuple(
            RankedGroup(one.nodes, dict(zip(counted, map(int, own), strict=True)), int(places))
            for one, own, places in zip(grouped.groups, group_ranks(cluster.scores), cluster.group_places, strict=True)
        ),
        resources=tuple(
            UsedResource(
                aspect=aspect,
                source=source,
                unit=UNIT_OF[aspect],
                n_jobs=int(uses[aspect].notna().sum()),
                counts=aspect in parts,
                borders=tuple(map(float, parts.get(aspect, ()))),
            )
            for aspect, source in sources.items()
        ),
        n_jobs=len(jobs),
        notes=(*_notes(settings, grouped, tuple(sources), len(jobs) - int(sizes.sum()), len(jobs)), *grouped.notes),
    )
    progress(1.0, "done")
    return allocation


def _by_aspect(above: Mapping[str, int]) -> dict[str, int]:
    return {PUBLISHED_ASPECTS.get(name, name): number for name, number in above.items()}


def _compared(grouped: Groups) -> tuple[str, ...]:
    """The aspects that the grouping looked at."""
    return tuple(PUBLISHED_ASPECTS.get(name, name) for name in grouped.aspects)


def _cluster_of(grouped: Groups, aspects: Sequence[str], places: Mapping[str, int]) -> Cluster:
    """The groups with their scores in these aspects; a node without a number of places has one."""
    nodes = [node for one in grouped.groups for node in one.nodes]
    unknown = [node for node in places if node not in nodes and node not in grouped.not_grouped]
    if unknown:
        raise SettingsError(f"places names {unknown[0]!r}, which is no node here; the nodes are {', '.join(nodes)}")
    scores = [[_by_aspect(one.above)[aspect] for aspect in aspects] for one in grouped.groups]
    return Cluster(
        group=np.repeat(np.arange(len(grouped.groups)), [len(one.nodes) for one in grouped.groups]),
        scores=np.array(scores, dtype=np.float64).reshape(len(grouped.groups), len(aspects)),
        places=np.array([places.get(node, 1) for node in nodes], dtype=np.int64),
    )


def _uses(jobs: pd.DataFrame) -> tuple[dict[str, str], pd.DataFrame]:
    """Aspect -> the columns that tell its use, and a column of uses for each, NaN = not known."""
    sources, uses = {}, {}
    for aspect, names in HELD.items():
        for name in names:
            values = numbers(jobs, name)
            if aspect not in uses and np.isfinite(values).any():
                sources[aspect], uses[aspect] = name, values
    for aspect, names in MOVED.items():
        values = moved_per_s(jobs, names)
        if np.isfinite(values).any():
            sources[aspect] = f"{' + '.join(name for name in names if name in jobs)} per second"
            uses[aspect] = values
    return sources, pd.DataFrame(uses)


def _columns(aspect: str) -> str:
    names = " or ".join(HELD.get(aspect) or MOVED[aspect])
    return f"{names} with duration_s" if aspect in MOVED else names


def _notes(
    settings: AllocationSettings, grouped: Groups, known: tuple[str, ...], n_without: int, n_jobs: int
) -> tuple[str, ...]:
    compared = _compared(grouped)
    notes = [f"{aspect} does not count: the trace has {LACKING[aspect]}" for aspect in compared if aspect not in known]
    if len(grouped.groups) == 1:
        notes.insert(0, "the nodes form one group, so that there is nothing to choose between")
    elif not set(compared) & set(known):
        notes.append("no resource counts, so that the order of the groups says nothing")
    notes += [f"{node} is in no group: {reason}" for node, reason in grouped.not_grouped.items()]
    notes.append(f"labels are relative to all {n_jobs:,} finished runs of the trace")
    if n_without:
        notes.append(f"{n_without:,} of them have no {settings.by.replace('_', ' ')}: they count for the labels only")
    return (*notes, REPLAYED)
