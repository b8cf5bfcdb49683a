"""Fingerprints of 60 runs of 30 s with 72 counters against NumPy and statsmodels, counter by counter.

Both sides are given the same change points, since `changepoints` measures those; ours finds them too, and that is told.
The two must agree on every statistic.
"""

from tests.benchmarks.measure import Measured, beside, run_side

N_RUNS, N_COUNTERS, N_SAMPLES = 60, 72, 30

DATA = f"""
import time
import numpy as np
from workprof.phases.fingerprints import prints_of
from workprof.phases.fingerprints import fit_normaliser, normalised
from workprof.phases.fingerprints import FingerprintSettings
from workprof.phases.runs import Run
draw = np.random.default_rng(0)
names = tuple(f"c{{i}}" for i in range({N_COUNTERS}))
def one(run):
    values = draw.normal(5, 1, ({N_COUNTERS}, 1)) + draw.normal(0, 0.2, ({N_COUNTERS}, {N_SAMPLES}))
    values[:, draw.integers(10, 20):] += draw.normal(0, 1, ({N_COUNTERS}, 1))
    return Run(f"w{{run % 6}}", str(run), np.expm1(np.abs(values)), 0.0, 0, ())
runs = [one(run) for run in range({N_RUNS})]
settings = FingerprintSettings()
known = fit_normaliser(runs, names, settings)
prints_of(runs[:1], known, settings)  # compiles, or loads what was compiled
started = time.perf_counter()
prints = prints_of(runs, known, settings)
with_search = time.perf_counter() - started
total = [float(sum(np.abs(one.values[:, :, k]).sum() for one in prints)) for k in (0, 1, 2, 4, 5, 6, 7)]
"""

OURS = (
    DATA
    + """
from workprof.phases.fingerprints import phase_statistics
series = [normalised(run, known, settings).for_statistics for run in runs]
started = time.perf_counter()
for one, values in zip(prints, series):
    for i, counter in enumerate(values):
        phase_statistics(counter, one.boundaries_of(i))
seconds = time.perf_counter() - started
told = {"total": total, "with_search_s": with_search}
"""
)

REFERENCE = (
    DATA
    + """
import warnings
from statsmodels.tsa.stattools import adfuller
warnings.simplefilter("ignore")
series = [normalised(run, known, settings).for_statistics for run in runs]
sums = np.zeros(7)
started = time.perf_counter()
for one, values in zip(prints, series):
    for i, counter in enumerate(values):
        for phase in np.split(counter, one.boundaries_of(i)):
            if len(phase) >= 5:
                adfuller(phase, maxlag=0, regression="c", autolag=None)
            summary = [phase.mean(), np.median(phase), phase.var(), *np.quantile(phase, (0.1, 0.25, 0.75, 0.9))]
            sums += np.abs(summary)
seconds = time.perf_counter() - started
told = {"total": sums.tolist()}
"""
)


def run() -> Measured:
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    for one, other in zip(ours.told["total"], theirs.told["total"], strict=True):  # type: ignore[call-overload]
        if abs(one / other - 1) > 1e-9:
            raise AssertionError(f"the two sets of statistics differ: {ours.told['total']} and {theirs.told['total']}")
    return beside(
        ours,
        theirs,
        "NumPy and statsmodels, counter by counter",
        note=f"with the search for phases: {float(str(ours.told['with_search_s'])):.2f} s for {N_RUNS} runs",
    )
