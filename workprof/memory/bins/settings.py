"""How bins are looked for: number, weight, top edge, step, headroom, search."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.errors import SettingsError
from workprof.memory.runs import USAGE_COLUMNS
from workprof.units import GB

COUNT, TIME, COST = "count", "time", "cost"
WEIGHTS = (COUNT, TIME, COST)
PINNED, FREE = "pinned", "free"
TOPS = (PINNED, FREE)
EXACT, STRIDE = "exact", "stride"
SEARCHES = (EXACT, STRIDE)

MOST_BINS = 8

STRIDES_BELOW_TOP = 32
LEAST_STRIDE_BYTES = float(GB)
"""Without a stride of one's own: 1/32 of the top, at least 1 GB. The published edges are multiples of 10 GB."""


@dataclass(frozen=True)
class BinSettings:
    """Settings of a search for bin edges, or the edges themselves.

    Attributes:
        task: name of the task; '' = all runs as one task.
        k: number of bins, 1-8.
        edges_bytes: edges to look at as they are, instead of a search.
        weight: a run counts as one ('count'), by its hours ('time'), or by hours x price ('cost').
        top: 'free' = the top edge is what the largest run needs; 'pinned' = the largest request.
        step_bytes: edges are multiples of this, rounded up; 0 = any size. A pinned top stays as it is.
        headroom: share of its use that every run keeps free above it, 0-3.
        search: 'exact', or 'stride' = inner edges are multiples of `stride_bytes`, as published.
        stride_bytes: 0 = 1/32 of the largest request, at least 1 GB.
        request_bytes: request of runs that have none in the table; 0 = those runs are left out.
        price_column: column with a price per GB·h of each run, for the weight 'cost'; '' = one price for all, and then
            cost and time choose the same edges.
        target: what is sized for, one of `USAGE_COLUMNS`.
    """

    task: str = ""
    k: int = 3
    edges_bytes: tuple[float, ...] = ()
    weight: str = TIME
    top: str = FREE
    step_bytes: float = 0.0
    headroom: float = 0.05
    search: str = EXACT
    stride_bytes: float = 0.0
    request_bytes: float = 0.0
    price_column: str = ""
    target: str = "peak_rss"

    def __post_init__(self) -> None:
        _check_choice("weight", self.weight, WEIGHTS)
        _check_choice("top", self.top, TOPS)
        _check_choice("search", self.search, SEARCHES)
        _check_choice("target", self.target, tuple(USAGE_COLUMNS))
        if not 1 <= self.k <= MOST_BINS:
            raise SettingsError(f"k is {self.k}; give a number of bins between 1 and {MOST_BINS}")
        if not 0 <= self.headroom <= 3:
            raise SettingsError(f"headroom is {self.headroom}; give a share between 0 and 3, such as 0.05")
        for name in ("step_bytes", "stride_bytes", "request_bytes"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise SettingsError(f"{name} is {getattr(self, name)}; give bytes, 0 for none")


def faithful_bins(task: str = "", k: int = 3) -> BinSettings:
    """Return the settings of the thesis: every run counts as one, the top stays at the request, multiples of a stride.

    Source:
        The load-aware provisioning thesis, section 6.
    """
    return BinSettings(task=task, k=k, weight=COUNT, top=PINNED, headroom=0.0, search=STRIDE)


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SettingsError(f"{name} is {value!r}; choose from {', '.join(choices)}")
