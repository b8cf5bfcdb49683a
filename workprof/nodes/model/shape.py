"""The recipe of a network: its sizes, its switches and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.errors import SettingsError

CODE = 32
"""Numbers in the code of a run."""

HIDDEN = 64
WINDOW = 4
PREDECESSORS = WINDOW - 1
HOPS = 3

SPACE: dict[str, tuple[float, ...]] = {
    "heads": (1, 3, 5),
    "beta": (0, 1),
    "root_weight": (0, 1),
    "dropout": (0.0, 0.1, 0.2),
    "edge_dropout": (0.0, 0.1, 0.2),
    "focal_gamma": (0.5, 1.0, 2.0, 5.0),
    "class_beta": (0.9, 0.99, 0.999, 0.9999),
    "learning_rate": (1e-1, 1e-2, 1e-3),
    "weight_decay": (1e-2, 1e-3, 1e-4),
}
"""The published space of the search. Source: perona.md 3.4."""


@dataclass(frozen=True)
class Recipe:
    """What a network is made of and how it is trained.

    Attributes:
        heads: attention heads, averaged.
        beta, root_weight: switches of the transformer convolution.
        strict: nothing of a run reaches its own prediction (no self edge, no root weight, query from predecessors).
        owned_only: reconstruction counts the metrics that a run's benchmark has, not the filled-in ones.
        cluster_all: triplets of all four runs of a window (published), else of the last one only: 64 times fewer.
        dropout, edge_dropout: shares 0-1.
        focal_gamma, class_beta: of the class-balanced focal loss.
        learning_rate, weight_decay: of Adam; the decay is added to the gradient.
        falling_rate: the learning rate falls to 0 as a cosine (ours), else it stays (published).
        epochs, batch: passes and windows per step.
        reconstruction_weight: of that term; 1 as published, where each of the others has as much say.
        noise: standard deviation added to runs and edges in training.

    Raises:
        SettingsError: for a number out of bounds.
    """

    heads: int = 3
    beta: bool = False
    root_weight: bool = True
    strict: bool = True
    owned_only: bool = True
    cluster_all: bool = False
    dropout: float = 0.0
    edge_dropout: float = 0.1
    focal_gamma: float = 0.5
    class_beta: float = 0.9
    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    falling_rate: bool = True
    epochs: int = 80
    batch: int = 16
    reconstruction_weight: float = 100.0
    noise: float = 0.01

    def __post_init__(self) -> None:
        for name, least, most in (
            ("heads", 1, 16),
            ("dropout", 0, 0.9),
            ("edge_dropout", 0, 0.9),
            ("focal_gamma", 0, 10),
            ("class_beta", 0, 0.99999),
            ("learning_rate", 1e-6, 1),
            ("weight_decay", 0, 1),
            ("epochs", 1, 1000),
            ("batch", 1, 1024),
            ("reconstruction_weight", 0, 1000),
            ("noise", 0, 1),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise SettingsError(f"{name} is {value}; give a number from {least} to {most}")


PUBLISHED = Recipe(
    falling_rate=False,
    strict=False,
    owned_only=False,
    cluster_all=True,
    learning_rate=1e-2,
    weight_decay=1e-3,
    epochs=100,
    reconstruction_weight=1.0,
)
"""Perona as published, at values inside its space; the values its own search found are not published."""


@dataclass(frozen=True)
class Sizes:
    """Widths that the data decide: columns of a run, of an edge, benchmark types, and evidence beside the code."""

    n_columns: int
    n_edge: int
    n_types: int
    n_evidence: int = 0
