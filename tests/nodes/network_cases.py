"""Small windows for tests of the network."""

import numpy as np

from workprof.nodes.network import Inputs

N_COLUMNS, N_EDGE, N_TYPES, N_EVIDENCE = 5, 3, 2, 2


def windows(n=6, seed=0, anomalous=True):
    rng = np.random.default_rng(seed)
    label = np.zeros((n, 4))
    if anomalous:
        label[::3, -1] = 1
    runs = rng.uniform(0, 1, (n, 4, N_COLUMNS))
    return Inputs(
        runs=runs,
        targets=runs,
        counted=(rng.random(runs.shape) < 0.7).astype(float),
        edges=rng.normal(0, 1, (n, 4, 4, N_EDGE)),
        mask=np.broadcast_to(np.tril(np.ones((4, 4), dtype=bool)), (n, 4, 4)).copy(),
        label=label,
        kind=np.arange(n) % N_TYPES,
        size=rng.uniform(0.5, 1, (n, 4)),
        least=np.full(n, 0.4),
        evidence=rng.normal(0, 1, (n, N_EVIDENCE)),
    )
