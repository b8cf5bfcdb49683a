"""From the memory-hours that runs ask for to those that a model's bins are charged, step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.memory.bins.settings import PINNED, BinSettings
from workprof.memory.retry import Demand, Outcome, RetrySettings
from workprof.units import GB


@dataclass(frozen=True)
class Waterfall:
    """What every step adds to the GB·h of the test runs; the five figures but `used_gb_h` add up to `planned_gb_h`.

    Attributes:
        now_gb_h: what the runs ask for.
        bins_gb_h: the change if every run came into its own bin and the bins had no headroom; below 0 = saved.
        margin_gb_h: what the headroom in the edges adds to that.
        model_gb_h: what runs hold beyond their own bin that start in too large a one.
        retries_gb_h: what runs that fail at first are charged beyond their own bin: failed attempts, and what they are
            lifted to. Those told too small a bin are among them, and those above the top edge.
        planned_gb_h: charged in the replay.
        used_gb_h: what the runs use: no plan can be charged less.
        n_too_large: runs that start in too large a bin and hold it.
        n_failed: runs that fail at first.
        n_unfinished: of them, runs that never finish; they are charged for their attempts only.
    """

    now_gb_h: float
    bins_gb_h: float
    margin_gb_h: float
    model_gb_h: float
    retries_gb_h: float
    planned_gb_h: float
    used_gb_h: float
    n_too_large: int
    n_failed: int
    n_unfinished: int


@dataclass(frozen=True)
class Started:
    """The test runs and what became of them.

    Attributes:
        demand: what they use, and their hours.
        requested_bytes: (n_test,) what they ask for.
        own_bins: (n_test,) their true bins; the last one for runs above the top edge.
        outcome: of the replay.
    """

    demand: Demand
    requested_bytes: Floats
    own_bins: Ints
    outcome: Outcome


def waterfall_of(started: Started, edges_bytes: Floats, bins: BinSettings, retry: RetrySettings) -> Waterfall:
    """Return what leads from requests to the replayed charge.

    Args:
        started: the test runs.
        edges_bytes: (n_bins,) rising.
        bins: how they were found, which tells the headroom in them.
        retry: its floor and its cap hold for every size.

    Source:
        ours: the thesis gives the optimal, the estimated and no replayed saving. A run above the top edge counts what
        it uses as its own bin's size, and so does one that needs the headroom of its bin before this is added.
    """
    used, hours, outcome = started.demand.used_bytes, started.demand.hours, started.outcome
    cap = np.inf if retry.cap_bytes is None else retry.cap_bytes
    own = np.maximum(used, np.clip(edges_bytes, retry.floor_bytes, cap)[started.own_bins])
    ideal = np.minimum(own, np.maximum(used, bare_edges(edges_bytes, bins)[started.own_bins]))
    failed, hours_per_gb = outcome.failures > 0, hours / GB
    held, lifted = outcome.final_bytes - own, outcome.charged_gb_h - own * hours_per_gb  # held: NaN where unfinished
    return Waterfall(
        now_gb_h=float((started.requested_bytes * hours_per_gb).sum()),
        bins_gb_h=float(((ideal - started.requested_bytes) * hours_per_gb).sum()),
        margin_gb_h=float(((own - ideal) * hours_per_gb).sum()),
        model_gb_h=float((held * hours_per_gb)[~failed].sum()),
        retries_gb_h=float(lifted[failed].sum()),
        planned_gb_h=float(outcome.charged_gb_h.sum()),
        used_gb_h=float((used * hours_per_gb).sum()),
        n_too_large=int((held[~failed] > 0).sum()),
        n_failed=int(failed.sum()),
        n_unfinished=int(np.isnan(outcome.final_bytes).sum()),
    )


def bare_edges(edges_bytes: Floats, bins: BinSettings) -> Floats:
    """Return (n_bins,) edges without the headroom in them; given edges have none, and a pinned top has none."""
    if bins.edges_bytes:
        return edges_bytes
    bare = edges_bytes / (1.0 + bins.headroom)
    if bins.top == PINNED:
        bare[-1] = edges_bytes[-1]
    return bare
