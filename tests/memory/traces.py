"""The published traces as job tables with the columns that the store makes of them, for tests of the methods."""

import functools
from pathlib import Path

import pandas as pd

from tests.shared_data import FOLDER, PAI_SAMPLE

BUNDLED = Path(__file__).parents[2] / "data" / "sample" / "pai_sample.parquet"

NAMES = ("iwd", "eager", "methylseq", "rnaseq")


@functools.cache
def trace(name):
    """Return the finished rows of a trace; the column names are those of the store."""
    rows = pd.read_csv(FOLDER / "nextflow" / f"trace_{name}.csv", na_values="-", low_memory=False)
    rows = rows[rows["status"] == "COMPLETED"]
    named = pd.DataFrame(
        {
            "job_name": rows["name"],
            "task_name": rows["process"],
            "workload": f"trace_{name}",
            "run_name": f"trace_{name}",
            "node": rows.get("hostname"),
            "submit_time_s": rows["submit"] / 1000,
            "start_time_s": rows["start"] / 1000,
            "end_time_s": rows["complete"] / 1000,
            "duration_s": rows["realtime"] / 1000,
            "requested_cpu_percent": rows["cpus"] * 100.0,
            "requested_memory_bytes": rows["memory"],
            "cpu_usage_percent": rows["%cpu"],
            "peak_memory_bytes": rows["peak_rss"],
        }
    )
    return named.join(rows[["tag", "rss", "rchar", "attempt", "time", "native_id"]]).reset_index(drop=True)


def task_called(jobs, last_part):
    """Return the whole name of the task whose path ends so."""
    return next(name for name in jobs["task_name"].unique() if name.split(":")[-1] == last_part)


GIB = 2.0**30


@functools.cache
def pai():
    """Return the runs of the shared part of the PAI trace in the order of their starts, columns as in the store."""
    return pai_jobs(pd.read_csv(PAI_SAMPLE))


@functools.cache
def bundled():
    """Return the runs of the bundled sample likewise."""
    return pai_jobs(pd.read_parquet(BUNDLED))


def pai_jobs(rows):
    """Return rows of the joined PAI sample likewise."""
    named = rows.rename(
        columns={
            "start_time": "start_time_s",
            "end_time": "end_time_s",
            "inst_num": "instances",
            "plan_cpu": "requested_cpu_percent",
            "plan_gpu": "requested_gpu_percent",
        }
    )
    named = named.assign(
        duration_s=rows["end_time"] - rows["start_time"],
        requested_memory_bytes=rows["plan_mem"] * GIB,
        peak_memory_bytes=rows["max_mem"] * GIB,
    )
    return named.sort_values("start_time_s", kind="stable").reset_index(drop=True)
