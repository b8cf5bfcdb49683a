"""The paper's 56 HDBSCAN configurations on 100,001 x 10, against hdbscan and scikit-learn in a loop.

The loop is what anyone would write: for each configuration hdbscan.HDBSCAN(...).fit and
sklearn.metrics.silhouette_samples, always exact. It would run for hours, so a part of it is timed and scaled: one fit
per metric at full size (size 300; the others cost much the same), and one silhouette per metric on a quarter of the
rows, scaled by the square of the rows, which is what it costs.
"""

from tests.benchmarks.measure import Measured, Side, beside, run_side

PER_METRIC = 28
PART = 4

OURS = """
import time
from tests.benchmarks.published_sample import jobs
from workprof.profiles.sweep import sweep_group
from workprof.profiles.sweep import SweepSettings
frames = {{"jobs": jobs()}}
sweep = SweepSettings(preset={preset!r}, algorithms=("hdbscan",), silhouette={silhouette!r})
groups = [sweep_group(frames, group) for group in sweep.groups()]
seconds = sum(group.seconds for group in groups)
told = {{"runs": sum(len(group.runs) for group in groups)}}
"""

REFERENCE = """
import time, warnings
import hdbscan
import numpy as np
from sklearn.metrics import silhouette_samples
from tests.benchmarks.published_sample import points
warnings.simplefilter("ignore")
scaled = points()
part = scaled[np.random.default_rng(0).permutation(len(scaled))[: len(scaled) // {part}]]
fit_s, silhouette_s = [], []
for metric in ("euclidean", "manhattan"):
    started = time.perf_counter()
    labels = hdbscan.HDBSCAN(
        min_cluster_size=300, min_samples={min_samples}, metric=metric, core_dist_n_jobs=-1
    ).fit(scaled).labels_
    fit_s.append(time.perf_counter() - started)
    started = time.perf_counter()
    silhouette_samples(part, np.arange(len(part)) % (labels.max() + 2), metric=metric)
    silhouette_s.append((time.perf_counter() - started) * {part} ** 2)
seconds = {per_metric} * (sum(fit_s) + sum(silhouette_s))
told = {{"fit_s": fit_s, "silhouette_s": silhouette_s}}
"""


def measure(preset: str, silhouette: str) -> Measured:
    """Return our sweep's time and the loop's, scaled, over the same configurations."""
    ours = run_side(OURS.format(preset=preset, silhouette=silhouette))
    min_samples = 300 if preset == "paper" else _quick_min_samples()
    loop = run_side(REFERENCE.format(part=PART, per_metric=PER_METRIC, min_samples=min_samples))
    return beside(
        ours,
        loop,
        "hdbscan and exact sklearn silhouettes in a loop, a part timed and scaled",
        note=f"{ours.told['runs']} runs; {_said(loop)}",
    )


def _quick_min_samples() -> int:
    from workprof.profiles.sweep import QUICK_MIN_SAMPLES

    return QUICK_MIN_SAMPLES


def _said(loop: Side) -> str:
    fits, silhouettes = loop.told["fit_s"], loop.told["silhouette_s"]
    parts = [
        f"{metric}: fit {fit:.0f} s, silhouettes {silhouette:.0f} s (from 1/{PART} of the rows)"
        for metric, fit, silhouette in zip(("euclidean", "manhattan"), fits, silhouettes, strict=True)
    ]
    return f"the loop's run, {'; '.join(parts)}; x {PER_METRIC}"
