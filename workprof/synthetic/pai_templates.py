"""Job templates: what recurs when a user submits the same thing again.

A template fixes user, group, bundle, instances per role, the template's own departure from its behaviour's levels
and from its typical duration, whether it runs steadily, and whether it mostly ends in the 13-second spike. Most
jobs come from a template that never recurs; the others from a pool with Zipf weights, so that about two fifths of
jobs belong to a repeated group, as in the 999-row file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.synthetic.pai_behaviours import BEHAVIOURS, SPREAD
from workprof.synthetic.pai_kinds import TAIL_USERS, UNTAGGED_USERS, JobKind, Role
from workprof.synthetic.pai_published import HEAVY_SHARE, OUTLIER, TOP_USER_ROWS
from workprof.synthetic.pai_sensors import levels_from_plans

TAIL_USER_COUNT = 150
TAIL_ZIPF = 0.8
"""Small users, with Zipf weights; they submit the 6.4 % of rows that the ten largest leave (count is our choice)."""

UNTAGGED_USER_COUNT, UNTAGGED_ZIPF = 1_300, 1.28
"""Users of untagged jobs: about 75 tasks at the median, 1e3 at the 90th percentile, 3e5 at most (trace)."""

CELL_SD, GROUP_SD, SIZE_SLOPE = 0.45, 0.45, 0.45
"""Spread of log duration between bundles, between groups of one bundle, and its slope over log instances."""

ONE_OFF_OFFSET, POOL_OFFSET = 0.6, 0.35
"""Template offsets as shares of `SPREAD`: large templates stay close to their behaviour, lest they be clusters."""

SPIKE_IF_SPIKY, SPIKE_IF_NOT = 0.93, 0.03
"""Share of spike runs in templates that mostly end at 13 s, and in the others of such a behaviour."""

POOL_JOBS_PER_GROUP = 2.8
"""Jobs per repeated group (tail: 395 of 942 jobs in 160 repeated groups, rounded up for ones cut by sampling)."""

BORROWING_SHARE = 0.2
"""Recurring templates that borrow the bundle of a larger kind, where their kind may (our choice)."""

LARGEST_POOLED = 50
"""Larger jobs do not recur in pools, so that no group but the fixed ones passes 2 % of the rows (sample)."""

ZIPF = 0.5
"""Exponent of the weights of pool templates."""

LADDER = np.array([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 19, 20, 25, 28, 30, 40, 50, 59, 75, 100, 125, 150, 200, 250, 300,
                   400, 500, 600, 800, 1000, 1200, 1500, 2000])  # fmt: skip
"""Instance counts that people ask for."""


@dataclass(frozen=True)
class Templates:
    """Templates of one kind, one entry each (n); per role (n, n_roles).

    Attributes:
        number: identity, unique in a file.
        user, group: indices into the names.
        bundle: index into every role's bundles.
        instances: inst_num per role.
        offset: (n, n_roles, 10) departure from the behaviour's coordinates.
        log_factor: departure from the typical log duration.
        heavy: whether runs differ strongly.
        spike_chance: chance of a 13-second run per role.
    """

    number: NDArray[np.int64]
    user: NDArray[np.int64]
    group: NDArray[np.int64]
    bundle: NDArray[np.int64]
    instances: NDArray[np.int64]
    offset: NDArray[np.float64]
    log_factor: NDArray[np.float64]
    heavy: NDArray[np.bool_]
    spike_chance: NDArray[np.float64]

    def take(self, rows: NDArray[Any]) -> Templates:
        """Return the templates at `rows`."""
        return Templates(**{name: values[rows] for name, values in vars(self).items()})

    def __add__(self, other: Templates) -> Templates:
        """Return both sets, ours first."""
        mine, theirs = vars(self), vars(other)
        return Templates(**{name: np.concatenate([mine[name], theirs[name]]) for name in mine})


def zipf_weights(count: int, exponent: float) -> NDArray[np.float64]:
    """Return `count` falling weights that add up to 1."""
    weights: NDArray[np.float64] = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def cell_effects(kind: JobKind, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the effect of bundle and instance count on log duration, (n_bundles, n_sizes)."""
    shape = (len(kind.roles[0].bundles + kind.roles[0].borrowed), len(kind.inst_nums))
    return rng.normal(0.0, CELL_SD, shape)


