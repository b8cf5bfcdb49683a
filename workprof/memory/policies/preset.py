"""What people asked for."""

from __future__ import annotations

import numpy as np

from workprof.memory.policies.sequence import Sequence
from workprof.memory.retry import RetrySettings, Sizes, only


class Preset:
    """The requested size of each run; doubled after a failure. Runs without a request take the task's most common one.

    Source: memory.md 2.2. The table holds finished attempts only, so a preset never fails in it: killed attempts are
    absent, and a retried run stands there with its raised request.
    """

    name = "preset"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the requests; a whole node where a task has none at all."""
        return only(filled_requests(runs, retry)[runs.n_known :])


def filled_requests(runs: Sequence, retry: RetrySettings) -> np.ndarray:
    """Return (n,) requests: the most common one of the task where a run has none, a node where the task has none."""
    asked = runs.requested_bytes
    known = asked[np.isfinite(asked)]
    if not len(known):
        return np.full(len(runs), retry.node_bytes)
    values, counts = np.unique(known, return_counts=True)
    return np.where(np.isfinite(asked), asked, values[counts.argmax()])
