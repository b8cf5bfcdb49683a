"""Windows of a scene as the network reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.nodes.detection.baselines import Blend
from workprof.nodes.detection.scene import Scene
from workprof.nodes.detection.windows import HostScaling, edge_mask, edges_of, learn_host_scaling, windows_of
from workprof.nodes.network import Inputs
from workprof.nodes.preprocess.preprocess import Preparation, inputs_of, learn_preparation, owned
from workprof.nodes.preprocess.published import learn_published, published_table

NORM_ORDER = 10
SMALL = 1e-12
EDGE = 0.1
"""Inputs end this far outside the range of training: one run far off (a latency a hundred times as long) would outweigh
all others in a squared error. What judges a run beside the network sees every value as it is."""

LEAST_RHO_SHARE = 0.5
"""Of the smallest norm: the published minimum less a standard deviation can be negative, which asks for codes of 0."""


@dataclass(frozen=True)
class Reading:
    """How windows become arrays, learned from the training part.

    Attributes:
        preparation: of the metrics.
        hosts: of the host values.
        targets: (n_runs, n_columns) every run as the decoder is to restore it.
        owned: (n_runs, n_columns) where it was measured.
        n_outside: (n_runs,) measured values that were moved to the edge of the inputs; published: none is moved.
        size: (n_runs,) 10-norm over a run's own directed metrics.
        least: (n_types,) rho, see `training.rank_anomalous`.
        blend: of the evidence beside the codes; None for the published network, which has none.
    """

    preparation: Preparation
    hosts: HostScaling
    targets: Floats
    owned: Bools
    n_outside: Ints
    size: Floats
    least: Floats
    blend: Blend | None


def learn_reading(scene: Scene, blend: Blend | None) -> Reading:
    """Return how the windows of a scene become arrays; without `blend` as published: one-hot types, mean filling."""
    table, train = scene.table, np.flatnonzero(scene.train)
    if blend is None:
        table = published_table(table)
    preparation = learn_published(table, train) if blend is None else learn_preparation(table, train)
    targets, own = inputs_of(table, preparation.scaling), owned(table, preparation.scaling)
    outside = own & (np.abs(targets - 0.5) > 0.5 + EDGE) & (blend is not None)
    targets = np.where(outside, np.clip(targets, -EDGE, 1 + EDGE), targets)
    judged = own & (preparation.scaling.directed | (blend is None))
    if blend is None:
        one_hot = np.eye(len(table.types))[table.type_id]
        every = np.ones_like(one_hot, dtype=bool)
        targets, own, judged = (np.hstack(pair) for pair in ((targets, one_hot), (own, every), (judged, every)))
    size = norm(np.where(judged, targets, 0.0))
    least = np.array([_least(size[scene.known_normal & (table.type_id == kind)]) for kind in range(len(table.types))])
    hosts = learn_host_scaling(table, train, inverted=blend is None)
    return Reading(preparation, hosts, targets, own, outside.sum(axis=1).astype(np.int64), size, least, blend)


def read_windows(scene: Scene, reading: Reading, rows: Ints, normal: Bools) -> Inputs:
    """Return the windows of rows that have three normal ones before them.

    What a run's benchmark does not measure reaches the encoder as 0 and what it measures as 0.5 to 1.5, the more the
    fewer metrics it has, so that every run comes in at the same strength; the published network is given the training
    mean instead, and the type as one-hot.
    """
    windows = windows_of(scene.histories, rows, normal)
    label = np.zeros(windows.rows.shape)
    label[:, -1] = scene.table.label[rows] == 1
    runs = reading.targets if reading.blend is None else strengthened(reading.targets, reading.owned)
    evidence = np.zeros((len(rows), 0))
    if reading.blend is not None:
        evidence = reading.blend.design(scene.features_of(rows, scene.apart_of(rows, normal)))
    return Inputs(
        runs=runs[windows.rows],
        targets=reading.targets[windows.rows],
        counted=reading.owned[windows.rows].astype(np.float64),
        edges=edges_of(scene.table, windows, reading.hosts),
        mask=edge_mask(np.ones(windows.rows.shape, dtype=bool)),
        label=label,
        kind=scene.table.type_id[rows],
        size=reading.size[windows.rows],
        least=reading.least[scene.table.type_id[rows]],
        evidence=evidence,
    )


def strengthened(targets: Floats, own: Bools) -> Floats:
    """Return (n_runs, n_columns) 0 where not measured, else 0.5 + target, times sqrt(columns / measured ones)."""
    share = own.sum(axis=1, keepdims=True) / own.shape[1]
    return np.where(own, (0.5 + targets) / np.sqrt(np.maximum(share, 1 / own.shape[1])), 0.0)


def norm(values: Floats) -> Floats:
    """Return the 10-norm over the last axis."""
    largest = np.maximum(np.abs(values).max(axis=-1, keepdims=True), SMALL)
    return np.asarray(largest[..., 0] * ((np.abs(values) / largest) ** NORM_ORDER).sum(axis=-1) ** (1 / NORM_ORDER))


def _least(sizes: Floats) -> float:
    if not len(sizes):
        return 1.0
    return float(max(sizes.min() - sizes.std(), LEAST_RHO_SHARE * sizes.min(), SMALL))
