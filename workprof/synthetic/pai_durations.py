"""When jobs start and how long their tasks run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workprof.synthetic.pai_behaviours import BEHAVIOURS
from workprof.synthetic.pai_kinds import JobKind
from workprof.synthetic.pai_published import (
    HEAVY_RUN_SD,
    HOURLY_WEIGHTS,
    LONGEST_S,
    OUTLIER,
    RUN_SD,
    SHORTEST_S,
    SPIKE_NEXT_SHARE,
    SPIKE_S,
    TIME_ZONE_S,
    TRACE_DAYS,
    TRACE_START_S,
)
from workprof.synthetic.pai_templates import Templates

OUTLIER_DURATION_S, OUTLIER_SD, UNTAGGED_SD = 500.0, 1.0, 1.8
"""Median duration of tasks of scattered jobs and its further spread between jobs, in logs; untagged jobs spread wider
(trace: half below 550 s, nine tenths below 1e4 s)."""

ROLE_SD = 0.03
"""Spread of log duration between the roles of one run, beyond their behaviours."""


def draw_starts(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return submission times in whole seconds: any day of the span, hours by `HOURLY_WEIGHTS` in UTC+8."""
    weights = np.array(HOURLY_WEIGHTS, dtype=np.float64)
    hour = rng.choice(weights.size, count, p=weights / weights.sum())
    day = rng.integers(0, TRACE_DAYS, count)
    local = day * 86_400 + hour * 3600 + rng.integers(0, 3600, count)
    return (TRACE_START_S + 86_400 + local - TIME_ZONE_S).astype(np.float64)


def draw_durations(
    kind: JobKind, templates: Templates, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return duration (s) and spike flag per job and role, both (n_jobs, n_roles)."""
    shape = templates.spike_chance.shape
    run_sd = np.where(templates.heavy, HEAVY_RUN_SD, RUN_SD)[:, None]
    run = rng.standard_normal((shape[0], 1)) * run_sd + rng.standard_normal(shape) * ROLE_SD
    medians = np.log([_median_s(role.profile) for role in kind.roles])
    further_sd = (OUTLIER_SD if kind.workload else UNTAGGED_SD) if kind.scattered else 0.0
    scatter = rng.normal(0, further_sd, (shape[0], 1))
    log_duration = medians + templates.log_factor[:, None] + run + scatter
    spike = rng.random(shape) < templates.spike_chance
    spiked = np.where(rng.random(shape) < SPIKE_NEXT_SHARE, SPIKE_S + 1, SPIKE_S)
    duration = np.clip(np.round(np.exp(log_duration)), SHORTEST_S, LONGEST_S)
    return np.where(spike, spiked, duration).astype(np.float64), spike


def _median_s(profile: int) -> float:
    """Return the typical duration of a behaviour."""
    return OUTLIER_DURATION_S if profile == OUTLIER else BEHAVIOURS[profile].duration_s
