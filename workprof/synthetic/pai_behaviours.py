"""The planted behaviours of the synthetic PAI trace: published figures, levels, sensor values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SAMPLE_COLUMNS = (
    "index", "job_name", "inst_id", "user", "task_name", "inst_num", "status", "start_time", "end_time",
    "plan_cpu", "plan_mem", "plan_gpu", "gpu_type", "group", "workload", "inst_name", "worker_name", "machine",
    "gpu_type_machine_spec", "cap_cpu_machine_spec", "cap_mem_machine_spec", "cap_gpu_machine_spec", "gpu_name",
    "cpu_usage", "gpu_wrk_util", "avg_mem", "max_mem", "avg_gpu_wrk_mem", "max_gpu_wrk_mem",
    "read", "write", "read_count", "write_count",
)  # fmt: skip
"""The 33 columns of the authors' sample file, in its order (sample)."""

SENSOR_COLUMNS = SAMPLE_COLUMNS[-10:]
"""The ten measured columns."""

SAMPLE_ROWS = 100_001
"""Rows of the published sample, to which `rows` of roles and users refer (sample)."""

OUTLIER = -1
"""`truth_profile` of a planted outlier."""

MEMORY_STEP = 1 / 1024
"""plan_mem and max_mem are whole multiples of this many GiB (tail)."""

TRACE_START_S = 1_814_400
TRACE_DAYS = 50
"""Seconds at which submissions begin (a day boundary) and their span: 49.9 days (tail)."""

TIME_ZONE_S = 8 * 3600
"""Hour of day is kept in UTC+8 (trace README)."""

HOURLY_WEIGHTS = (
    1050, 800, 520, 470, 450, 500, 600, 650, 720, 900, 1180, 1150,
    850, 900, 1100, 1200, 1180, 1120, 900, 850, 880, 900, 950, 1000,
)  # fmt: skip
"""Submissions per hour of day: troughs 2-5 h, peaks 0, 10-11 and 14-17 h (nsdi, read off a figure)."""

SPIKE_S = 13
SPIKE_NEXT_SHARE = 0.18
"""Start-up failures and no-ops end after 13 s, or 14 s: 131 and 28 of 999 rows (tail)."""

SHORTEST_S, LONGEST_S = 12, 105_169
"""Shortest and longest duration (tail)."""

HEAVY_SHARE, RUN_SD, HEAVY_RUN_SD = 0.2, 0.08, 0.8
"""Run-to-run spread of log duration within a group: most groups steady, a fifth heavy (tail)."""

MACHINE_TYPES = {
    "P100": (798, 64, 512, 2),
    "T4": (497, 96, 512, 2),
    "MISC": (280, 96, 512, 8),
    "V100": (135, 96, 512, 8),
    "V100M32": (104, 96, 384, 8),
    "CPU": (83, 96, 512, 0),
}
"""Machines, cores, GB and GPUs by type: 1,897 machines, 6,742 GPUs (nsdi, trace)."""

HOST_SHARES = {
    "bert": {"T4": 0.82, "MISC": 0.12, "V100": 0.04, "P100": 0.02},
    "ctr": {"T4": 0.98, "MISC": 0.02},
    "inception": {"MISC": 0.93, "T4": 0.04, "P100": 0.03},
    "graphlearn": {"MISC": 0.35, "T4": 0.3, "P100": 0.2, "V100": 0.15},
    "rl": {"MISC": 0.6, "T4": 0.3, "CPU": 0.1},
    "": {"MISC": 0.735, "T4": 0.14, "P100": 0.075, "V100": 0.03, "V100M32": 0.02},
}
"""Host type by workload (tail; graphlearn is "mixed", rl is our choice; untagged: so that the types requested by all
tasks come out as in the trace)."""

OTHER_HOSTS = {"MISC": 0.5, "P100": 0.25, "V100": 0.2, "V100M32": 0.05}
"""Host type of the small workloads (our choice)."""

TYPE_MATCHES_HOST = 701 / 705
"""Share of rows whose requested gpu_type is the machine's own (tail)."""

TOP_USER_ROWS = (27_531, 22_873, 17_288, 10_513, 5_515, 4_137, 2_316, 1_845, 899, 642)
"""Rows of the ten largest users (sample)."""


