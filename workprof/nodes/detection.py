"""Which benchmark runs are degraded: every detector trained and compared, the best one's verdicts and their reasons."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Bools, Floats, Ints
from workprof.errors import NotEnoughData, SettingsError
from workprof.nodes.baselines import FeatureWeights, best_feature_weights, fit_forest, fit_logistic, fit_rule
from workprof.nodes.calibration import (
    AS_TOLD,
    CalibratedDetector,
    Calibration,
    DetectorFigures,
    LabelledVerdicts,
    Verdict,
    Verdicts,
    as_published,
    averaged,
    best_validated,
    calibrated,
    detector_figures,
    judge,
    p_value_verdict,
)
from workprof.nodes.detection_data import (
    CHOSEN,
    COMBINED,
    DETECTORS,
    FOREST,
    LOGISTIC,
    PERONA,
    RULES,
    DetectionData,
    DetectSettings,
    FittedDetector,
    detection_data,
)
from workprof.nodes.histories import LEAST_HISTORY, UNKNOWN, RunTable, first_share, run_table
from workprof.nodes.network import Inputs, NetworkOutput, SavedNetwork
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.perona import PeronaDetector, fit_perona, recipe_of, search_recipe
from workprof.nodes.preprocess import DroppedMetric, Orientation
from workprof.progress import Progress, silent
from workprof.units import format_share

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ModelFigures:
    """How well the network codes runs that it was not trained on.

    Attributes:
        mse: mean squared error of the restored inputs (0 to 1) on the metrics that a run has; NaN without runs.
        type_accuracy: share whose benchmark is told from the code; the type is no input in corrected mode.
        n: runs.
    """

    mse: float
    type_accuracy: float
    n: int


@dataclass(frozen=True)
class Driver:
    """A metric that lies far from the run's history.

    Attributes:
        metric: its name; host values start with 'host.'.
        size: distance in scales, negative = worse than the history; of metrics that point nowhere, plain.
    """

    metric: str
    size: float


@dataclass(frozen=True)
class ScoredRuns:
    """Runs with a verdict, by time; all arrays are (n,) unless told.

    Attributes:
        row_id: of the table.
        node, benchmark: text.
        started_s: seconds since 1970.
        tested: True for runs outside the training part; the others were judged by folds that had not seen them.
        label: 1 under stress, 0 not, -1 unknown.
        p_anomalous: calibrated probability; NaN where there were no labels to learn from.
        p_value: share of past normal runs at least as far from their history; NaN where probabilities are told.
        flag: whether the run counts as degraded.
        drivers: of each run, the largest first.
        reconstruction_error: mean squared error on the metrics that the run has.
        distance: length of code less predicted code.
        codes: (n, 32) of one member of the network.
        map_xy: (n, 2) the codes' first two principal axes.
    """

    row_id: NDArray[Any]
    node: NDArray[Any]
    benchmark: NDArray[Any]
    started_s: Floats
    tested: Bools
    label: NDArray[Any]
    p_anomalous: Floats
    p_value: Floats
    flag: Bools
    drivers: tuple[tuple[Driver, ...], ...]
    reconstruction_error: Floats
    distance: Floats
    codes: Floats
    map_xy: Floats


@dataclass(frozen=True)
class Unscored:
    """A run without a verdict, and why."""

    row_id: int
    node: str
    benchmark: str
    reason: str
    tested: bool


@dataclass(frozen=True)
class Parts:
    """How many runs were learned from and judged.

    Attributes:
        n_train, n_test: runs of the two parts.
        n_train_scored: training runs with a label and three normal ones before them.
        n_train_anomalous: of these, under stress.
        n_scored: judged runs of the test part.
        by: 'the first 60 % of the runs of each node and benchmark' or 'another dataset'.
    """

    n_train: int
    n_test: int
    n_train_scored: int
    n_train_anomalous: int
    n_scored: int
    by: str


@dataclass(frozen=True)
class Detection:
    """Which runs are degraded, and how far to trust that.

    Attributes:
        settings: as asked.
        published: whether these are published definitions.
        supervised: whether there were labels to learn from; else p-values stand in for probabilities.
        detector: the one whose verdicts `runs` holds.
        threshold: probability (or p-value) of a flag.
        model: of the network.
        detectors: name -> figures on labelled runs of the test part.
        calibration: of the detector; None without labels.
        runs: one by one.
        not_scored: runs of the test part without a verdict.
        parts: sizes.
        dropped, orientations: metrics that the network does not see, and which way the others point.
        network: recipe and weights.
        messages: what to know before trusting a figure.
        seconds: time of the computation.
    """

    settings: DetectSettings
    published: bool
    supervised: bool
    detector: str
    threshold: float
    model: ModelFigures
    detectors: dict[str, DetectorFigures]
    calibration: Calibration | None
    runs: ScoredRuns
    not_scored: tuple[Unscored, ...]
    parts: Parts
    dropped: tuple[DroppedMetric, ...]
    orientations: tuple[Orientation, ...]
    network: SavedNetwork
    messages: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class DegradationSettings:
    """What makes a detection what it is.

    Attributes:
        detect: how runs are judged.
        train: hash of the dataset that is trained on; '' = the earlier runs of the same one.
    """

    detect: DetectSettings = field(default_factory=DetectSettings)
    train: str = ""


def detect(frames: Mapping[str, pd.DataFrame], settings: DegradationSettings, progress: Progress) -> Detection:
    """Return which runs are degraded, see `detect_degradation`; 'train' is among the frames where settings name it."""
    return detect_degradation(frames, settings.detect, progress)


DEFAULT_WEIGHTS = FeatureWeights(0.6, 0.3, 1.0)
"""Where there are no labels to choose by."""

WITHOUT_LABELS = "mahalanobis"
TRAINED_SHARE = 0.9
"""Of the progress; the rest is judging."""


@dataclass(frozen=True)
class _Trained:
    """Every detector and the verdict that each gives."""

    perona: PeronaDetector
    detectors: dict[str, CalibratedDetector]
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
        Perona (Scheinert et al. 2022). Ours splits by time, feeds verdicts forward instead of true labels, calibrates,
        and lets validation inside the training part choose between the network and simpler detectors.
    """
    started = time.perf_counter()
    progress(0.0, "Reading the runs")
    table, in_training = _table(frames, settings)
    data = detection_data(table, in_training, settings.seed)
    _refuse_unfit(data, settings)
    trained = _train_all(data, settings, progress)
    chosen = _chosen(data, trained, settings)
    test = np.flatnonzero(~in_training & table.usable & np.isin(table.type_id, table.type_id[data.rows]))
    judged = {}
    for done, (name, one) in enumerate(trained.detectors.items()):
        progress(TRAINED_SHARE + (1 - TRAINED_SHARE) * done / len(trained.detectors), f"Judging by {name}")
        judged[name] = judge(data, one.fitted.score, trained.verdicts[name], test, true_labels=settings.is_faithful)
    figures = _figures(data, trained, judged, settings)
    found = Outcome(trained.perona, trained.detectors[chosen], judged[chosen], in_training, "train" in frames)
    told = report(data, found, figures, settings, time.perf_counter() - started)
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


