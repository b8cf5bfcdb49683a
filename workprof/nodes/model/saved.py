"""A trained network as it is kept: a recipe and arrays, nothing that runs when it is read."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.arrays import Floats
from workprof.nodes.model.shape import Recipe


@dataclass(frozen=True)
class SavedNetwork:
    """Recipe and weights.

    Attributes:
        recipe: what it is made of and how it was trained.
        weights: by name, (n_members, ...), double precision.
        losses: (n_epochs, 6) mean of every term, in the order of `network.TERMS`.
    """

    recipe: Recipe
    weights: dict[str, Floats]
    losses: Floats
