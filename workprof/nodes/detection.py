"""Which benchmark runs are degraded: every detector trained and compared, the best one's verdicts and their reasons."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import format_share
from workprof.nodes.baselines import FeatureWeights, best_feature_weights, fit_forest, fit_logistic, fit_rule
from workprof.nodes.calibration import (
    AS_GIVEN,
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
    detection_data,
)
from workprof.nodes.histories import LEAST_HISTORY, UNKNOWN, RunTable, first_share, run_table
from workprof.nodes.network import SavedNetwork
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.perona import PeronaDetector, fit_perona, recipe_of, search_recipe
from workprof.nodes.preprocess import DroppedMetric, Orientation

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ModelFigures:
    """How well the network codes runs that it was not trained on."""

    mse: float  # mean squared error of the restored inputs (0 to 1) on the metrics that a run has; NaN without runs
    type_accuracy: float  # share whose benchmark is told from the code; the type is no input in corrected mode
    n: int  # runs


@dataclass(frozen=True)
class Driver:
    """A metric that lies far from the run's history."""

    metric: str  # its name; host values start with 'host.'
    size: float  # distance in scales, negative = worse than the history; of metrics that point nowhere, plain


@dataclass(frozen=True)
class ScoredRuns:
    """Runs with a verdict, by time; all arrays are (n,) unless told."""

    row_id: NDArray[Any]  # of the table
    node: NDArray[Any]  # and `benchmark`: text
    benchmark: NDArray[Any]
    started_s: Floats  # seconds since 1970
    tested: Bools  # True for runs outside the training part; the others were judged by folds that had not seen them
    label: NDArray[Any]  # 1 under stress, 0 not, -1 unknown
    p_anomalous: Floats  # calibrated probability; NaN where there were no labels to learn from
    p_value: Floats  # share of past normal runs at least as far from their history; NaN where probabilities are told
    flag: Bools  # whether the run counts as degraded
    drivers: tuple[tuple[Driver, ...], ...]  # of each run, the largest first
    reconstruction_error: Floats  # mean squared error on the metrics that the run has
    distance: Floats  # length of code less predicted code
    codes: Floats  # (n, 32) of one member of the network
    map_xy: Floats  # (n, 2) the codes' first two principal axes


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
    """How many runs were learned from and judged."""

    n_train: int  # and `n_test`: runs of the two parts
    n_test: int
    n_train_scored: int  # training runs with a label and three normal ones before them
    n_train_anomalous: int  # of these, under stress
    n_scored: int  # judged runs of the test part
    by: str  # 'the first 60 % of the runs of each node and benchmark' or 'another dataset'


@dataclass(frozen=True, repr=False)
class Detection(Shown):
    """Which runs are degraded, and how far to trust that."""

    settings: DetectSettings  # as asked
    published: bool  # whether these are published definitions
    supervised: bool  # whether there were labels to learn from; else p-values stand in for probabilities
    detector: str  # the one whose verdicts `runs` holds
    threshold: float  # probability (or p-value) of a flag
    model: ModelFigures  # of the network
    detectors: dict[str, DetectorFigures]  # name -> figures on labelled runs of the test part
    calibration: Calibration | None  # of the detector; None without labels
    runs: ScoredRuns  # one by one
    not_scored: tuple[Unscored, ...]  # runs of the test part without a verdict
    parts: Parts  # sizes
    # `dropped`, `orientations`: metrics that the network does not see, and which way the others point
    dropped: tuple[DroppedMetric, ...]
    orientations: tuple[Orientation, ...]
    network: SavedNetwork  # recipe and weights
    messages: tuple[str, ...]  # what to know before trusting a figure
    seconds: float  # time of the computation


def newest_flagged(result: Detection) -> dict[str, tuple[int, ...]]:
    """Node -> its newest runs of a benchmark that are flagged, as rows, by benchmark; most of them first."""
    runs, bad = result.runs, {}
    for node in sorted({str(name) for name in runs.node}):
        here = np.flatnonzero(runs.node == node)
        newest = {
            str(runs.benchmark[row]): row for row in here[np.argsort(runs.started_s[here], kind="stable")].tolist()
        }
        if flagged := tuple(row for _, row in sorted(newest.items()) if runs.flag[row]):
            bad[node] = flagged
    return dict(sorted(bad.items(), key=lambda item: -len(item[1])))


def flagged_now(result: Detection) -> dict[str, tuple[str, ...]]:
    """Node -> the benchmarks whose newest run is flagged."""
    found = newest_flagged(result).items()
    return {node: tuple(str(name) for name in result.runs.benchmark[list(rows)]) for node, rows in found}


