"""The thesis' search for bins: the edges below the top are multiples of a stride.

The thesis tries every combination. An inner edge between two needed multiples is never cheaper than the lower one, so
the exact search over the multiples that runs need finds the same cost without the combinations; only among equally
cheap edges may the two choose differently.
"""

from __future__ import annotations

import math

import numpy as np

from workprof.arrays import Floats
from workprof.errors import SettingsError
from workprof.memory.bins.search import EdgeChoice, best_edges, needs_of
from workprof.memory.bins.settings import LEAST_STRIDE_BYTES, STRIDES_BELOW_TOP

MOST_STRIDES = 1_000_000


def stride_edges(
    sizes_bytes: Floats, weights: Floats, stride_bytes: float, top_bytes: float, most_edges: int
) -> tuple[EdgeChoice, ...]:
    """Return the cheapest edges for 1 .. `most_edges` bins, inner edges multiples of a stride, the top where it is.

    Args:
        sizes_bytes: (n,) what each run needs, above 0.
        weights: (n,) 0 or more.
        stride_bytes: above 0.
        top_bytes: the last edge.
        most_edges: 1 or more.

    Raises:
        SettingsError: for a stride of 0, or one of which the top has too many.

    Source:
        The load-aware provisioning thesis, section 6: an exhaustive search over C(top / stride - 1, k - 1) choices.
        Ours differs in the way (see above), not in the result.
    """
    check_stride(stride_bytes, top_bytes)
    multiples = np.ceil(sizes_bytes / stride_bytes) * stride_bytes
    return best_edges(needs_of(multiples, weights, top_bytes), most_edges)


def check_stride(stride_bytes: float, top_bytes: float) -> None:
    """Refuse a stride that is no size, or far too small for its top."""
    if not stride_bytes > 0:
        raise SettingsError(f"stride is {stride_bytes} bytes; give a size above 0, such as 10GB")
    if top_bytes / stride_bytes > MOST_STRIDES:
        raise SettingsError(
            f"a stride of {stride_bytes:,.0f} bytes goes {top_bytes / stride_bytes:,.0f} times into the top edge; "
            f"at most {MOST_STRIDES:,} times are allowed, take a larger stride or the exact search"
        )


def usual_stride_bytes(top_bytes: float) -> float:
    """Return the stride that is taken when none is given."""
    return max(top_bytes / STRIDES_BELOW_TOP, LEAST_STRIDE_BYTES)


def exhaustive_trials(stride_bytes: float, top_bytes: float, k: int) -> float:
    """Return how many choices of k edges the thesis' search would try; a float, as it may be beyond whole numbers."""
    inner = max(0, math.ceil(top_bytes / stride_bytes) - 1)
    return float(math.comb(inner, k - 1))
