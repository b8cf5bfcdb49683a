"""Verdicts run by run, in the order of time: a run is judged by the verdicts of those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.nodes.detection.baselines import Fitted, Score
from workprof.nodes.detection.evidence import with_history
from workprof.nodes.detection.probabilities import (
    AS_TOLD,
    Calibration,
    alarm_threshold,
    learn_calibration,
    probability_of,
    run_losses,
)
from workprof.nodes.detection.run_table import UNKNOWN, rounds
from workprof.nodes.detection.scene import Scene
from workprof.nodes.detection.settings import COMBINED, PERONA

PUBLISHED_THRESHOLD = 0.5
Verdict = Callable[[Floats, Ints], tuple[Floats, Bools]]
"""From scores of rows to probabilities (or p-values) and flags."""


@dataclass(frozen=True)
class Detector:
    """A trained detector with its probabilities.

    Attributes:
        name: of the detector.
        fitted: its scores.
        calibration: from scores to probabilities.
        threshold: probability from which on a run is flagged.
        validation_loss: log loss on training runs that its fold had not seen.
        unseen: (n_scored,) probabilities of those.
    """

    name: str
    fitted: Fitted
    calibration: Calibration
    threshold: float
    validation_loss: float
    unseen: Floats

    def verdict(self, scores: Floats, rows: Ints) -> tuple[Floats, Bools]:
        """Return probabilities and flags of scored rows."""
        told = probability_of(self.calibration, scores)
        return told, told >= self.threshold


@dataclass(frozen=True)
class Judgement:
    """Verdicts on the runs of the test part; all (n_runs,).

    Attributes:
        told: probability or p-value; NaN where there is no verdict.
        flag: degraded.
        normal: what counted as normal for later runs.
    """

    told: Floats
    flag: Bools
    normal: Bools


def calibrated(scene: Scene, name: str, fitted: Fitted, false_alarm_share: float) -> Detector:
    """Return a detector whose probabilities were learned on runs later than those it was trained on.

    Its loss and its threshold come from folds that are dealt out, which judge every training run once.
    """
    later = np.isfinite(fitted.later)
    calibration = learn_calibration(fitted.later[later], scene.anomalous[later])
    if calibration is AS_TOLD:
        calibration = learn_calibration(fitted.dealt, scene.anomalous)
    unseen = probability_of(calibration, fitted.dealt)
    threshold = alarm_threshold(unseen, scene.anomalous, false_alarm_share)
    return Detector(name, fitted, calibration, threshold, float(run_losses(unseen, scene.anomalous).mean()), unseen)


def as_published(scene: Scene, name: str, fitted: Fitted) -> Detector:
    """Return a detector that takes its score for a logit and flags from 0.5 on; nothing of it is validated."""
    unseen = probability_of(AS_TOLD, fitted.dealt)
    return Detector(name, fitted, AS_TOLD, PUBLISHED_THRESHOLD, float("nan"), unseen)


def best_validated(anomalous: Bools, detectors: Mapping[str, Detector]) -> str:
    """Return the detector to go by: of those within a standard error of the least loss, the average before the network.

    An average of two near-equals varies least on runs to come, and the network sees more than the single baselines.

    Args:
        anomalous: (n_scored,) labels.
        detectors: by name.
    """
    losses = {name: run_losses(one.unseen, anomalous) for name, one in detectors.items()}
    best = min(losses, key=lambda name: float(losses[name].mean()))
    for name in (COMBINED, PERONA):
        if name in losses:
            more = losses[name] - losses[best]
            if more.mean() <= more.std() / np.sqrt(len(more)):
                return name
    return best


def averaged(scene: Scene, parts: tuple[Detector, ...]) -> Fitted:
    """Return the mean of the calibrated logits of detectors."""

    def score(rows: Ints, normal: Bools) -> Floats:
        told = [logit(probability_of(one.calibration, one.fitted.score(rows, normal))) for one in parts]
        return np.asarray(np.mean(told, axis=0))

    dealt = [logit(one.unseen) for one in parts]
    later = [logit(probability_of(one.calibration, one.fitted.later)) for one in parts]
    return Fitted(score, np.mean(dealt, axis=0), np.mean(later, axis=0))


def logit(probability: Floats) -> Floats:
    """Return ln(p / (1 - p)), p kept away from 0 and 1."""
    held = np.clip(probability, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(held / (1 - held)))


def judge(scene: Scene, score: Score, verdict: Verdict, rows: Ints, *, true_labels: bool = False) -> Judgement:
    """Return the verdicts on rows.

    A run that cannot be judged for want of history counts as normal for later ones unless it is known not to be.

    Args:
        scene: the runs.
        score: of a detector.
        verdict: from its scores.
        rows: positions outside the training part.
        true_labels: feed labels forward instead of verdicts, where known (published).
    """
    told, flag = np.full(len(scene.table), np.nan), np.zeros(len(scene.table), dtype=bool)
    normal, label = scene.known_normal.copy(), scene.table.label
    for turn in rounds(scene.table, rows):
        judged = with_history(scene.histories, turn, normal)
        normal[turn] = label[turn] != 1
        if len(judged):
            told[judged], flag[judged] = verdict(score(judged, normal), judged)
            known = (label[judged] != UNKNOWN) & true_labels
            normal[judged] = np.where(known, label[judged] == 0, ~flag[judged])
    return Judgement(told, flag, normal)