@dataclass(frozen=True)
class Behaviour:
    """Medians of one behaviour."""

    profile: int  # its number, as in the published list of profiles
    cpu: float  # percent of one core
    gpu: float  # percent of one GPU
    memory: float  # peak main memory, GiB
    memory_ratio: float  # mean over peak main memory
    gpu_memory: float  # peak GPU memory, GiB
    gpu_memory_ratio: float  # mean over peak GPU memory
    read: float  # bytes read from the network over the lifetime
    write: float  # bytes written
    read_count: float  # read operations
    write_count: float  # write operations
    duration_s: float  # task duration outside the spike, seconds
    spike_share: float = 0.0  # share of templates whose tasks mostly end in the 13-second spike

    def coordinates(self) -> NDArray[np.float64]:
        """The ten coordinates in which spread is drawn: logarithms, and logits of the two ratios."""
        ratios = np.array([self.memory_ratio, self.gpu_memory_ratio])
        logits = np.log(ratios / (1 - ratios))
        logs = np.log([self.cpu, self.gpu, self.memory, self.gpu_memory])
        traffic = np.log([self.read, self.write, self.read_count, self.write_count])
        return np.concatenate([logs[:3], logits[:1], logs[3:], logits[1:], traffic])


BEHAVIOURS = (
    # bert alone (0); its large jobs are 8 (worker) and 9 (server)
    Behaviour(0, 75, 62, 2.9, 0.86, 5.0, 0.97, 2.2e6, 4.5e5, 600, 220, 1_700),
    # ctr servers 1, 2, 3: most of the 13-second tasks
    Behaviour(1, 150, 1.8, 2.7, 0.70, 0.30, 0.90, 2.4e8, 9.0e6, 8_500, 7_500, 16, 0.92),
    Behaviour(2, 420, 24, 8.0, 0.80, 0.80, 0.95, 1.1e9, 2.4e6, 26_000, 9_000, 900, 0.40),
    Behaviour(3, 240, 1.3, 1.6, 0.62, 0.90, 0.90, 8.0e8, 1.6e7, 21_000, 15_000, 300, 0.60),
    # rl: one group (4); one job of two behaviours (5, 6)
    Behaviour(4, 50, 3.5, 1.0, 0.90, 2.5, 0.90, 4.0e5, 2.0e5, 150, 120, 1_500),
    Behaviour(5, 620, 35, 16, 0.85, 6.0, 0.95, 3.0e7, 5.0e6, 5_000, 3_000, 8_000),
    Behaviour(6, 330, 70, 40, 0.40, 26, 0.70, 4.0e8, 1.5e7, 12_000, 8_000, 8_000),
    Behaviour(7, 222, 12, 19, 0.85, 12, 0.97, 2.5e8, 4.0e5, 9_000, 1_800, 330),
    Behaviour(8, 95, 30, 1.9, 0.80, 1.25, 0.95, 6.6e6, 1.6e6, 1_900, 480, 550),
    Behaviour(9, 60, 6.0, 2.2, 0.72, 0.45, 0.92, 1.5e7, 5.0e6, 3_500, 2_000, 2_200),
    # graphlearn servers 10, 11, 20, 21 and workers 14, 17, 18, 19
    Behaviour(10, 75, 1.0, 3.6, 0.35, 0.35, 0.85, 1.2e6, 8.0e5, 450, 350, 2_200),
    Behaviour(11, 130, 0.3, 10, 0.80, 0.22, 0.92, 2.0e8, 3.5e7, 7_000, 12_000, 2_800),
    Behaviour(12, 580, 7.5, 3.3, 0.76, 0.27, 0.96, 6.0e8, 3.6e6, 14_000, 6_000, 5_500),
    Behaviour(13, 214, 8.0, 7.0, 0.50, 0.75, 0.94, 1.1e8, 6.5e5, 3_000, 1_100, 45),
    Behaviour(14, 90, 24, 2.0, 0.50, 0.7, 0.90, 3.0e6, 1.2e5, 350, 120, 2_200),
    Behaviour(15, 660, 2.2, 6.0, 0.85, 1.8, 0.97, 2.2e8, 1.3e6, 5_000, 2_200, 2_500),
    Behaviour(16, 300, 9.0, 2.8, 0.55, 1.2, 0.90, 1.4e9, 8.5e6, 30_000, 16_000, 3_300),
    Behaviour(17, 85, 55, 5.0, 0.90, 7.7, 0.98, 1.2e7, 3.0e5, 900, 230, 3_000),
    Behaviour(18, 500, 17, 4.0, 0.92, 0.80, 0.95, 1.0e8, 2.0e7, 11_000, 9_000, 3_200),
    Behaviour(19, 144, 1.4, 2.8, 0.85, 2.2, 0.82, 2.8e7, 6.0e5, 1_500, 500, 3_300),
    Behaviour(20, 80, 0.5, 3.8, 0.88, 0.25, 0.95, 6.0e7, 2.6e6, 6_500, 2_600, 3_300),
    Behaviour(21, 36, 2.2, 1.1, 0.75, 0.27, 0.90, 5.0e5, 6.0e4, 180, 100, 8_000),
    # inception: two behaviours in one metadata cell, twice
    Behaviour(22, 130, 26, 4.2, 0.60, 5.5, 0.97, 9.0e7, 9.0e5, 7_500, 2_400, 400),
    Behaviour(23, 76, 7.0, 6.0, 0.82, 3.7, 0.96, 3.6e7, 2.6e6, 4_200, 1_500, 400),
    Behaviour(24, 40, 0.8, 2.4, 0.45, 0.50, 0.80, 6.0e6, 1.2e7, 1_000, 1_300, 530),
    Behaviour(25, 58, 2.5, 4.4, 0.76, 1.2, 0.94, 2.0e7, 7.0e6, 2_500, 2_200, 530),
)
"""Behaviour k stands at position k."""