def _refuse_unfit(data: DetectionData, settings: DetectSettings) -> None:
    """Refuse, before anything is trained, a detector that these runs or this mode cannot have."""
    without = () if data.supervised else (LOGISTIC, COMBINED)
    known = [name for name in DETECTORS if name not in without and not (settings.is_faithful and name == COMBINED)]
    if settings.detector not in (CHOSEN, *known):
        reason = "there are no labels to learn from" if settings.detector in without else "it is not of this mode"
        raise SettingsError(f"detector is {settings.detector!r}, but {reason}; choose from {', '.join(known)}")


def _train_all(data: DetectionData, settings: DetectSettings, progress: Progress) -> _Trained:
    progress(0.02, "Fitting the baselines")
    weights = best_feature_weights(data, settings.seed) if data.supervised else DEFAULT_WEIGHTS
    fitted = {name: fit_rule(data, name) for name in RULES} | {FOREST: fit_forest(data, settings.seed)}
    if data.supervised:
        fitted[LOGISTIC] = fit_logistic(data, weights)

    def report_passes(share: float | None, message: str) -> None:
        progress(0.1 + (TRAINED_SHARE - 0.1) * (share or 0.0), message)

    recipe = recipe_of(settings)
    if settings.trials and data.supervised:
        recipe = search_recipe(data, weights, settings, recipe, report_passes)
    perona = fit_perona(data, weights, settings, recipe, report_passes)
    if not data.supervised:
        return _without_labels(data, perona, fitted, settings)
    detectors = {name: calibrated(data, name, one, settings.false_alarm_share) for name, one in fitted.items()}
    if settings.is_faithful:
        detectors = {PERONA: as_published(data, PERONA, perona.fitted), **detectors}
    else:
        ours = calibrated(data, PERONA, perona.fitted, settings.false_alarm_share)
        best = min(detectors.values(), key=lambda one: one.validation_loss)
        both = averaged(data, (ours, best))
        combined = calibrated(data, COMBINED, both, settings.false_alarm_share)
        detectors = {PERONA: ours, **detectors, COMBINED: combined}
    return _Trained(perona, detectors, {name: one.verdict for name, one in detectors.items()})


