"""Everything that detectors share: the runs, their histories, what is known of them, and how distances are measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.errors import NotEnoughData
from workprof.nodes.detection.evidence import Distances, Yardstick, distances, learn_yardstick, with_history
from workprof.nodes.detection.folds import dealt_folds, later_folds
from workprof.nodes.detection.run_features import MetricSpace, RunFeatures, learn_space, run_features
from workprof.nodes.detection.run_table import UNKNOWN, Histories, RunTable

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
