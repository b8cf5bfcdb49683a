"""How bin limits are searched: settings, the exact dynamic programme, and the published stride search."""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.units import GB
from workprof.memory.usage import Headroom, Request, Target, Task

COUNT, TIME, COST = "count", "time", "cost"
PINNED, FREE = "pinned", "free"
EXACT, STRIDE = "exact", "stride"

MOST_BINS = 8

STRIDES_BELOW_TOP = 32
LEAST_STRIDE_BYTES = float(GB)
"""Without a stride of one's own: 1/32 of the top, at least 1 GB. The published edges are multiples of 10 GB."""


@settings
class BinSettings:
    """A search for the bin limits of a task, or the limits themselves."""

    task: Task = ""
    k: Annotated[int, Setting("Number of bins.", least=1, most=MOST_BINS, flag="-k", key="memory_k", label="Bins")] = 3
    edges_bytes: Annotated[
        tuple[float, ...],
        Setting(
            "Your own limits A,B,... in place of a search, taken as they are; runs keep their headroom in them.",
            unit="bytes",
            above=0,
            key="memory_edges",
            label="Custom limits",
            empty="search the best",
        ),
    ] = ()
    weight: Annotated[
        str,
        Setting(
            "How a run counts in the saving.",
            choices={COUNT: "as one", TIME: "by its hours, which is what is paid for", COST: "by hours x price"},
            shown={COUNT: "Number of runs", TIME: "Run time", COST: "Run time x price"},
            key="memory_weight",
            label="Weight by",
        ),
    ] = TIME
    top: Annotated[
        str,
        Setting(
            "The largest bin.",
            choices={
                FREE: "what the largest run needs",
                PINNED: "the largest request, as published, or what the largest run needs where that is more",
            },
            shown={FREE: "Unrestricted", PINNED: "Largest request"},
            key="memory_top",
            label="Largest bin",
        ),
    ] = FREE
    step_bytes: Annotated[
        float,
        Setting(
            "Limits are multiples of this, rounded up.",
            unit="bytes",
            least=0,
            key="memory_step",
            label="Sizes in steps of",
            empty="any size",
        ),
    ] = 0.0
    headroom: Headroom = 0.05  # of each run above its own use; a plan adds more, for runs that nobody has seen
    search: Annotated[
        str,
        Setting(
            "How limits are searched.",
            choices={EXACT: "the best there are", STRIDE: "inner limits are multiples of a stride, as published"},
            shown={EXACT: "Exact", STRIDE: "As published (stride)"},
            key="memory_search",
        ),
    ] = EXACT
    stride_bytes: Annotated[
        float,
        Setting(
            "Stride of the published search.",
            unit="bytes",
            least=0,
            key="memory_stride",
            empty="1/32 of the largest request, at least 1 GB",
        ),
    ] = 0.0
    request_bytes: Request = 0.0
    price_column: Annotated[
        str,
        Setting(
            "Column with a price per GB·h of each run, for the weight cost.",
            columns="numeric",
            named={"one price": ""},
            key="memory_price_column",
            empty="one price for all, which weighs as time does",
        ),
    ] = ""
    target: Target = "peak_rss"


def faithful_bins(task: str = "", k: int = 3) -> BinSettings:
    """The settings of the thesis: every run counts as one, the top stays at the request, multiples of a stride.

    Source: The load-aware provisioning thesis, section 6.
    """
    return BinSettings(task=task, k=k, weight=COUNT, top=PINNED, headroom=0.0, search=STRIDE)


@dataclass(frozen=True)
class Needs:
    """The sizes that runs need, as a search sees them."""

    sizes_bytes: Floats  # (m,) strictly increasing; the last one is the top edge, whether a run needs it or not
    weights: Floats  # (m,) 0 or more: how much the runs of that size count


@dataclass(frozen=True)
class EdgeChoice:
    """The cheapest edges of at most so many."""

    edges_bytes: Floats  # (k,) increasing; fewer than k where there are fewer sizes
    cost: float  # sum over runs of weight x smallest edge that covers them


def needs_of(sizes_bytes: Floats, weights: Floats, top_bytes: float | None = None) -> Needs:
    """Sizes (n,) above 0, what each run needs, without repeats and their summed weights.

    With a pinned top edge larger sizes count as that size, and where none reaches it, it stands there with weight 0.
    Without one the top is the largest size.

    Source: The sentinel of weight 0 replaces the thesis' assumption that the top edge is one of the usages: overwriting
    the largest usage by the top would forbid an inner edge on that usage.
    """
    capped = sizes_bytes if top_bytes is None else np.minimum(sizes_bytes, top_bytes)
    sizes, place = np.unique(capped, return_inverse=True)
    totals = np.bincount(place, weights=weights, minlength=len(sizes)).astype(np.float64)
    if top_bytes is not None and sizes[-1] < top_bytes:
        sizes, totals = np.append(sizes, top_bytes), np.append(totals, 0.0)
    return Needs(sizes, totals)


