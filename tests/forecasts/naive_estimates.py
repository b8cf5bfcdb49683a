"""Slow, obvious versions of the estimators' parts."""

import numpy as np

LEVELS = (
    (("group", "task_name"), 1),
    (
        (
            "user",
            "workload",
            "task_name",
            "requested_cpu_percent",
            "requested_memory_bytes",
            "requested_gpu_percent",
            "instances",
        ),
        2,
    ),
    (("user", "workload", "task_name"), 2),
    (("workload", "task_name"), 2),
)


def same(one, other, names):
    return all(str(one[name]) == str(other[name]) for name in names)


def backoff_median(row, past, target, levels=LEVELS):
    """The median of the first cell with enough past rows (dicts), else of all."""
    for names, least in levels:
        cell = [other[target] for other in past if same(row, other, names)]
        if len(cell) >= least:
            return float(np.median(cell))
    return float(np.median([other[target] for other in past]))


def recent_quantile(row, past, target, level, bandwidth_s, levels=LEVELS, window=64):
    """The time-weighted quantile over the `window` rows of the first cell with enough rows that are nearest in time."""
    for names, least in levels:
        cell = [other for other in past if same(row, other, names) and other["job_name"] != row["job_name"]]
        if len(cell) >= least:
            near = sorted(cell, key=lambda other: abs(other["start_time_s"] - row["start_time_s"]))[:window]
            near.sort(key=lambda other: other[target])
            weights = [np.exp(-abs(o["start_time_s"] - row["start_time_s"]) / bandwidth_s) + 1e-9 for o in near]
            risen = 0.0
            for other, weight in zip(near, weights, strict=True):
                risen += weight
                if risen >= level * sum(weights) - 1e-12:
                    return float(other[target])
    return float(np.quantile([other[target] for other in past], level, method="inverted_cdf"))
