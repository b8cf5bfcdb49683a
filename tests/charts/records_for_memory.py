"""A small table with planted tasks, and the records that the methods make of it."""

import functools

import numpy as np
import pandas as pd

from tests.charts.records_for_tests import HOSTILE
from workprof.core.units import GB
from workprof.memory.assessment import AssessmentSettings, assessment_of
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import bins_of, improvement_curve
from workprof.memory.models import train_predictors
from workprof.memory.replay import replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.verdict import VerdictSettings, verdict_of
from workprof.memory.why import WhySettings, why

HEAVY, LIGHT, THIN = "FLOW:HEAVY", "FLOW:LIGHT", f"FLOW:{HOSTILE}"
RUNS = {HEAVY: 120, LIGHT: 60, THIN: 5}


@functools.cache
def jobs():
    """Return runs of three tasks; the heavy one's use follows its group, the thin one has a hostile name."""
    random = np.random.default_rng(0)
    parts = []
    for task, n in RUNS.items():
        group = random.choice(["small", "large"], n, p=[0.7, 0.3])
        base = np.where(group == "large", 40.0, 4.0) if task == HEAVY else np.full(n, 1.5)
        parts.append(
            pd.DataFrame(
                {
                    "task_name": task,
                    "group": group,
                    "workload": "flow",
                    "rchar": base * random.uniform(0.9, 1.1, n),
                    "requested_memory_bytes": (64.0 if task == HEAVY else 8.0) * GB,
                    "peak_memory_bytes": base * random.uniform(0.8, 1.0, n) * GB,
                    "duration_s": random.uniform(1800, 7200, n),
                    "requested_cpu_percent": 400.0,
                    "cpu_usage_percent": random.uniform(50, 350, n),
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    order = random.permutation(len(table))
    return (
        table.iloc[order]
        .reset_index(drop=True)
        .assign(submit_time_s=np.arange(len(table)) * 60.0, start_time_s=np.arange(len(table)) * 60.0)
    )


def frames(**changes):
    return {"jobs": jobs().assign(**changes)}


@functools.cache
def assessment():
    return assessment_of(frames(), AssessmentSettings())


@functools.cache
def bins(**settings):
    return bins_of(frames(), BinSettings(task=HEAVY, **settings))


@functools.cache
def curve(**settings):
    return improvement_curve(frames(), BinSettings(task=HEAVY, **settings))


@functools.cache
def models():
    return train_predictors(
        frames(), PredictorSettings(bins=BinSettings(task=HEAVY, k=2), sampling=("none", "smote"), trials=0)
    )


@functools.cache
def replayed():
    return replay(frames(), ReplaySettings(policies=("workprof", "preset", "p95", "krr"), prices_runs=(0.0, 1.0, 30.0)))


@functools.cache
def reason():
    return why(frames(), WhySettings(HEAVY))


@functools.cache
def verdict(**settings):
    return verdict_of(frames(row_id=np.arange(sum(RUNS.values())), finished=True), VerdictSettings(**settings))
