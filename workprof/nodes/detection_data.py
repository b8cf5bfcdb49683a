"""What every detector shares: the settings, the runs with their folds, what is known of them, and their features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.errors import NotEnoughData, SettingsError
from workprof.nodes.histories import (
    UNKNOWN,
    Distances,
    Histories,
    RunTable,
    Yardstick,
    distances,
    learn_yardstick,
    with_history,
)

CORRECTED, FAITHFUL = "corrected", "faithful"
MODES = (CORRECTED, FAITHFUL)

PERONA, COMBINED, CHOSEN = "perona", "combined", "chosen"
RULES = ("robust-z", "ewma", "mahalanobis")
"""Baselines that learn nothing from labels."""

FOREST, LOGISTIC = "isolation-forest", "logistic"
BASELINES = (*RULES, FOREST, LOGISTIC)
DETECTORS = (PERONA, *BASELINES, COMBINED)


@dataclass(frozen=True)
class DetectSettings:
    """How degraded runs are looked for.

    Attributes:
        mode: 'corrected', or 'faithful': published network, no calibration, threshold 0.5.
        detector: one of `DETECTORS`, or 'chosen': the best on validation inside the training part.
        train_share: of the runs of each (node, benchmark) by time, where no other dataset is trained on.
        false_alarm_share: of normal runs that may be flagged at most, 0-1; by validation, not by promise.
        trials: of the search over the published space of the network; 0 = our recipe.
        epochs: passes of the training; 0 = the recipe's.
        seed: of every draw.

    Raises:
        SettingsError: for an unknown name or a number out of bounds.
    """

    mode: str = CORRECTED
    detector: str = CHOSEN
    train_share: float = 0.6
    false_alarm_share: float = 0.05
    trials: int = 0
    epochs: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise SettingsError(f"mode is {self.mode!r}; choose from {', '.join(MODES)}")
        if self.detector not in (CHOSEN, *DETECTORS):
            raise SettingsError(f"detector is {self.detector!r}; choose from {', '.join((CHOSEN, *DETECTORS))}")
        for name, least, most in (
            ("train_share", 0.1, 0.9),
            ("false_alarm_share", 0.001, 0.5),
            ("trials", 0, 1000),
            ("epochs", 0, 1000),
            ("seed", 0, 2**31 - 1),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise SettingsError(f"{name} is {value}; give a number from {least} to {most}")

        if self.trials and self.is_faithful:
            raise SettingsError(f"trials is {self.trials}; the search is of mode {CORRECTED}, leave it out")

    @property
    def is_faithful(self) -> bool:
        """Whether published definitions are asked for."""
        return self.mode == FAITHFUL


def dealt_folds(strata: Ints, n_folds: int, seed: int) -> Ints:
    """Return (n,) fold numbers: each stratum is shuffled and dealt out, one stratum going on where the last ended."""
    rng = np.random.default_rng(seed)
    fold = np.zeros(len(strata), dtype=np.int64)
    dealt = 0
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        fold[members] = (dealt + np.arange(len(members))) % n_folds
        dealt += len(members)
    return fold


def later_folds(cells: Ints, order: Ints, n_folds: int) -> Ints:
    """Return (n,) blocks of time within each cell: 0 is only learned from, block k is judged by all blocks before it.

    Args:
        cells: (n,) node, benchmark and parameters of each run.
        order: (n,) rank of each run in time.
        n_folds: judged blocks, of about equal size; block 0 has as many runs as two of them.
    """
    block = np.zeros(len(cells), dtype=np.int64)
    for cell in np.unique(cells):
        members = np.flatnonzero(cells == cell)
        members = members[np.argsort(order[members], kind="stable")]
        share = (np.arange(len(members)) + 0.5) / len(members)
        block[members] = np.clip(np.floor(share * (n_folds + 2)) - 1, 0, n_folds)
    return block


CLIPPED = 20.0
SHRUNK = 0.5
"""Of the correlation towards independence: there are few runs per metric."""


@dataclass(frozen=True)
class MetricSpace:
    """Inverse correlations of the metrics' distances, one matrix per benchmark.

    Attributes:
        inverse: per benchmark (n_own, n_own).
        columns: per benchmark the positions of its metrics that vary.
    """

    inverse: tuple[Floats, ...]
    columns: tuple[Ints, ...]


def learn_space(table: RunTable, yardstick: Yardstick, rows: Ints, apart: Floats) -> MetricSpace:
    """Return the correlations of normal runs' distances.

    Args:
        table: the runs.
        yardstick: floors and scales.
        rows: positions of normal training runs.
        apart: (n_rows, n_columns) their distances.
    """
    inverse, columns = [], []
    for kind in range(len(table.types)):
        own = np.flatnonzero((table.owner == kind) & np.isfinite(yardstick.scale[0, kind, : yardstick.n_metrics]))
        mine = np.clip(apart[table.type_id[rows] == kind][:, own], -4, 4)
        correlation = mine.T @ mine / max(len(mine), 1)
        inverse.append(np.linalg.inv(SHRUNK * correlation + (1 - SHRUNK) * np.eye(len(own))))
        columns.append(own.astype(np.int64))
    return MetricSpace(tuple(inverse), tuple(columns))


def lengths(table: RunTable, space: MetricSpace, rows: Ints, apart: Floats) -> Floats:
    """Return (n_rows,) Mahalanobis lengths per metric: about 1 for a normal run."""
    found = np.zeros(len(rows))
    for kind, (inverse, own) in enumerate(zip(space.inverse, space.columns, strict=True)):
        here = np.flatnonzero(table.type_id[rows] == kind)
        mine = np.clip(apart[here][:, own], -CLIPPED, CLIPPED)
        found[here] = np.sqrt(np.maximum(np.einsum("ri,ij,rj->r", mine, inverse, mine), 0) / max(len(own), 1))
    return found


def worst_scored(table: RunTable, rows: Ints, apart: Floats) -> Floats:
    """Return (n_rows,) how far the worst metric of the aspect's score lies on its bad side; 0 without one."""
    scored = np.flatnonzero(table.scored)
    bad = -(apart[:, scored] * table.sign[scored])
    own = table.owner[scored][None, :] == table.type_id[rows][:, None]
    return np.where(own.any(axis=1), np.where(own, bad, -np.inf).max(axis=1, initial=-np.inf), 0.0)