def draw_templates(
    kind: JobKind, count: int, cells: NDArray[np.float64], rng: np.random.Generator, *, pooled: bool
) -> Templates:
    """Return `count` new templates of a kind; `number` and `group` count from 0."""
    sizes = np.array([size for size, _ in kind.inst_nums])
    if pooled and kind.groups:
        size, bundle, group = _fixed_design(kind, count)
    else:
        size = rng.choice(len(sizes), count, p=_shares(kind.inst_nums))
        size = np.where(pooled & (sizes[size] > LARGEST_POOLED), 0, size)
        bundle = _bundles(kind.roles[0], count, rng, pooled=pooled)
        group = np.arange(count)
    typical = np.average(np.log(sizes), weights=_shares(kind.inst_nums))
    log_factor = cells[bundle, size] + SIZE_SLOPE * (np.log(sizes[size]) - typical) + rng.normal(0, GROUP_SD, count)
    share, shape = POOL_OFFSET if pooled else ONE_OFF_OFFSET, (count, len(kind.roles), SPREAD.size)
    return Templates(
        number=np.arange(count),
        user=_users(kind, count, rng),
        group=group,
        bundle=bundle,
        instances=_instances(kind, sizes[size]),
        offset=_loose_levels(kind, bundle, rng) if kind.scattered else rng.normal(0, share, shape) * SPREAD,
        log_factor=log_factor,
        heavy=rng.random(count) < HEAVY_SHARE,
        spike_chance=_spike_chances(kind, count, rng),
    )


def pool_size(kind: JobKind, block_jobs: float) -> int:
    """Return how many templates a pool has when a block of rows holds `block_jobs` jobs of the kind."""
    if kind.groups:
        return 12 * kind.groups if kind.groups > 1 else len(kind.inst_nums) * len(kind.roles[0].bundles)
    return max(1, round(block_jobs * (1 - kind.one_off_share) / POOL_JOBS_PER_GROUP))


def _bundles(role: Role, count: int, rng: np.random.Generator, *, pooled: bool) -> NDArray[np.int64]:
    """Return a bundle number per template; only recurring templates borrow, so that their group can be known."""
    own = rng.integers(0, len(role.bundles), count)
    if not (pooled and role.borrowed):
        return own
    borrowed = len(role.bundles) + rng.integers(0, len(role.borrowed), count)
    return np.where(rng.random(count) < BORROWING_SHARE, borrowed, own)


def _fixed_design(kind: JobKind, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return size, bundle and group of a pool with few groups, balanced so that two groups split 2 : 1 (sample)."""
    groups = kind.groups or 1
    cumulative = np.cumsum(_shares(kind.inst_nums))
    third = max(1, count // 3) if groups > 1 else count
    place = np.arange(count) % third
    size = np.searchsorted(cumulative, (place + 0.5) / third)
    group = (np.arange(count) >= 2 * third).astype(np.int64) if groups > 1 else np.zeros(count, np.int64)
    return size.astype(np.int64), (np.arange(count) % len(kind.roles[0].bundles)).astype(np.int64), group


def _loose_levels(kind: JobKind, bundle: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return levels of templates without a behaviour, (n, n_roles, 10): each its own, in proportion to its plan."""
    plans = [np.array(role.bundles, dtype=np.float64)[bundle] for role in kind.roles]
    return np.stack([levels_from_plans(plan, rng) for plan in plans], axis=1)


def _shares(pairs: tuple[tuple[int, float], ...]) -> NDArray[np.float64]:
    """Return the weights of (value, weight) pairs, adding up to 1."""
    weights = np.array([weight for _, weight in pairs])
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def _users(kind: JobKind, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a user index per template: top users first, then the tail."""
    ranks = np.array([rank for rank, _ in kind.users])
    user = ranks[rng.choice(ranks.size, count, p=_shares(kind.users))]
    tail = len(TOP_USER_ROWS) + rng.choice(TAIL_USER_COUNT, count, p=zipf_weights(TAIL_USER_COUNT, TAIL_ZIPF))
    other = rng.choice(UNTAGGED_USER_COUNT, count, p=zipf_weights(UNTAGGED_USER_COUNT, UNTAGGED_ZIPF))
    user = np.where(user == UNTAGGED_USERS, len(TOP_USER_ROWS) + TAIL_USER_COUNT + other, user)
    return np.where(user == TAIL_USERS, tail, user).astype(np.int64)


def _instances(kind: JobKind, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return instances per role: the first role's, the others' in the proportion of their rows, up the ladder."""
    columns = [first]
    for role in kind.roles[1:]:
        needed = np.ceil(first * (1.1 * role.rows / kind.roles[0].rows)).astype(np.int64)
        columns.append(LADDER[np.minimum(np.searchsorted(LADDER, needed), LADDER.size - 1)])
    return np.stack(columns, axis=1)


def _spike_chances(kind: JobKind, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the chance of a 13-second run per template and role."""
    share = np.array([_spike_share(role) for role in kind.roles])
    spiky = rng.random((count, 1)) < share
    return np.where(spiky, SPIKE_IF_SPIKY, np.where(share > 0, SPIKE_IF_NOT, 0.0))


def _spike_share(role: Role) -> float:
    """Return the share of spiky templates of a role."""
    return 0.05 if role.profile == OUTLIER else BEHAVIOURS[role.profile].spike_share
