"""A trace whose arrivals have a planted trend, seasons and anomalies, and the truth."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.core.arrays import Floats, Ints
from workprof.core.units import HOUR_S
from workprof.store.outputs import whole
from workprof.synthetic.report import SynthReport, check_room, check_size, truth_of

MONDAY_S = 1_767_571_200.0
"""5 January 2026, midnight UTC."""
WEEK = np.array([0.12, 0.18, 0.15, 0.1, 0.0, -0.3, -0.25])
DAY = 0.4 * np.sin(2 * np.pi * (np.arange(24) - 8) / 24)
"""Seasons as shares of the first rate; their means are 0."""
REQUEST_GB, HOURS = 8.0, 0.5
"""Of every run; it ends in the hour in which it begins."""
MOST_DAYS, MOST_A_DAY, ROW_BYTES = 1_000, 10_000, 90
TASKS = ("align", "sort", "call")
BURST_TASK = "again"


@dataclass(frozen=True)
class DemandTrace:
    """What is planted."""

    days: int = 84
    runs_a_day: int = 60  # at the beginning
    trend: float = 0.05  # per week, of that
    seasons: float = 1.0  # times `WEEK` and `DAY`; 0 = none
    anomalies: int = 3  # days with `burst` times their runs
    burst: float = 2.5
    seed: int = 0


@dataclass(frozen=True)
class DemandTruth:
    """What was planted, in runs."""

    per_week: float  # trend of a day's runs
    week: Floats  # (7,) effects on a day's runs, Monday first
    day: Floats  # (24,) effects on an hour's runs
    bursts: Ints  # days, 0 = the first


def demand_trace(settings: DemandTrace) -> tuple[pd.DataFrame, DemandTruth]:
    """A job table of whole days from a Monday on, and the truth."""
    check_size("days", settings.days, settings.seed, MOST_DAYS)
    check_size("runs_a_day", settings.runs_a_day, settings.seed, MOST_A_DAY)
    rng = np.random.default_rng(settings.seed)
    hours = np.arange(24 * settings.days)
    day, base = hours // 24, settings.runs_a_day / 24
    season = settings.seasons * (WEEK[day % 7] + DAY[hours % 24])
    rate = base * np.maximum(1 + settings.trend * hours / 168 + season, 0.0)
    inner = np.arange(1, settings.days - 1)
    bursts = np.sort(rng.choice(inner, min(settings.anomalies, len(inner)), replace=False))
    counts = rng.poisson(rate)
    more = rng.poisson(np.where(np.isin(day, bursts), (settings.burst - 1) * rate, 0.0))
    hour = np.concatenate([np.repeat(hours, counts), np.repeat(hours, more)])
    burst = np.arange(len(hour)) >= counts.sum()
    order = np.argsort(hour, kind="stable")
    hour, burst = hour[order], burst[order]
    start = MONDAY_S + HOUR_S * hour + np.round(rng.uniform(0, HOUR_S * (1 - HOURS), len(hour)), 3)
    usual = np.array(TASKS)[rng.integers(0, len(TASKS), len(hour))]
    jobs = pd.DataFrame(
        {
            "task_name": np.where(burst, BURST_TASK, usual),
            "user": np.where(burst, "cy", np.array(["ann", "bob"])[rng.integers(0, 2, len(hour))]),
            "status": "COMPLETED",
            "start_time_s": start,
            "duration_s": HOURS * HOUR_S,
            "requested_memory_bytes": REQUEST_GB * 1e9,
            "peak_memory_bytes": np.round(REQUEST_GB * 1e9 * rng.uniform(0.2, 0.8, len(hour))),
        }
    )
    scale = settings.seasons * settings.runs_a_day
    return jobs, DemandTruth(settings.trend * settings.runs_a_day, scale * WEEK, scale / 24 * DAY, bursts)


def write_demand_trace(output: Path, settings: DemandTrace) -> SynthReport:
    """Write the trace as Parquet, and its truth beside it (FILE.truth.json)."""
    started = time.perf_counter()
    check_room(output, f"{settings.days:,} days", settings.days * settings.runs_a_day * ROW_BYTES)
    jobs, truth = demand_trace(settings)
    planted = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in asdict(truth).items()}
    with whole(output.parent, output) as folder:
        jobs.to_parquet(folder / output.name)
        (folder / truth_of(output).name).write_text(json.dumps(planted | {"settings": asdict(settings)}, indent=1))
    size = output.stat().st_size
    return SynthReport(output, len(jobs), time.perf_counter() - started, {output.name: len(jobs)}, size)
