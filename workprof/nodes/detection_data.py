"""What every detector shares: the settings, the runs with their folds, what is known of them, and their features."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.nodes.histories import (
    UNKNOWN,
    Distances,
    DistanceScale,
    Histories,
    RunTable,
    history_distances,
    learn_distance_scale,
    with_history,
)

CORRECTED, FAITHFUL = "corrected", "faithful"

PERONA, COMBINED, CHOSEN = "perona", "combined", "chosen"
RULES = ("robust-z", "ewma", "mahalanobis")
"""Baselines that learn nothing from labels."""

FOREST, LOGISTIC = "isolation-forest", "logistic"
BASELINES = (*RULES, FOREST, LOGISTIC)
DETECTORS = (PERONA, *BASELINES, COMBINED)


DETECTOR_WORDS = {
    CHOSEN: "Best on validation",
    PERONA: "Logistic + embedding",
    "robust-z": "Robust z-score",
    "ewma": "Weighted mean (EWMA)",
    "mahalanobis": "Mahalanobis distance",
    FOREST: "Isolation forest",
    LOGISTIC: "Logistic regression",
    COMBINED: "Combined",
}


def detector_word(name: str, *, alone: bool) -> str:
    """What a detector is called; `alone`: no logistic regression is beside it, as published and without labels."""
    return "Perona network" if name == PERONA and alone else DETECTOR_WORDS[name]


@settings
class DetectSettings:
    """How degraded runs are looked for; raises SettingsError for a value out of bounds."""

    mode: Annotated[
        str,
        Setting(
            "Definitions.",
            choices={
                CORRECTED: "workprof's own",
                FAITHFUL: "as published: its network, no calibration, a threshold of 0.5",
            },
            shown={CORRECTED: "Default", FAITHFUL: "As published"},
            key="nodes_detect_mode",
            label="Definitions",
        ),
    ] = CORRECTED
    detector: Annotated[
        str,
        Setting(
            "The detector that decides; the rules and the isolation forest need no labels.",
            choices={
                CHOSEN: "the best on validation inside the training part",
                PERONA: "a logistic regression with the network's embedding beside its evidence; as published, and "
                "without labels, the network alone",
                "robust-z": "a rule, the worst scored metric against the median of its history",
                "ewma": "a rule, the same against an exponentially weighted mean",
                "mahalanobis": "a rule, the distance to the last three normal runs",
                FOREST: "an isolation forest on normal runs",
                LOGISTIC: "a logistic regression",
                COMBINED: "the mean of perona and the best other one",
            },
            shown=DETECTOR_WORDS,
        ),
    ] = CHOSEN
    train_share: Annotated[
        float,
        Setting(
            "First runs of each node and benchmark, used for training where no other dataset is.",
            "share",
            least=0.1,
            most=0.9,
            label="Training part",
        ),
    ] = 0.6
    false_alarm_share: Annotated[
        float,
        Setting(
            "Share of normal runs that may be flagged, by validation. As published: a probability of 0.5.",
            "share",
            least=0.001,
            most=0.5,
            flag="--false-alarms",
            key="nodes_alarms",
            label="Maximum false alarms",
        ),
    ] = 0.05
    trials: Annotated[
        int,
        Setting(
            "Trials of a search over the network's published space (as published: 100).",
            least=0,
            most=1000,
            empty="the default recipe",
        ),
    ] = 0
    epochs: Annotated[int, Setting("Passes of the training.", least=0, most=1000, empty="the recipe's")] = 0
    seed: Annotated[int, Setting("Seed of every draw.", least=0, most=2**31 - 1, key="nodes_detect_seed")] = 0

    @property
    def is_faithful(self) -> bool:
        """Whether published definitions are chosen."""
        return self.mode == FAITHFUL


def stratified_folds(strata: Ints, n_folds: int, seed: int) -> Ints:
    """(n,) fold numbers: each stratum is shuffled and dealt out, one stratum going on where the last ended."""
    rng = np.random.default_rng(seed)
    fold = np.zeros(len(strata), dtype=np.int64)
    dealt = 0
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        fold[members] = (dealt + np.arange(len(members))) % n_folds
        dealt += len(members)
    return fold


def time_blocks(cells: Ints, order: Ints, n_folds: int) -> Ints:
    """(n,) blocks of time within each cell: 0 is only learned from, block k is judged by all blocks before it.

    Judged blocks are of about equal size; block 0 has as many runs as two of them. `order` is the (n,) rank in time.
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
class MetricCorrelations:
    """Inverse correlations of the metrics' distances, one matrix per benchmark."""

    inverse: tuple[Floats, ...]  # per benchmark (n_own, n_own)
    columns: tuple[Ints, ...]  # per benchmark the positions of its metrics that vary