@settings
class DegradationSettings:
    """How degraded runs are looked for, and what is learned from."""

    detect: DetectSettings = field(default_factory=DetectSettings)
    train: Annotated[
        str,
        Setting("Dataset of benchmark runs to learn from.", empty="the first runs of this one", label="Trained on"),
    ] = ""


DEFAULT_WEIGHTS = FeatureWeights(0.6, 0.3, 1.0)
"""Where there are no labels to choose by."""

WITHOUT_LABELS = "mahalanobis"
"""The detector that is chosen without labels."""

ONE_SIDED = ("robust-z", "ewma")
"""Detectors that look at worse values alone; the others measure how odd a run is."""

TRAINED_SHARE = 0.9
"""Of the progress; the rest is judging."""

FEW_ANOMALOUS = 10
"""Stressed training runs below which a probability is little more than a guess."""

N_DRIVERS = 5
LEAST_SIZE = 1.0
"""Of a driver, in scales: what lies closer drives nothing."""


@dataclass(frozen=True)
class _Trained:
    """Every detector and the verdict that each gives."""

    perona: PeronaDetector
    detectors: dict[str, CalibratedDetector]
    verdicts: dict[str, Verdict]


@dataclass(frozen=True)
class _Outcome:
    """The verdicts that a detection reports: those of one detector, and the network's view beside them."""

    perona: PeronaDetector  # the network
    detector: CalibratedDetector  # whose verdicts these are
    verdicts: Verdicts  # of the test part
    in_training: Bools  # (n_runs,)
    from_other: bool  # whether another dataset was trained on

    @property
    def judged(self) -> Bools:
        """(n_runs,) runs of the test part that have a verdict."""
        return np.isfinite(self.verdicts.value)


def detect(frames: Mapping[str, pd.DataFrame], settings: DegradationSettings, progress: Progress) -> Detection:
    """Which runs are degraded, see `detect_degradation`; 'train' is among the frames where settings name it."""
    return detect_degradation(frames, settings.detect, progress)


def detect_degradation(
    frames: Mapping[str, pd.DataFrame], settings: DetectSettings, progress: Progress = silent
) -> Detection:
    """Which runs are degraded, judged by detectors trained on earlier ones, or on another dataset in frames['train'].

    Raises:
        ColumnMissing: when a column is absent.
        NotEnoughData: when there are too few runs to train on.
        SettingsError: for a detector that needs labels where there are none.

    Source: Perona (Scheinert et al. 2022). Ours splits by time, feeds verdicts forward instead of true labels,
    calibrates, and lets validation inside the training part choose between the network and simpler detectors.
    """
    started = time.perf_counter()
    progress(0.0, "Reading the runs")
    table, in_training = _read_runs(frames, settings)
    data = detection_data(table, in_training, settings.seed)
    _refuse_unfit_detector(data, settings)
    trained = _train_all(data, settings, progress)

    test = np.flatnonzero(~in_training & table.usable & np.isin(table.type_id, table.type_id[data.rows]))
    verdicts = {}
    for done, (name, one) in enumerate(trained.detectors.items()):
        progress(TRAINED_SHARE + (1 - TRAINED_SHARE) * done / len(trained.detectors), f"Judging by {name}")
        verdicts[name] = judge(data, one.fitted.score, trained.verdicts[name], test, true_labels=settings.is_faithful)

    chosen = settings.detector
    if chosen == CHOSEN and settings.is_faithful:
        chosen = PERONA
    elif chosen == CHOSEN:
        chosen = best_validated(data.anomalous, trained.detectors) if data.supervised else WITHOUT_LABELS
    figures = _figures(data, trained, verdicts, settings.seed)
    outcome = _Outcome(trained.perona, trained.detectors[chosen], verdicts[chosen], in_training, "train" in frames)
    detection = _detection(data, outcome, figures, settings, time.perf_counter() - started)
    progress(1.0, "Done")
    return detection


