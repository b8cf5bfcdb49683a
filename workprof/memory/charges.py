"""What sizing by a policy costs: attempts, failures and GB·h of every run, and how far its stated chances hold."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats, Ints
from workprof.core.stats import reliability_bins
from workprof.memory.orders import Ordered
from workprof.memory.policies import (
    BY_TASK,
    ENSEMBLE,
    FROM_HISTORY,
    FROM_PEERS,
    Conditional,
    Policy,
    Sequence,
    SizingSettings,
    Workprof,
    policy_named,
    requests_of,
)
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import BEYOND, Demand, Outcome, RetrySettings, lifted_by, only, try_sizes


@dataclass(frozen=True)
class Foreseen:
    """How far the chances hold that the policy `workprof` stated, at each run's start, of too small a size."""

    n_runs: int  # sized so; the others started at their request
    stated: float  # sum of the chances: first attempts expected to be killed
    killed: int  # first attempts that were
    rows: Ints  # (10,) runs by stated chance, in ten equal bins from 0 to 1
    stated_share: Floats  # (10,) mean of the chances, NaN in an empty bin
    killed_share: Floats  # (10,) of the runs
    error: float  # mean |stated - killed| share over the bins, weighted by runs


def foreseen_kills(ordered: Ordered, setting: SizingSettings, retry: RetrySettings) -> Foreseen | None:
    """How far stated chances of a kill hold; None where the policy looks at the task alone, and states none."""
    from workprof.memory.conditional import cheapest_chains  # noqa: PLC0415  numba waits until it is needed

    if not (setting.by_labels and ordered.known):
        return None
    chances, killed = [], []
    for runs in ordered.sequences:
        price = setting.price_runs * runs.mean_runs
        chain, chance = cheapest_chains(ordered.outlooks[runs.task], price, retry.time_to_failure)
        known = np.isfinite(chance)
        chances.append(chance[known])
        killed.append((chain[:, 0] < runs.used_bytes[runs.sized])[known])
    stated, seen = np.concatenate(chances), np.concatenate(killed)
    rows, stated_share, killed_share, error = reliability_bins(stated, seen)
    return Foreseen(len(stated), float(stated.sum()), int(seen.sum()), rows, stated_share, killed_share, error)


@dataclass(frozen=True)
class Charges:
    """What a policy's runs cost, task after task."""

    task: Ints  # (n,) place of the task among the sequences
    rows: Ints  # (n,) places in the table of runs
    first_bytes: Floats  # (n,) sizes of the first attempts
    failures: Ints  # (n,) failed attempts
    charged_gb_h: Floats  # (n,)
    wasted_gb_h: Floats  # (n,)
    moments: Floats  # (n,) order for the curve
    sized_from: NDArray[np.str_]  # (n,) words for what each size rests on
    n_never_fit: int  # runs that failed at the cap
    n_given_up: int  # runs that failed the last retry
    seconds: float  # of sizes and charges


def charge(policy: Policy, ordered: Ordered, retry: RetrySettings) -> Charges:
    """The charges of all runs to be sized, task after task in the order of their starts."""
    started = time.perf_counter()
    tried = [charge_task(policy, runs, retry, ordered.cold_runs) for runs in ordered.sequences]
    seconds = time.perf_counter() - started
    outcomes = [outcome for outcome, _ in tried]
    return Charges(
        task=np.repeat(np.arange(len(outcomes)), [len(outcome.failures) for outcome in outcomes]),
        rows=np.concatenate([rows[one.sized] for rows, one in zip(ordered.rows, ordered.sequences, strict=True)]),
        first_bytes=np.concatenate([outcome.first_bytes for outcome in outcomes]),
        failures=np.concatenate([outcome.failures for outcome in outcomes]),
        charged_gb_h=np.concatenate([outcome.charged_gb_h for outcome in outcomes]),
        wasted_gb_h=np.concatenate([outcome.wasted_gb_h for outcome in outcomes]),
        moments=np.concatenate(ordered.moments),
        sized_from=np.concatenate([words for _, words in tried]),
        n_never_fit=sum(outcome.n_never_fit for outcome in outcomes),
        n_given_up=sum(outcome.n_given_up for outcome in outcomes),
        seconds=seconds,
    )


def charge_task(
    policy: Policy, runs: Sequence, retry: RetrySettings, cold_runs: int
) -> tuple[Outcome, NDArray[np.str_]]:
    """What one task's runs cost, and what each was sized from.

    Runs before which fewer than `cold_runs` are known (than the policy's own `fewest_known`, where it has one) start at
    their request and are doubled after a failure, or lifted by the requested rule.
    """
    warm = runs.after(getattr(policy, "fewest_known", cold_runs))
    n_cold, demand = runs.n_sized - warm.n_sized, Demand(runs.used_bytes[runs.sized], runs.hours[runs.sized])
    requests, words = requests_of(runs, retry)
    cold = only(requests[:n_cold], retry.rule if retry.rule in BEYOND else "double")
    outcome = try_sizes(demand.part(0, n_cold), cold, retry)
    if not warm.n_sized:
        return outcome, words
    sizes = lifted_by(retry.rule, policy.sizes(warm, retry), warm.max_seen_bytes)
    sized_from = sizes.sized_from
    if sized_from is None:
        sized_from = np.where(warm.known_at - warm.n_history >= max(cold_runs, 1), FROM_PEERS, FROM_HISTORY)
    then = try_sizes(demand.part(n_cold, runs.n_sized), sizes, retry)
    return outcome.and_then(then), np.concatenate([words[:n_cold], sized_from])


def charge_setting(setting: SizingSettings, orders: Iterable[Ordered], retry: RetrySettings) -> list[Charges]:
    """The charges of the policy `workprof` with one setting on each order (one per seed).

    What is foreseen of a table's runs is computed once, and counts into the seconds of the setting that is first.
    """
    result = []
    for ordered in orders:
        started = time.perf_counter()
        policy = workprof_on(ordered, setting)
        foreseen = time.perf_counter() - started
        charges = charge(policy, ordered, retry)
        result.append(replace(charges, seconds=charges.seconds + foreseen))
    return result


def workprof_on(ordered: Ordered, setting: SizingSettings) -> Policy:
    """The policy `workprof`: by all that is known at submission; in the published harness by the task alone."""
    by_labels = setting.by_labels and ordered.known != ""
    return Conditional(setting.price_runs, ordered.outlooks) if by_labels else Workprof(setting)


def charges_of(replayed: tuple[list[Ordered], ReplaySettings], name: str) -> list[Charges]:
    """The charges of one policy by seed."""
    orders, settings = replayed
    if name == Workprof.name:
        return charge_setting(settings.sizing, orders, settings.retry)
    if name == ENSEMBLE:
        return [_charge_ensemble(one, settings) for one in orders]
    policy = Workprof(settings.sizing, name) if name == BY_TASK else policy_named(name)
    return [charge(policy, one, settings.retry) for one in orders]


def _charge_ensemble(ordered: Ordered, settings: ReplaySettings) -> Charges:
    """The charges of the quantile ensemble, which learns from all tasks; without a clock from each task alone."""
    from workprof.memory.quantiles import QuantileEnsemble, foreseen_sizes  # noqa: PLC0415  only where it is replayed

    started = time.perf_counter()
    foreseen = foreseen_sizes(ordered.sequences, ordered.clocks, settings.sizing.price_runs) if ordered.clocks else None
    learning = time.perf_counter() - started
    charges = charge(QuantileEnsemble(foreseen), ordered, settings.retry)
    return replace(charges, seconds=charges.seconds + learning)
