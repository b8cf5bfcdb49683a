"""Perona's network as a detector: windows of runs, trained in folds and as a whole, and the search for its recipe."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.extras import needed
from workprof.core.progress import Progress, silent
from workprof.nodes.baselines import FeatureWeights, logistic_weights
from workprof.nodes.calibration import calibrated
from workprof.nodes.detection_data import (
    DetectionData,
    DetectSettings,
    FittedDetector,
    fold_shares,
    out_of_fold_scores,
    stratified_folds,
)
from workprof.nodes.histories import Histories, RunTable
from workprof.nodes.network import (
    PUBLISHED,
    SMALL,
    SPACE,
    WINDOW,
    Inputs,
    NetworkOutput,
    Recipe,
    SavedNetwork,
    apply_network,
    member_distances,
    member_logits,
    norm_10,
)
from workprof.nodes.preprocess import Preparation, inputs_of, learn_preparation, learn_published, owned, published_table
from workprof.nodes.training import selection_loss, train

BETWEEN = 7
"""Numbers of an edge beside the host values of its two runs."""

HORIZONS_S = (60.0, 3600.0, 86400.0, 604800.0)
NOTHING = -1.0


@dataclass(frozen=True)
class Windows:
    """Windows of four runs; the first three are normal, the last one is judged."""

    rows: Ints  # (n, 4) positions in the table, by time
    before: Floats  # (n, 4) whether the run right before each was anomalous; -1 for the first of the window
    # (n, 4, 4) anomalous runs of the cell between run a and run b, [window, b, a]; -1 for a = b. Both as the paper
    # describes them, over all runs. As published, over those of the window: as its predecessors are normal, that is 0
    between: Floats

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class HostScaling:
    """How host values become numbers from 0 to 1, learned from training runs; all (n_host,)."""

    low: Floats  # and `high`: range of the training runs
    high: Floats
    inverted: bool  # 1 / (value + .001), as published, else the logarithm of 1 + value


def windows_of(histories: Histories, rows: Ints, normal: Bools, *, published: bool = False) -> Windows:
    """The windows of rows that have three earlier normal runs; `normal` is (n_runs,).

    Source: Perona's public code, which looks for anomalous runs among those of the window only (`published`), where the
    paper speaks of executions in between. A run is judged by what `normal` says of those before it: labels in training,
    verdicts later.
    """
    places = np.array([[*histories.normal_before(row, normal)[-(WINDOW - 1) :], row] for row in rows.tolist()])
    places = places.reshape(-1, WINDOW).astype(np.int64)
    before, between = np.full(places.shape, NOTHING), np.full((len(places), WINDOW, WINDOW), NOTHING)
    if published:
        before[:, 1:] = 0.0
        between[:, *np.tril_indices(WINDOW, -1)] = 0.0
        return Windows(places, before, between)
    for window, members in enumerate(places.tolist()):
        earlier = histories.before(members[-1])
        place_of = {row: place for place, row in enumerate(earlier.tolist())}
        seen = np.append(0, np.cumsum(~normal[earlier]))
        at = np.array([*(place_of[row] for row in members[:-1]), len(earlier)])
        before[window, 1:] = [float(not normal[earlier[place - 1]]) for place in at[1:]]
        for later in range(WINDOW):
            between[window, later, :later] = seen[at[later]] - seen[at[:later]]
    return Windows(places, before, between)


def edge_mask(normal: Bools) -> Bools:
    """(n, 4, 4) which edges a -> b exist, [window, b, a]: earlier `normal` (n, 4) runs, and each run itself."""
    earlier = np.tril(np.ones((WINDOW, WINDOW), dtype=bool))
    return np.asarray(earlier & (normal[:, None, :] | np.eye(WINDOW, dtype=bool)))


def learn_host_scaling(table: RunTable, train: Ints, *, inverted: bool) -> HostScaling:
    """The range of host values over training runs; a value that no run has keeps the range 0 to 1."""
    values = _host_numbers(table.host[train], inverted=inverted)
    known = np.isfinite(values).any(axis=0)
    low, high = np.zeros(values.shape[1]), np.ones(values.shape[1])
    low[known], high[known] = np.nanmin(values[:, known], axis=0), np.nanmax(values[:, known], axis=0)
    return HostScaling(low, high, inverted)


def edges_of(table: RunTable, windows: Windows, scaling: HostScaling) -> Floats:
    """(n, 4, 4, 2 n_host + 7) numbers of the edges a -> b, [window, b, a].

    Host values of a, closeness 2^-(b-a), what `Windows` tells, four views of the time between, host values of b;
    a missing host value is 0.5.

    Source: Perona's public code. Its host values are differences to the minute before the run; ours are the run's own
    where nothing was recorded before it. Its time between runs loses whole days; ours does not.
    """
    hosts = _host_numbers(table.host, inverted=scaling.inverted)
    span = np.where(scaling.high > scaling.low, scaling.high - scaling.low, 1.0)
    hosts = np.nan_to_num((hosts - scaling.low) / span, nan=0.5)[windows.rows]  # (n, 4, n_host)
    started = table.parsed.started_s[windows.rows]
    gap_s = np.maximum(started[:, :, None] - started[:, None, :], 0.0)
    steps = np.maximum(np.arange(WINDOW)[:, None] - np.arange(WINDOW)[None, :], 0)
    n, shape = len(windows), (len(windows), WINDOW, WINDOW)
    parts = [
        np.broadcast_to(hosts[:, None, :, :], (*shape, hosts.shape[-1])),
        np.broadcast_to(0.5**steps, shape)[..., None],
        np.broadcast_to(windows.before[:, :, None], shape)[..., None],
        windows.between[..., None],
        np.stack([0.5 ** np.log1p(gap_s / horizon) for horizon in HORIZONS_S], axis=-1),
        np.broadcast_to(hosts[:, :, None, :], (*shape, hosts.shape[-1])),
    ]
    return np.concatenate(parts, axis=-1).reshape(n, WINDOW, WINDOW, 2 * hosts.shape[-1] + BETWEEN)


def _host_numbers(host: Floats, *, inverted: bool) -> Floats:
    return np.asarray(1 / (host + 0.001) if inverted else np.log1p(np.maximum(host, 0.0)))


INPUT_MARGIN = 0.1
"""Inputs end this far outside the range of training: one run far off (a latency a hundred times as long) would outweigh
all others in a squared error. What judges a run beside the network sees every value as it is."""

LEAST_RHO_SHARE = 0.5
"""Of the smallest norm: the published minimum less a standard deviation can be negative, which asks for codes of 0."""


@dataclass(frozen=True)
class WindowReader:
    """How windows become arrays, learned from the training part."""

    preparation: Preparation  # of the metrics
    hosts: HostScaling  # of the host values
    targets: Floats  # (n_runs, n_columns) every run as the decoder is to restore it
    owned: Bools  # (n_runs, n_columns) where it was measured
    n_outside: Ints  # (n_runs,) measured values that were moved to the edge of the inputs; published: none is moved
    size: Floats  # (n_runs,) 10-norm over a run's own directed metrics
    least: Floats  # (n_types,) rho, see `training.rank_anomalous`
    # of the evidence beside the codes; None for the published network, which has none
    feature_weights: FeatureWeights | None
    # both: (n_edge,) range of every number of an edge over the training windows, which the published network sees
    # scaled to 0-1; 0 and 1 for ours, whose host values alone are scaled, by `hosts`
    edge_low: Floats
    edge_high: Floats


def learn_window_reader(data: DetectionData, feature_weights: FeatureWeights | None) -> WindowReader:
    """How windows become arrays; without `feature_weights` as published: one-hot types, mean filling."""
    table, by_time = data.table, data.table.order  # sums in the order of rows would differ in their last digits
    train, normal = (by_time[some[by_time]] for some in (data.train, data.known_normal))
    if feature_weights is None:
        table = published_table(table)
    preparation = learn_published(table, train) if feature_weights is None else learn_preparation(table, train)
    targets, own = inputs_of(table, preparation.scaling), owned(table, preparation.scaling)
    outside = own & (np.abs(targets - 0.5) > 0.5 + INPUT_MARGIN) & (feature_weights is not None)
    targets = np.where(outside, np.clip(targets, -INPUT_MARGIN, 1 + INPUT_MARGIN), targets)
    judged = own & (preparation.scaling.directed | (feature_weights is None))
    if feature_weights is None:
        one_hot = np.eye(len(table.types))[table.type_id]
        every = np.ones_like(one_hot, dtype=bool)
        targets, own, judged = (np.hstack(pair) for pair in ((targets, one_hot), (own, every), (judged, every)))
    size = norm_10(np.where(judged, targets, 0.0))
    least = np.array([_rho(size[normal[table.type_id[normal] == kind]]) for kind in range(len(table.types))])
    hosts = learn_host_scaling(table, train, inverted=feature_weights is None)
    low, high = _edge_range(data, hosts) if feature_weights is None else (np.zeros(1), np.ones(1))
    n_outside = outside.sum(axis=1).astype(np.int64)
    return WindowReader(preparation, hosts, targets, own, n_outside, size, least, feature_weights, low, high)


def _edge_range(data: DetectionData, hosts: HostScaling) -> tuple[Floats, Floats]:
    """Least and largest of every number of an edge over the training windows' edges; 0 to 1 without any."""
    windows = windows_of(data.histories, data.rows, data.known_normal, published=True)
    edges = edges_of(data.table, windows, hosts)[edge_mask(np.ones(windows.rows.shape, dtype=bool))]
    if not len(edges):
        return np.zeros(1), np.ones(1)
    low, high = edges.min(axis=0), edges.max(axis=0)
    return low, np.where(high > low, high, low + 1.0)