def _without_labels(
    data: DetectionData, perona: PeronaDetector, fitted: dict[str, FittedDetector], settings: DetectSettings
) -> _Trained:
    """Return detectors whose verdict is a p-value."""
    fitted = {PERONA: perona.fitted, **fitted}
    unknown = np.full(len(data.rows), np.nan)
    share = settings.false_alarm_share
    detectors = {
        name: CalibratedDetector(name, one, AS_TOLD, share, float("nan"), unknown) for name, one in fitted.items()
    }
    return _Trained(
        perona, detectors, {name: p_value_verdict(data, one.out_of_fold, share) for name, one in fitted.items()}
    )


def _chosen(data: DetectionData, trained: _Trained, settings: DetectSettings) -> str:
    """Return the name of the detector that is asked for, or does best on validation."""
    if settings.detector != CHOSEN:
        return settings.detector
    if settings.is_faithful:
        return PERONA
    if not data.supervised:
        return WITHOUT_LABELS
    return best_validated(data.anomalous, trained.detectors)


def _figures(
    data: DetectionData, trained: _Trained, judged: Mapping[str, Verdicts], settings: DetectSettings
) -> dict[str, DetectorFigures]:
    """Return the figures of every detector on labelled runs of the test part; none without labels there."""
    label = data.table.label
    found = {}
    for name, one in judged.items():
        rows = np.flatnonzero(np.isfinite(one.value) & (label != UNKNOWN))
        if not len(rows):
            continue
        told = one.value[rows] if data.supervised else 1 - one.value[rows]
        detector = trained.detectors[name]
        verdicts = LabelledVerdicts(told, one.flag[rows], label[rows] == 1)
        found[name] = detector_figures(verdicts, detector.threshold, detector.validation_loss, settings.seed)
    return found


N_DRIVERS = 5
LEAST_SIZE = 1.0
"""In scales: what lies closer drives nothing."""


def drivers_of(data: DetectionData, rows: Ints, normal: Bools) -> tuple[tuple[Driver, ...], ...]:
    """Return the drivers of each row, the largest first; `normal` (n_runs,) tells what it is compared with."""
    table = data.table
    distances = data.distances_of(rows, normal).to_median
    sign = np.append(np.where(table.sign == 0, 1, table.sign), np.ones(table.host.shape[1], dtype=np.int64))
    names = [*table.parsed.metrics, *(f"host.{name}" for name in table.parsed.host_names)]
    return tuple(_largest(names, one * sign) for one in distances)


def _largest(names: list[str], sizes: Floats) -> tuple[Driver, ...]:
    order = np.argsort(-np.abs(sizes), kind="stable")[:N_DRIVERS]
    return tuple(Driver(names[place], float(sizes[place])) for place in order if abs(sizes[place]) >= LEAST_SIZE)


FEW_ANOMALOUS = 10
"""Stressed training runs below which a probability is little more than a guess."""


@dataclass(frozen=True)
class Outcome:
    """What was trained and judged.

    Attributes:
        perona: the network.
        detector: whose verdicts are told.
        judged: these verdicts.
        in_training: (n_runs,).
        from_other: whether another dataset was trained on.
    """

    perona: PeronaDetector
    detector: CalibratedDetector
    judged: Verdicts
    in_training: Bools
    from_other: bool


