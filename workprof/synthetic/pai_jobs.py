"""Jobs of one kind: templates in; a batch of jobs, tasks and rows out, with their times and states."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.synthetic.pai_behaviours import (
    BEHAVIOURS,
    COORDINATES,
    HEAVY_RUN_SD,
    HOURLY_WEIGHTS,
    LONGEST_S,
    OUTLIER,
    RUN_SD,
    SAMPLE_ROWS,
    SHORTEST_S,
    SPIKE_NEXT_SHARE,
    SPIKE_S,
    TIME_ZONE_S,
    TRACE_DAYS,
    TRACE_START_S,
)
from workprof.synthetic.pai_kinds import UNTAGGED_KINDS, JobKind
from workprof.synthetic.pai_population import (
    ALL_KINDS,
    FULL_COVERAGE_UP_TO,
    KINDS,
    ZIPF,
    Pool,
    Population,
    Templates,
    draw_templates,
    rows_per_job,
    sample_jobs,
    zipf_weights,
)

REGULAR, SCATTERED_JOB, STRAY_INSTANCE = 0, 1, 2
"""Codes of `row_outlier`."""

OUTLIER_NAMES = ("no", "scattered job", "stray instance")
"""`truth_outlier` by code."""

_POINTERS = {"task_job": "job_template", "row_task": "task_job"}


@dataclass(frozen=True)
class Batch:
    """Jobs (J), tasks (K) and rows (N)."""

    job_template: NDArray[np.int64]  # and `job_user`, `job_group`, `job_kind`: (J,) indices
    job_user: NDArray[np.int64]
    job_group: NDArray[np.int64]
    job_kind: NDArray[np.int64]
    job_start_s: NDArray[np.float64]  # (J,) submission time
    task_job: NDArray[np.int64]  # (K,) job of each task
    task_role: NDArray[np.int64]  # (K,) role within the job's kind
    task_instances: NDArray[np.int64]  # (K,) inst_num
    task_bundle: NDArray[np.int64]  # (K,) bundle within the role
    task_duration_s: NDArray[np.float64]  # (K,) whole seconds
    task_spike: NDArray[np.bool_]  # (K,) whether the 13-second spike ended it
    task_offset: NDArray[np.float64]  # (K, 10) departure of the template from its behaviour
    row_task: NDArray[np.int64]  # (N,) task of each row
    row_profile: NDArray[np.int64]  # (N,) planted behaviour or OUTLIER
    row_outlier: NDArray[np.int64]  # (N,) code of `OUTLIER_NAMES`


def join_batches(batches: Sequence[Batch]) -> Batch:
    """One batch with the jobs, tasks and rows of all, pointers shifted."""
    joined: dict[str, NDArray[Any]] = {}
    for name in (field.name for field in fields(Batch)):
        parts = [getattr(batch, name) for batch in batches]
        if name in _POINTERS:
            lengths = [getattr(batch, _POINTERS[name]).shape[0] for batch in batches]
            starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
            parts = [part + start for part, start in zip(parts, starts, strict=True)]
        joined[name] = np.concatenate(parts)
    return Batch(**joined)


OUTLIER_DURATION_S, OUTLIER_SD, UNTAGGED_SD = 500.0, 1.0, 1.8
"""Median duration of tasks of scattered jobs and its further spread between jobs, in logs; untagged jobs spread wider
(trace: half below 550 s, nine tenths below 1e4 s)."""

ROLE_SD = 0.03
"""Spread of log duration between the roles of one run, beyond their behaviours."""


def draw_starts(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Submission times in whole seconds: any day of the span, hours by `HOURLY_WEIGHTS` in UTC+8."""
    weights = np.array(HOURLY_WEIGHTS, dtype=np.float64)
    hour = rng.choice(weights.size, count, p=weights / weights.sum())
    day = rng.integers(0, TRACE_DAYS, count)
    local = day * 86_400 + hour * 3600 + rng.integers(0, 3600, count)
    return (TRACE_START_S + 86_400 + local - TIME_ZONE_S).astype(np.float64)


