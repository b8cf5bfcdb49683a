"""Runs that did not finish, as right-censored labels: they would have needed at least what they had used.

A run that was killed, timed out or failed after two hours would have taken two hours or more, so that leaving it out
makes long jobs seem rarer than they are. Each such run gets a need drawn from the Kaplan-Meier distribution of its
history cell beyond what it had used, and is then learned like a finished one. Drawing once keeps the spread that a
conditional mean would lose; what is drawn rests on finished runs of the training part alone.

This rests on one assumption: among jobs of the same metadata, being cut short does not depend on what a run would
still have needed. A time limit is such a case; a program that fails in its first second is not always.

Source: Kaplan & Meier (1958), Nonparametric estimation from incomplete observations; Efron (1967), The two sample
problem with censored data, whose 'redistribution to the right' these draws do at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present, numbers_of
from workprof.core.causes import (
    CAUSES,
    FAILED,
    KILLED,
    KILLS,
    LOWER_BOUND,
    OUT_OF_MEMORY,
    RUNNING,
    TIMED_OUT,
    causes_of,
    was_killed_for_memory,
)
from workprof.forecasts.history import Past

if TYPE_CHECKING:
    import pandas as pd

CUT_SHORT = (OUT_OF_MEMORY, TIMED_OUT, KILLED, FAILED, RUNNING)
"""Causes after which what a run had used is a lower bound of what it needs; of others nothing is known."""

MEMORY = "peak_memory_bytes"
GROWING = ("duration_s", MEMORY)
"""Targets that only grow while a run goes on; a mean use of the CPU may rise or fall."""

FEWEST_ABOVE = 2
"""Finished runs above a bound that a cell needs: a single one is often the largest of its cell. Log needs drawn from
cells with one are .22 too high at the 90th percentile (planted needs, six draws, a third cut short), with two .02; left
out, they are .6 too low."""


def runs_to_learn(jobs: pd.DataFrame, *, cut_short: bool, targets: Sequence[str]) -> pd.DataFrame:
    """The runs to learn from, in their order, with `finished` and `LOWER_BOUND`.

    They are the finished ones, those killed for memory, and, if requested, others that were cut short. A run that was
    killed, or whose use is known by task only, used at least what was measured, and at least what it requested.

    Of a killed run that did not finish the memory alone is known, unless those `cut_short` are among them.
    """
    killed, codes = was_killed_for_memory(jobs), causes_of(jobs)
    done = jobs["finished"].to_numpy(dtype=bool) if "finished" in jobs.columns else np.ones(len(jobs), dtype=bool)
    short = np.isin(codes, [CAUSES.index(cause) for cause in CUT_SHORT])
    rows = jobs.assign(finished=done).drop(columns=["status", KILLS], errors="ignore")
    marked = numbers_if_present(jobs, LOWER_BOUND)
    bound = killed if marked is None else killed | (marked > 0)
    if bound.any() and MEMORY in jobs.columns:
        used, requested = numbers_of(jobs, MEMORY), numbers_if_present(jobs, "requested_memory_bytes")
        least = used if requested is None else np.fmax(used, requested)
        rows = rows.assign(**{MEMORY: np.where(bound, least, used)})
    if not cut_short:
        blank = killed & ~done
        others = [name for name in targets if name != MEMORY and name in jobs.columns]
        rows = rows.assign(**{name: np.where(blank, np.nan, numbers_of(jobs, name)) for name in others})
    result: pd.DataFrame = rows.assign(**{LOWER_BOUND: bound.astype(np.float64)})[
        done | killed | (short & cut_short)
    ].reset_index(drop=True)
    return result


def kaplan_meier(values: Floats, censored: Bools) -> tuple[Floats, Floats, Floats]:
    """The (n_distinct,) finished values, rising, the share that needs more than each, and how the band widens.

    The share ends above 0 where the largest value is censored. The band of Hall and Wellner is that of a curve of
    finished values alone, times the last result: S(t) (1 + n v(t)) with Greenwood's v; it is 1 where none is censored.

    `values` are needs, or their lower bounds where `censored`; at equal values a bound counts as the larger.

    Source: Hall & Wellner (1980), Confidence bands for a survival curve from censored data.
    """
    distinct, ended = np.unique(values[~censored], return_counts=True)
    at_risk = len(values) - np.searchsorted(np.sort(values), distinct, side="left")
    hazard = ended / at_risk
    left = np.cumprod(1 - hazard) if censored.any() else (at_risk - ended) / len(values)
    before = np.concatenate([[1.0], left[:-1]])
    spread = np.cumsum(ended / (at_risk * np.maximum(at_risk - ended, 1.0)))
    earlier = np.concatenate([[0.0], spread[:-1]])
    widening = before * ((1 - hazard) * (1 + len(values) * earlier) + len(values) * hazard / at_risk)
    return distinct.astype(np.float64), left.astype(np.float64), widening.astype(np.float64)


def survival_jumps(values: Floats, censored: Bools) -> tuple[Floats, Floats]:
    """The (n_distinct,) finished values, rising, and the probability that Kaplan-Meier gives each.

    They sum to less than 1 where the largest value is censored.
    """
    distinct, left, _ = kaplan_meier(values, censored)
    return distinct, -np.diff(left, prepend=1.0)


def completed(past: Past, censored: Bools, seed: int, source: Ints | None = None) -> Past:
    """The past with a need for every run that was cut short, drawn beyond what it had used.

    The draw is from the narrowest history cell with enough finished runs, of which two needed more than the bound; of
    all runs where there is no such cell. Where hardly any run needed more, the bound stands for the need.

    Targets are bounds where `censored` (n_past,). Rows may be drawn from `source`; None = all.
    """
    if not censored.any():
        return past
    rows = np.arange(len(past.targets)) if source is None else source
    chance = np.random.default_rng(seed).random(len(past.targets))
    targets, left = past.targets.copy(), censored.copy()
    everything = np.zeros((1, len(targets)), dtype=np.uint64)
    for keys, fewest in zip(np.concatenate([past.cells.keys, everything]), (*past.cells.fewest, 1), strict=True):
        ordered, still = rows[np.argsort(keys[rows], kind="stable")], np.flatnonzero(left)
        still = still[np.argsort(keys[still], kind="stable")]
        cells, starts = np.unique(keys[still], return_index=True)
        first, last = (np.searchsorted(keys[ordered], cells, side=side) for side in ("left", "right"))
        for cut, a, b in zip(np.split(still, starts)[1:], first, last, strict=True):
            own = ordered[a:b]
            if (~censored[own]).sum() >= fewest:
                drawn = _beyond(past.targets[cut], chance[cut], past.targets[own], censored[own])
                targets[cut] = np.where(np.isnan(drawn), past.targets[cut], drawn)
                left[cut] = np.isnan(drawn)
    return replace(past, targets=targets)


def _beyond(bounds: Floats, chance: Floats, values: Floats, censored: Bools) -> Floats:
    """(n_bounds,) draws above each bound, NaN where fewer than `FEWEST_ABOVE` finished values are above it."""
    distinct, jumps = survival_jumps(values, censored)
    cumulative = np.concatenate([[0.0], np.cumsum(jumps)])
    below = cumulative[np.searchsorted(distinct, bounds, side="right")]
    aim = below + chance * (cumulative[-1] - below)
    at = np.searchsorted(cumulative[1:], aim, side="right")
    drawn = distinct[np.minimum(at, len(distinct) - 1)]
    finished = np.sort(values[~censored])
    n_above = len(finished) - np.searchsorted(finished, bounds, side="right")
    return np.where(n_above >= FEWEST_ABOVE, drawn, np.nan)
