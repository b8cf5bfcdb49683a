"""Which node for a profile of jobs: the ranking by what those jobs use; the published use of scores in a search."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
import pandas as pd

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress
from workprof.core.shown import Shown
from workprof.nodes.metrics import ASPECTS
from workprof.nodes.ranking import Ranking, rank_nodes
from workprof.nodes.selection import RankSettings

BUSY = 95
"""Percentile over all jobs that counts as full use where nothing tells how much was requested."""


MOVED = {"disk": ("read_bytes", "write_bytes"), "network": ("network_in_bytes", "network_out_bytes")}
"""Aspect -> columns of the bytes that jobs move there."""


@dataclass(frozen=True)
class UseShare:
    """How much of a resource a profile uses."""

    aspect: str  # of nodes that the resource belongs to
    share: float  # 0-1, median over the jobs; NaN where the table cannot tell
    source: str  # what it is a share of, in words
    n_jobs: int  # that tell it


def resource_use(jobs: pd.DataFrame, members: Bools) -> tuple[UseShare, ...]:
    """The share of each aspect's resource that the jobs of a profile use; all jobs tell what full use is.

    `jobs` has any of cpu_usage_percent, requested_cpu_percent, mean_memory_bytes, peak_memory_bytes,
    requested_memory_bytes, read_bytes, write_bytes (of disks), network_in_bytes, network_out_bytes, duration_s; NaN =
    not known. `members` is (n_jobs,).
    """
    return (
        _of_request(jobs, members, "cpu", ("cpu_usage_percent",), "requested_cpu_percent"),
        _of_request(jobs, members, "memory", ("mean_memory_bytes", "peak_memory_bytes"), "requested_memory_bytes"),
        *(_moved(jobs, members, aspect, names) for aspect, names in MOVED.items()),
    )


def proposed_weights(uses: tuple[UseShare, ...]) -> dict[str, float]:
    """The weight of each aspect: its share of all shares, 0 where the table cannot tell.

    Raises NotEnoughData when no share is above 0.
    """
    shares = {one.aspect: one.share if np.isfinite(one.share) else 0.0 for one in uses}
    total = sum(shares.values())
    if not total > 0:
        sources = "; ".join(f"{one.aspect}: {one.source}" for one in uses)
        raise NotEnoughData(
            f"the trace does not hold what the runs of the profile use ({sources}); give weights such as cpu=1"
        )
    return {aspect: shares[aspect] / total for aspect in ASPECTS}


def _of_request(jobs: pd.DataFrame, members: Bools, aspect: str, used: tuple[str, ...], requested: str) -> UseShare:
    column = next((name for name in used if name in jobs and np.isfinite(numbers(jobs, name)[members]).any()), None)
    if column is None:
        return UseShare(aspect, float("nan"), f"no column {' or '.join(used)}", 0)
    use, request = numbers(jobs, column), numbers(jobs, requested)
    share = np.divide(use, request, out=np.full(len(use), np.nan), where=request > 0)
    if np.isfinite(share[members]).any():
        return _median(aspect, share[members], f"{column} of {requested}")
    return _of_busy(aspect, use, members, column)


def _moved(jobs: pd.DataFrame, members: Bools, aspect: str, columns: tuple[str, ...]) -> UseShare:
    names = [name for name in columns if name in jobs]
    if not names or "duration_s" not in jobs:
        return UseShare(aspect, float("nan"), f"no columns {' or '.join(columns)} with duration_s", 0)
    return _of_busy(aspect, moved_per_s(jobs, columns), members, f"{' + '.join(names)} per second")


def moved_per_s(jobs: pd.DataFrame, columns: tuple[str, ...]) -> Floats:
    """(n_jobs,) bytes per second of all these columns together; NaN where none is known, or no duration."""
    moved, duration = np.stack([numbers(jobs, name) for name in columns]), numbers(jobs, "duration_s")
    known = np.isfinite(moved).any(axis=0) & (duration > 0)
    rate: Floats = np.divide(np.nansum(moved, axis=0), duration, out=np.full(len(jobs), np.nan), where=known)
    return rate


def _of_busy(aspect: str, use: Floats, members: Bools, words: str) -> UseShare:
    known = use[np.isfinite(use)]
    full = float(np.percentile(known, BUSY)) if len(known) else 0.0
    if not full > 0 or not np.isfinite(use[members]).any():
        return UseShare(aspect, float("nan"), f"{words} is 0 or not known for nearly all jobs", 0)
    return _median(aspect, use[members] / full, f"{words}, of the {BUSY}th percentile of all jobs")


def _median(aspect: str, shares: Floats, source: str) -> UseShare:
    known = np.clip(shares[np.isfinite(shares)], 0.0, 1.0)
    return UseShare(aspect, float(np.median(known)), source, len(known))


def numbers(jobs: pd.DataFrame, name: str) -> Floats:
    """(n_jobs,) values of a column, NaN = not known; all NaN where there is no such column."""
    if name not in jobs:
        return np.full(len(jobs), np.nan)
    return np.asarray(pd.to_numeric(jobs[name], errors="coerce"), dtype=np.float64)


MEMBER = "in_profile"
CAPACITY = "memory: the weight is by the amount that is used, the score by its speed"


@settings
class AdviceSettings:
    """The profile of jobs that nodes are wanted for; weights, where given, replace those that its jobs propose."""

    jobs: Annotated[str, Setting("Jobs: a dataset; its default clustering is used.")]
    profile: Annotated[int, Setting("Number of the profile; 0 is the largest, outliers are no profile.", least=0)]
    clustering: str = ""
    """Key of a kept clustering; '' = the default one's, which the workbench fills in. Profile numbers are of it."""

    ranking: RankSettings = field(default_factory=RankSettings)


