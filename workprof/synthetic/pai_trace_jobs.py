"""Whole jobs of one block, as the raw tables hold them: every task, every instance, every status."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workprof.synthetic.pai_batch import Batch
from workprof.synthetic.pai_jobs import BlockJobs, draw_job_templates, kind_batch
from workprof.synthetic.pai_population import ALL_KINDS, KINDS, Population, sample_jobs
from workprof.synthetic.pai_published import SAMPLE_ROWS
from workprof.synthetic.pai_untagged_kinds import UNTAGGED_KINDS

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
    """Return the share of jobs of every kind: workloads by `TAGGED_JOBS`, kinds of one workload as in the sample."""
    expected = np.array(sample_jobs(SAMPLE_ROWS))
    workloads = np.array([kind.workload for kind in KINDS])
    tagged = np.zeros(len(KINDS))
    for workload, jobs in TAGGED_JOBS.items():
        mine = workloads == workload
        tagged[mine] = jobs / JOBS * expected[mine] / expected[mine].sum()
    untagged = np.array([share for share, _ in UNTAGGED_KINDS])
    return np.concatenate([tagged, (1 - tagged.sum()) * untagged / untagged.sum()])


def trace_batch(population: Population, jobs: int, block: int, seed: int) -> Batch:
    """Return `jobs` whole jobs; rows are their instances, task by task."""
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
