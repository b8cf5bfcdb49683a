"""Jobs of one kind: templates in, a batch of jobs, tasks and rows out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workprof.synthetic.pai_batch import REGULAR, SCATTERED_JOB, STRAY_INSTANCE, Batch, join_batches
from workprof.synthetic.pai_durations import draw_durations, draw_starts
from workprof.synthetic.pai_kinds import JobKind
from workprof.synthetic.pai_population import Pool, Population
from workprof.synthetic.pai_published import OUTLIER
from workprof.synthetic.pai_templates import ZIPF, Templates, draw_templates, zipf_weights

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
        """Return all jobs as one batch."""
        return join_batches(self._batches)


def draw_job_templates(
    kind: JobKind, count: int, pool: Pool, rng: np.random.Generator
) -> tuple[Templates, NDArray[np.bool_]]:
    """Return a template per job and whether it is a one-off; one-offs and their groups are numbered from 0."""
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
    """Return jobs with `counts` rows per job and role, `stray` of them per role behaving like nothing else."""
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
    """Return the one-off template where `fresh`, else the pooled one."""
    mine, theirs = vars(one_off), vars(pooled)
    chosen = {}
    for name, values in mine.items():
        mask = fresh.reshape(-1, *[1] * (values.ndim - 1))
        chosen[name] = np.where(mask, values, theirs[name])
    return Templates(**chosen)


def _row_labels(
    kind: JobKind, role: NDArray[np.int64], stray: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return profile and outlier code per row, with exactly `stray` stray rows per role."""
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
