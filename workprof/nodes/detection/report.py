"""The record of a detection, put together from verdicts and the network's view of every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.nodes.detection.drivers import drivers_of
from workprof.nodes.detection.evidence import LEAST_HISTORY
from workprof.nodes.detection.judging import Detector, Judgement
from workprof.nodes.detection.perona_detector import PeronaDetector
from workprof.nodes.detection.records import Detection, ModelFigures, Parts, ScoredRuns, Unscored
from workprof.nodes.detection.run_table import RunTable
from workprof.nodes.detection.scene import Scene
from workprof.nodes.detection.scores import DetectorFigures
from workprof.nodes.detection.settings import DetectSettings
from workprof.nodes.network import Inputs, Told
from workprof.units import format_share

FEW_ANOMALOUS = 10
"""Stressed training runs below which a probability is little more than a guess."""


@dataclass(frozen=True)
class Found:
    """What was trained and judged.

    Attributes:
        perona: the network.
        detector: whose verdicts are told.
        judged: these verdicts.
        in_training: (n_runs,).
        from_other: whether another dataset was trained on.
    """

    perona: PeronaDetector
    detector: Detector
    judged: Judgement
    in_training: Bools
    from_other: bool


def report(
    scene: Scene, found: Found, figures: dict[str, DetectorFigures], settings: DetectSettings, seconds: float
) -> Detection:
    """Return the record of a detection."""
    table = scene.table
    judged = np.isfinite(found.judged.told)
    rows = np.concatenate([scene.rows, np.flatnonzero(judged)])
    rank = np.empty(len(table), dtype=np.int64)
    rank[table.order] = np.arange(len(table))
    rows = rows[np.argsort(rank[rows], kind="stable")]
    inputs, told = found.perona.look(rows, found.judged.normal)
    errors = _errors(inputs, told)
    tested = judged[rows]
    preparation = found.perona.reading.preparation
    return Detection(
        settings=settings,
        published=settings.is_faithful,
        supervised=scene.supervised,
        detector=found.detector.name,
        threshold=found.detector.threshold,
        model=_model_figures(inputs, told, tested),
        detectors=figures,
        calibration=found.detector.calibration if scene.supervised else None,
        runs=_scored(scene, found, rows, told, errors),
        not_scored=_unscored(scene, found, judged),
        parts=_parts(scene, found, judged, settings),
        dropped=preparation.dropped,
        orientations=preparation.orientations,
        network=found.perona.network,
        messages=_messages(scene, found),
        seconds=seconds,
    )


def principal_axes(codes: Floats) -> Floats:
    """Return (n, 2) codes on their first two principal axes; each axis points where its largest weight is positive."""
    centred = codes - codes.mean(axis=0) if len(codes) else codes
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    placed = np.zeros((len(codes), 2))
    placed[:, : len(axes)] = centred @ axes.T
    return placed


def _errors(inputs: Inputs, told: Told) -> Floats:
    counted = inputs.counted[:, -1]
    squared = counted * (told.restored - inputs.targets[:, -1]) ** 2
    return np.asarray(squared.sum(axis=1) / np.maximum(counted.sum(axis=1), 1))


def _model_figures(inputs: Inputs, told: Told, tested: Bools) -> ModelFigures:
    if not tested.any():
        return ModelFigures(float("nan"), float("nan"), 0)
    counted = inputs.counted[tested, -1]
    squared = counted * (told.restored[tested] - inputs.targets[tested, -1]) ** 2
    right = told.kind[tested] == inputs.kind[tested]
    return ModelFigures(float(squared.sum() / counted.sum()), float(right.mean()), int(tested.sum()))


def _scored(scene: Scene, found: Found, rows: Ints, told: Told, errors: Floats) -> ScoredRuns:
    table, parsed = scene.table, scene.table.parsed
    value, flag = _verdicts(scene, found)
    unknown = np.full(len(rows), np.nan)
    return ScoredRuns(
        row_id=parsed.row_ids[rows],
        node=parsed.node[rows],
        benchmark=parsed.benchmark[rows],
        started_s=parsed.started_s[rows],
        tested=~found.in_training[rows],
        label=table.label[rows],
        p_anomalous=value[rows] if scene.supervised else unknown,
        p_value=unknown if scene.supervised else value[rows],
        flag=flag[rows],
        drivers=drivers_of(scene, rows, found.judged.normal),
        reconstruction_error=errors,
        distance=np.linalg.norm(told.code - told.predicted, axis=1),
        codes=told.code,
        map_xy=principal_axes(told.code),
    )


def _verdicts(scene: Scene, found: Found) -> tuple[Floats, Bools]:
    """Return verdicts of all runs: of training runs from the folds that had not seen them, NaN without labels."""
    value, flag = found.judged.told.copy(), found.judged.flag.copy()
    value[scene.rows] = found.detector.unseen
    flag[scene.rows] = found.detector.unseen >= found.detector.threshold
    return value, flag


def _unscored(scene: Scene, found: Found, judged: Bools) -> tuple[Unscored, ...]:
    table, parsed = scene.table, scene.table.parsed
    problems = {one.position: one.reason for one in parsed.problems}
    known = set(table.type_id[scene.rows].tolist())
    told: list[Unscored] = []
    for row in table.order[~found.in_training[table.order] & ~judged[table.order]].tolist():
        reason = f"fewer than {LEAST_HISTORY} earlier normal runs"
        if int(table.type_id[row]) not in known:
            reason = "the training part has no scored run of this benchmark"
        reason = problems.get(row, reason)
        told.append(Unscored(int(parsed.row_ids[row]), str(parsed.node[row]), str(parsed.benchmark[row]), reason, True))
    return tuple(told)


def _parts(scene: Scene, found: Found, judged: Bools, settings: DetectSettings) -> Parts:
    share = f"the first {format_share(settings.train_share, 0)} of the runs of each node and benchmark"
    return Parts(
        n_train=int(found.in_training.sum()),
        n_test=int((~found.in_training).sum()),
        n_train_scored=len(scene.rows),
        n_train_anomalous=int(scene.anomalous.sum()),
        n_scored=int(judged.sum()),
        by="another dataset" if found.from_other else share,
    )


def _messages(scene: Scene, found: Found) -> tuple[str, ...]:
    told = []
    n_bad = int(scene.anomalous.sum())
    if not scene.supervised:
        told.append(
            "no training run is labelled as stressed, or every one is: p-values stand in for probabilities, on the "
            "assumption that the training runs are mostly normal"
        )
    elif n_bad < FEW_ANOMALOUS:
        told.append(f"{n_bad} stressed training runs are few; probabilities are rough")
    told.extend(_pooling(scene.table))
    seen = _seen(scene.table, found.in_training)
    if seen:
        told.append(f"{seen} judged runs are in the training part, too: figures on them are too good")
    reading = found.perona.reading
    judged = np.isfinite(found.judged.told)
    outside, measured = int(reading.n_outside[judged].sum()), int(reading.owned[judged].sum())
    if outside:
        told.append(
            f"{format_share(outside / measured)} of the judged values lie more than a tenth outside the range of "
            "training; the network sees them at that edge"
        )
    disagreeing = sum(one.disagree for one in reading.preparation.orientations)
    if disagreeing:
        told.append(f"of {disagreeing} metrics the values point the other way than what is declared")
    return tuple(told)


def _seen(table: RunTable, in_training: Bools) -> int:
    """Return how many runs of the test part are in the training part: same node, benchmark and start."""
    parsed = table.parsed
    names = list(zip(parsed.node.tolist(), parsed.benchmark.tolist(), parsed.started_s.tolist(), strict=True))
    known = {name for name, trained in zip(names, in_training.tolist(), strict=True) if trained}
    return sum(name in known for name, trained in zip(names, in_training.tolist(), strict=True) if not trained)


def _pooling(table: RunTable) -> list[str]:
    """Return what to know where runs of one node and benchmark have different parameters."""
    groups: dict[int, set[Any]] = {}
    for group, cell in zip(table.group[table.usable].tolist(), table.cell[table.usable].tolist(), strict=True):
        groups.setdefault(group, set()).add(cell)
    mixed = sum(len(cells) > 1 for cells in groups.values())
    return [f"{mixed} nodes and benchmarks have runs of different parameters, which are not pooled"] if mixed else []
