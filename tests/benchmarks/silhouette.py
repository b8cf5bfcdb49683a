"""Exact Euclidean silhouettes of 90,000 x 10 in 25 clusters against scikit-learn, and the share of the peak rate."""

from tests.benchmarks.measure import Measured, beside, run_side

N_ROWS, N_DIMS, N_CLUSTERS = 90_000, 10, 25

DATA = f"""
import time
import numpy as np
rng = np.random.default_rng(0)
labels = rng.integers(0, {N_CLUSTERS}, {N_ROWS})
points = rng.normal(size=({N_CLUSTERS}, {N_DIMS}))[labels] * 3 + rng.normal(size=({N_ROWS}, {N_DIMS}))
"""

OURS = (
    DATA
    + """
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.silhouettes import exact_silhouettes
from workprof.profiles.fit import warm_kernels
warm_kernels(ProfileSettings())
times = []
for _ in range(3):
    started = time.perf_counter()
    found = exact_silhouettes(points, labels, "euclidean")
    times.append(time.perf_counter() - started)
seconds = min(times)
a = np.random.default_rng(1).normal(size=(2048, 2048)).astype(np.float32)
a @ a
peaks = []
for _ in range(5):
    started = time.perf_counter()
    a @ a
    peaks.append(2 * 2048**3 / (time.perf_counter() - started))
told = {"mean": found.clustered_mean, "peak_flops": max(peaks)}
"""
)

REFERENCE = (
    DATA
    + """
from sklearn.metrics import silhouette_samples
started = time.perf_counter()
found = silhouette_samples(points, labels)
seconds = time.perf_counter() - started
told = {"mean": float(found.mean())}
"""
)


def run() -> Measured:
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    difference = abs(float(str(ours.told["mean"])) - float(str(theirs.told["mean"])))
    if difference > 1e-4:
        raise AssertionError(f"the two means differ by {difference}")
    achieved = 2 * N_DIMS * N_ROWS**2 / ours.seconds
    share = achieved / float(str(ours.told["peak_flops"]))
    return beside(
        ours,
        theirs,
        "sklearn.metrics.silhouette_samples",
        note=f"{achieved / 2e9:.0f} G multiply-adds per second, {share:.0%} of the peak of a float32 matrix product",
    )
