"""What a profile of jobs uses: a share per resource, and the weights of the aspects that follow from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from workprof.arrays import Bools, Floats
from workprof.errors import NotEnoughData
from workprof.nodes.metrics import ASPECTS

BUSY = 95
"""Percentile over all jobs that counts as full use where nothing tells how much was requested."""


@dataclass(frozen=True)
class UseShare:
    """How much of a resource a profile uses.

    Attributes:
        aspect: of nodes that the resource belongs to.
        share: 0-1, median over the jobs; NaN where the table cannot tell.
        source: what it is a share of, in words.
        n_jobs: that tell it.
    """

    aspect: str
    share: float
    source: str
    n_jobs: int


def use_of(jobs: pd.DataFrame, members: Bools) -> tuple[UseShare, ...]:
    """Return the share of each aspect's resource.

    Args:
        jobs: any of cpu_usage_percent, requested_cpu_percent, mean_memory_bytes, peak_memory_bytes,
            requested_memory_bytes, read_bytes, write_bytes, duration_s; NaN = not known.
        members: (n_jobs,) jobs of the profile; the others tell what full use is.
    """
    return (
        _of_request(jobs, members, "cpu", ("cpu_usage_percent",), "requested_cpu_percent"),
        _of_request(jobs, members, "memory", ("mean_memory_bytes", "peak_memory_bytes"), "requested_memory_bytes"),
        _disk(jobs, members),
        UseShare("network", float("nan"), "job tables do not tell the use of the network", 0),
    )


def proposed_weights(uses: tuple[UseShare, ...]) -> dict[str, float]:
    """Return the weight of each aspect: its share of all shares, 0 where the table cannot tell.

    Raises:
        NotEnoughData: when no share is above 0.
    """
    shares = {one.aspect: one.share if np.isfinite(one.share) else 0.0 for one in uses}
    total = sum(shares.values())
    if not total > 0:
        told = "; ".join(f"{one.aspect}: {one.source}" for one in uses)
        raise NotEnoughData(f"the jobs of the profile do not tell what they use ({told}); give weights such as cpu=1")
    return {aspect: shares[aspect] / total for aspect in ASPECTS}


def _of_request(jobs: pd.DataFrame, members: Bools, aspect: str, used: tuple[str, ...], requested: str) -> UseShare:
    column = next((name for name in used if name in jobs and np.isfinite(_numbers(jobs, name)[members]).any()), None)
    if column is None:
        return UseShare(aspect, float("nan"), f"no column {' or '.join(used)}", 0)
    use, asked = _numbers(jobs, column), _numbers(jobs, requested)
    share = np.divide(use, asked, out=np.full(len(use), np.nan), where=asked > 0)
    if np.isfinite(share[members]).any():
        return _median(aspect, share[members], f"{column} of {requested}")
    return _of_busy(aspect, use, members, column)


def _disk(jobs: pd.DataFrame, members: Bools) -> UseShare:
    names = [name for name in ("read_bytes", "write_bytes") if name in jobs]
    if not names or "duration_s" not in jobs:
        return UseShare("disk", float("nan"), "no columns read_bytes or write_bytes with duration_s", 0)
    duration = _numbers(jobs, "duration_s")
    moved = np.nansum([_numbers(jobs, name) for name in names], axis=0)
    moved[np.all([np.isnan(_numbers(jobs, name)) for name in names], axis=0)] = np.nan
    rate = np.divide(moved, duration, out=np.full(len(moved), np.nan), where=duration > 0)
    return _of_busy("disk", rate, members, f"{' + '.join(names)} per second")


def _of_busy(aspect: str, use: Floats, members: Bools, words: str) -> UseShare:
    known = use[np.isfinite(use)]
    full = float(np.percentile(known, BUSY)) if len(known) else 0.0
    if not full > 0 or not np.isfinite(use[members]).any():
        return UseShare(aspect, float("nan"), f"{words} is 0 or not known for nearly all jobs", 0)
    return _median(aspect, use[members] / full, f"{words}, of the {BUSY}th percentile of all jobs")


def _median(aspect: str, shares: Floats, source: str) -> UseShare:
    known = np.clip(shares[np.isfinite(shares)], 0.0, 1.0)
    return UseShare(aspect, float(np.median(known)), source, len(known))


def _numbers(jobs: pd.DataFrame, name: str) -> Floats:
    if name not in jobs:
        return np.full(len(jobs), np.nan)
    return np.asarray(pd.to_numeric(jobs[name], errors="coerce"), dtype=np.float64)
