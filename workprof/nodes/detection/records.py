"""What a detection tells: how good each detector is, what was judged, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from workprof.arrays import Bools, Floats
from workprof.nodes.detection.probabilities import Calibration
from workprof.nodes.detection.scores import DetectorFigures
from workprof.nodes.detection.settings import DetectSettings
from workprof.nodes.network import SavedNetwork
from workprof.nodes.preprocess.preprocess import DroppedMetric, Orientation


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
