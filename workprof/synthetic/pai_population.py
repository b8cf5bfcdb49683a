"""The population behind a synthetic PAI file: users, machines, and the pools of recurring templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.synthetic.names import GROUP_DIGITS, USER_DIGITS, hex_names
from workprof.synthetic.pai_kinds import REGULAR_KINDS, JobKind
from workprof.synthetic.pai_machines import Machines, draw_machines
from workprof.synthetic.pai_outlier_kinds import OUTLIER_KINDS
from workprof.synthetic.pai_published import SAMPLE_ROWS, TOP_USER_ROWS
from workprof.synthetic.pai_templates import (
    TAIL_USER_COUNT,
    UNTAGGED_USER_COUNT,
    Templates,
    cell_effects,
    draw_templates,
    pool_size,
)
from workprof.synthetic.pai_untagged_kinds import UNTAGGED_KINDS

KINDS = REGULAR_KINDS + OUTLIER_KINDS
"""Kinds of tagged jobs: those of the sample."""

ALL_KINDS = KINDS + tuple(kind for _, kind in UNTAGGED_KINDS)
"""Every kind of job; `Batch.job_kind` is a position here."""

FULL_COVERAGE_UP_TO = 4
"""Smaller tasks are sampled whole (our choice)."""


@dataclass(frozen=True)
class Pool:
    """Templates that recur, and what one-off templates share with them.

    Attributes:
        templates: the recurring ones, numbered over all pools.
        cells: effect of bundle and size on log duration.
    """

    templates: Templates
    cells: NDArray[np.float64]


@dataclass(frozen=True)
class Population:
    """Everything that is drawn once per file.

    Attributes:
        pools: one per kind, in the order of `ALL_KINDS`; kinds of one pool hold the same object.
        users: user names.
        groups: names of the groups of the pools.
        machines: the machines.
        n_templates: templates in all pools.
    """

    pools: tuple[Pool, ...]
    users: Any
    groups: Any
    machines: Machines
    n_templates: int


def rows_per_job(kind: JobKind) -> float:
    """Return the expected sampled rows of the first role of a job."""
    mean_coverage = sum(kind.coverage) / 2
    total = sum(weight for _, weight in kind.inst_nums)
    return sum(w * (n if n <= FULL_COVERAGE_UP_TO else n * mean_coverage) for n, w in kind.inst_nums) / total


def sample_jobs(rows: int) -> list[float]:
    """Return the expected jobs of each of `KINDS` in a sample of `rows` rows."""
    return [kind.roles[0].rows * rows / SAMPLE_ROWS / rows_per_job(kind) for kind in KINDS]


def draw_population(expected_jobs: Sequence[float], seed: int) -> Population:
    """Return the population of a file whose blocks have about `expected_jobs` jobs of each of the first kinds."""
    rng = np.random.default_rng([seed, 0])
    pools: list[Pool] = []
    shared: dict[str, Pool] = {}
    n_templates = n_groups = 0
    for kind, jobs in zip(ALL_KINDS, expected_jobs, strict=False):
        if kind.pool in shared:
            pools.append(shared[kind.pool])
            continue
        cells = cell_effects(kind, rng)
        drawn = draw_templates(kind, pool_size(kind, jobs), cells, rng, pooled=True)
        pool = Pool(_renumber(drawn, n_templates, n_groups), cells)
        n_templates, n_groups = n_templates + drawn.number.size, n_groups + int(drawn.group.max()) + 1
        pools.append(pool)
        if kind.pool:
            shared[kind.pool] = pool
    users = hex_names(rng, len(TOP_USER_ROWS) + TAIL_USER_COUNT + UNTAGGED_USER_COUNT, USER_DIGITS)
    groups = hex_names(rng, n_groups, GROUP_DIGITS)
    return Population(tuple(pools), users, groups, draw_machines(rng), n_templates)


def _renumber(templates: Templates, first_template: int, first_group: int) -> Templates:
    """Return the templates with numbers and groups counted on from those of earlier pools."""
    fields = dict(vars(templates))
    fields["number"] = templates.number + first_template
    fields["group"] = templates.group + first_group
    return Templates(**fields)
