"""What a ranking of nodes is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from workprof.errors import SettingsError
from workprof.nodes.metrics import ASPECTS
from workprof.nodes.price import checked_prices

RATIO, PERONA = "ratio", "perona"
SCORES = (RATIO, PERONA)
KEEP_ALL, STRESSED, FLAGGED = "none", "stressed", "flagged"
EXCLUSIONS = (KEEP_ALL, STRESSED, FLAGGED)


@dataclass(frozen=True)
class RankSettings:
    """Settings of a ranking.

    Attributes:
        weights: aspect -> weight, 0 or more; empty = all alike. An aspect that is not named counts nothing.
        score: 'ratio' (ours) or 'perona' (10-norm of the code, as published).
        exclude: runs left out: 'none', 'stressed' (labelled so), 'flagged' (by the detection of degradation).
        since_s, until_s: epoch seconds between which runs count; None = no end.
        nodes: that are compared; empty = all.
        prices_per_h: node -> price.
        confidence: of intervals, 0.5 to 0.99.
        n_draws: resamples behind an interval.
        seed: of the resamples.

    Raises:
        SettingsError: for a value out of bounds.
    """

    weights: dict[str, float] = field(default_factory=dict)
    score: str = RATIO
    exclude: str = KEEP_ALL
    since_s: float | None = None
    until_s: float | None = None
    nodes: tuple[str, ...] = ()
    prices_per_h: dict[str, float] = field(default_factory=dict)
    confidence: float = 0.95
    n_draws: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        checked_weights(self.weights)
        checked_prices(self.prices_per_h)
        if self.score not in SCORES:
            raise SettingsError(f"score is {self.score!r}; choose from {', '.join(SCORES)}")
        if self.exclude not in EXCLUSIONS:
            raise SettingsError(f"exclude is {self.exclude!r}; choose from {', '.join(EXCLUSIONS)}")
        if self.since_s is not None and self.until_s is not None and self.since_s >= self.until_s:
            raise SettingsError(
                f"the window starts at {self.since_s} and ends at {self.until_s}; give the earlier first"
            )
        if not 0.5 <= self.confidence <= 0.99:
            raise SettingsError(f"confidence is {self.confidence}; give a share from 0.5 to 0.99")
        if not 100 <= self.n_draws <= 20_000:
            raise SettingsError(f"draws is {self.n_draws}; give 100 to 20,000")
        if not 0 <= self.seed < 2**32:
            raise SettingsError(f"seed is {self.seed}; give 0 to 4,294,967,295")

    @property
    def shares(self) -> dict[str, float]:
        """The weight of every aspect, summing to 1."""
        asked = self.weights or dict.fromkeys(ASPECTS, 1.0)
        total = sum(asked.values())
        return {aspect: asked.get(aspect, 0.0) / total for aspect in ASPECTS}


def checked_weights(weights: Mapping[str, float]) -> None:
    """Refuse weights that cannot be used.

    Raises:
        SettingsError: for an aspect that there is not, a weight below 0, or weights that are all 0.
    """
    for aspect, weight in weights.items():
        if aspect not in ASPECTS:
            raise SettingsError(f"{aspect!r} is no aspect; choose from {', '.join(ASPECTS)}")
        if not (math.isfinite(weight) and weight >= 0):
            raise SettingsError(f"the weight of {aspect} is {weight}; give a number from 0")
    if weights and not sum(weights.values()) > 0:
        raise SettingsError("all weights are 0; give at least one aspect a weight above 0, such as cpu=1")
