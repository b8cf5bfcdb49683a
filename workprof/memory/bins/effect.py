"""What given bin edges would do to the runs of a task, if every run came into its right bin.

Two baselines stand side by side. The thesis compares with one static request for every run of a task (its largest);
what money is really spent on are the requests of the runs. They agree where all runs of a task ask for the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.errors import SettingsError
from workprof.units import GB


@dataclass(frozen=True)
class SizedRuns:
    """The runs of one task that have a request.

    Attributes:
        used_bytes: (n,) above 0.
        requested_bytes: (n,) above 0.
        hours: (n,) 0 or more.
    """

    used_bytes: Floats
    requested_bytes: Floats
    hours: Floats

    @property
    def static_bytes(self) -> float:
        """The one request that stands for the task: the largest, or the largest use where that is more."""
        return float(max(self.requested_bytes.max(), self.used_bytes.max()))


@dataclass(frozen=True)
class BinEffect:
    """What edges would do.

    A run above the top edge counts as if it kept its request (or got what it used, where that is more).

    Attributes:
        edges_bytes: increasing.
        optimal_improvement: 1 - sum of edges / (runs x largest request).
        time_based_optimal_improvement: the same with every run weighted by its hours; NaN when no run took time.
        saved_share: 1 - sum of edges / sum of requests.
        time_based_saved_share: the same weighted by hours.
        saved_gb_h: requested less allotted, GB·h.
        bin_runs: (k,) runs of each bin.
        bin_hours: (k,) hours of each bin.
        bin_used_share: (k,) sum of use / sum of the edge, NaN for an empty bin.
        n_runs: all runs.
        n_above: runs above the top edge.
        above_share: the same as a share of the runs.
        above_hours_share: and of the hours, 0 when no run took time.
        n_over_request: runs that used more than they asked for.
        messages: what was put right in the edges.
    """

    edges_bytes: tuple[float, ...]
    optimal_improvement: float
    time_based_optimal_improvement: float
    saved_share: float
    time_based_saved_share: float
    saved_gb_h: float
    bin_runs: Ints
    bin_hours: Floats
    bin_used_share: Floats
    n_runs: int
    n_above: int
    above_share: float
    above_hours_share: float
    n_over_request: int
    messages: tuple[str, ...]


def effect_of_edges(runs: SizedRuns, edges_bytes: tuple[float, ...]) -> BinEffect:
    """Return what edges would do to runs: each gets the smallest edge that is not below its use.

    Args:
        runs: of one task.
        edges_bytes: in any order, repeats allowed; both are put right with a message.

    Raises:
        SettingsError: when there is no edge, or one is not a size above 0.

    Source:
        The load-aware provisioning thesis, section 6, for the two optimal improvements; the shares of what is
        requested are ours.
    """
    edges, messages = _ordered(edges_bytes)
    places = np.searchsorted(edges, runs.used_bytes)
    above = places == len(edges)
    kept = np.maximum(runs.requested_bytes, runs.used_bytes)
    allotted = np.where(above, kept, edges[np.minimum(places, len(edges) - 1)])
    static = np.where(above, runs.static_bytes, allotted)
    ones, hours = np.ones(len(places)), runs.hours
    everyone = np.full(len(places), runs.static_bytes)
    counts, bin_hours, shares = _per_bin(runs, edges, places)
    return BinEffect(
        edges_bytes=tuple(float(edge) for edge in edges),
        optimal_improvement=saved_share(static, everyone, ones),
        time_based_optimal_improvement=saved_share(static, everyone, hours),
        saved_share=saved_share(allotted, runs.requested_bytes, ones),
        time_based_saved_share=saved_share(allotted, runs.requested_bytes, hours),
        saved_gb_h=float(((runs.requested_bytes - allotted) / GB * hours).sum()),
        bin_runs=counts,
        bin_hours=bin_hours,
        bin_used_share=shares,
        n_runs=len(places),
        n_above=int(above.sum()),
        above_share=float(above.mean()),
        above_hours_share=_hours_share(above, hours),
        n_over_request=int((runs.used_bytes > runs.requested_bytes).sum()),
        messages=messages,
    )


def _per_bin(runs: SizedRuns, edges: Floats, places: Ints) -> tuple[Ints, Floats, Floats]:
    """Return (k,) runs, hours and used share of each bin; `places` beyond the last edge are in none."""
    k, inside = len(edges), places < len(edges)
    counts = np.bincount(places[inside], minlength=k).astype(np.int64)
    hours = np.bincount(places[inside], weights=runs.hours[inside], minlength=k).astype(np.float64)
    used = np.bincount(places[inside], weights=runs.used_bytes[inside], minlength=k)
    shares = np.divide(used, counts * edges, out=np.full(k, np.nan), where=counts > 0)
    return counts, hours, shares


def _ordered(edges_bytes: tuple[float, ...]) -> tuple[Floats, tuple[str, ...]]:
    given = np.asarray(edges_bytes, dtype=np.float64)
    if not len(given):
        raise SettingsError("there is no bin edge; give one or more sizes")
    if not (np.isfinite(given) & (given > 0)).all():
        wrong = given[~(np.isfinite(given) & (given > 0))][0]
        raise SettingsError(f"a bin edge is {wrong}; give sizes above 0")
    edges, messages = np.unique(given), []
    if (np.diff(given) < 0).any():
        messages.append("the edges were put in increasing order")
    if len(edges) < len(given):
        messages.append(f"{len(given) - len(edges)} repeated edge(s) were left out")
    return edges, tuple(messages)


def saved_share(allotted: Floats, requested: Floats, weights: Floats) -> float:
    """Return 1 - weighted sum of what is allotted / weighted sum of what was requested; NaN without any weight."""
    before = float((requested * weights).sum())
    return 1.0 - float((allotted * weights).sum()) / before if before > 0 else float("nan")


def _hours_share(above: Bools, hours: Floats) -> float:
    total = float(hours.sum())
    return float(hours[above].sum()) / total if total > 0 else 0.0
