"""How far apart two fingerprints are, and from where on a run belongs to no known workload."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated

import numpy as np

from workprof.core.arrays import Floats
from workprof.core.fields import Setting, settings
from workprof.phases.fingerprints import Fingerprint


@settings
class MatchSettings:
    """Distances and the thresholds on them."""

    scale: Annotated[
        str,
        Setting(
            "What distances are taken of.",
            choices={
                "standard": "every statistic of every counter in its deviations over the phases of the training runs",
                "none": "the fingerprints as they are, as published",
            },
            shown={"standard": "Standardised", "none": "None"},
            label="Scale of distances",
        ),
    ] = "standard"
    offsets: Annotated[bool, Setting("Look for the shorter run inside the longer one.", label="Search offsets")] = True
    flat: Annotated[
        bool,
        Setting(
            "DTW of the flattened fingerprints as one series; it depends on the order of the counters.",
            label="Flat DTW",
        ),
    ] = False
    c: Annotated[
        float | None,
        Setting(
            "A run is known up to mean + c standard deviations of its workload's distances; without one c is chosen on "
            "the known runs, each against the rest.",
            unit="sd",
            least=0,
            most=100,
            label="Threshold c",
            empty="chosen",
        ),
    ] = None
    two_sided: Annotated[
        bool, Setting("Also reject runs closer than mean - c standard deviations, the literal rule.", label="Two-sided")
    ] = False
    pooled: Annotated[
        bool,
        Setting(
            "One spread for all workloads, from deviations about each one's own mean; for few runs each.",
            label="Pooled spread",
        ),
    ] = True
    false_rejects: Annotated[
        float,
        Setting(
            "New runs of known workloads that may be rejected where c is chosen: on known runs, each against the rest, "
            "less what one run more of a workload changes.",
            unit="share",
            above=0,
            most=0.5,
        ),
    ] = 0.12


MOST_CACHED_COSTS = 100_000
_flat_costs: dict[tuple[bytes, bytes], float] = {}
"""By the content of both: each takes tens of milliseconds, and an evaluation asks for the same ones in every split."""


@dataclass(frozen=True)
class Distance:
    """One distance."""

    value: float  # as defined
    offset: int  # phases of the longer run before the shorter one begins


@dataclass(frozen=True)
class DistanceScale:
    """What each statistic is divided by before distances."""

    sd: Floats  # (n_counters, k) over the phases of the training runs; 1 where it is constant or scaling is off


def scale_of(prints: tuple[Fingerprint, ...], settings: MatchSettings) -> DistanceScale:
    """The scale of the training fingerprints; padding takes no part in it."""
    n_counters, _, k = prints[0].values.shape
    if settings.scale == "none":
        return DistanceScale(np.ones((n_counters, k)))
    real = np.concatenate([one.values for one in prints], axis=1)  # (n_counters, all phases, k)
    own = np.concatenate([np.arange(one.phases) < one.n_phases[:, None] for one in prints], axis=1)
    count = own.sum(axis=1)[:, None]
    mean = (real * own[..., None]).sum(axis=1) / count
    variance = (((real - mean[:, None]) * own[..., None]) ** 2).sum(axis=1) / count
    return DistanceScale(np.where(variance > 1e-24, np.sqrt(variance), 1.0))


def euclidean(a: Fingerprint, b: Fingerprint, scale: DistanceScale, settings: MatchSettings) -> Distance:
    """The mean Euclidean distance of paired phases, at the offset where it is least.

    Source: CWD, equation 5; an offset of 0 is allowed, which the paper's natural numbers leave open.
    """
    short, long = _ordered(phases_of(a, scale), phases_of(b, scale))
    local = np.sqrt(((short[:, None] - long[None]) ** 2).sum(axis=-1))
    offsets = range(len(long) - len(short) + 1) if settings.offsets else range(1)
    by_offset = [float(np.diagonal(local, offset).mean()) for offset in offsets]
    best = int(np.argmin(by_offset))
    return Distance(by_offset[best], best)


def warping(a: Fingerprint, b: Fingerprint, scale: DistanceScale, settings: MatchSettings) -> Distance:
    """The cost of the cheapest warping path between two sequences of phases, Manhattan between phases.

    Source: CWD, section on DTW: its text says Manhattan, its equation 6 squares; the text wins. `flat` warps the
    flattened fingerprints as one series, which is what the paper's figures look like.
    """
    from workprof.phases.kernels import warping_cost  # noqa: PLC0415  numba

    if settings.flat:
        return Distance(_flat_cost(_flat(a, scale), _flat(b, scale)), 0)
    short, long = _ordered(phases_of(a, scale), phases_of(b, scale))
    width = len(short) if settings.offsets else len(long)
    offsets = range(len(long) - width + 1)
    by_offset = [warping_cost(short, long[offset : offset + width]) for offset in offsets]
    best = int(np.argmin(by_offset))
    return Distance(by_offset[best], best)


def phases_of(one: Fingerprint, scale: DistanceScale) -> Floats:
    """The phases of a run as rows (q, n_counters * k), scaled; only real phases, never padding of others."""
    scaled = one.values / scale.sd[:, None]
    return np.ascontiguousarray(scaled.transpose(1, 0, 2).reshape(one.phases, -1))


def _flat_cost(first: Floats, second: Floats) -> float:
    """The warping cost of two flattened fingerprints, from memory where they were compared before."""
    from workprof.phases.kernels import warping_cost  # noqa: PLC0415  numba

    one, other = sorted(blake2b(values.tobytes(), digest_size=16).digest() for values in (first, second))
    if (one, other) not in _flat_costs:
        if len(_flat_costs) >= MOST_CACHED_COSTS:
            _flat_costs.clear()
        _flat_costs[one, other] = warping_cost(first, second)
    return _flat_costs[one, other]


def _flat(one: Fingerprint, scale: DistanceScale) -> Floats:
    """The fingerprint as one series (n_counters * q * k, 1)."""
    return np.ascontiguousarray((one.values / scale.sd[:, None]).reshape(-1, 1))


def _ordered(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    return (first, second) if len(first) <= len(second) else (second, first)


FEWEST_FOR_THRESHOLD = 3
"""Fewer runs of a workload give no threshold: it can be the nearest only."""


@dataclass(frozen=True)
class Threshold:
    """Distances among the training runs of one workload."""

    workload: str  # label
    n_runs: int  # of it in training
    mean: float  # of all pairs; NaN for a single run
    sd: float  # of its pairs, or of all workloads' pairs about their own means; NaN where there are too few runs

    @property
    def usable(self) -> bool:
        """Whether there are enough runs to accept or reject."""
        return self.n_runs >= FEWEST_FOR_THRESHOLD


def thresholds_of(workloads: Sequence[str], distances: Floats, settings: MatchSettings) -> tuple[Threshold, ...]:
    """Mean and deviation, pooled or own, of the distances (n_runs, n_runs) inside each workload.

    Source: CWD: mean ± one standard deviation of the distances among runs of one workload, on 70 % of the runs. The
    pooled spread is ours: three runs are three pairs.
    """
    labels = np.array(workloads)
    pairs = {}
    for name in sorted(set(workloads)):
        inner = distances[np.ix_(labels == name, labels == name)]
        pairs[name] = inner[np.triu_indices(len(inner), 1)]
    spread = [own - own.mean() for own in pairs.values() if len(own) >= FEWEST_FOR_THRESHOLD]
    pooled = float(np.concatenate(spread).std()) if spread else float("nan")
    return tuple(
        Threshold(
            name,
            int((labels == name).sum()),
            float(own.mean()) if len(own) else float("nan"),
            float("nan") if len(own) < FEWEST_FOR_THRESHOLD else pooled if settings.pooled else float(own.std()),
        )
        for name, own in pairs.items()
    )


def chosen_c(
    workloads: Sequence[str], distances: Floats, thresholds: Sequence[Threshold], settings: MatchSettings
) -> float:
    """c: as set, or such that few training runs, each against the rest of its workload, would be rejected."""
    if settings.c is not None:
        return settings.c
    labels, known = np.array(workloads), {one.workload: one for one in thresholds if one.usable}
    z_scores = []  # of the nearest distance to the rest of its workload
    for i, label in enumerate(workloads):
        if label in known:
            rest = (labels == label) & (np.arange(len(labels)) != i)
            z_scores.append((float(distances[i, rest].min()) - known[label].mean) / max(known[label].sd, 1e-12))
    return float(np.quantile(z_scores, 1 - settings.false_rejects)) if z_scores else 1.0


def accepts(threshold: Threshold, distance: float, c: float, *, two_sided: bool) -> bool | None:
    """Tell whether a distance is one of the workload's own; None = too few runs to tell."""
    if not threshold.usable:
        return None
    if two_sided and distance < threshold.mean - c * threshold.sd:
        return False
    return distance <= threshold.mean + c * threshold.sd