def best_edges(needs: Needs, most_edges: int) -> tuple[EdgeChoice, ...]:
    """The cheapest edges for 1, 2, .. `most_edges` bins, in O(most_edges x m).

    Raises SettingsError when `most_edges` is below 1.
    """
    if most_edges < 1:
        raise SettingsError(f"{most_edges} bins were requested; give 1 or more")
    sizes, totals = needs.sizes_bytes, np.cumsum(needs.weights)
    layer = sizes * totals
    parents: list[Ints] = []
    choices = [EdgeChoice(sizes[-1:].copy(), float(layer[-1]))]
    for n_edges in range(2, most_edges + 1):
        last_parent, cost = _last_edge(sizes, totals, layer)
        edges = _edges(sizes, parents, last_parent)
        choices.append(EdgeChoice(edges, min(cost, choices[-1].cost)))
        if n_edges < most_edges:
            layer, parent = _next_layer(sizes, totals, layer)
            parents.append(parent)
    return tuple(choices)


def _last_edge(sizes: Floats, totals: Floats, layer: Floats) -> tuple[int, float]:
    """The best place of the edge below the top (-1 = none) and the cost of all sizes with it."""
    if len(sizes) == 1:
        return -1, float(layer[-1])
    costs = layer[:-1] + sizes[-1] * (totals[-1] - totals[:-1])
    best = int(costs.argmin())
    return best, float(costs[best])


def _edges(sizes: Floats, parents: list[Ints], last_parent: int) -> Floats:
    """The edges that a chain of parents leads through, from the top down, in increasing order."""
    places, place = [len(sizes) - 1], last_parent
    for parent in reversed([None, *parents]):
        if place < 0:
            break
        places.append(place)
        place = -1 if parent is None else int(parent[place])
    return np.asarray(sizes[places[::-1]], dtype=np.float64)


def _next_layer(sizes: Floats, totals: Floats, layer: Floats) -> tuple[Floats, Ints]:
    """(m,) least costs with one edge more, and the place of the edge below (-1 = none).

    Lists and local names: a plain loop over NumPy scalars would take several times as long.
    """
    slopes, heights, owners = [float(totals[0])], [float(layer[0])], [0]
    best, parents = [float(layer[0])], [-1]
    head = last = 0
    sizes_left, totals_left, layer_left = sizes[1:].tolist(), totals[1:].tolist(), layer[1:].tolist()
    for i, (x, slope, height) in enumerate(zip(sizes_left, totals_left, layer_left, strict=True), start=1):
        while head < last and heights[head + 1] - x * slopes[head + 1] <= heights[head] - x * slopes[head]:
            head += 1
        best.append(heights[head] + x * (slope - slopes[head]))
        parents.append(owners[head])
        if slope > slopes[last]:  # a size of weight 0 has the line of the size before, but higher
            while last > head:  # the last line is hidden where the new one meets the last but one before it does
                first, first_height = slopes[last - 1], heights[last - 1]
                if (height - first_height) * (slopes[last] - first) > (heights[last] - first_height) * (slope - first):
                    break
                slopes.pop()
                heights.pop()
                owners.pop()
                last -= 1
            slopes.append(slope)
            heights.append(height)
            owners.append(i)
            last += 1
    return np.array(best), np.array(parents, dtype=np.int64)


MOST_STRIDES = 1_000_000


def stride_edges(
    sizes_bytes: Floats, weights: Floats, stride_bytes: float, top_bytes: float, most_edges: int
) -> tuple[EdgeChoice, ...]:
    """The cheapest edges for 1 .. `most_edges` bins, inner edges multiples of a stride, the top where it is.

    Raises SettingsError for a stride of 0, or one of which the top has too many.

    Source: The load-aware provisioning thesis, section 6: an exhaustive search over C(top / stride - 1, k - 1) choices.
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
    """The stride that is taken when none is given."""
    return max(top_bytes / STRIDES_BELOW_TOP, LEAST_STRIDE_BYTES)


def exhaustive_trials(stride_bytes: float, top_bytes: float, k: int) -> float:
    """How many choices of k edges the thesis' search would try; a float, as it may be beyond whole numbers."""
    inner = max(0, math.ceil(top_bytes / stride_bytes) - 1)
    return float(math.comb(inner, k - 1))
