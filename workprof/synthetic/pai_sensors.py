"""Sensor values: spread around a behaviour's levels, or scattered over everything the trace has seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workprof.synthetic.pai_behaviours import COORDINATES, SPREAD
from workprof.synthetic.pai_published import MEMORY_STEP, OUTLIER

NOISE_SHARE = 0.8
"""Row-to-row spread as a share of `SPREAD`; templates add the rest."""

DEGREES_OF_FREEDOM = 8
"""Tails of the row-to-row spread (Student's t): heavier than normal (our choice)."""

_LINKS = (
    (0, 1, 0.3), (0, 6, 0.35), (0, 8, 0.3), (2, 4, 0.25), (3, 5, 0.1),
    (6, 8, 0.85), (7, 9, 0.8), (6, 7, 0.35), (8, 9, 0.45), (6, 9, 0.25), (7, 8, 0.25),
)  # fmt: skip
"""Correlations within a behaviour: CPU with traffic, both memories, bytes with operations (tail, in sign and order)."""

SCATTER_RANGES = (
    (35.0, 210.0), (0.1, 95.0), (0.4, 60.0), (0.2, 0.96), (0.05, 30.0), (0.2, 0.99),
    (1.5e3, 1.2e5), (2.0e2, 1.2e4), (110.0, 6.0e4), (0.1, 1.6),
)  # fmt: skip
"""Ranges of outliers, log-uniform: columns 0-5 as the coordinates, then bytes per read and per write operation,
read operations, and write operations over read operations (tail: from about the 1st to the 99th percentile, so that no
corner of it is dense)."""

CPU_PER_TRAFFIC = 0.5
"""Outliers that read more compute more: slope of log CPU over log read operations."""

ZERO_GPU_OUTLIERS, ZERO_GPU_IDLE, ZERO_MEMORY_IF_ZERO = 0.07, 0.09, 0.28
IDLE_GPU_PERCENT = 3.0
"""GPU use is 0 in 3.9 % of rows and GPU memory in 1.1 % (tail): in outliers and in rows that hardly use a GPU."""


USE_OF_PLAN = (0.35, 0.25, 0.15)
USE_OF_PLAN_SD = (1.03, 0.8, 0.92)
"""Median and log-spread of usage over plan (CPU, mean memory, GPU) of templates without a behaviour: plan exceeds
usage in 84.5, 95.9 and 98.0 % of tasks (trace, joined by worker)."""


@dataclass(frozen=True)
class Sensors:
    """The ten measured columns, each (n_rows,), in the units of the trace."""

    cpu_usage: NDArray[np.float64]
    gpu_wrk_util: NDArray[np.float64]
    avg_mem: NDArray[np.float64]
    max_mem: NDArray[np.float64]
    avg_gpu_wrk_mem: NDArray[np.float64]
    max_gpu_wrk_mem: NDArray[np.float64]
    read: NDArray[np.float64]
    write: NDArray[np.float64]
    read_count: NDArray[np.float64]
    write_count: NDArray[np.float64]


def _mixing() -> NDArray[np.float64]:
    """Return the matrix that gives independent normals the correlations of `_LINKS`."""
    correlation = np.eye(SPREAD.size)
    for i, j, value in _LINKS:
        correlation[i, j] = correlation[j, i] = value
    return np.linalg.cholesky(correlation).astype(np.float64)


MIXING = _mixing()  # (10, 10)


def draw_sensors(profile: NDArray[np.int64], offset: NDArray[np.float64], rng: np.random.Generator) -> Sensors:
    """Return sensor values for rows of the given profiles, OUTLIER included; `offset` is (n_rows, 10)."""
    coordinates = spread(COORDINATES[np.maximum(profile, 0)] + offset, rng)
    outlier = profile == OUTLIER
    coordinates[outlier] = scatter(int(outlier.sum()), rng)
    return columns(coordinates, outlier, rng)


def spread(centre: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return coordinates around the given centres, (n_rows, 10), with correlated, heavy-tailed noise."""
    tails = np.sqrt(DEGREES_OF_FREEDOM / rng.chisquare(DEGREES_OF_FREEDOM, (centre.shape[0], 1)))
    noise = rng.standard_normal(centre.shape) @ MIXING.T * tails
    values: NDArray[np.float64] = centre + noise * SPREAD * NOISE_SHARE
    return values


def levels_from_plans(plans: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return coordinates of templates that use a random share of what they ask for, (n, 10); plans are (n, 3)."""
    levels = scatter(plans.shape[0], rng)
    ratio = np.exp(np.array(USE_OF_PLAN_SD) * rng.standard_normal(plans.shape)) * np.array(USE_OF_PLAN)
    cpu, memory, gpu = np.log(plans * ratio).T
    levels[:, 0] = cpu
    levels[:, 2] = memory + np.log1p(np.exp(-levels[:, 3]))
    levels[:, 1] = np.where(np.isnan(gpu), levels[:, 1], gpu)
    return levels


def scatter(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return coordinates of outliers, (count, 10): log-uniform, bytes tied to operations."""
    low, high = np.log(np.array(SCATTER_RANGES)).T
    drawn: NDArray[np.float64] = low + (high - low) * rng.random((count, low.size))
    for ratio in (3, 5):
        value = np.exp(drawn[:, ratio])
        drawn[:, ratio] = np.log(value / (1 - value))
    reads = drawn[:, 8]
    drawn[:, 9] += reads
    drawn[:, 6:8] += drawn[:, 8:]
    drawn[:, 0] += CPU_PER_TRAFFIC * (reads - (low[8] + high[8]) / 2)
    return drawn


def columns(coordinates: NDArray[np.float64], outlier: NDArray[np.bool_], rng: np.random.Generator) -> Sensors:
    """Return the columns of the trace: means never above maxima, whole memory steps, zeros where nothing ran."""
    cpu, gpu, memory, memory_logit, gpu_memory, gpu_logit, *traffic = coordinates.T
    gpu_use, gpu_peak = np.exp(gpu), np.exp(gpu_memory)
    chance = np.where(outlier, ZERO_GPU_OUTLIERS, np.where(gpu_use < IDLE_GPU_PERCENT, ZERO_GPU_IDLE, 0.0))
    unused = rng.random(gpu_use.size) < chance
    empty = unused & (rng.random(gpu_use.size) < ZERO_MEMORY_IF_ZERO)
    max_mem = np.maximum(np.round(np.exp(memory) / MEMORY_STEP), 1) * MEMORY_STEP
    return Sensors(
        _measured(np.exp(cpu)),
        _measured(np.where(unused, 0.0, gpu_use)),
        _measured(max_mem / (1 + np.exp(-memory_logit))),
        max_mem,
        _measured(np.where(empty, 0.0, gpu_peak / (1 + np.exp(-gpu_logit)))),
        _measured(np.where(empty, 0.0, gpu_peak)),
        *(_measured(np.exp(column)) for column in traffic),
    )


def _measured(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values in single precision, as a sensor gives them; the file is half as large for it."""
    return values.astype(np.float32).astype(np.float64)
