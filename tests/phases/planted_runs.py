"""Runs with planted phases: a table of samples and the truth beside it."""

import numpy as np
import pandas as pd

COUNTERS = tuple(f"c{i}" for i in range(8))


def samples_of(runs):
    """A table of samples from {(workload, run): {counter: values}}, one a second."""
    frames = []
    for (workload, run), columns in runs.items():
        frame = pd.DataFrame(columns)
        frame.insert(0, "t", np.arange(1, len(frame) + 1, dtype=float))
        frame.insert(0, "run", run)
        frame.insert(0, "workload", workload)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def planted(n_workloads=5, n_runs=4, seconds=30, seed=0, spread=0.15):
    """Workloads that differ in the levels of their two phases; their runs by `spread` and in where the change is."""
    draw = np.random.default_rng(seed)
    levels = draw.normal(5, 1.5, (n_workloads, 2, len(COUNTERS)))
    runs = {}
    for workload in range(n_workloads):
        for run in range(n_runs):
            own = levels[workload] + draw.normal(0, spread, (2, len(COUNTERS)))
            change = int(seconds * draw.uniform(0.4, 0.6))
            phase = (np.arange(seconds) >= change).astype(int)
            log = own[phase] + draw.normal(0, 0.05, (seconds, len(COUNTERS)))
            runs[f"w{workload}", str(run + 1)] = dict(zip(COUNTERS, np.expm1(np.maximum(log, 0)).T, strict=True))
    return samples_of(runs)
