"""Which benchmark runs are degraded: every detector trained, compared, and the best one's verdicts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Bools
from workprof.errors import NotEnoughData, SettingsError
from workprof.nodes.detection.baselines import Blend, Fitted, best_blend, fit_forest, fit_logistic, fit_rule
from workprof.nodes.detection.degradation import rarity
from workprof.nodes.detection.judging import (
    Detector,
    Judgement,
    Verdict,
    as_published,
    averaged,
    best_validated,
    calibrated,
    judge,
)
from workprof.nodes.detection.perona_detector import PeronaDetector, fit_perona, recipe_of
from workprof.nodes.detection.probabilities import AS_TOLD
from workprof.nodes.detection.recipe_search import search
from workprof.nodes.detection.records import Detection
from workprof.nodes.detection.report import Found, report
from workprof.nodes.detection.run_table import UNKNOWN, RunTable, first_share, run_table
from workprof.nodes.detection.scene import Scene, scene_of
from workprof.nodes.detection.scores import DetectorFigures, Judged, figures_of
from workprof.nodes.detection.settings import (
    CHOSEN,
    COMBINED,
    DETECTORS,
    FOREST,
    LOGISTIC,
    PERONA,
    RULES,
    DetectSettings,
)
from workprof.nodes.parsed_runs import parse_runs
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

PLAIN = Blend(0.6, 0.3, 1.0)
"""Where there are no labels to choose by."""

WITHOUT_LABELS = "mahalanobis"
TRAINED_SHARE = 0.9
"""Of the progress; the rest is judging."""


@dataclass(frozen=True)
class _Trained:
    """Every detector and the verdict that each gives."""

    perona: PeronaDetector
    detectors: dict[str, Detector]
    verdicts: dict[str, Verdict]


def detect_degradation(
    frames: Mapping[str, pd.DataFrame], settings: DetectSettings, progress: Progress = silent
) -> Detection:
    """Return which runs are degraded, judged by detectors trained on earlier runs or on another dataset.

    Args:
        frames: 'runs' -> the table of runs; 'train' -> one of the same shape to train on.
        settings: mode, detector, false alarms.
        progress: told each part.

    Raises:
        ColumnMissing: when a column is absent.
        NotEnoughData: when there are too few runs to train on.
        SettingsError: for a detector that needs labels where there are none.

    Source:
        perona.md 3 and 4.3. Ours splits by time, feeds verdicts forward instead of true labels, calibrates, and lets
        validation inside the training part choose between the network and simpler detectors.
    """
    started = time.perf_counter()
    progress(0.0, "Reading the runs")
    table, in_training = _table(frames, settings)
    scene = scene_of(table, in_training, settings.seed)
    _refuse_unfit(scene, settings)
    trained = _train_all(scene, settings, progress)
    chosen = _chosen(scene, trained, settings)
    test = np.flatnonzero(~in_training & table.usable & np.isin(table.type_id, table.type_id[scene.rows]))
    judged = {}
    for done, (name, one) in enumerate(trained.detectors.items()):
        progress(TRAINED_SHARE + (1 - TRAINED_SHARE) * done / len(trained.detectors), f"Judging by {name}")
        judged[name] = judge(scene, one.fitted.score, trained.verdicts[name], test, true_labels=settings.is_faithful)
    figures = _figures(scene, trained, judged, settings)
    found = Found(trained.perona, trained.detectors[chosen], judged[chosen], in_training, "train" in frames)
    told = report(scene, found, figures, settings, time.perf_counter() - started)
    progress(1.0, "Done")
    return told


def _table(frames: Mapping[str, pd.DataFrame], settings: DetectSettings) -> tuple[RunTable, Bools]:
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    runs = frames["runs"]
    if not len(runs):
        raise NotEnoughData("there are no runs; measure some with `workprof nodes suite`")
    if "train" not in frames:
        table = run_table(parse_runs(runs))
        return table, first_share(table, settings.train_share)
    both = pd.concat([frames["train"], runs], ignore_index=True)
    return run_table(parse_runs(both)), np.arange(len(both)) < len(frames["train"])


def _refuse_unfit(scene: Scene, settings: DetectSettings) -> None:
    """Refuse, before anything is trained, a detector that these runs or this mode cannot have."""
    without = () if scene.supervised else (LOGISTIC, COMBINED)
    known = [name for name in DETECTORS if name not in without and not (settings.is_faithful and name == COMBINED)]
    if settings.detector not in (CHOSEN, *known):
        reason = "there are no labels to learn from" if settings.detector in without else "it is not of this mode"
        raise SettingsError(f"detector is {settings.detector!r}, but {reason}; choose from {', '.join(known)}")


def _train_all(scene: Scene, settings: DetectSettings, progress: Progress) -> _Trained:
    progress(0.02, "Fitting the baselines")
    blend = best_blend(scene, settings.seed) if scene.supervised else PLAIN
    fitted = {name: fit_rule(scene, name) for name in RULES} | {FOREST: fit_forest(scene, settings.seed)}
    if scene.supervised:
        fitted[LOGISTIC] = fit_logistic(scene, blend)

    def report_passes(share: float | None, message: str) -> None:
        progress(0.1 + (TRAINED_SHARE - 0.1) * (share or 0.0), message)

    recipe = recipe_of(settings)
    if settings.trials and scene.supervised:
        recipe = search(scene, blend, settings, recipe, report_passes)
    perona = fit_perona(scene, blend, settings, recipe, report_passes)
    if not scene.supervised:
        return _without_labels(scene, perona, fitted, settings)
    detectors = {name: calibrated(scene, name, one, settings.false_alarm_share) for name, one in fitted.items()}
    if settings.is_faithful:
        detectors = {PERONA: as_published(scene, PERONA, perona.fitted), **detectors}
    else:
        ours = calibrated(scene, PERONA, perona.fitted, settings.false_alarm_share)
        best = min(detectors.values(), key=lambda one: one.validation_loss)
        both = averaged(scene, (ours, best))
        combined = calibrated(scene, COMBINED, both, settings.false_alarm_share)
        detectors = {PERONA: ours, **detectors, COMBINED: combined}
    return _Trained(perona, detectors, {name: one.verdict for name, one in detectors.items()})


def _without_labels(
    scene: Scene, perona: PeronaDetector, fitted: dict[str, Fitted], settings: DetectSettings
) -> _Trained:
    """Return detectors whose verdict is a p-value."""
    fitted = {PERONA: perona.fitted, **fitted}
    unknown = np.full(len(scene.rows), np.nan)
    share = settings.false_alarm_share
    detectors = {name: Detector(name, one, AS_TOLD, share, float("nan"), unknown) for name, one in fitted.items()}
    return _Trained(perona, detectors, {name: rarity(scene, one.dealt, share) for name, one in fitted.items()})


def _chosen(scene: Scene, trained: _Trained, settings: DetectSettings) -> str:
    """Return the name of the detector that is asked for, or does best on validation."""
    if settings.detector != CHOSEN:
        return settings.detector
    if settings.is_faithful:
        return PERONA
    if not scene.supervised:
        return WITHOUT_LABELS
    return best_validated(scene.anomalous, trained.detectors)


def _figures(
    scene: Scene, trained: _Trained, judged: Mapping[str, Judgement], settings: DetectSettings
) -> dict[str, DetectorFigures]:
    """Return the figures of every detector on labelled runs of the test part; none without labels there."""
    label = scene.table.label
    found = {}
    for name, one in judged.items():
        rows = np.flatnonzero(np.isfinite(one.told) & (label != UNKNOWN))
        if not len(rows):
            continue
        told = one.told[rows] if scene.supervised else 1 - one.told[rows]
        detector = trained.detectors[name]
        verdicts = Judged(told, one.flag[rows], label[rows] == 1)
        found[name] = figures_of(verdicts, detector.threshold, detector.validation_loss, settings.seed)
    return found
