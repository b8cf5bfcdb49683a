"""The population behind a synthetic PAI file: users, machines, and the templates that recur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workprof.synthetic.pai_behaviours import (
    BEHAVIOURS,
    HEAVY_SHARE,
    HOST_SHARES,
    KEY_SD,
    MACHINE_TYPES,
    MEMORY,
    OTHER_HOSTS,
    OUTLIER,
    SAMPLE_ROWS,
    SPREAD,
    TOP_USER_ROWS,
    TYPE_MATCHES_HOST,
    UNSTEADY_SHARE,
    USE_OF_PLAN,
    USE_OF_PLAN_SD,
    levels_from_plans,
)
from workprof.synthetic.pai_kinds import (
    OUTLIER_KINDS,
    REGULAR_KINDS,
    TAIL_USERS,
    UNTAGGED_KINDS,
    UNTAGGED_USERS,
    JobKind,
    Role,
)

JOB_DIGITS, INSTANCE_DIGITS, USER_DIGITS, GROUP_DIGITS, MACHINE_DIGITS = 24, 60, 12, 32, 24
"""Digits of job_name; of inst_id, inst_name and worker_name; of user; of group; of machine (trace)."""


def hex_names(rng: np.random.Generator, count: int, digits: int) -> Any:
    """A string array of `count` random hexadecimal names of `digits` digits (an even number).

    Names are built in one buffer, since a Python loop over 10 million of them would take minutes.
    """
    text = rng.bytes(count * digits // 2).hex().encode("ascii")
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(digits)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text))


def take_names(names: Any, indices: NDArray[Any]) -> Any:
    """The string array of `names` at `indices`, one per row."""
    return names.take(pa.array(indices))


TYPE_NAMES = tuple(MACHINE_TYPES)
"""Machine types; a type is kept as its position here."""

SMALL_V100_SHARE = 0.5
"""Share of V100 machines with 384 instead of 512 GB (trace: both exist)."""

LONE_GPU_NAME = "/dev/nvidia0"
"""GPU name of an instance on a machine without or with one GPU."""


@dataclass(frozen=True)
class Machines:
    """The machines of the cluster, sorted by type; arrays of 1,897."""

    names: Any  # machine names
    type_index: NDArray[np.int64]  # position in `TYPE_NAMES`
    cores: NDArray[np.float64]  # CPU cores
    memory_gb: NDArray[np.float64]  # main memory as the trace counts it
    gpus: NDArray[np.float64]  # GPUs
    first: NDArray[np.int64]  # where each type begins, with the total at the end


def draw_machines(rng: np.random.Generator) -> Machines:
    """The machines of the public trace with random names."""
    counts, cores, memory, gpus = (np.array(column) for column in zip(*MACHINE_TYPES.values(), strict=True))
    type_index = np.repeat(np.arange(len(TYPE_NAMES)), counts)
    memory_gb = memory[type_index].astype(np.float64)
    small = (type_index == TYPE_NAMES.index("V100")) & (rng.random(type_index.size) < SMALL_V100_SHARE)
    return Machines(
        names=hex_names(rng, type_index.size, MACHINE_DIGITS),
        type_index=type_index,
        cores=cores[type_index].astype(np.float64),
        memory_gb=np.where(small, 384.0, memory_gb),
        gpus=gpus[type_index].astype(np.float64),
        first=np.concatenate([[0], np.cumsum(counts)]),
    )


def draw_hosts(machines: Machines, host_type: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A machine index per row; low indices of a type are busier than high ones."""
    width = np.diff(machines.first)[host_type]
    place = (rng.random(host_type.size) ** 1.6 * width).astype(np.int64)
    return machines.first[host_type] + place


def draw_host_types(workloads: list[str], rng: np.random.Generator) -> NDArray[np.int64]:
    """The machine type of every task, from the host shares of its workload."""
    names = np.array(workloads)
    types = np.zeros(names.size, dtype=np.int64)
    for workload in sorted(set(workloads)):
        chosen = np.flatnonzero(names == workload)
        shares = HOST_SHARES.get(workload, OTHER_HOSTS)
        weights = np.array(list(shares.values()))
        positions = np.array([TYPE_NAMES.index(name) for name in shares])
        types[chosen] = positions[rng.choice(positions.size, chosen.size, p=weights / weights.sum())]
    return types