def learn_correlations(table: RunTable, scale: DistanceScale, rows: Ints, distances: Floats) -> MetricCorrelations:
    """Correlations of the distances (n_rows, n_columns) of normal training runs."""
    inverse, columns = [], []
    for kind in range(len(table.types)):
        own = np.flatnonzero((table.owner == kind) & np.isfinite(scale.spread[0, kind, : scale.n_metrics]))
        mine = np.clip(distances[table.type_id[rows] == kind][:, own], -4, 4)
        correlation = mine.T @ mine / max(len(mine), 1)
        inverse.append(np.linalg.inv(SHRUNK * correlation + (1 - SHRUNK) * np.eye(len(own))))
        columns.append(own.astype(np.int64))
    return MetricCorrelations(tuple(inverse), tuple(columns))


def mahalanobis_lengths(table: RunTable, correlations: MetricCorrelations, rows: Ints, distances: Floats) -> Floats:
    """(n_rows,) Mahalanobis lengths per metric: about 1 for a normal run."""
    lengths = np.zeros(len(rows))
    for kind, (inverse, own) in enumerate(zip(correlations.inverse, correlations.columns, strict=True)):
        here = np.flatnonzero(table.type_id[rows] == kind)
        mine = np.clip(distances[here][:, own], -CLIPPED, CLIPPED)
        lengths[here] = np.sqrt(np.maximum(np.einsum("ri,ij,rj->r", mine, inverse, mine), 0) / max(len(own), 1))
    return lengths


def worst_scored(table: RunTable, rows: Ints, distances: Floats) -> Floats:
    """(n_rows,) how far the worst metric of the aspect's score lies on its bad side; 0 without one."""
    scored = np.flatnonzero(table.scored)
    bad = -(distances[:, scored] * table.sign[scored])
    own = table.owner[scored][None, :] == table.type_id[rows][:, None]
    return np.where(own.any(axis=1), np.where(own, bad, -np.inf).max(axis=1, initial=-np.inf), 0.0)


def general_features(table: RunTable, correlations: MetricCorrelations, rows: Ints, distances: Floats) -> Floats:
    """(n_rows, 8) figures that mean the same for every benchmark, on a scale that tames large ones.

    Mean and worst of the scored metrics, worst, median and mean of all directed ones (negative = worse than the
    history), length, largest and median distance of any metric.
    """
    features = np.zeros((len(rows), 8))
    for place, row in enumerate(rows.tolist()):
        own = correlations.columns[table.type_id[row]]
        mine, sign, scored = distances[place, own], table.sign[own], table.scored[own]
        directed, primary = (mine * sign)[sign != 0], (mine * sign)[scored]
        features[place, :2] = (primary.mean(), primary.min()) if len(primary) else (0, 0)
        features[place, 2:5] = (directed.min(), np.median(directed), directed.mean()) if len(directed) else (0, 0, 0)
        features[place, 6:] = (np.abs(mine).max(), np.median(np.abs(mine))) if len(mine) else (0, 0)
    features[:, 5] = mahalanobis_lengths(table, correlations, rows, distances)
    return np.asarray(np.arcsinh(features))


@dataclass(frozen=True)
class RunFeatures:
    """Features of scored runs in blocks, so that a model can weigh the blocks."""

    general: Floats  # (n, 8) of `general_features`
    own: Floats  # (n, n_metrics) distances of the run's own metrics; 0 for those of other benchmarks
    host: Floats  # (n, n_types * n_host) distances of the host's values, in the columns of the run's benchmark


TOO_FEW = "no training run has three earlier normal runs of the same node, benchmark and parameters; measure more"
N_FOLDS = 3
N_BLOCKS = 2


