"""A dump as a Slurm site writes it: time limits in minutes, states, runs without a request or a use, still going."""

import numpy as np
import pandas as pd

STATES = ("COMPLETED", "FAILED", "OUT_OF_MEMORY", "TIMEOUT", "CANCELLED by 1000", "RUNNING", "PENDING")
MAPPING = {
    "job_name": {"from": "JobID"},
    "task_name": {"from": "JobName"},
    "user": {"from": "User"},
    "group": {"from": "Account"},
    "status": {"from": "State"},
    "submit_time_s": {"from": "Submit", "unit": "s"},
    "start_time_s": {"from": "Start", "unit": "s"},
    "end_time_s": {"from": "End", "unit": "s"},
    "duration_s": {"from": "ElapsedRaw", "unit": "s"},
    "time_limit_s": {"from": "TimelimitRaw", "unit": "min"},
    "requested_cpu_percent": {"from": "ReqCPUS", "unit": "cores"},
    "requested_gpu_percent": {"from": "ReqGPUS", "unit": "cores"},
    "requested_memory_bytes": {"from": "ReqMemGB", "unit": "GB"},
    "cpu_usage_percent": {"from": "CPUUsed", "unit": "cores"},
    "gpu_usage_percent": {"from": "GPUUsed", "unit": "cores"},
    "peak_memory_bytes": {"from": "MaxRSSKiB", "unit": "KiB"},
}
TASKS = {  # memory requested and used (GB), cores requested and used, GPUs requested and used, limit and time (h)
    "align": ((64, 6), (8, 7), (0, 0), (24, 1)),
    "blast": ((8, 6), (16, 1), (0, 0), (2, 1.5)),
    "train": ((40, 30), (4, 3), (2, 1.6), (48, 20)),
    "idle": ((16, 12), (4, 3), (4, 0), (12, 6)),
    "infer": ((16, 12), (4, 3), (1, 0.05), (12, 8)),
}


def dump(n=1500, seed=7):
    """Return the table of a dump."""
    random = np.random.default_rng(seed)
    names = random.choice(list(TASKS), n)
    shape = np.array([TASKS[name] for name in names])
    state = random.choice(STATES, n, p=[0.8, 0.06, 0.05, 0.04, 0.03, 0.01, 0.01])
    submit = 1_700_000_000 + np.sort(random.uniform(0, 60 * 86_400, n)).round()
    start = submit + random.uniform(10, 600, n).round()
    limit_min = shape[:, 3, 0] * 60
    seconds = np.minimum(shape[:, 3, 1] * 3600 * random.lognormal(0, 0.3, n), limit_min * 60).round()
    seconds = np.where(state == "TIMEOUT", limit_min * 60, seconds)
    used = shape[:, 0, 1] * random.lognormal(0, 0.2, n)
    used = np.where(state == "OUT_OF_MEMORY", shape[:, 0, 0], used)
    table = pd.DataFrame(
        {
            "JobID": [f"{number}" for number in range(10_000, 10_000 + n)],
            "JobName": names,
            "User": random.choice(["ann", "bob", "cyd", "dee"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "Account": random.choice(["bio", "ml"], n),
            "Partition": random.choice(["short", "long"], n),
            "State": state,
            "Submit": submit,
            "Start": start,
            "End": start + seconds,
            "ElapsedRaw": seconds,
            "TimelimitRaw": limit_min,
            "ReqCPUS": shape[:, 1, 0],
            "ReqGPUS": np.where(shape[:, 2, 0] > 0, shape[:, 2, 0], np.nan),
            "ReqMemGB": shape[:, 0, 0],
            "CPUUsed": shape[:, 1, 1] * random.uniform(0.7, 1.0, n),
            "GPUUsed": np.where(shape[:, 2, 0] > 0, shape[:, 2, 1] * random.uniform(0.8, 1.2, n), np.nan),
            "MaxRSSKiB": (used * 1e9 / 1024).round(),
            "NNodes": np.where(names == "blast", random.choice([1, 4], n), 1),
        }
    )
    going = table["State"].isin(["RUNNING", "PENDING"])
    table.loc[going, ["End", "ElapsedRaw", "CPUUsed", "GPUUsed", "MaxRSSKiB"]] = np.nan
    table.loc[table["State"] == "PENDING", "Start"] = np.nan
    for name, share in (("ReqMemGB", 0.03), ("MaxRSSKiB", 0.05), ("CPUUsed", 0.04), ("TimelimitRaw", 0.02)):
        table.loc[random.random(n) < share, name] = np.nan
    table.loc[random.random(n) < 0.02, ["ElapsedRaw", "End"]] = np.nan
    return table