def read_windows(data: DetectionData, reader: WindowReader, rows: Ints, normal: Bools) -> Inputs:
    """The windows of rows that have three normal ones before them.

    What a run's benchmark does not measure reaches the encoder as 0 and what it measures as 0.5 to 1.5, the more the
    fewer metrics it has, so that every run comes in at the same strength; the published network is given the training
    mean instead, and the type as one-hot.
    """
    windows = windows_of(data.histories, rows, normal, published=reader.feature_weights is None)
    label = np.zeros(windows.rows.shape)
    label[:, -1] = data.table.label[rows] == 1
    runs = reader.targets if reader.feature_weights is None else strengthened(reader.targets, reader.owned)
    evidence = np.zeros((len(rows), 0))
    if reader.feature_weights is not None:
        evidence = reader.feature_weights.design(data.features_of(rows, data.distances_of(rows, normal)))
    return Inputs(
        runs=runs[windows.rows],
        targets=reader.targets[windows.rows],
        counted=reader.owned[windows.rows].astype(np.float64),
        edges=(edges_of(data.table, windows, reader.hosts) - reader.edge_low) / (reader.edge_high - reader.edge_low),
        mask=edge_mask(np.ones(windows.rows.shape, dtype=bool)),
        label=label,
        kind=data.table.type_id[rows],
        size=reader.size[windows.rows],
        least=reader.least[data.table.type_id[rows]],
        evidence=evidence,
    )


