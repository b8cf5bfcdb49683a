"""The 100,001-row synthetic sample that the clustering benchmarks use, and its ten sensor columns, power-scaled."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 100_001
FIELDS = {
    "cpu_usage": "cpu_usage_percent",
    "gpu_wrk_util": "gpu_usage_percent",
    "avg_mem": "mean_memory_bytes",
    "max_mem": "peak_memory_bytes",
    "avg_gpu_wrk_mem": "mean_gpu_memory_bytes",
    "max_gpu_wrk_mem": "peak_gpu_memory_bytes",
    "read": "read_bytes",
    "write": "write_bytes",
    "read_count": "read_count",
    "write_count": "write_count",
}


def jobs(rows: int = ROWS) -> pd.DataFrame:
    """Return the sensor columns under workprof's names; a power transform does not care for their units."""
    from workprof.synthetic.pai import write_pai_sample

    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "sample.parquet"
        write_pai_sample(path, rows, 0)
        return pd.read_parquet(path, columns=[*FIELDS, "truth_profile"]).rename(columns=FIELDS)


def points(rows: int = ROWS) -> np.ndarray:
    """Return (rows, 10) power-scaled values: the paper's transform."""
    from workprof.profiles.features import prepare
    from workprof.profiles.settings import ProfileSettings

    return prepare(jobs(rows), ProfileSettings(min_cluster_size=2)).points
