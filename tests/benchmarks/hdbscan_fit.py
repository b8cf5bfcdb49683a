"""Our HDBSCAN fit (neighbours, spanning tree, cut) beside hdbscan and fast_hdbscan at three sizes, 15,000 to 300,000.

min_cluster_size and min_samples are 0.3 % of the rows, as `profiles fit` takes by default. The ratio is that to hdbscan
at the largest size measured; BENCH_SIZES=15000,100000 measures others. Compiling is done before any clock starts.
Labels are compared by the adjusted Rand index, outliers a group of their own.
"""

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tests.benchmarks.measure import Measured, Side, beside, run_side

SIZES = "15000,100000,300000"
SHARE = 0.003

DATA = """
import time
import warnings
import numpy as np
from tests.benchmarks.published_sample import points
warnings.simplefilter("ignore")
scaled, size = points({rows}), {size}
"""
FITS = {
    "ours": """
from workprof.profiles.fit import warm_kernels
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.tree import build_spanning_tree, cut, find_neighbours
warm_kernels(ProfileSettings())
started = time.perf_counter()
labels = cut(build_spanning_tree(find_neighbours(scaled, "euclidean", (size,)), size), size).labels
""",
    "hdbscan": """
import hdbscan
started = time.perf_counter()
labels = hdbscan.HDBSCAN(min_cluster_size=size, min_samples=size, core_dist_n_jobs=-1).fit(scaled).labels_
""",
    "fast_hdbscan": """
import fast_hdbscan
fast_hdbscan.HDBSCAN(min_cluster_size=size, min_samples=size).fit(scaled[:2_000])
started = time.perf_counter()
labels = fast_hdbscan.HDBSCAN(min_cluster_size=size, min_samples=size).fit(scaled).labels_
""",
}
END = """
seconds = time.perf_counter() - started
np.save({path!r}, labels)
told = {{}}
"""


def run() -> Measured:
    from sklearn.metrics import adjusted_rand_score

    names = [name for name in FITS if name == "ours" or find_spec(name)]
    notes: list[str] = []
    sides: dict[str, Side] = {}
    for rows in (int(text) for text in os.environ.get("BENCH_SIZES", SIZES).split(",")):
        labels = {}
        with tempfile.TemporaryDirectory(prefix="workprof-bench-") as scratch:
            for name in names:
                path = str(Path(scratch) / f"{name}.npy")
                given = {"rows": rows, "size": max(20, round(SHARE * rows)), "path": path}
                sides[name] = run_side(DATA.format(**given) + FITS[name] + END.format(**given))
                labels[name] = np.load(path)
        told = [
            f"{name} {side.seconds:.1f} s, {side.mb:.0f} MB"
            + ("" if name == "ours" else f", ARI {adjusted_rand_score(labels[name], labels['ours']):.4f}")
            for name, side in sides.items()
        ]
        notes.append(f"{rows:,} rows: {'; '.join(told)}")
    if "fast_hdbscan" not in names:
        notes.append("fast_hdbscan is not installed")
    ours, theirs = sides["ours"], sides["hdbscan"]
    return beside(
        ours,
        theirs,
        "hdbscan on the same points",
        note=" | ".join(notes),
    )