def strengthened(targets: Floats, own: Bools) -> Floats:
    """(n_runs, n_columns) 0 where not measured, else 0.5 + target, times sqrt(columns / measured ones)."""
    share = own.sum(axis=1, keepdims=True) / own.shape[1]
    return np.where(own, (0.5 + targets) / np.sqrt(np.maximum(share, 1 / own.shape[1])), 0.0)


def _rho(sizes: Floats) -> float:
    """Rho of a benchmark type from the norms of its normal runs, see `training.rank_anomalous`."""
    if not len(sizes):
        return 1.0
    return float(max(sizes.min() - sizes.std(), LEAST_RHO_SHARE * sizes.min(), SMALL))


N_MEMBERS = 3
"""Networks whose logits are averaged, so that no seed decides."""


@dataclass(frozen=True)
class PeronaDetector:
    """A trained network, and the runs that it was trained on."""

    data: DetectionData  # the runs
    reader: WindowReader  # how they become windows
    network: SavedNetwork  # recipe, weights of the members, how training went
    fitted: FittedDetector  # as every detector

    def outputs(self, rows: Ints, normal: Bools) -> tuple[Inputs, NetworkOutput]:
        """Windows and what the network tells of them, judged by what `normal` (n_runs,) marks before them."""
        inputs = read_windows(self.data, self.reader, rows, normal)
        return inputs, apply_network(self.network.weights, inputs, self.network.recipe)


def recipe_of(settings: DetectSettings) -> Recipe:
    """The recipe that settings ask for."""
    chosen = PUBLISHED if settings.is_faithful else Recipe()
    return replace(chosen, epochs=settings.epochs) if settings.epochs else chosen


