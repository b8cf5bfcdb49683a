"""One policy on one order of the runs: what every run is charged."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.memory.policies.preset import filled_requests
from workprof.memory.policies.sequence import Policy, Sequence
from workprof.memory.replay.protocols import Ordered
from workprof.memory.retry import Demand, Outcome, RetrySettings, Sizes, lifted_by, only, try_sizes


@dataclass(frozen=True)
class Charges:
    """What a policy's runs cost, task after task.

    Attributes:
        task: (n,) place of the task among the sequences.
        failures: (n,) failed attempts.
        charged_gb_h: (n,).
        wasted_gb_h: (n,).
        moments: (n,) order for the curve.
        n_never_fit: runs that failed at the cap.
        n_given_up: runs that failed the last retry.
        seconds: of sizes and charges.
    """

    task: Ints
    failures: Ints
    charged_gb_h: Floats
    wasted_gb_h: Floats
    moments: Floats
    n_never_fit: int
    n_given_up: int
    seconds: float


def charge(policy: Policy, ordered: Ordered, retry: RetrySettings) -> Charges:
    """Return the charges of all runs after the initial histories, and of those too where they start cold."""
    started = time.perf_counter()
    outcomes = [charge_task(policy, runs, retry, cold=ordered.cold) for runs in ordered.sequences]
    seconds = time.perf_counter() - started
    starts = [0 if ordered.cold else runs.n_known for runs in ordered.sequences]
    return Charges(
        task=np.repeat(np.arange(len(outcomes)), [len(outcome.failures) for outcome in outcomes]),
        failures=np.concatenate([outcome.failures for outcome in outcomes]),
        charged_gb_h=np.concatenate([outcome.charged_gb_h for outcome in outcomes]),
        wasted_gb_h=np.concatenate([outcome.wasted_gb_h for outcome in outcomes]),
        moments=np.concatenate([m[start:] for m, start in zip(ordered.moments, starts, strict=True)]),
        n_never_fit=sum(outcome.n_never_fit for outcome in outcomes),
        n_given_up=sum(outcome.n_given_up for outcome in outcomes),
        seconds=seconds,
    )


def charge_task(policy: Policy, runs: Sequence, retry: RetrySettings, *, cold: bool) -> Outcome:
    """Return what one task's runs cost; cold runs start at their request and are doubled after a failure."""
    sizes = _sizes(policy, runs, retry)
    start = runs.n_known
    if cold:
        sizes, start = _after_cold(sizes, filled_requests(runs, retry)[: runs.n_known]), 0
    return try_sizes(Demand(runs.used_bytes[start:], runs.hours[start:]), sizes, retry)


def _sizes(policy: Policy, runs: Sequence, retry: RetrySettings) -> Sizes:
    if not runs.n_sized:
        return only(np.empty(0))
    return lifted_by(retry.rule, policy.sizes(runs, retry), runs.max_seen_bytes)


def _after_cold(sizes: Sizes, requests: Floats) -> Sizes:
    """Return sizes with those of the cold runs before them, which have no steps of their own."""
    steps = np.full((len(requests), sizes.steps_bytes.shape[1]), np.nan)
    return Sizes(
        np.concatenate([requests, sizes.first_bytes]), np.concatenate([steps, sizes.steps_bytes]), sizes.beyond
    )