def report(
    data: DetectionData, found: Outcome, figures: dict[str, DetectorFigures], settings: DetectSettings, seconds: float
) -> Detection:
    """Return the record of a detection."""
    table = data.table
    judged = np.isfinite(found.judged.value)
    rows = np.concatenate([data.rows, np.flatnonzero(judged)])
    rank = np.empty(len(table), dtype=np.int64)
    rank[table.order] = np.arange(len(table))
    rows = rows[np.argsort(rank[rows], kind="stable")]
    inputs, told = found.perona.outputs(rows, found.judged.normal)
    errors = _errors(inputs, told)
    tested = judged[rows]
    preparation = found.perona.reader.preparation
    return Detection(
        settings=settings,
        published=settings.is_faithful,
        supervised=data.supervised,
        detector=found.detector.name,
        threshold=found.detector.threshold,
        model=_model_figures(inputs, told, tested),
        detectors=figures,
        calibration=found.detector.calibration if data.supervised else None,
        runs=_scored(data, found, rows, told, errors),
        not_scored=_unscored(data, found, judged),
        parts=_parts(data, found, judged, settings),
        dropped=preparation.dropped,
        orientations=preparation.orientations,
        network=found.perona.network,
        messages=_messages(data, found),
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


def _errors(inputs: Inputs, told: NetworkOutput) -> Floats:
    counted = inputs.counted[:, -1]
    squared = counted * (told.restored - inputs.targets[:, -1]) ** 2
    return np.asarray(squared.sum(axis=1) / np.maximum(counted.sum(axis=1), 1))


def _model_figures(inputs: Inputs, told: NetworkOutput, tested: Bools) -> ModelFigures:
    if not tested.any():
        return ModelFigures(float("nan"), float("nan"), 0)
    counted = inputs.counted[tested, -1]
    squared = counted * (told.restored[tested] - inputs.targets[tested, -1]) ** 2
    right = told.kind[tested] == inputs.kind[tested]
    return ModelFigures(float(squared.sum() / counted.sum()), float(right.mean()), int(tested.sum()))


def _scored(data: DetectionData, found: Outcome, rows: Ints, told: NetworkOutput, errors: Floats) -> ScoredRuns:
    table, parsed = data.table, data.table.parsed
    value, flag = _verdicts(data, found)
    unknown = np.full(len(rows), np.nan)
    return ScoredRuns(
        row_id=parsed.row_ids[rows],
        node=parsed.node[rows],
        benchmark=parsed.benchmark[rows],
        started_s=parsed.started_s[rows],
        tested=~found.in_training[rows],
        label=table.label[rows],
        p_anomalous=value[rows] if data.supervised else unknown,
        p_value=unknown if data.supervised else value[rows],
        flag=flag[rows],
        drivers=drivers_of(data, rows, found.judged.normal),
        reconstruction_error=errors,
        distance=np.linalg.norm(told.code - told.predicted, axis=1),
        codes=told.code,
        map_xy=principal_axes(told.code),
    )


def _verdicts(data: DetectionData, found: Outcome) -> tuple[Floats, Bools]:
    """Return verdicts of all runs: of training runs from the folds that had not seen them, NaN without labels."""
    value, flag = found.judged.value.copy(), found.judged.flag.copy()
    value[data.rows] = found.detector.out_of_fold
    flag[data.rows] = found.detector.out_of_fold >= found.detector.threshold
    return value, flag


def _unscored(data: DetectionData, found: Outcome, judged: Bools) -> tuple[Unscored, ...]:
    table, parsed = data.table, data.table.parsed
    problems = {one.position: one.reason for one in parsed.problems}
    known = set(table.type_id[data.rows].tolist())
    told: list[Unscored] = []
    for row in table.order[~found.in_training[table.order] & ~judged[table.order]].tolist():
        reason = f"fewer than {LEAST_HISTORY} earlier normal runs"
        if int(table.type_id[row]) not in known:
            reason = "the training part has no scored run of this benchmark"
        reason = problems.get(row, reason)
        told.append(Unscored(int(parsed.row_ids[row]), str(parsed.node[row]), str(parsed.benchmark[row]), reason, True))
    return tuple(told)


def _parts(data: DetectionData, found: Outcome, judged: Bools, settings: DetectSettings) -> Parts:
    share = f"the first {format_share(settings.train_share, 0)} of the runs of each node and benchmark"
    return Parts(
        n_train=int(found.in_training.sum()),
        n_test=int((~found.in_training).sum()),
        n_train_scored=len(data.rows),
        n_train_anomalous=int(data.anomalous.sum()),
        n_scored=int(judged.sum()),
        by="another dataset" if found.from_other else share,
    )


def _messages(data: DetectionData, found: Outcome) -> tuple[str, ...]:
    told = []
    n_bad = int(data.anomalous.sum())
    if not data.supervised:
        told.append(
            "no training run is labelled as stressed, or every one is: p-values stand in for probabilities, on the "
            "assumption that the training runs are mostly normal"
        )
    elif n_bad < FEW_ANOMALOUS:
        told.append(f"{n_bad} stressed training runs are few; probabilities are rough")
    told.extend(_pooling(data.table))
    seen = _seen(data.table, found.in_training)
    if seen:
        told.append(f"{seen} judged runs are in the training part, too: figures on them are too good")
    reader = found.perona.reader
    judged = np.isfinite(found.judged.value)
    outside, measured = int(reader.n_outside[judged].sum()), int(reader.owned[judged].sum())
    if outside:
        told.append(
            f"{format_share(outside / measured)} of the judged values lie more than a tenth outside the range of "
            "training; the network sees them at that edge"
        )
    disagreeing = sum(one.disagree for one in reader.preparation.orientations)
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