def fit_perona(
    data: DetectionData,
    feature_weights: FeatureWeights,
    settings: DetectSettings,
    recipe: Recipe,
    progress: Progress = silent,
) -> PeronaDetector:
    """The network, trained on the folds of the training part and on all of it.

    In corrected mode the detector's logit gets a linear part on the same features as the logistic regression, which
    it starts from: few labelled runs then suffice, and the code adds what those features miss. The published one has
    the code only, and is trained once, on all of the training part: its scores of training runs are of runs that it
    has seen. Without labels the score is the length of code less predicted code.
    """
    reader = learn_window_reader(data, None if settings.is_faithful else feature_weights)
    inputs = read_windows(data, reader, data.rows, data.known_normal)
    n_members, folds = (1, np.zeros((0, len(data.rows)))) if settings.is_faithful else (N_MEMBERS, fold_shares(data))
    shares = np.vstack([folds, np.ones((n_members, len(data.rows)))])
    seeds = settings.seed * 1000 + np.arange(len(shares))
    start = {} if settings.is_faithful or not data.supervised else warm_start(data, feature_weights, shares)
    trained = train(inputs, shares, recipe, seeds, start, progress)
    last = {name: value[-n_members:] for name, value in trained.weights.items()}
    network = SavedNetwork(recipe, last, trained.losses[:, -n_members:].mean(axis=1))

    def score(rows: Ints, normal: Bools) -> Floats:
        inputs = read_windows(data, reader, rows, normal)
        if not data.supervised:
            return np.asarray(member_distances(network.weights, inputs, recipe).mean(axis=0))
        return apply_network(network.weights, inputs, recipe).logit

    by_member = (member_logits if data.supervised else member_distances)(trained.weights, inputs, recipe)
    if len(folds):
        scores = out_of_fold_scores(data, by_member[: len(folds)])
    else:
        scores = by_member[0], np.full(len(inputs), np.nan)
    return PeronaDetector(data, reader, network, FittedDetector(score, *scores))


def warm_start(data: DetectionData, feature_weights: FeatureWeights, shares: Floats) -> dict[str, Floats]:
    """The logistic regression of each member's own windows as first weights of the linear part."""
    weights = np.array([logistic_weights(data, feature_weights, share) for share in shares])
    return {"evidence": weights[:, :-1, None], "detect_2_bias": weights[:, -1:]}


GAINED = 1e-4
"""Log loss by which another recipe must be better than ours."""


def search_recipe(
    data: DetectionData,
    feature_weights: FeatureWeights,
    settings: DetectSettings,
    recipe: Recipe,
    progress: Progress = silent,
) -> Recipe:
    """The recipe with the least validation loss in the training part: ours or one that is found (published).

    What is not in the published space stays as `recipe` has it.

    Source: Perona's public code (its Table II): tree-structured Parzen estimator. Ours judges by folds that have not
    seen the runs. As published, one validation part judges, a quarter of the training part drawn by node, benchmark and
    label, by `training.selection_loss`; unlike there the seed of the network is not searched, no trial is ended early,
    and the network is then trained on the whole training part.
    """
    optuna = needed("optuna", "nodes")

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def loss_of(one: Recipe) -> float:
        if settings.is_faithful:
            return _published_loss(data, settings, one)
        fitted = fit_perona(data, feature_weights, settings, one).fitted
        return calibrated(data, "perona", fitted, settings.false_alarm_share).validation_loss

    def objective(trial: Any) -> float:
        progress(trial.number / settings.trials, f"Trying recipe {trial.number + 1} of {settings.trials}")
        return loss_of(_drawn(trial, recipe))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=settings.seed))
    study.optimize(objective, n_trials=settings.trials)
    best = _drawn(optuna.trial.FixedTrial(study.best_params), recipe)
    if settings.is_faithful:
        return best
    return best if study.best_value < loss_of(recipe) - GAINED else recipe


VALIDATION_PARTS = 4
"""A quarter of the training part judges recipes: of 80 % that is the published 60 / 20."""


def _published_loss(data: DetectionData, settings: DetectSettings, recipe: Recipe) -> float:
    """The validation loss of a recipe as the published search computes it."""
    inputs = read_windows(data, learn_window_reader(data, None), data.rows, data.known_normal)
    cells = np.stack([data.table.parsed.node[data.rows], data.table.parsed.benchmark[data.rows]], axis=1).astype(str)
    labels = data.table.label[data.rows].astype(str)
    strata = np.unique(np.column_stack([cells, labels]), axis=0, return_inverse=True)[1].ravel()
    judged = stratified_folds(strata.astype(np.int64), VALIDATION_PARTS, settings.seed) == 0
    trained = train(inputs, (~judged)[None].astype(np.float64), recipe, np.array([settings.seed * 1000]))
    weights = {name: value[0] for name, value in trained.weights.items()}
    loss = selection_loss(weights, inputs.at(np.flatnonzero(judged)), recipe)
    return loss if np.isfinite(loss) else WORST_LOSS


WORST_LOSS = 100.0
"""Of a training that diverged. Source: Perona's public code."""


def _drawn(trial: Any, recipe: Recipe) -> Recipe:
    drawn = {name: trial.suggest_categorical(name, list(values)) for name, values in SPACE.items()}
    drawn |= {"heads": int(drawn["heads"]), "beta": bool(drawn["beta"]), "root_weight": bool(drawn["root_weight"])}
    return replace(recipe, **drawn)
