"""A re-cut of the kept spanning tree at 100,001 rows against a refit: search, tree and cut."""

from tests.benchmarks.measure import Measured, run_side

CODE = """
import time
from tests.benchmarks.published_sample import points
from workprof.profiles.tree import cut
from workprof.profiles.tree import find_neighbours
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.tree import build_spanning_tree
from workprof.profiles.fit import warm_kernels
scaled = points()
warm_kernels(ProfileSettings())
started = time.perf_counter()
tree = build_spanning_tree(find_neighbours(scaled, "euclidean", (300,)), 300)
cut(tree, 300)
refit_s = time.perf_counter() - started
times = []
for size in (200, 250, 300, 350, 400, 500, 600):
    started = time.perf_counter()
    cut(tree, size)
    times.append(time.perf_counter() - started)
seconds = sorted(times)[len(times) // 2]
told = {"refit_s": refit_s, "slowest_s": max(times)}
"""


def run() -> Measured:
    side = run_side(CODE)
    refit_s = float(str(side.told["refit_s"]))
    return Measured(
        ratio=refit_s / side.seconds,
        ours_s=side.seconds,
        reference_s=refit_s,
        ours_mb=side.mb,
        reference_mb=None,
        reference="our own refit: neighbours, spanning tree, cut",
        note=f"median of seven sizes at 100,001 rows; the slowest took {side.told['slowest_s']:.2f} s",
    )
