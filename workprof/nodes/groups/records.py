"""What a grouping of nodes is asked for, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from workprof.errors import SettingsError
from workprof.nodes.ranking.settings import RankSettings

CORRECTED, FAITHFUL = "corrected", "faithful"


@dataclass(frozen=True)
class GroupSettings:
    """Settings of a grouping.

    Attributes:
        ranking: which runs count, and how often they are resampled; its weights do not matter.
        mode: 'corrected' or 'faithful'.
        n_resamples: groupings of resampled runs behind the stability, 0 to 1,000.
        reference: node -> group to compare with; empty = none.

    Raises:
        SettingsError: for a value out of bounds.
    """

    ranking: RankSettings = field(default_factory=RankSettings)
    mode: str = CORRECTED
    n_resamples: int = 100
    reference: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mode not in (CORRECTED, FAITHFUL):
            raise SettingsError(f"mode is {self.mode!r}; use corrected or faithful")
        if not 0 <= self.n_resamples <= 1000:
            raise SettingsError(f"resamples is {self.n_resamples}; give 0 to 1,000")


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that are alike.

    Attributes:
        nodes: names in order.
        labels: aspect -> 'low', 'mid', 'high', or 'alike' where the nodes do not differ (faithful: '0', '1', '2').
        scores: aspect -> geometric mean of the members' scores (faithful: mean of the raw values).
    """

    nodes: tuple[str, ...]
    labels: dict[str, str]
    scores: dict[str, float]


@dataclass(frozen=True)
class Groups:
    """A grouping.

    Attributes:
        k: groups.
        silhouette: mean over the nodes; NaN for one group.
        groups: the largest first.
        aspects: that the grouping looked at.
        silhouettes: k as text -> mean silhouette.
        stability: mean adjusted Rand index with groupings of resampled runs; NaN without them.
        reference_rand: adjusted Rand index with the reference; NaN without one.
        not_grouped: node -> reason.
        notes: what a reader must know.
        published: whether the published definitions were asked for.
    """

    settings: GroupSettings
    k: int
    silhouette: float
    groups: tuple[NodeGroup, ...]
    aspects: tuple[str, ...]
    silhouettes: dict[str, float]
    stability: float
    reference_rand: float
    not_grouped: dict[str, str]
    notes: tuple[str, ...]
    published: bool
