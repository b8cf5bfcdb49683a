"""Runs that ask for nothing: one flat request in their stead, or out of the table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workprof.errors import NotEnoughData
from workprof.memory.runs import Runs


def with_flat_request(runs: Runs, request_bytes: float) -> Runs:
    """Return the runs with a request for those that have none; 0 bytes = as they are."""
    if not request_bytes:
        return runs
    asked = np.where(np.isnan(runs.requested_bytes), request_bytes, runs.requested_bytes)
    return replace(runs, requested_bytes=asked)


def requesting(runs: Runs) -> Runs:
    """Return the runs that have a request, the others counted in what is left out.

    Raises:
        NotEnoughData: when none has.
    """
    known = ~np.isnan(runs.requested_bytes)
    if not known.any():
        raise NotEnoughData(f"none of {len(runs):,} runs has a request; give one size that stands for all of them")
    return replace(runs.take(known), left_out=dict(runs.left_out) | {"no request": int((~known).sum())})
