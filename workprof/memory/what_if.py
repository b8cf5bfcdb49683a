"""What if: all requests times x, nothing above a cap, how many nodes; who breaks, what it saves.

In hindsight: every run of the trace is held against the changed request. Nodes are a lower bound, from the memory
that is held at once, as if it had no gaps; runs keep their starts.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.fields import Setting, settings
from workprof.core.units import GB
from workprof.memory.known import SizedRuns
from workprof.memory.origins import charged_of

MOST_BROKEN = 200
"""Keys that are listed."""
PERCENTILE = 0.95


@settings
class WhatIfSettings:
    """What is changed, and in what it is counted."""

    times: Annotated[
        float,
        Setting("Multiply every request by this.", above=0, most=100, key="memory_times", label="Requests times"),
    ] = 1.0
    cap_bytes: Annotated[
        float | None,
        Setting(
            "Nothing is requested above this: the memory of a node.",
            unit="bytes",
            above=0,
            flag="--what-if-cap",
            key="memory_what_if_cap",
            label="Cap",
            empty="no limit",
        ),
    ] = None
    node_bytes: Annotated[
        float | None,
        Setting(
            "Memory of one node, to count nodes.",
            unit="bytes",
            above=0,
            flag="--node-size",
            key="memory_node_size",
            label="Node size",
            empty="nodes are not counted",
        ),
    ] = None
    price_gb_h: Annotated[
        float | None,
        Setting(
            "Price of a GB·h.",
            unit="USD",
            least=0,
            most=1e6,
            key="memory_price_gb_h",
            label="Price of a GB·h",
            empty="no money",
        ),
    ] = None


@dataclass(frozen=True)
class Broken:
    """A key of which some runs break."""

    key: dict[str, str]
    request: float  # the largest of now
    n_runs: int
    n_broken: int  # use above the changed request, though not above the request of now
    n_never: int  # use above the cap
    largest: float  # use
    lost: float  # unit x h of the killed attempts


@dataclass(frozen=True)
class Nodes:
    """Nodes of one size that what is held at once needs, as if it had no gaps: a lower bound."""

    size: float
    before_peak: int
    before_p95: int
    peak: int
    p95: int
    n_too_large: int  # runs whose request no such node holds; they are counted all the same
    n_untimed: int  # runs without any time, which are not counted

    @property
    def freed(self) -> int:
        """Nodes that become free at the peak."""
        return self.before_peak - self.peak


@dataclass(frozen=True)
class WhatIf:
    """What the changed requests do to all runs of the trace; nodes compare today with the verdict."""

    n_runs: int
    kills: int  # runs that the changed request kills and the request of now does not
    never_run: int  # use above the cap
    saved_share: float  # of the booked amount, retries included
    saved: float  # unit x h
    broken: tuple[Broken, ...]  # those that lose most first
    nodes: Nodes | None  # of the judged runs: requested, and sized by the verdict
    money_saved: float  # NaN without a price
    verdict_money_saved: float  # of the judged runs; NaN without a price


def what_if(runs: SizedRuns, asked: WhatIfSettings, keys: tuple[Ints, list[dict[str, str]]]) -> WhatIf:
    """What a factor and a cap do to every run, in GB; `keys` are (n,) codes of rows, and their names."""
    cap = math.inf if asked.cap_bytes is None else asked.cap_bytes / GB
    size = np.minimum(runs.request * asked.times, cap)
    never = runs.use > cap
    kills = ~never & (runs.use > size) & (runs.use <= runs.request)
    charged = np.where(never, 0.0, charged_of(size, runs.request, runs.use, runs.hours, kills))
    booked = np.where(never, 0.0, runs.booked)
    total = float(booked.sum())
    saved = total - float(charged.sum())
    return WhatIf(
        n_runs=len(runs),
        kills=int(kills.sum()),
        never_run=int(never.sum()),
        saved_share=saved / total if total > 0 else math.nan,
        saved=saved,
        broken=_broken(runs, kills, never, size, keys),
        nodes=None,
        money_saved=math.nan if asked.price_gb_h is None else asked.price_gb_h * saved,
        verdict_money_saved=math.nan,
    )


def nodes_of(runs: SizedRuns, sizes: Floats, on: Ints, timed: Bools, node: float) -> Nodes | None:
    """The nodes for what (n,) runs request on each of (n,) nodes, and for (n,) sizes; `node` in the same unit.

    Those that have a time (n,) count; None where none has.
    """
    if not timed.any():
        return None
    own = runs.take(timed)
    before, after = (held_at_once(own.start_s, own.end_s, (amount * on)[timed]) for amount in (runs.request, sizes))
    least = int(on[timed].max())  # no two parts of a run share a node
    return Nodes(
        size=node,
        before_peak=max(least, math.ceil(before[0] / node - 1e-9)),
        before_p95=math.ceil(before[1] / node - 1e-9),
        peak=max(least, math.ceil(after[0] / node - 1e-9)),
        p95=math.ceil(after[1] / node - 1e-9),
        n_too_large=int((own.request > node * (1 + 1e-9)).sum()),
        n_untimed=int((~timed).sum()),
    )


def held_at_once(start_s: Floats, end_s: Floats, amount: Floats) -> tuple[float, float]:
    """The most that is held at once, and what is not exceeded in 95 % of the time with any run."""
    moments = np.concatenate([start_s, end_s])
    change = np.concatenate([amount, -amount])
    order = np.lexsort((change, moments))  # ends before starts at one moment
    held = np.maximum(np.cumsum(change[order]), 0.0)
    lasts = np.diff(moments[order], append=moments[order][-1:])
    busy = (held > 1e-9) & (lasts > 0)
    if not busy.any():
        return float(held.max(initial=0.0)), float(held.max(initial=0.0))
    by_amount = np.argsort(held[busy], kind="stable")
    passed = np.cumsum(lasts[busy][by_amount])
    at = int(np.searchsorted(passed, PERCENTILE * passed[-1]))
    return float(held[busy].max()), float(held[busy][by_amount][min(at, len(passed) - 1)])


def _broken(
    runs: SizedRuns, kills: Bools, never: Bools, size: Floats, keys: tuple[Ints, list[dict[str, str]]]
) -> tuple[Broken, ...]:
    code, names = keys
    n_rows = len(names)
    counts, killed, above = (np.bincount(code, flags, n_rows) for flags in (np.ones(len(runs)), kills, never))
    lost = np.bincount(code, np.where(kills, size * runs.hours, 0.0), n_rows)
    largest, request = np.zeros(n_rows), np.zeros(n_rows)
    np.maximum.at(largest, code, runs.use)
    np.maximum.at(request, code, runs.request)
    hit = np.flatnonzero(killed + above > 0)
    order = hit[np.lexsort((-killed[hit], -lost[hit], -above[hit]))][:MOST_BROKEN]
    return tuple(
        Broken(
            key=names[at],
            request=float(request[at]),
            n_runs=int(counts[at]),
            n_broken=int(killed[at]),
            n_never=int(above[at]),
            largest=float(largest[at]),
            lost=float(lost[at]),
        )
        for at in order.tolist()
    )
