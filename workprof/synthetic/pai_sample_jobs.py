"""Sampled jobs of one block: exactly the asked number of rows per kind and role, however jobs fall."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workprof.synthetic.pai_batch import Batch
from workprof.synthetic.pai_jobs import BlockJobs, draw_job_templates, kind_batch
from workprof.synthetic.pai_kinds import JobKind
from workprof.synthetic.pai_population import FULL_COVERAGE_UP_TO, KINDS, Pool, Population, rows_per_job
from workprof.synthetic.pai_templates import Templates


def sample_batch(population: Population, rows: int, block: int, seed: int) -> Batch:
    """Return the jobs of block number `block`, with `rows` rows in random order."""
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
    """Return whole numbers in proportion to `weights` that add up to `total`."""
    exact = weights / weights.sum() * total
    whole: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    missing = total - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    return whole


def _quotas(rows: int) -> list[list[int]]:
    """Return rows per kind: one number per role, then the stray rows."""
    cells = [[*(role.rows for role in kind.roles), kind.stray_rows] for kind in KINDS]
    flat = largest_remainder(np.array([value for cell in cells for value in cell], dtype=np.float64), rows)
    ends = np.cumsum([len(cell) for cell in cells])
    return [part.tolist() for part in np.split(flat, ends[:-1])]


def _sampled_kind(
    kind: JobKind, quota: list[int], pool: Pool, rng: np.random.Generator
) -> tuple[Batch, NDArray[np.bool_]]:
    """Return the jobs of a kind, and which of them come from a one-off template (numbered from 0)."""
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
    """Return a template per job, whether it is a one-off, and sampled rows of the first role (their sum is `rows`)."""
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
    """Return how many instances of each task the sample holds."""
    coverage = rng.uniform(*kind.coverage, instances.size)
    share = np.where(instances <= FULL_COVERAGE_UP_TO, 1.0, coverage)
    return np.ceil(instances * share).astype(np.int64)
