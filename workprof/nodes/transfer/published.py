"""Which runs of the published workflows belong to which part."""

from __future__ import annotations

TEST_SEQUENCES: dict[str, tuple[frozenset[int], frozenset[int]]] = {
    "eager": (frozenset({26308272}), frozenset({81035690})),
    "bacass": (frozenset({6781558}), frozenset({8113606})),
    "methylseq": (frozenset({55627460}), frozenset({73484606})),
    "atacseq": (frozenset({75192126}), frozenset({63053586})),
    "chipseq": (frozenset({28597378, 27241477}), frozenset({239695842, 191221075})),
}
"""Which `test` rows belong to the first and to the second part, by their NumberSequences (perona.md 5.2, point 1)."""
