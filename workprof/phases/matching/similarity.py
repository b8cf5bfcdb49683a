"""How far apart two fingerprints are: Euclidean and dynamic time warping, over phases."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from workprof.arrays import Floats
from workprof.phases.fingerprints.fingerprints import Fingerprint
from workprof.phases.settings import MatchSettings

KEPT_COSTS = 100_000
_flat_costs: dict[tuple[bytes, bytes], float] = {}
"""By the content of both: each takes tens of milliseconds, and an evaluation asks for the same ones in every split."""


@dataclass(frozen=True)
class Distance:
    """One distance.

    Attributes:
        value: as defined.
        per_number: divided by the root of how many numbers a phase (Euclidean) or the fingerprint (DTW) holds.
        offset: phases of the longer run before the shorter one begins.
    """

    value: float
    per_number: float
    offset: int


@dataclass(frozen=True)
class Scale:
    """What each statistic is divided by before distances.

    Attributes:
        sd: (n_counters, k) over the phases of the training runs; 1 where it is constant or scaling is off.
    """

    sd: Floats


def scale_of(prints: tuple[Fingerprint, ...], settings: MatchSettings) -> Scale:
    """Return the scale of the training fingerprints; padding takes no part in it."""
    n_counters, _, k = prints[0].values.shape
    if settings.scale == "none":
        return Scale(np.ones((n_counters, k)))
    real = np.concatenate([one.values for one in prints], axis=1)  # (n_counters, all phases, k)
    own = np.concatenate([np.arange(one.phases) < one.n_phases[:, None] for one in prints], axis=1)
    count = own.sum(axis=1)[:, None]
    mean = (real * own[..., None]).sum(axis=1) / count
    variance = (((real - mean[:, None]) * own[..., None]) ** 2).sum(axis=1) / count
    return Scale(np.where(variance > 1e-24, np.sqrt(variance), 1.0))


def euclidean(a: Fingerprint, b: Fingerprint, scale: Scale, settings: MatchSettings) -> Distance:
    """Return the mean Euclidean distance of paired phases, at the offset where it is least.

    Source:
        CWD, equation 5; an offset of 0 is allowed, which the paper's natural numbers leave open.
    """
    short, long = _ordered(phases_of(a, scale), phases_of(b, scale))
    local = np.sqrt(((short[:, None] - long[None]) ** 2).sum(axis=-1))
    offsets = range(len(long) - len(short) + 1) if settings.offsets else range(1)
    by_offset = [float(np.diagonal(local, offset).mean()) for offset in offsets]
    best = int(np.argmin(by_offset))
    return Distance(by_offset[best], by_offset[best] / np.sqrt(short.shape[1]), best)


def warping(a: Fingerprint, b: Fingerprint, scale: Scale, settings: MatchSettings) -> Distance:
    """Return the cost of the cheapest warping path between two sequences of phases, Manhattan between phases.

    Source:
        CWD, section on DTW: its text says Manhattan, its equation 6 squares; the text wins. `flat` warps the
        flattened fingerprints as one series, which is what the paper's figures look like.
    """
    from workprof.phases.kernels import warping_cost  # noqa: PLC0415  numba

    if settings.flat:
        cost = _flat_cost(_flat(a, scale), _flat(b, scale))
        return Distance(cost, cost / np.sqrt(max(a.values.size, b.values.size)), 0)
    short, long = _ordered(phases_of(a, scale), phases_of(b, scale))
    width = len(short) if settings.offsets else len(long)
    offsets = range(len(long) - width + 1)
    by_offset = [warping_cost(short, long[offset : offset + width]) for offset in offsets]
    best = int(np.argmin(by_offset))
    return Distance(by_offset[best], by_offset[best] / np.sqrt(short.size), best)


def phases_of(one: Fingerprint, scale: Scale) -> Floats:
    """Return the phases of a run as rows (q, n_counters * k), scaled; only real phases, never padding of others."""
    scaled = one.values / scale.sd[:, None]
    return np.ascontiguousarray(scaled.transpose(1, 0, 2).reshape(one.phases, -1))


def _flat_cost(first: Floats, second: Floats) -> float:
    """Return the warping cost of two flattened fingerprints, from memory where they were compared before."""
    from workprof.phases.kernels import warping_cost  # noqa: PLC0415  numba

    one, other = sorted(blake2b(values.tobytes(), digest_size=16).digest() for values in (first, second))
    if (one, other) not in _flat_costs:
        if len(_flat_costs) >= KEPT_COSTS:
            _flat_costs.clear()
        _flat_costs[one, other] = warping_cost(first, second)
    return _flat_costs[one, other]


def _flat(one: Fingerprint, scale: Scale) -> Floats:
    """Return the fingerprint as one series (n_counters * q * k, 1)."""
    return np.ascontiguousarray((one.values / scale.sd[:, None]).reshape(-1, 1))


def _ordered(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    return (first, second) if len(first) <= len(second) else (second, first)
