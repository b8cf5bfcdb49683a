"""Table III of Perona and what is needed to compute it again, as constants.

Source: Perona (Scheinert et al. 2022), Table III; the set-up is not stated there and was found from the public
reports (perona.md 5.2): local = n2, targets = n1 and c2, Lotaru's code of June 2022, 424 errors.
"""

from __future__ import annotations

from dataclasses import dataclass

LOCAL, TARGETS, N_ERRORS = "n2", ("n1", "c2"), 424


@dataclass(frozen=True)
class PublishedErrors:
    """Percentiles of |predicted - measured| / measured."""

    median: float
    p90: float
    p95: float


TABLE_III = {
    "naive": PublishedErrors(0.6692, 13.9303, 47.2588),
    "online_m": PublishedErrors(0.1955, 0.5967, 0.8010),
    "online_p": PublishedErrors(0.1955, 0.5969, 0.8088),
    "lotaru": PublishedErrors(0.1237, 0.4741, 0.7935),
    "perona": PublishedErrors(0.1411, 0.4883, 0.7961),
}
"""Perona's own row cannot be computed again: its scores were not published. online_p draws, so it is met in a range."""

TEST_SEQUENCES: dict[str, tuple[frozenset[int], frozenset[int]]] = {
    "eager": (frozenset({26308272}), frozenset({81035690})),
    "bacass": (frozenset({6781558}), frozenset({8113606})),
    "methylseq": (frozenset({55627460}), frozenset({73484606})),
    "atacseq": (frozenset({75192126}), frozenset({63053586})),
    "chipseq": (frozenset({28597378, 27241477}), frozenset({239695842, 191221075})),
}
"""Which `test` rows belong to the first and to the second part, by their NumberSequences (perona.md 5.2, point 1)."""
