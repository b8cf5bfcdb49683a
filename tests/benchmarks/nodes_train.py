"""Four members of the network trained at once against the same members one after the other, on simulated runs."""

from tests.benchmarks.measure import Measured, beside, run_side

N_MEMBERS, N_WINDOWS, EPOCHS = 4, 176, 20

DATA = f"""
import time
import numpy as np
from workprof.nodes.network import Inputs, Recipe
from workprof.nodes.training import TERMS, train
rng = np.random.default_rng(0)
n = {N_WINDOWS}
runs = rng.uniform(0, 1, (n, 4, 120))
label = np.zeros((n, 4))
label[::5, -1] = 1
inputs = Inputs(
    runs, runs, (rng.random(runs.shape) < 0.2).astype(float), rng.normal(size=(n, 4, 4, 31)),
    np.broadcast_to(np.tril(np.ones((4, 4), dtype=bool)), (n, 4, 4)), label, np.arange(n) % 6,
    rng.uniform(0.5, 1, (n, 4)), np.full(n, 0.4), rng.normal(size=(n, 240)),
)
recipe = Recipe(epochs={EPOCHS})
everything = lambda members: (inputs, np.ones((members, n)), recipe)
"""

OURS = (
    DATA
    + f"""
started = time.perf_counter()
found = train(*everything({N_MEMBERS}), np.arange({N_MEMBERS}))
seconds = time.perf_counter() - started
told = {{"loss": [float(one) for one in found.losses[-1].sum(axis=1)]}}
"""
)

REFERENCE = (
    DATA
    + f"""
started = time.perf_counter()
found = [train(*everything(1), np.array([0])) for _ in range({N_MEMBERS})]
seconds = time.perf_counter() - started
told = {{"loss": [float(one.losses[-1, 0].sum()) for one in found]}}
"""
)


def run() -> Measured:
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    told, expected = ours.told["loss"], theirs.told["loss"]
    if abs(told[0] / expected[0] - 1) > 1e-6:
        raise AssertionError(f"the first members differ: losses {told[0]} and {expected[0]}")
    return beside(
        ours,
        theirs,
        "the same members one after the other",
    )