def _read_runs(frames: Mapping[str, pd.DataFrame], settings: DetectSettings) -> tuple[RunTable, Bools]:
    """The runs, those of 'train' first, and (n_runs,) which of them are trained on."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    runs = frames["runs"]
    if not len(runs):
        raise NotEnoughData("there are no runs; measure some with `workprof nodes suite`")
    if "train" not in frames:
        table = run_table(parse_runs(runs))
        return table, first_share(table, settings.train_share)
    both = pd.concat([frames["train"], runs], ignore_index=True)
    return run_table(parse_runs(both)), np.arange(len(both)) < len(frames["train"])


def _refuse_unfit_detector(data: DetectionData, settings: DetectSettings) -> None:
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

    alarms = settings.false_alarm_share
    if not data.supervised:  # the verdict is a p-value
        fitted = {PERONA: perona.fitted, **fitted}
        nan, unknown = float("nan"), np.full(len(data.rows), np.nan)
        detectors = {
            name: CalibratedDetector(name, one, AS_GIVEN, alarms, nan, unknown) for name, one in fitted.items()
        }
        verdicts = {name: p_value_verdict(data, one.out_of_fold, alarms) for name, one in fitted.items()}
        return _Trained(perona, detectors, verdicts)
    detectors = {name: calibrated(data, name, one, alarms) for name, one in fitted.items()}
    if settings.is_faithful:
        detectors = {PERONA: as_published(data, PERONA, perona.fitted), **detectors}
    else:
        network = calibrated(data, PERONA, perona.fitted, alarms)
        best = min(detectors.values(), key=lambda one: one.validation_loss)
        combined = calibrated(data, COMBINED, averaged((network, best)), alarms)
        detectors = {PERONA: network, **detectors, COMBINED: combined}
    return _Trained(perona, detectors, {name: one.verdict for name, one in detectors.items()})


def _figures(
    data: DetectionData, trained: _Trained, verdicts: Mapping[str, Verdicts], seed: int
) -> dict[str, DetectorFigures]:
    """The figures of every detector on labelled runs of the test part; none without labels there."""
    label, by_time = data.table.label, data.table.order
    figures = {}
    for name, one in verdicts.items():
        rows = by_time[(np.isfinite(one.value) & (label != UNKNOWN))[by_time]]
        if len(rows):
            probability = one.value[rows] if data.supervised else 1 - one.value[rows]
            labelled = LabelledVerdicts(probability, one.flag[rows], label[rows] == 1)
            detector = trained.detectors[name]
            figures[name] = detector_figures(labelled, detector.threshold, detector.validation_loss, seed)
    return figures


def _detection(
    data: DetectionData,
    outcome: _Outcome,
    figures: dict[str, DetectorFigures],
    settings: DetectSettings,
    seconds: float,
) -> Detection:
    """The record of a detection: the verdicts, and the network's view of every judged run."""
    table, parsed = data.table, data.table.parsed
    judged = outcome.judged
    rows = np.concatenate([data.rows, np.flatnonzero(judged)])
    rank = np.empty(len(table), dtype=np.int64)
    rank[table.order] = np.arange(len(table))
    rows = rows[np.argsort(rank[rows], kind="stable")]
    tested = judged[rows]

    # verdicts on training runs are of the folds that had not seen them, NaN without labels
    value, flag = outcome.verdicts.value.copy(), outcome.verdicts.flag.copy()
    value[data.rows] = outcome.detector.out_of_fold
    flag[data.rows] = outcome.detector.out_of_fold >= outcome.detector.threshold
    unknown = np.full(len(rows), np.nan)

    inputs, output = outcome.perona.outputs(rows, outcome.verdicts.normal)
    counted = inputs.counted[:, -1]
    squared = counted * (output.restored - inputs.targets[:, -1]) ** 2
    model = ModelFigures(float("nan"), float("nan"), 0)
    if tested.any():
        mse = float(squared[tested].sum() / counted[tested].sum())
        model = ModelFigures(mse, float((output.kind == inputs.kind)[tested].mean()), int(tested.sum()))

    runs = ScoredRuns(
        row_id=parsed.row_ids[rows],
        node=parsed.node[rows],
        benchmark=parsed.benchmark[rows],
        started_s=parsed.started_s[rows],
        tested=~outcome.in_training[rows],
        label=table.label[rows],
        p_anomalous=value[rows] if data.supervised else unknown,
        p_value=unknown if data.supervised else value[rows],
        flag=flag[rows],
        drivers=drivers_of(data, rows, outcome.verdicts.normal),
        reconstruction_error=np.asarray(squared.sum(axis=1) / np.maximum(counted.sum(axis=1), 1)),
        distance=np.linalg.norm(output.code - output.predicted, axis=1),
        codes=output.code,
        map_xy=principal_axes(output.code),
    )
    share = f"the first {format_share(settings.train_share, 0)} of the runs of each node and benchmark"
    parts = Parts(
        n_train=int(outcome.in_training.sum()),
        n_test=int((~outcome.in_training).sum()),
        n_train_scored=len(data.rows),
        n_train_anomalous=int(data.anomalous.sum()),
        n_scored=int(judged.sum()),
        by="another dataset" if outcome.from_other else share,
    )
    preparation = outcome.perona.reader.preparation
    return Detection(
        settings=settings,
        published=settings.is_faithful,
        supervised=data.supervised,
        detector=outcome.detector.name,
        threshold=outcome.detector.threshold,
        model=model,
        detectors=figures,
        calibration=outcome.detector.calibration if data.supervised else None,
        runs=runs,
        not_scored=_unscored(data, outcome),
        parts=parts,
        dropped=preparation.dropped,
        orientations=preparation.orientations,
        network=outcome.perona.network,
        messages=_messages(data, outcome),
        seconds=seconds,
    )