def summary(table: RunTable, space: MetricSpace, rows: Ints, apart: Floats) -> Floats:
    """Return (n_rows, 8) figures that mean the same for every benchmark, on a scale that tames large ones.

    Mean and worst of the scored metrics, worst, median and mean of all directed ones (negative = worse than the
    history), length, largest and median distance of any metric.
    """
    found = np.zeros((len(rows), 8))
    for place, row in enumerate(rows.tolist()):
        own = space.columns[table.type_id[row]]
        mine, sign, scored = apart[place, own], table.sign[own], table.scored[own]
        directed, primary = (mine * sign)[sign != 0], (mine * sign)[scored]
        found[place, :2] = (primary.mean(), primary.min()) if len(primary) else (0, 0)
        found[place, 2:5] = (directed.min(), np.median(directed), directed.mean()) if len(directed) else (0, 0, 0)
        found[place, 6:] = (np.abs(mine).max(), np.median(np.abs(mine))) if len(mine) else (0, 0)
    found[:, 5] = lengths(table, space, rows, apart)
    return np.asarray(np.arcsinh(found))


@dataclass(frozen=True)
class RunFeatures:
    """Features of scored runs in blocks, so that a model can weigh the blocks.

    Attributes:
        general: (n, 8) of `summary`.
        own: (n, n_metrics) distances of the run's own metrics; 0 for those of other benchmarks.
        host: (n, n_types * n_host) distances of the host's values, in the columns of the run's benchmark.
        type_id: (n,).
    """

    general: Floats
    own: Floats
    host: Floats
    type_id: Ints


def run_features(
    table: RunTable, yardstick: Yardstick, space: MetricSpace, rows: Ints, apart: Distances
) -> RunFeatures:
    """Return the features of runs from their distances to the median of their history."""
    tame = np.arcsinh(apart.to_median)
    n_metrics = yardstick.n_metrics
    type_id = table.type_id[rows]
    n_host = tame.shape[1] - n_metrics
    host = np.zeros((len(rows), len(table.types), n_host))
    host[np.arange(len(rows)), type_id] = tame[:, n_metrics:]
    own = np.where(table.owner[None, :] == type_id[:, None], tame[:, :n_metrics], 0.0)
    return RunFeatures(summary(table, space, rows, apart.to_median), own, host.reshape(len(rows), -1), type_id)


TOO_FEW = "no training run has three earlier normal runs of the same node, benchmark and parameters; measure more"
DEALT_FOLDS = 3
LATER_FOLDS = 2


