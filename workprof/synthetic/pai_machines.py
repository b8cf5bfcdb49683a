"""Machines: their types and sizes, and which machine hosts an instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workprof.synthetic.names import MACHINE_DIGITS, hex_names
from workprof.synthetic.pai_published import HOST_SHARES, MACHINE_TYPES, OTHER_HOSTS, TYPE_MATCHES_HOST

TYPE_NAMES = tuple(MACHINE_TYPES)
"""Machine types; a type is kept as its position here."""

SMALL_V100_SHARE = 0.5
"""Share of V100 machines with 384 instead of 512 GB (trace: both exist)."""

LONE_GPU_NAME = "/dev/nvidia0"
"""GPU name of an instance on a machine without or with one GPU."""


@dataclass(frozen=True)
class Machines:
    """The machines of the cluster, sorted by type; arrays of 1,897.

    Attributes:
        names: machine names.
        type_index: position in `TYPE_NAMES`.
        cores: CPU cores.
        memory_gb: main memory as the trace counts it.
        gpus: GPUs.
        first: where each type begins, with the total at the end.
    """

    names: Any
    type_index: NDArray[np.int64]
    cores: NDArray[np.float64]
    memory_gb: NDArray[np.float64]
    gpus: NDArray[np.float64]
    first: NDArray[np.int64]


def draw_machines(rng: np.random.Generator) -> Machines:
    """Return the machines of the public trace with random names."""
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
    """Return a machine index per row; low indices of a type are busier than high ones."""
    width = np.diff(machines.first)[host_type]
    place = (rng.random(host_type.size) ** 1.6 * width).astype(np.int64)
    return machines.first[host_type] + place


def draw_host_types(workloads: list[str], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the machine type of every task, from the host shares of its workload."""
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
    """Return the requested type per task: the host's own, but for a few; a CPU machine was never requested."""
    elsewhere = rng.random(host_type.size) > TYPE_MATCHES_HOST
    misc = TYPE_NAMES.index("MISC")
    return np.where(elsewhere | (host_type == TYPE_NAMES.index("CPU")), misc, host_type).astype(np.int64)


def draw_gpu_names(gpus: NDArray[np.float64], rng: np.random.Generator) -> Any:
    """Return the GPU device name per row."""
    slot = (rng.random(gpus.size) * np.maximum(gpus, 1)).astype(np.int64)
    devices = pa.array([LONE_GPU_NAME[:-1] + str(number) for number in range(8)])
    return devices.take(pa.array(slot))
