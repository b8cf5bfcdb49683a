"""The network as a detector: trained in folds and as a whole, and asked about windows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.nodes.detection.baselines import Blend, Fitted, Score, logistic_weights
from workprof.nodes.detection.perona_inputs import Reading, learn_reading, read_windows
from workprof.nodes.detection.scene import Scene, fold_shares, unseen_scores
from workprof.nodes.detection.settings import DetectSettings
from workprof.nodes.network import PUBLISHED, Inputs, Recipe, SavedNetwork, Told, member_distances, member_logits, tell
from workprof.nodes.training import Trained, train
from workprof.progress import Progress, silent

N_MEMBERS = 3
"""Networks whose logits are averaged, so that no seed decides."""


@dataclass(frozen=True)
class PeronaDetector:
    """A trained network on a scene.

    Attributes:
        scene: the runs.
        reading: how they become windows.
        network: recipe, weights of the members, how training went.
        fitted: as every detector.
    """

    scene: Scene
    reading: Reading
    network: SavedNetwork
    fitted: Fitted

    def look(self, rows: Ints, normal: Bools) -> tuple[Inputs, Told]:
        """Return windows and what the network tells of them, judged by what `normal` (n_runs,) marks before them."""
        inputs = read_windows(self.scene, self.reading, rows, normal)
        return inputs, tell(self.network.weights, inputs, self.network.recipe)


def recipe_of(settings: DetectSettings) -> Recipe:
    """Return the recipe that settings ask for."""
    chosen = PUBLISHED if settings.is_faithful else Recipe()
    return replace(chosen, epochs=settings.epochs) if settings.epochs else chosen


def fit_perona(
    scene: Scene, blend: Blend, settings: DetectSettings, recipe: Recipe, progress: Progress = silent
) -> PeronaDetector:
    """Return the network, trained on the folds of the training part and on all of it.

    In corrected mode the detector's logit gets a linear part on the same features as the logistic regression, which
    it starts from: few labelled runs then suffice, and the code adds what those features miss. The published one has
    the code only. Without labels the score is the length of code less predicted code. The published
    one is trained once, on all of the training part: its scores of training runs are of runs that it has seen.

    Args:
        scene: the runs.
        blend: of these features.
        settings: mode and seed.
        recipe: of the network.
        progress: told every pass.
    """
    reading = learn_reading(scene, None if settings.is_faithful else blend)
    inputs = read_windows(scene, reading, scene.rows, scene.known_normal)
    n_members, folds = (1, np.zeros((0, len(scene.rows)))) if settings.is_faithful else (N_MEMBERS, fold_shares(scene))
    shares = np.vstack([folds, np.ones((n_members, len(scene.rows)))])
    seeds = settings.seed * 1000 + np.arange(len(shares))
    start = {} if settings.is_faithful or not scene.supervised else warm_start(scene, blend, shares)
    trained = train(inputs, shares, recipe, seeds, start, progress)
    scored = member_logits if scene.supervised else member_distances
    by_member = scored(trained.weights, inputs, recipe)
    unseen = (
        unseen_scores(scene, by_member[: len(folds)]) if len(folds) else (by_member[0], np.full(len(inputs), np.nan))
    )
    network = SavedNetwork(recipe, _last(trained, n_members), trained.losses[:, -n_members:].mean(axis=1))
    return PeronaDetector(scene, reading, network, Fitted(_score(scene, reading, network), *unseen))


def warm_start(scene: Scene, blend: Blend, shares: Floats) -> dict[str, Floats]:
    """Return the logistic regression of each member's own windows as first weights of the linear part."""
    weights = np.array([logistic_weights(scene, blend, share) for share in shares])
    return {"evidence": weights[:, :-1, None], "detect_2_bias": weights[:, -1:]}


def _last(trained: Trained, n_members: int) -> dict[str, Floats]:
    return {name: value[-n_members:] for name, value in trained.weights.items()}


def _score(scene: Scene, reading: Reading, network: SavedNetwork) -> Score:
    def score(rows: Ints, normal: Bools) -> Floats:
        inputs = read_windows(scene, reading, rows, normal)
        if not scene.supervised:
            return np.asarray(member_distances(network.weights, inputs, network.recipe).mean(axis=0))
        return tell(network.weights, inputs, network.recipe).logit

    return score