def drivers_of(data: DetectionData, rows: Ints, normal: Bools) -> tuple[tuple[Driver, ...], ...]:
    """The metrics of each row farthest from its history, the `normal` (n_runs,) runs, the largest distance first."""
    table = data.table
    distances = data.distances_of(rows, normal).to_median
    sign = np.append(np.where(table.sign == 0, 1, table.sign), np.ones(table.host.shape[1], dtype=np.int64))
    names = [*table.parsed.metrics, *(f"host.{name}" for name in table.parsed.host_names)]
    drivers = []
    for sizes in distances * sign:
        largest = np.argsort(-np.abs(sizes), kind="stable")[:N_DRIVERS]
        drivers.append(tuple(Driver(names[i], float(sizes[i])) for i in largest if abs(sizes[i]) >= LEAST_SIZE))
    return tuple(drivers)


def principal_axes(codes: Floats) -> Floats:
    """(n, 2) codes on their first two principal axes; each axis points where its largest weight is positive."""
    centred = codes - codes.mean(axis=0) if len(codes) else codes
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    placed = np.zeros((len(codes), 2))
    placed[:, : len(axes)] = centred @ axes.T
    return placed


def _unscored(data: DetectionData, outcome: _Outcome) -> tuple[Unscored, ...]:
    table, parsed = data.table, data.table.parsed
    problems = {one.position: one.reason for one in parsed.problems}
    known = set(table.type_id[data.rows].tolist())
    unscored: list[Unscored] = []
    for row in table.order[~outcome.in_training[table.order] & ~outcome.judged[table.order]].tolist():
        reason = f"fewer than {LEAST_HISTORY} earlier normal runs"
        if int(table.type_id[row]) not in known:
            reason = "the training part has no scored run of this benchmark"
        reason = "repeats an earlier row" if parsed.repeated[row] else problems.get(row, reason)
        run = int(parsed.row_ids[row]), str(parsed.node[row]), str(parsed.benchmark[row])
        unscored.append(Unscored(*run, reason, tested=True))
    return tuple(unscored)


def _messages(data: DetectionData, outcome: _Outcome) -> tuple[str, ...]:
    table, parsed = data.table, data.table.parsed
    messages = []
    n_bad = int(data.anomalous.sum())
    if not data.supervised:
        messages.append(
            "no training run is labelled as under load, or every one is: p-values stand in for probabilities, on the "
            "assumption that the training runs are mostly normal"
        )
        n, alarms = int(outcome.judged.sum()), outcome.detector.threshold
        both = (
            "" if outcome.detector.name in ONE_SIDED else "; runs that are better than their history are flagged, too"
        )
        messages.append(
            f"by chance alone about {alarms * n:.0f} of {n:,} judged runs are flagged, as a p-value of "
            f"{format_share(alarms)} is enough{both}"
        )
    elif n_bad < FEW_ANOMALOUS:
        messages.append(f"{n_bad} training runs under load are few; probabilities are rough")

    cells: dict[int, set[Any]] = {}
    for group, cell in zip(table.group[table.usable].tolist(), table.cell[table.usable].tolist(), strict=True):
        cells.setdefault(group, set()).add(cell)
    n_mixed = sum(len(one) > 1 for one in cells.values())
    if n_mixed:
        messages.append(f"{n_mixed} nodes and benchmarks have runs of different parameters, which are not pooled")

    names = list(zip(parsed.node.tolist(), parsed.benchmark.tolist(), parsed.started_s.tolist(), strict=True))
    trained = {names[row] for row in np.flatnonzero(outcome.in_training).tolist()}
    n_seen = sum(names[row] in trained for row in np.flatnonzero(~outcome.in_training).tolist())
    if n_seen:
        messages.append(f"{n_seen} judged runs are in the training part, too: figures on them are too good")

    reader = outcome.perona.reader
    n_outside, n_measured = int(reader.n_outside[outcome.judged].sum()), int(reader.owned[outcome.judged].sum())
    if n_outside:
        messages.append(
            f"{format_share(n_outside / n_measured)} of the judged values lie more than a tenth outside the range of "
            "training; the network sees them at that edge"
        )
    n_disagree = sum(one.disagree for one in reader.preparation.orientations)
    if n_disagree:
        messages.append(f"{n_disagree} metrics move opposite to their declared direction")
    return tuple(messages)
