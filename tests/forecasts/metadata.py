"""A synthetic sample with submit-time metadata, and tables small enough to count by hand."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.synthetic.pai import write_pai_sample

NAMES = {
    "inst_num": "instances",
    "plan_cpu": "requested_cpu_percent",
    "plan_gpu": "requested_gpu_percent",
    "plan_mem": "requested_memory_bytes",
    "start_time": "start_time_s",
}


@cache
def sample(rows=12_000, seed=3):
    """Return a synthetic sample under workprof's names; `profile` is the planted truth."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "sample.parquet"
        write_pai_sample(path, rows, seed)
        jobs = pd.read_parquet(path).rename(columns=NAMES)
    jobs["duration_s"] = jobs["end_time"] - jobs["start_time_s"]
    jobs["row_id"] = np.arange(len(jobs)) + 500
    return jobs.assign(profile=jobs["truth_profile"])


def small_table(n_rows=400, seed=0):
    """Return jobs of two profiles and outliers whose task and plan say which, with many users and groups."""
    draw = np.random.default_rng(seed)
    kind = draw.integers(0, 3, n_rows)
    return pd.DataFrame(
        {
            "job_name": [f"j{i // 2}" for i in range(n_rows)],
            "group": [f"g{i}" for i in draw.integers(0, 60, n_rows)],
            "user": [f"u{i}" for i in draw.integers(0, 8, n_rows)],
            "task_name": np.array(["worker", "ps", "odd"])[kind],
            "requested_gpu_percent": np.where(kind == 1, np.nan, 50.0 + 50 * kind),
            "start_time_s": np.sort(draw.uniform(0, 1e6, n_rows)),
            "duration_s": draw.uniform(1, 1000, n_rows),
            "profile": np.array([0, 1, -1])[kind],
        }
    )
