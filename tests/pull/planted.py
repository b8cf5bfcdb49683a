"""Usage by the minute of planted runs, and what was requested for them, as tables of an engine."""

import itertools
import json

import numpy as np
import pandas as pd

MAPPING = {
    "job_name": {"from": "job"},
    "user": {"from": "owner"},
    "workload": {"from": "app"},
    "status": {"from": "state"},
    "start_time_s": {"from": "began", "unit": "s"},
    "end_time_s": {"from": "ended", "unit": "s"},
    "peak_memory_bytes": {"from": "rss", "unit": "MB"},
    "cpu_usage_percent": {"from": "cores", "unit": "cores"},
    "requested_memory_bytes": {"from": "mem", "unit": "GB"},
}


def runs(rows=900, seed=3):
    """One row per run, some without a user, one that ends before it starts."""
    draw = np.random.default_rng(seed)
    began = draw.integers(0, 100_000, rows).astype(float)
    frame = pd.DataFrame(
        {
            "job": [f"job-{number}" for number in range(rows)],
            "owner": draw.choice(["ann", "bob", "Cy", "ünal", None], rows),
            "app": draw.choice(["solver", "etl", "train-é"], rows, p=[0.7, 0.25, 0.05]),
            "state": draw.choice(["completed", "failed"], rows, p=[0.9, 0.1]),
            "began": began,
            "ended": began + draw.integers(1, 5_000, rows) + 0.25,
            "rss": draw.uniform(10, 4_000, rows).round(3),
            "cores": draw.uniform(0, 8, rows).round(4),
            "mem": draw.choice([4, 8, 16], rows),
        }
    )
    frame.loc[5, "ended"] = frame.loc[5, "began"] - 10
    return frame


def parts(frame, most=4, lost=7, seed=5):
    """Each run in one to four rows of usage (the last is the longest), `lost` rows of no run; and the requests."""
    draw = np.random.default_rng(seed)
    made = []
    for run in frame.drop(columns=["mem", "state"]).itertuples(index=False):
        cuts = np.linspace(run.began, run.ended, int(draw.integers(1, most + 1)) + 1)
        for start, end in itertools.pairwise(cuts):
            made.append(run._replace(began=start, ended=end, rss=run.rss * draw.uniform(0.5, 1)))
    usage = pd.DataFrame(made)
    usage = pd.concat([usage, usage.head(lost).assign(job=None)], ignore_index=True)
    return usage.sample(frac=1, random_state=seed, ignore_index=True), frame[["job", "mem", "state"]].iloc[:-3]


def mapping_file(folder):
    path = folder / "map.json"
    path.write_text(json.dumps(MAPPING))
    return path