def draw_requested_types(host_type: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The requested type per task: the host's own, but for a few; a CPU machine was never requested."""
    elsewhere = rng.random(host_type.size) > TYPE_MATCHES_HOST
    misc = TYPE_NAMES.index("MISC")
    return np.where(elsewhere | (host_type == TYPE_NAMES.index("CPU")), misc, host_type).astype(np.int64)


def draw_gpu_names(gpus: NDArray[np.float64], rng: np.random.Generator) -> Any:
    """The GPU device name per row."""
    slot = (rng.random(gpus.size) * np.maximum(gpus, 1)).astype(np.int64)
    devices = pa.array([LONE_GPU_NAME[:-1] + str(number) for number in range(8)])
    return devices.take(pa.array(slot))


TAIL_USER_COUNT = 150
TAIL_ZIPF = 0.8
"""Small users, with Zipf weights; they submit the 6.4 % of rows that the ten largest leave (count is our choice)."""

UNTAGGED_USER_COUNT, UNTAGGED_ZIPF = 1_300, 1.28
"""Users of untagged jobs: about 75 tasks at the median, 1e3 at the 90th percentile, 3e5 at most (trace)."""

USER_COUNT = len(TOP_USER_ROWS) + TAIL_USER_COUNT + UNTAGGED_USER_COUNT

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

INSTANCE_COUNTS = np.array([
    1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 19, 20, 25, 28, 30, 40, 50, 59, 75, 100, 125, 150, 200, 250, 300, 400, 500, 600,
    800, 1000, 1200, 1500, 2000,
])  # fmt: skip
"""Instance counts that people ask for."""


@dataclass(frozen=True)
class Templates:
    """Templates of one kind, one entry each (n); per role (n, n_roles)."""

    number: NDArray[np.int64]  # identity, unique in a file
    user: NDArray[np.int64]  # and `group`: indices into the names
    group: NDArray[np.int64]
    bundle: NDArray[np.int64]  # index into every role's bundles
    instances: NDArray[np.int64]  # inst_num per role
    offset: NDArray[np.float64]  # (n, n_roles, 10) departure from the behaviour's coordinates
    log_factor: NDArray[np.float64]  # departure from the typical log duration
    heavy: NDArray[np.bool_]  # whether runs differ strongly
    spike_chance: NDArray[np.float64]  # chance of a 13-second run per role

    def take(self, rows: NDArray[Any]) -> Templates:
        """The templates at `rows`."""
        return Templates(**{name: values[rows] for name, values in vars(self).items()})

    def __add__(self, other: Templates) -> Templates:
        """Both sets, ours first."""
        mine, theirs = vars(self), vars(other)
        return Templates(**{name: np.concatenate([mine[name], theirs[name]]) for name in mine})


def zipf_weights(count: int, exponent: float) -> NDArray[np.float64]:
    """`count` falling weights that add up to 1."""
    weights: NDArray[np.float64] = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


@dataclass(frozen=True)
class Cells:
    """What templates of one kind share with others that ask for the same."""

    duration: NDArray[np.float64]  # (n_bundles, n_sizes) effect of bundle and instance count on log duration
    # (n_users, n_bundles, n_roles) log of peak memory over plan of a kind without a behaviour, which is one for what
    # asks for the same memory; NaN = none in common
    memory: NDArray[np.float64]


def draw_cells(kind: JobKind, rng: np.random.Generator, memory_rng: np.random.Generator) -> Cells:
    """What the templates of a kind share."""
    shape = (len(kind.roles[0].bundles + kind.roles[0].borrowed), len(kind.inst_nums))
    duration = rng.normal(0.0, CELL_SD, shape)
    keys = (USER_COUNT, shape[0], len(kind.roles))
    if not kind.scattered:
        return Cells(duration, np.full(keys, np.nan))
    memory = memory_rng.normal(np.log(USE_OF_PLAN[1]), USE_OF_PLAN_SD[1], keys)
    memory[memory_rng.random(keys) < UNSTEADY_SHARE] = np.nan
    for place, role in enumerate(kind.roles):
        plans = [plan for _, plan, _ in role.bundles[: shape[0]]]
        memory[:, :, place] = memory[:, [plans.index(plan) for plan in plans], place]
    return Cells(duration, memory)


def draw_templates(kind: JobKind, count: int, cells: Cells, rng: np.random.Generator, *, pooled: bool) -> Templates:
    """`count` new templates of a kind; `number` and `group` count from 0."""
    sizes = np.array([size for size, _ in kind.inst_nums])
    if pooled and kind.groups:
        size, bundle, group = _fixed_design(kind, count)
    else:
        size = rng.choice(len(sizes), count, p=_shares(kind.inst_nums))
        size = np.where(pooled & (sizes[size] > LARGEST_POOLED), 0, size)
        bundle = _bundles(kind.roles[0], count, rng, pooled=pooled)
        group = np.arange(count)
    typical = np.average(np.log(sizes), weights=_shares(kind.inst_nums))
    log_factor = (
        cells.duration[bundle, size] + SIZE_SLOPE * (np.log(sizes[size]) - typical) + rng.normal(0, GROUP_SD, count)
    )
    user = _users(kind, count, rng)
    offset = _offsets(kind, bundle, cells.memory[user, bundle], rng, pooled=pooled)
    return Templates(
        number=np.arange(count),
        user=user,
        group=group,
        bundle=bundle,
        instances=_instances(kind, sizes[size]),
        offset=offset,
        log_factor=log_factor,
        heavy=rng.random(count) < HEAVY_SHARE,
        spike_chance=_spike_chances(kind, count, rng),
    )


def pool_size(kind: JobKind, block_jobs: float) -> int:
    """How many templates a pool has when a block of rows holds `block_jobs` jobs of the kind."""
    if kind.groups:
        return 12 * kind.groups if kind.groups > 1 else len(kind.inst_nums) * len(kind.roles[0].bundles)
    return max(1, round(block_jobs * (1 - kind.one_off_share) / POOL_JOBS_PER_GROUP))


def _bundles(role: Role, count: int, rng: np.random.Generator, *, pooled: bool) -> NDArray[np.int64]:
    """A bundle number per template; only recurring templates borrow, so that their group can be known."""
    own = rng.integers(0, len(role.bundles), count)
    if not (pooled and role.borrowed):
        return own
    borrowed = len(role.bundles) + rng.integers(0, len(role.borrowed), count)
    return np.where(rng.random(count) < BORROWING_SHARE, borrowed, own)


def _fixed_design(kind: JobKind, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Size, bundle and group of a pool with few groups, balanced so that two groups split 2 : 1 (sample)."""
    groups = kind.groups or 1
    cumulative = np.cumsum(_shares(kind.inst_nums))
    third = max(1, count // 3) if groups > 1 else count
    place = np.arange(count) % third
    size = np.searchsorted(cumulative, (place + 0.5) / third)
    group = (np.arange(count) >= 2 * third).astype(np.int64) if groups > 1 else np.zeros(count, np.int64)
    return size.astype(np.int64), (np.arange(count) % len(kind.roles[0].bundles)).astype(np.int64), group


def _offsets(
    kind: JobKind, bundle: NDArray[np.int64], memory: NDArray[np.float64], rng: np.random.Generator, *, pooled: bool
) -> NDArray[np.float64]:
    """Departures from the behaviour, (n, n_roles, 10); without one, levels in proportion to the plan."""
    if kind.scattered:
        plans = [np.array(role.bundles, dtype=np.float64)[bundle] for role in kind.roles]
        return np.stack([levels_from_plans(plan, memory[:, role], rng) for role, plan in enumerate(plans)], axis=1)
    spread = SPREAD * (POOL_OFFSET if pooled else ONE_OFF_OFFSET)
    spread[MEMORY] = KEY_SD
    return rng.standard_normal((bundle.size, len(kind.roles), spread.size)) * spread


def _shares(pairs: tuple[tuple[int, float], ...]) -> NDArray[np.float64]:
    """The weights of (value, weight) pairs, adding up to 1."""
    weights = np.array([weight for _, weight in pairs])
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def _users(kind: JobKind, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A user index per template: top users first, then the tail."""
    ranks = np.array([rank for rank, _ in kind.users])
    user = ranks[rng.choice(ranks.size, count, p=_shares(kind.users))]
    tail = len(TOP_USER_ROWS) + rng.choice(TAIL_USER_COUNT, count, p=zipf_weights(TAIL_USER_COUNT, TAIL_ZIPF))
    other = rng.choice(UNTAGGED_USER_COUNT, count, p=zipf_weights(UNTAGGED_USER_COUNT, UNTAGGED_ZIPF))
    user = np.where(user == UNTAGGED_USERS, len(TOP_USER_ROWS) + TAIL_USER_COUNT + other, user)
    return np.where(user == TAIL_USERS, tail, user).astype(np.int64)


def _instances(kind: JobKind, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Instances per role: the first role's, the others' in the proportion of their rows, up the ladder."""
    columns = [first]
    for role in kind.roles[1:]:
        needed = np.ceil(first * (1.1 * role.rows / kind.roles[0].rows)).astype(np.int64)
        columns.append(INSTANCE_COUNTS[np.minimum(np.searchsorted(INSTANCE_COUNTS, needed), INSTANCE_COUNTS.size - 1)])
    return np.stack(columns, axis=1)


def _spike_chances(kind: JobKind, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The chance of a 13-second run per template and role."""
    profiles = [role.profile for role in kind.roles]
    share = np.array([0.05 if one == OUTLIER else BEHAVIOURS[one].spike_share for one in profiles])
    spiky = rng.random((count, 1)) < share
    return np.where(spiky, SPIKE_IF_SPIKY, np.where(share > 0, SPIKE_IF_NOT, 0.0))


KINDS = REGULAR_KINDS + OUTLIER_KINDS
"""Kinds of tagged jobs: those of the sample."""

ALL_KINDS = KINDS + tuple(kind for _, kind in UNTAGGED_KINDS)
"""Every kind of job; `Batch.job_kind` is a position here."""

FULL_COVERAGE_UP_TO = 4
"""Smaller tasks are sampled whole (our choice)."""


@dataclass(frozen=True)
class Pool:
    """Templates that recur, and what one-off templates share with them."""

    templates: Templates  # the recurring ones, numbered over all pools
    cells: Cells  # what all of the kind share


@dataclass(frozen=True)
class Population:
    """Everything that is drawn once per file."""

    pools: tuple[Pool, ...]  # one per kind, in the order of `ALL_KINDS`; kinds of one pool hold the same object
    users: Any  # user names
    groups: Any  # names of the groups of the pools
    machines: Machines  # the machines


def rows_per_job(kind: JobKind) -> float:
    """The expected sampled rows of the first role of a job."""
    mean_coverage = sum(kind.coverage) / 2
    total = sum(weight for _, weight in kind.inst_nums)
    return sum(w * (n if n <= FULL_COVERAGE_UP_TO else n * mean_coverage) for n, w in kind.inst_nums) / total


def sample_jobs(rows: int) -> list[float]:
    """The expected jobs of each of `KINDS` in a sample of `rows` rows."""
    return [kind.roles[0].rows * rows / SAMPLE_ROWS / rows_per_job(kind) for kind in KINDS]


def draw_population(expected_jobs: Sequence[float], seed: int) -> Population:
    """The population of a file whose blocks have about `expected_jobs` jobs of each of the first kinds."""
    rng, memory_rng = (np.random.default_rng([seed, stream]) for stream in (0, 5))
    pools: list[Pool] = []
    shared: dict[str, Pool] = {}
    n_templates = n_groups = 0
    for kind, jobs in zip(ALL_KINDS, expected_jobs, strict=False):
        if kind.pool in shared:
            pools.append(shared[kind.pool])
            continue
        cells = draw_cells(kind, rng, memory_rng)
        drawn = draw_templates(kind, pool_size(kind, jobs), cells, rng, pooled=True)
        pool = Pool(_renumber(drawn, n_templates, n_groups), cells)
        n_templates, n_groups = n_templates + drawn.number.size, n_groups + int(drawn.group.max()) + 1
        pools.append(pool)
        if kind.pool:
            shared[kind.pool] = pool
    users = hex_names(rng, USER_COUNT, USER_DIGITS)
    groups = hex_names(rng, n_groups, GROUP_DIGITS)
    return Population(tuple(pools), users, groups, draw_machines(rng))


def _renumber(templates: Templates, first_template: int, first_group: int) -> Templates:
    """The templates with numbers and groups counted on from those of earlier pools."""
    fields = dict(vars(templates))
    fields["number"] = templates.number + first_template
    fields["group"] = templates.group + first_group
    return Templates(**fields)