COORDINATES = np.stack([behaviour.coordinates() for behaviour in BEHAVIOURS])  # (26, 10)
"""Coordinates of every behaviour."""

SPREAD = np.array([0.17, 0.28, 0.11, 0.30, 0.16, 0.42, 0.37, 0.22, 0.22, 0.24])  # (10,)
"""Within-behaviour standard deviation of each coordinate: about a sixth of its spread over all rows (tail)."""


MEMORY = 2
"""Place of peak main memory among the coordinates."""

NOISE_SHARE = 0.8
ROW_SPREAD = SPREAD * NOISE_SHARE
ROW_SPREAD[MEMORY] = 0.075
"""Row-to-row spread of each coordinate; templates add the rest, in memory most of it."""

KEY_SD, UNSTEADY_SHARE = 0.15, 0.15
"""Log-spread of peak memory between templates of one user that ask for the same (tail), and the share of such keys
whose templates have nothing in common (our choice)."""

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


USE_OF_PLAN = (0.35, 0.14, 0.15)
USE_OF_PLAN_SD = (1.03, 1.2, 0.92)
"""Median and log-spread of usage over plan (CPU, peak memory, GPU) of templates without a behaviour: plan exceeds
usage (mean memory) in 84.5, 95.9 and 98.0 % of tasks (trace, joined by worker)."""


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
    """The matrix that gives independent normals the correlations of `_LINKS`."""
    correlation = np.eye(SPREAD.size)
    for i, j, value in _LINKS:
        correlation[i, j] = correlation[j, i] = value
    return np.linalg.cholesky(correlation).astype(np.float64)


MIXING = _mixing()  # (10, 10)


def draw_sensors(centre: NDArray[np.float64], stray: NDArray[np.bool_], rng: np.random.Generator) -> Sensors:
    """Sensor values around the given centres, (n_rows, 10); stray rows keep to theirs in memory alone."""
    coordinates = spread(centre, rng)
    elsewhere = scatter(int(stray.sum()), rng)
    elsewhere[:, MEMORY] = coordinates[stray, MEMORY]
    coordinates[stray] = elsewhere
    return columns(coordinates, stray, rng)


def spread(centre: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Coordinates around the given centres, (n_rows, 10), with correlated, heavy-tailed noise."""
    tails = np.sqrt(DEGREES_OF_FREEDOM / rng.chisquare(DEGREES_OF_FREEDOM, (centre.shape[0], 1)))
    noise = rng.standard_normal(centre.shape) @ MIXING.T * tails
    values: NDArray[np.float64] = centre + noise * ROW_SPREAD
    return values


def levels_from_plans(
    plans: NDArray[np.float64], memory: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Coordinates (n, 10) of templates that use a random share of what they ask for, `plans` (n, 3).

    `memory` is (n,) log of peak memory over plan of the template's key; NaN = the key has none.
    """
    levels = scatter(plans.shape[0], rng)
    further = rng.standard_normal(plans.shape)
    own = np.log(plans) + np.log(USE_OF_PLAN) + np.array(USE_OF_PLAN_SD) * further
    own[:, 1] = np.minimum(np.log(plans[:, 1]) + memory, np.log(SCATTER_RANGES[MEMORY][1])) + KEY_SD * further[:, 1]
    for place, use in zip((0, MEMORY, 1), own.T, strict=True):
        levels[:, place] = np.where(np.isnan(use), levels[:, place], use)
    return levels


def scatter(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Coordinates of outliers, (count, 10): log-uniform, bytes tied to operations."""
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
    """The columns of the trace: means never above maxima, whole memory steps, zeros where nothing ran."""
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
    """The values in single precision, as a sensor gives them; the file is half as large for it."""
    return values.astype(np.float32).astype(np.float64)