def draw_durations(
    kind: JobKind, templates: Templates, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Duration (s) and spike flag per job and role, both (n_jobs, n_roles)."""
    shape = templates.spike_chance.shape
    run_sd = np.where(templates.heavy, HEAVY_RUN_SD, RUN_SD)[:, None]
    run = rng.standard_normal((shape[0], 1)) * run_sd + rng.standard_normal(shape) * ROLE_SD
    profiles = [role.profile for role in kind.roles]
    medians = np.log([OUTLIER_DURATION_S if one == OUTLIER else BEHAVIOURS[one].duration_s for one in profiles])
    further_sd = (OUTLIER_SD if kind.workload else UNTAGGED_SD) if kind.scattered else 0.0
    scatter = rng.normal(0, further_sd, (shape[0], 1))
    log_duration = medians + templates.log_factor[:, None] + run + scatter
    spike = rng.random(shape) < templates.spike_chance
    spiked = np.where(rng.random(shape) < SPIKE_NEXT_SHARE, SPIKE_S + 1, SPIKE_S)
    duration = np.clip(np.round(np.exp(log_duration)), SHORTEST_S, LONGEST_S)
    return np.where(spike, spiked, duration).astype(np.float64), spike


HIDDEN_PROFILES = frozenset({5, 6, 22, 23, 24, 25})
"""Behaviours that share their metadata with another one: 5/6 one job, 22/23 and 24/25 one cell each (sample)."""

TASK_NAMES = tuple(sorted({role.task_name for kind in ALL_KINDS for role in kind.roles}))
WORKLOADS = tuple(sorted({kind.workload for kind in ALL_KINDS}))


def identifiable(profile: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where the submit-time metadata determine the profile: in a profile, and one with metadata of its own.

    An outlier departs from whatever its metadata promise, so nothing known at submission foretells it.
    """
    return (profile >= 0) & ~np.isin(profile, list(HIDDEN_PROFILES))


def task_plans(batch: Batch) -> NDArray[np.float64]:
    """plan_cpu, plan_mem and plan_gpu per task, (n_tasks, 3); NaN = not requested."""
    kind = batch.job_kind[batch.task_job]
    plans = np.empty((kind.size, 3))
    for number in np.unique(kind):
        for place, role in enumerate(ALL_KINDS[number].roles):
            chosen = (kind == number) & (batch.task_role == place)
            bundles = np.array(role.bundles + role.borrowed, dtype=np.float64)
            plans[chosen] = bundles[batch.task_bundle[chosen] % len(bundles)]
    return plans


def kind_labels(batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """task_name (per task) and workload (per job) as positions in the sorted names."""
    width = max(len(kind.roles) for kind in ALL_KINDS)
    tasks = np.zeros((len(ALL_KINDS), width), np.int64)
    for number, kind in enumerate(ALL_KINDS):
        for place, role in enumerate(kind.roles):
            tasks[number, place] = TASK_NAMES.index(role.task_name)
    workloads = np.array([WORKLOADS.index(kind.workload) for kind in ALL_KINDS])
    return tasks[batch.job_kind[batch.task_job], batch.task_role], workloads[batch.job_kind]


def planted_profiles(batch: Batch) -> NDArray[np.int64]:
    """The behaviour of most rows of every task, or OUTLIER."""
    planted = np.full((len(ALL_KINDS), max(len(kind.roles) for kind in ALL_KINDS)), OUTLIER)
    for number, kind in enumerate(ALL_KINDS):
        planted[number, : len(kind.roles)] = [role.profile for role in kind.roles]
    return planted[batch.job_kind[batch.task_job], batch.task_role]


def row_centres(batch: Batch) -> NDArray[np.float64]:
    """The coordinates around which the template puts every row, (N, 10)."""
    shown = np.where(batch.row_profile >= 0, batch.row_profile, planted_profiles(batch)[batch.row_task])
    behaviour = np.where((shown >= 0)[:, None], COORDINATES[np.maximum(shown, 0)], 0.0)
    centres: NDArray[np.float64] = behaviour + batch.task_offset[batch.row_task]
    return centres


ONE_OFF_STRIDE = 1 << 32
"""Template numbers of one block's one-off templates start at (block + 1) times this."""


class BlockJobs:
    """Collects the jobs of one block and numbers their one-off templates and groups."""

    def __init__(self, population: Population, block: int) -> None:
        self._first_group = len(population.groups)
        self._first_template = (block + 1) * ONE_OFF_STRIDE
        self._one_offs = 0
        self._batches: list[Batch] = []

    def add(self, kind_number: int, batch: Batch, fresh: NDArray[np.bool_]) -> None:
        """Add the jobs of a kind; `fresh` marks those of one-off templates, numbered from 0."""
        template = batch.job_template + self._first_template + self._one_offs
        group = batch.job_group + self._first_group + self._one_offs
        self._batches.append(
            replace(
                batch,
                job_kind=np.full(fresh.size, kind_number),
                job_template=np.where(fresh, template, batch.job_template),
                job_group=np.where(fresh, group, batch.job_group),
            )
        )
        self._one_offs += int(fresh.sum())

    def joined(self) -> Batch:
        """All jobs as one batch."""
        return join_batches(self._batches)


def draw_job_templates(
    kind: JobKind, count: int, pool: Pool, rng: np.random.Generator
) -> tuple[Templates, NDArray[np.bool_]]:
    """A template per job and whether it is a one-off; one-offs and their groups are numbered from 0."""
    fresh = rng.random(count) < kind.one_off_share
    size = pool.templates.number.size
    weights = zipf_weights(size, 0.0 if kind.groups else ZIPF)
    pooled = pool.templates.take(rng.choice(size, count, p=weights))
    templates = _choose(draw_templates(kind, count, pool.cells, rng, pooled=False), pooled, fresh)
    order = np.cumsum(fresh) - 1
    number, group = np.where(fresh, order, templates.number), np.where(fresh, order, templates.group)
    return replace(templates, number=number, group=group), fresh


def kind_batch(
    kind: JobKind, templates: Templates, counts: NDArray[np.int64], stray: NDArray[np.int64], rng: np.random.Generator
) -> Batch:
    """Jobs with `counts` rows per job and role, `stray` of them per role behaving like nothing else."""
    duration, spike = draw_durations(kind, templates, rng)
    job, role = np.nonzero(counts)
    rows = counts[job, role]
    row_task = np.repeat(np.arange(job.size), rows)
    profile, outlier = _row_labels(kind, role[row_task], stray, rng)
    return Batch(
        job_template=templates.number,
        job_user=templates.user,
        job_group=templates.group,
        job_kind=np.zeros(templates.user.size, np.int64),
        job_start_s=draw_starts(templates.user.size, rng),
        task_job=job,
        task_role=role,
        task_instances=np.maximum(templates.instances[job, role], rows),
        task_bundle=templates.bundle[job],
        task_duration_s=duration[job, role],
        task_spike=spike[job, role],
        task_offset=templates.offset[job, role],
        row_task=row_task,
        row_profile=profile,
        row_outlier=outlier,
    )


def _choose(one_off: Templates, pooled: Templates, fresh: NDArray[np.bool_]) -> Templates:
    """The one-off template where `fresh`, else the pooled one."""
    mine, theirs = vars(one_off), vars(pooled)
    chosen = {}
    for name, values in mine.items():
        mask = fresh.reshape(-1, *[1] * (values.ndim - 1))
        chosen[name] = np.where(mask, values, theirs[name])
    return Templates(**chosen)


def _row_labels(
    kind: JobKind, role: NDArray[np.int64], stray: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Profile and outlier code per row, with exactly `stray` stray rows per role."""
    profiles = np.array([item.profile for item in kind.roles])
    profile = profiles[role]
    outlier = np.where(profile == OUTLIER, SCATTERED_JOB, REGULAR)
    for number, item in enumerate(kind.roles):
        rows = rng.permutation(np.flatnonzero(role == number))
        outlier[rows[: stray[number]]] = STRAY_INSTANCE
        profile[rows[: stray[number]]] = OUTLIER
        if item.second_profile is not None:
            second = round(rows.size * item.second_rows / item.rows)
            profile[rows[rows.size - second :]] = item.second_profile
    return profile, outlier


def sample_batch(population: Population, rows: int, block: int, seed: int) -> Batch:
    """The jobs of block number `block`, with `rows` rows in random order."""
    rng = np.random.default_rng([seed, 1, block])
    jobs = BlockJobs(population, block)
    for number, (kind, quota) in enumerate(zip(KINDS, _quotas(rows), strict=True)):
        if sum(quota):
            jobs.add(number, *_sampled_kind(kind, quota, population.pools[number], rng))
    batch = jobs.joined()
    order = rng.permutation(batch.row_task.size)
    return replace(
        batch,
        row_task=batch.row_task[order],
        row_profile=batch.row_profile[order],
        row_outlier=batch.row_outlier[order],
    )


def largest_remainder(weights: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Whole numbers in proportion to `weights` that add up to `total`."""
    exact = weights / weights.sum() * total
    whole: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    missing = total - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    return whole


def _quotas(rows: int) -> list[list[int]]:
    """Rows per kind: one number per role, then the stray rows."""
    cells = [[*(role.rows for role in kind.roles), kind.stray_rows] for kind in KINDS]
    flat = largest_remainder(np.array([value for cell in cells for value in cell], dtype=np.float64), rows)
    ends = np.cumsum([len(cell) for cell in cells])
    return [part.tolist() for part in np.split(flat, ends[:-1])]


def _sampled_kind(
    kind: JobKind, quota: list[int], pool: Pool, rng: np.random.Generator
) -> tuple[Batch, NDArray[np.bool_]]:
    """The jobs of a kind, and which of them come from a one-off template (numbered from 0)."""
    *regular, stray_rows = quota
    stray = largest_remainder(np.maximum(np.array(regular, dtype=np.float64), 1e-9), stray_rows)
    totals = np.array(regular) + stray
    templates, fresh, sampled = _draw_jobs(kind, int(totals[0]), pool, rng)
    weights = np.maximum(sampled, 0.1)
    counts = np.stack([sampled, *(largest_remainder(weights, int(total)) for total in totals[1:])], axis=1)
    return kind_batch(kind, templates, counts, stray, rng), fresh


def _draw_jobs(
    kind: JobKind, rows: int, pool: Pool, rng: np.random.Generator
) -> tuple[Templates, NDArray[np.bool_], NDArray[np.int64]]:
    """A template per job, whether it is a one-off, and sampled rows of the first role (their sum is `rows`)."""
    expected = int(1.3 * rows / rows_per_job(kind)) + 8
    while True:
        templates, fresh = draw_job_templates(kind, expected, pool, rng)
        sampled = _sampled_rows(kind, templates.instances[:, 0], rng)
        total = np.cumsum(sampled)
        if total[-1] >= rows:
            break
        expected *= 2
    jobs = int(np.searchsorted(total, rows)) + 1
    sampled = sampled[:jobs]
    sampled[-1] -= int(total[jobs - 1]) - rows
    return templates.take(np.arange(jobs)), fresh[:jobs], sampled


def _sampled_rows(kind: JobKind, instances: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """How many instances of each task the sample holds."""
    coverage = rng.uniform(*kind.coverage, instances.size)
    share = np.where(instances <= FULL_COVERAGE_UP_TO, 1.0, coverage)
    return np.ceil(instances * share).astype(np.int64)


STATUSES = ("Terminated", "Failed", "Running", "Waiting")
TERMINATED, FAILED, RUNNING, WAITING = range(4)
STATUS_COUNTS = (732_355, 256_555, 62_928, 3_663)
"""Jobs by status (trace)."""

FAILED_TASK_SHARE = 0.6
FAILED_INSTANCE_SHARE = 0.5
"""Tasks of a failed job, and instances of a failed task, that failed themselves (our choice)."""

ZERO_TIME_SHARE = 0.01
"""Failed tasks with 0 for both times; waiting ones have 0 for the start and no end (trace has such rows)."""

SHORT_S = 550
WAIT_MEDIANS, WAIT_SDS = (0.10, 0.004), (1.26, 2.0)
"""Wait over completion, log-normal, of tasks up to `SHORT_S` and of longer ones: together p50 2 %, p75 10 %,
p90 30 %; short half p50 10 %, p75 25 %, p90 50 % (trace, read off a figure)."""

LONGEST_WAIT = 0.9
"""Largest share of a task that its first instance waits."""


@dataclass(frozen=True)
class States:
    """Status codes and times; a missing time is NaN."""

    job_status: NDArray[np.int64]  # and `job_start`, `job_end`: (J,)
    job_start: NDArray[np.float64]
    job_end: NDArray[np.float64]
    task_status: NDArray[np.int64]  # and `task_start`, `task_end`: (K,)
    task_start: NDArray[np.float64]
    task_end: NDArray[np.float64]
    row_status: NDArray[np.int64]  # and `row_start`, `row_end`: (N,)
    row_start: NDArray[np.float64]
    row_end: NDArray[np.float64]


def draw_states(batch: Batch, rng: np.random.Generator) -> States:
    """Status and times of every job, task and instance."""
    shares = np.array(STATUS_COUNTS) / sum(STATUS_COUNTS)
    job_status = rng.choice(len(STATUSES), batch.job_user.size, p=shares)
    task_status = _inherit(job_status[batch.task_job], FAILED_TASK_SHARE, rng)
    first = np.flatnonzero(np.diff(batch.task_job, prepend=-1))
    task_status[first] = job_status[batch.task_job[first]]
    row_status = _inherit(task_status[batch.row_task], FAILED_INSTANCE_SHARE, rng)
    task_start = batch.job_start_s[batch.task_job] + np.floor(rng.exponential(2.0, batch.task_job.size))
    task_end = task_start + batch.task_duration_s
    row_start, row_end = _instance_times(batch, task_start, rng)
    zero = (task_status == FAILED) & (rng.random(task_status.size) < ZERO_TIME_SHARE)
    job_end = np.zeros(batch.job_user.size)
    np.maximum.at(job_end, batch.task_job, task_end)
    return States(
        job_status,
        *_shown(job_status, batch.job_start_s, job_end, np.zeros(job_end.size, np.bool_)),
        task_status,
        *_shown(task_status, task_start, task_end, zero),
        row_status,
        *_shown(row_status, row_start, row_end, zero[batch.row_task]),
    )


def _inherit(parent: NDArray[np.int64], failed_share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """The parent's status, but for parts of a failed whole that ended well."""
    return np.where((parent == FAILED) & (rng.random(parent.size) > failed_share), TERMINATED, parent)


def _instance_times(
    batch: Batch, task_start: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start and end of every instance, inside its task: a wait, then runs of nearly equal length."""
    duration = batch.task_duration_s
    long = (duration > SHORT_S).astype(np.int64)
    wait = np.array(WAIT_MEDIANS)[long] * np.exp(np.array(WAIT_SDS)[long] * rng.standard_normal(duration.size))
    start = task_start + np.floor(duration * np.minimum(wait, LONGEST_WAIT))
    room = (task_start + duration - start)[batch.row_task]
    late = np.floor(room * rng.beta(1, 40, room.size))
    early = np.floor(room * rng.beta(1, 60, room.size))
    return start[batch.row_task] + late, start[batch.row_task] + room - early


def _shown(
    status: NDArray[np.int64], start: NDArray[np.float64], end: NDArray[np.float64], zero: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times as the trace shows them: no end before a part has ended, 0 where a time was lost."""
    shown_start = np.where((status == WAITING) | zero, 0.0, start)
    shown_end = np.where(status >= RUNNING, np.nan, np.where(zero, 0.0, end))
    return shown_start, shown_end


JOBS = 1_055_501
"""Jobs of the public trace (trace)."""

TAGGED_JOBS = {
    "bert": 54_887,
    "ctr": 27_083,
    "nmt": 10_363,
    "inception": 5_440,
    "graphlearn": 3_754,
    "resnet": 541,
    "xlnet": 415,
    "rl": 249,
    "vgg": 66,
}
"""Tagged jobs by workload: 9.7 % of all (trace)."""

STRAY_SHARE = 0.03
"""Share of the instances of regular jobs that behave like nothing else (our choice, as in the sample)."""


def kind_shares() -> NDArray[np.float64]:
    """The share of jobs of every kind: workloads by `TAGGED_JOBS`, kinds of one workload as in the sample."""
    expected = np.array(sample_jobs(SAMPLE_ROWS))
    workloads = np.array([kind.workload for kind in KINDS])
    tagged = np.zeros(len(KINDS))
    for workload, jobs in TAGGED_JOBS.items():
        mine = workloads == workload
        tagged[mine] = jobs / JOBS * expected[mine] / expected[mine].sum()
    untagged = np.array([share for share, _ in UNTAGGED_KINDS])
    return np.concatenate([tagged, (1 - tagged.sum()) * untagged / untagged.sum()])


def trace_batch(population: Population, jobs: int, block: int, seed: int) -> Batch:
    """`jobs` whole jobs; rows are their instances, task by task."""
    rng = np.random.default_rng([seed, 3, block])
    counts = rng.multinomial(jobs, kind_shares())
    collected = BlockJobs(population, block)
    for number, count in enumerate(counts):
        if count == 0:
            continue
        kind = ALL_KINDS[number]
        templates, fresh = draw_job_templates(kind, int(count), population.pools[number], rng)
        rows = templates.instances.sum(axis=0)
        stray = np.zeros_like(rows) if kind.scattered else rng.binomial(rows, STRAY_SHARE)
        collected.add(number, kind_batch(kind, templates, templates.instances, stray, rng), fresh)
    return collected.joined()
