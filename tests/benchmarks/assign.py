"""Profiles of a large trace: a sample of 100,000 runs fitted and every run assigned, against our own fit of all runs.

BENCH_ROWS=1000000 measures another size. The labels are compared twice: with the outliers as a group of their own, and
over the runs that both put in a profile.
"""

import os
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks.measure import Measured, Side, beside, run_side

ROWS = 300_000
CODE = """
import time
import numpy as np
from tests.benchmarks.published_sample import jobs
from workprof.profiles.fit import fit_profiles, warm_kernels
from workprof.profiles.settings import ProfileSettings
frames, settings = {{"jobs": jobs({rows})}}, ProfileSettings(sample_rows={sample})
warm_kernels(settings)
started = time.perf_counter()
fit = fit_profiles(frames, settings)
seconds = time.perf_counter() - started
np.save({path!r}, fit.labels)
told = {{"truth": fit.scores.truth_adjusted_rand, "sample_rows": fit.sample_rows}}
"""


def run() -> Measured:
    from sklearn.metrics import adjusted_rand_score

    rows = int(os.environ.get("BENCH_ROWS", ROWS))
    with tempfile.TemporaryDirectory(prefix="workprof-bench-") as scratch:

        def side(sample: int) -> tuple[Side, np.ndarray]:
            path = Path(scratch) / f"{sample}.npy"
            return run_side(CODE.format(rows=rows, sample=sample, path=str(path))), np.load(path)

        (ours, labels), (whole, reference) = side(0), side(rows)
    both, moved = (labels >= 0) & (reference >= 0), (labels < 0) != (reference < 0)
    all_of_them, inside = adjusted_rand_score(reference, labels), adjusted_rand_score(reference[both], labels[both])
    notes = (
        f"{ours.told['sample_rows']:,} runs fitted, the others assigned",
        f"adjusted Rand index against the whole fit {all_of_them:.3f} with outliers, {inside:.4f} without",
        f"{moved.mean():.1%} of the runs are in a profile of one alone",
        f"against the planted truth {ours.told['truth']:.3f} (the whole fit {whole.told['truth']:.3f})",
    )
    return beside(
        ours,
        whole,
        f"our own fit of all {rows:,} runs",
        note="; ".join(notes),
    )