@dataclass(frozen=True, repr=False)
class Advice(Shown):
    """Nodes for a profile."""

    settings: AdviceSettings
    weights: dict[str, float]  # aspect -> weight that was used, summing to 1
    proposed: dict[str, float]  # aspect -> weight that the profile's use proposes; empty where the jobs do not tell
    uses: tuple[UseShare, ...]  # behind the proposal
    ranking: Ranking  # by the weights; price_performance where there are prices
    n_jobs: int  # of the profile
    notes: tuple[str, ...]  # what a reader must know; those of the ranking are in it


def advise(frames: Mapping[str, pd.DataFrame], settings: AdviceSettings, progress: Progress) -> Advice:
    """Nodes by what the jobs of a profile use.

    `frames`: 'runs', raw; 'jobs' with the columns of `resource_use` and `in_profile`.

    Raises NotEnoughData when the profile has no job, or its jobs do not tell what they use and no weights are given.

    Source: Perona (Scheinert et al. 2022) weighs scores by utilisation; ours weighs ratio-preserving ones and shows the
    weights.
    """
    jobs = frames["jobs"]
    members = jobs[MEMBER].to_numpy(dtype=np.bool_)
    if not members.any():
        raise NotEnoughData(f"profile {settings.profile} has no run in this clustering; choose another profile")
    uses = resource_use(jobs, members)
    given = settings.ranking.weights
    try:
        proposed = proposed_weights(uses)
    except NotEnoughData:
        if not given:
            raise
        proposed = {}
    ranking = rank_nodes(frames, replace(settings.ranking, weights=given or proposed), progress)
    notes = [f"{one.aspect} has no proposed weight: {one.source}" for one in uses if not np.isfinite(one.share)]
    if ranking.shares.get("memory", 0.0) > 0 and not given:
        notes.append(CAPACITY)
    return Advice(settings, ranking.shares, proposed, uses, ranking, int(members.sum()), (*notes, *ranking.notes))


TYPES_OF_RESOURCE = {
    "memory": ("memory-sysbench",),
    "cpu": ("cpu-sysbench",),
    "disk": ("disk-fio", "disk-ioping"),
    "network": ("network-qperf", "network-iperf3"),
}
BASE = 0.01
N_TYPES = 6
NODES_UNIT = 4.0


def utilisation(mean_percent: Floats, n_nodes: Ints) -> float:
    """How much a resource is used, 0-1, by (n_runs,) mean utilisation in percent; runs on few nodes count more.

    Source: Perona's public code: (mean / 100)^(n / 4) per run, weighted by 4 / n.
    """
    shares = (mean_percent / 100) ** (n_nodes / NODES_UNIT)
    return float(np.average(shares, weights=NODES_UNIT / n_nodes))


def scaled_scores(scores: Mapping[str, Floats]) -> dict[str, Floats]:
    """The scores of each type divided by their largest absolute value over the candidates."""
    return {name: values / (float(np.abs(values).max(initial=0.0)) or 1.0) for name, values in scores.items()}


def acquisition_with_scores(
    acquisition: Floats, scores: Mapping[str, Floats], used: Mapping[str, float], n_profiled: int
) -> Floats:
    """(n_candidates,) acquisition raised by the scores of what the workload uses; the candidate is its argmax.

    `acquisition` is 1 everywhere for the first points. `scores` has (n_candidates,) scores by benchmark type, see
    `scaled_scores`; one that is absent scores 0. `used` has utilisations 0-1. The bonus fades with the runs profiled so
    far.

    Source: Perona's public code, acq' = (acq + .01) (1 + sum u s / 6^max(1, m - 1)).
    """
    nothing = np.zeros(len(acquisition))
    bonus = sum(
        (
            used.get(resource, 0.0) * scores.get(name, nothing)
            for resource, types in TYPES_OF_RESOURCE.items()
            for name in types
        ),
        nothing,
    )
    raised: Floats = (acquisition + BASE) * (1 + bonus / N_TYPES ** max(1, n_profiled - 1))
    return raised