@dataclass(frozen=True)
class Scene:
    """The runs of a question, and what is learned without labels of single runs.

    Attributes:
        table, histories: the runs.
        train: (n_runs,) usable runs of the training part.
        known_normal: (n_runs,) training runs that count as normal: not under stress, or of unknown state where no run
            of the training part is known to be under stress.
        rows: (n_scored,) training runs with a label and three normal ones before them, by time.
        anomalous: (n_scored,) their labels.
        dealt: (n_scored,) fold of each, stratified by benchmark and label.
        later: (n_scored,) block of time of each, see `later_folds`.
        yardstick: for distances; all three kinds.
        spaces: correlations of the distances to the median, and of those to the last three.
        apart: distances of `rows`.
    """

    table: RunTable
    histories: Histories
    train: Bools
    known_normal: Bools
    rows: Ints
    anomalous: Bools
    dealt: Ints
    later: Ints
    yardstick: Yardstick
    spaces: tuple[MetricSpace, MetricSpace]
    apart: Distances

    @property
    def supervised(self) -> bool:
        """Whether both labels are there to learn from."""
        return bool(self.anomalous.any() and not self.anomalous.all())

    def apart_of(self, rows: Ints, normal: Bools) -> Distances:
        """Return the distances of runs from what `normal` (n_runs,) marks before them."""
        return distances(self.table, self.histories, self.yardstick, rows, normal)

    def features_of(self, rows: Ints, apart: Distances) -> RunFeatures:
        """Return what supervised detectors see."""
        return run_features(self.table, self.yardstick, self.spaces[0], rows, apart)


def scene_of(table: RunTable, in_training: Bools, seed: int) -> Scene:
    """Return the scene of runs.

    Args:
        table: the runs.
        in_training: (n_runs,).
        seed: of the folds.

    Raises:
        NotEnoughData: when no training run has three earlier normal ones.
    """
    train = in_training & table.usable
    told_bad = bool((table.label[train] == 1).any())
    counted = train & ((table.label != UNKNOWN) | (not told_bad))
    normal, histories = counted & (table.label != 1), Histories(table)
    by_time = table.order[train[table.order]]  # the order of the table's rows decides nothing
    rows = with_history(histories, by_time[counted[by_time]], normal)
    if not len(rows):
        raise NotEnoughData(TOO_FEW)
    anomalous = table.label[rows] == 1
    yardstick = learn_yardstick(table, histories, by_time, normal)
    apart = distances(table, histories, yardstick, rows, normal)
    good = ~anomalous
    rank = np.argsort(table.order)
    return Scene(
        table=table,
        histories=histories,
        train=train,
        known_normal=normal,
        rows=rows,
        anomalous=anomalous,
        dealt=dealt_folds(table.type_id[rows] * 2 + anomalous, DEALT_FOLDS, seed),
        later=later_folds(table.cell[rows], rank[rows], LATER_FOLDS),
        yardstick=yardstick,
        spaces=(
            learn_space(table, yardstick, rows[good], apart.to_median[good]),
            learn_space(table, yardstick, rows[good], apart.to_three[good]),
        ),
        apart=apart,
    )


def fold_shares(scene: Scene) -> Floats:
    """Return (n_dealt + n_later, n_scored) 1 where a fold's model may learn from a run."""
    dealt = [scene.dealt != fold for fold in range(DEALT_FOLDS)]
    later = [scene.later < block for block in range(1, LATER_FOLDS + 1)]
    return np.array([*dealt, *later], dtype=np.float64)


def unseen_scores(scene: Scene, by_fold: Floats) -> tuple[Floats, Floats]:
    """Return (n_scored,) scores by the dealt folds, and by the later ones; NaN for runs of block 0 in the latter.

    Args:
        scene: the runs.
        by_fold: (n_dealt + n_later, n_scored) scores of each fold's model.
    """
    places = np.arange(len(scene.rows))
    later = np.where(scene.later > 0, by_fold[DEALT_FOLDS + np.maximum(scene.later, 1) - 1, places], np.nan)
    return by_fold[scene.dealt, places], later


Score = Callable[[Ints, Bools], Floats]
"""From rows and the (n_runs,) runs that count as normal to scores, higher = more anomalous."""


@dataclass(frozen=True)
class Fitted:
    """A detector after training.

    Attributes:
        score: for any runs.
        dealt, later: (n_scored,) scores of training runs that its fold had not seen, see `unseen_scores`.
    """

    score: Score
    dealt: Floats
    later: Floats
