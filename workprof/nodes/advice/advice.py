"""Which node for a profile of jobs: the ranking by what those jobs use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from workprof.errors import NotEnoughData, SettingsError
from workprof.nodes.advice.use import UseShare, proposed_weights, use_of
from workprof.nodes.ranking.ranking import rank_nodes
from workprof.nodes.ranking.records import Ranking
from workprof.nodes.ranking.settings import RankSettings
from workprof.progress import Progress

MEMBER = "in_profile"
CAPACITY = "memory: jobs tell how much of it they hold, benchmarks how fast it is"


@dataclass(frozen=True)
class AdviceSettings:
    """Settings of an advice.

    Attributes:
        jobs: hash of the dataset of jobs.
        profile: label in its clustering, 0 or more.
        clustering: key of that clustering: another one gives another profile of the same number.
        ranking: which runs, which prices; its weights, where given, are used instead of the proposed ones.

    Raises:
        SettingsError: for the outliers, which are no profile.
    """

    jobs: str
    profile: int
    clustering: str = ""
    ranking: RankSettings = field(default_factory=RankSettings)

    def __post_init__(self) -> None:
        if self.profile < 0:
            raise SettingsError(f"profile is {self.profile}; outliers are no profile, give 0 or more")


@dataclass(frozen=True)
class Advice:
    """Nodes for a profile.

    Attributes:
        weights: aspect -> weight that was used, summing to 1.
        proposed: aspect -> weight that the profile's use proposes; empty where the jobs do not tell.
        uses: behind the proposal.
        ranking: by the weights; price_performance where there are prices.
        n_jobs: of the profile.
        notes: what a reader must know; those of the ranking are in it.
    """

    settings: AdviceSettings
    weights: dict[str, float]
    proposed: dict[str, float]
    uses: tuple[UseShare, ...]
    ranking: Ranking
    n_jobs: int
    notes: tuple[str, ...]


def advise(frames: Mapping[str, pd.DataFrame], settings: AdviceSettings, progress: Progress) -> Advice:
    """Return the nodes by what the jobs of a profile use.

    Args:
        frames: 'runs', raw, see `rank_nodes`; 'jobs' with the columns of `use_of` and `in_profile`.
        settings: which profile, which runs.
        progress: told how far it is.

    Raises:
        NotEnoughData: when the profile has no job, or its jobs do not tell what they use and no weights are given.

    Source: perona.md 4.1 weighs scores by utilisation; ours weighs ratio-preserving ones and shows the weights.
    """
    jobs = frames["jobs"]
    members = jobs[MEMBER].to_numpy(dtype=np.bool_)
    if not members.any():
        raise NotEnoughData(f"profile {settings.profile} has no job in this clustering; choose another profile")
    uses = use_of(jobs, members)
    given = settings.ranking.weights
    proposed = _proposed(uses, asked=not given)
    ranking = rank_nodes(frames, replace(settings.ranking, weights=given or proposed), progress)
    notes = [f"{one.aspect} has no proposed weight: {one.source}" for one in uses if not np.isfinite(one.share)]
    if ranking.shares.get("memory", 0.0) > 0 and not given:
        notes.append(CAPACITY)
    return Advice(settings, ranking.shares, proposed, uses, ranking, int(members.sum()), (*notes, *ranking.notes))


def _proposed(uses: tuple[UseShare, ...], *, asked: bool) -> dict[str, float]:
    """Return the proposed weights; where others are given, jobs that do not tell are no error."""
    try:
        return proposed_weights(uses)
    except NotEnoughData:
        if asked:
            raise
        return {}