@dataclass(frozen=True)
class DetectionData:
    """The runs of a question, and what is learned without labels of single runs."""

    table: RunTable  # and `histories`: the runs
    histories: Histories
    train: Bools  # (n_runs,) usable runs of the training part
    # (n_runs,) training runs that count as normal: not under stress, or of unknown state where no run of the training
    # part is known to be under stress
    known_normal: Bools
    rows: Ints  # (n_scored,) training runs with a label and three normal ones before them, by time
    anomalous: Bools  # (n_scored,) their labels
    fold: Ints  # (n_scored,) fold of each, stratified by benchmark and label
    time_block: Ints  # (n_scored,) block of time of each, see `time_blocks`
    scale: DistanceScale  # for distances; all three kinds
    # correlations of the distances to the median, and of those to the last three
    correlations: tuple[MetricCorrelations, MetricCorrelations]
    distances: Distances  # of `rows`

    @property
    def supervised(self) -> bool:
        """Whether both labels are there to learn from."""
        return bool(self.anomalous.any() and not self.anomalous.all())

    def distances_of(self, rows: Ints, normal: Bools) -> Distances:
        """The distances of runs from what `normal` (n_runs,) marks before them."""
        return history_distances(self.table, self.histories, self.scale, rows, normal)

    def features_of(self, rows: Ints, distances: Distances) -> RunFeatures:
        """The features of runs, from their distances to the median of their history."""
        tame = np.arcsinh(distances.to_median)
        n_metrics, type_id = self.scale.n_metrics, self.table.type_id[rows]
        host = np.zeros((len(rows), len(self.table.types), tame.shape[1] - n_metrics))
        host[np.arange(len(rows)), type_id] = tame[:, n_metrics:]
        return RunFeatures(
            general=general_features(self.table, self.correlations[0], rows, distances.to_median),
            own=np.where(self.table.owner[None, :] == type_id[:, None], tame[:, :n_metrics], 0.0),
            host=host.reshape(len(rows), -1),
        )


def detection_data(table: RunTable, in_training: Bools, seed: int) -> DetectionData:
    """The data of runs; `in_training` is (n_runs,).

    Raises NotEnoughData when no training run has three earlier normal ones.
    """
    train = in_training & table.usable
    any_stressed = bool((table.label[train] == 1).any())
    counted = train & ((table.label != UNKNOWN) | (not any_stressed))
    normal, histories = counted & (table.label != 1), Histories(table)
    by_time = table.order[train[table.order]]  # the order of the table's rows decides nothing
    rows = with_history(histories, by_time[counted[by_time]], normal)
    if not len(rows):
        raise NotEnoughData(TOO_FEW)
    anomalous = table.label[rows] == 1
    scale = learn_distance_scale(table, histories, by_time, normal)
    own_distances = history_distances(table, histories, scale, rows, normal)
    good = ~anomalous
    rank = np.argsort(table.order)
    return DetectionData(
        table=table,
        histories=histories,
        train=train,
        known_normal=normal,
        rows=rows,
        anomalous=anomalous,
        fold=stratified_folds(table.type_id[rows] * 2 + anomalous, N_FOLDS, seed),
        time_block=time_blocks(table.cell[rows], rank[rows], N_BLOCKS),
        scale=scale,
        correlations=(
            learn_correlations(table, scale, rows[good], own_distances.to_median[good]),
            learn_correlations(table, scale, rows[good], own_distances.to_three[good]),
        ),
        distances=own_distances,
    )


def fold_shares(data: DetectionData) -> Floats:
    """(n_folds + n_blocks, n_scored) 1 where a fold's model may learn from a run."""
    stratified = [data.fold != fold for fold in range(N_FOLDS)]
    later = [data.time_block < block for block in range(1, N_BLOCKS + 1)]
    return np.array([*stratified, *later], dtype=np.float64)


def out_of_fold_scores(data: DetectionData, by_fold: Floats) -> tuple[Floats, Floats]:
    """(n_scored,) scores by the stratified folds, and by the later ones; NaN for runs of block 0 in the latter.

    `by_fold` is (n_folds + n_blocks, n_scored), scores of each fold's model.
    """
    places = np.arange(len(data.rows))
    later = np.where(data.time_block > 0, by_fold[N_FOLDS + np.maximum(data.time_block, 1) - 1, places], np.nan)
    return by_fold[data.fold, places], later


Score = Callable[[Ints, Bools], Floats]
"""From rows and the (n_runs,) runs that count as normal to scores, higher = more anomalous."""


@dataclass(frozen=True)
class FittedDetector:
    """A detector after training."""

    score: Score  # for any runs
    # both: (n_scored,) scores of training runs by models that had not seen them, see `out_of_fold_scores`
    out_of_fold: Floats
    later_blocks: Floats
