"""Percentiles and maxima of what was used: p95, the VPA rule, the KRR rule."""

from __future__ import annotations

from bisect import insort

import numpy as np

from workprof.arrays import Floats
from workprof.memory.policies.sequence import Sequence
from workprof.memory.retry import RetrySettings, Sizes, only

HEADROOM = 1.15
"""VPA and KRR both add 15 % (memory.md 5)."""


class Percentile95:
    """The 95th percentile of the known uses, linear between order statistics; doubled after a failure.

    Source: Witt et al., as in the published harness (memory.md 2.2); seed 1996 gives its figures exactly.
    """

    name = "p95"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the percentiles."""
        return only(rolling_quantile(runs, 0.95))


class Vpa:
    """1.15 x the 90th percentile of the known uses, without decay; the greater of +20 % and +100 MiB after a failure.

    Source: memory.md 2.2 and 5; the recommender's half-life of 24 h is left out, since the histories have no clock.
    """

    name = "vpa"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the sizes."""
        return only(HEADROOM * rolling_quantile(runs, 0.90), beyond="more")


class Krr:
    """1.15 x the largest known use; doubled after a failure.

    Source: memory.md 2.2 and 5.
    """

    name = "krr"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the sizes."""
        return only(HEADROOM * runs.max_seen_bytes)


def rolling_quantile(runs: Sequence, share: float) -> Floats:
    """Return (n_sized,) quantiles of all uses before each run, as numpy's linear method; the known uses stay sorted."""
    ordered = sorted(runs.used_bytes[: runs.n_known].tolist())
    found = np.empty(runs.n_sized)
    for i, used in enumerate(runs.used_bytes[runs.n_known :].tolist()):
        place = share * (len(ordered) - 1)
        below = int(place)
        low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
        part = place - below
        found[i] = low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)
        insort(ordered, used)
    return found
