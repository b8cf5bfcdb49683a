"""The settings of ours that trade waste against failures, and what is best at a price."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from workprof.core.units import GB
from workprof.memory.charges import Charges
from workprof.memory.policies import DEFAULT, SizingSettings
from workprof.memory.policy_figures import PolicyFigures, TaskFigures


@dataclass(frozen=True)
class FrontierPoint:
    """One setting of ours."""

    setting: str  # in words
    price_runs: float  # cost per failure in mean runs
    by_input: bool  # whether inputs were looked at
    by_labels: bool  # whether all that is known at submission was
    wasted_gb_h: float  # mean over seeds
    failures: float  # mean over seeds
    efficient: bool  # whether no other setting of ours wastes less at no more failures


@dataclass(frozen=True)
class PriceChoice:
    """What is best when a failure costs so much on top of its charge."""

    price_gb_h: float  # of one failure
    name: str  # policy, or setting of ours
    wasted_gb_h: float  # of it
    failures: float  # of it
    total_gb_h: float  # waste + price x failures


@dataclass(frozen=True)
class TaskChoice:
    """The policy of least waste + price x failures on one task, at the default price of ours."""

    task: str
    policy: str
    total_gb_h: float
    too_few: bool


MANY_RUNS = 20_000
"""Above so many runs, settings that look at inputs are tried at our default price and one more only."""


def settings_of_ours(prices_runs: tuple[float, ...], n_runs: int, *, with_input: bool) -> tuple[SizingSettings, ...]:
    """The settings that make the frontier: every price, with inputs where there are any, and by task alone."""
    prices = tuple(sorted(set(prices_runs)))
    some = prices
    if n_runs > MANY_RUNS and with_input and prices:
        some = tuple(sorted({DEFAULT.price_runs, prices[2 * len(prices) // 3]}))
    by_input = tuple(replace(DEFAULT, price_runs=price) for price in some)
    return by_input + tuple(
        replace(DEFAULT, price_runs=price, unseen_runs=0.5, by_input=False, by_labels=False) for price in prices
    )


BETWEEN = 2
"""Prices tried between each two that are named, where a setting costs little."""


def settings_at_submission(prices_runs: tuple[float, ...]) -> tuple[SizingSettings, ...]:
    """The settings that make the frontier in the order of submission.

    By all that is known then: every price and some between; by the task alone, which few runs a task may favour: every
    price.
    """
    prices = np.unique(prices_runs)
    between = [np.geomspace(*pair, BETWEEN + 2)[1:-1] for pair in pairwise(prices[prices > 0])]
    every = [float(f"{price:.3g}") for price in np.sort(np.concatenate([prices, *between]))]
    by_labels = tuple(replace(DEFAULT, price_runs=price) for price in every)
    return by_labels + tuple(
        replace(DEFAULT, price_runs=float(price), by_input=False, by_labels=False) for price in prices
    )


def setting_words(setting: SizingSettings, known: str = "") -> str:
    """A setting of the policy `workprof` in words; `known` as `Ordered` has it."""
    by = "by input and task" if setting.by_input else "by task alone"
    if known and setting.by_labels:
        by = "by what is known at submission"
    return f"a failure costs {setting.price_runs:g} mean runs, {by}"


def frontier_point(setting: SizingSettings, charges: Iterable[Charges], known: str = "") -> FrontierPoint:
    """The mean waste and failures of one setting over its charges (one per seed)."""
    charges = list(charges)
    return FrontierPoint(
        setting=setting_words(setting, known),
        price_runs=setting.price_runs,
        by_input=setting.by_input,
        by_labels=setting.by_labels and known != "",
        wasted_gb_h=float(np.mean([one.wasted_gb_h.sum() for one in charges])),
        failures=float(np.mean([one.failures.sum() for one in charges])),
        efficient=True,
    )


def marked(points: Iterable[FrontierPoint]) -> tuple[FrontierPoint, ...]:
    """The points, least waste first, those marked that no other beats in both."""
    ordered = sorted(points, key=lambda point: (point.wasted_gb_h, point.failures))
    fewest, result = np.inf, []
    for point in ordered:
        result.append(replace(point, efficient=point.failures < fewest))
        fewest = min(fewest, point.failures)
    return tuple(result)


def choices_by_price(
    policies: Iterable[PolicyFigures], frontier: Iterable[FrontierPoint], prices_gb_h: Iterable[float]
) -> tuple[PriceChoice, ...]:
    """The policy or setting of least waste + price x failures for each price of a failure."""
    known = [(p.policy, p.wasted_gb_h, p.failures) for p in policies if not p.policy.startswith("oracle")]
    known += [(point.setting, point.wasted_gb_h, point.failures) for point in frontier]
    result = []
    for price in prices_gb_h:
        name, wasted, failures = min(known, key=lambda one: one[1] + price * one[2])
        result.append(PriceChoice(price, name, wasted, failures, wasted + price * failures))
    return tuple(result)


def best_by_task(tasks: Iterable[TaskFigures], mean_run_byte_h: float) -> tuple[TaskChoice, ...]:
    """The policy of least waste + price x failures for each task, at our default price."""
    price = DEFAULT.price_runs * mean_run_byte_h / GB
    best: dict[str, TaskChoice] = {}
    for one in tasks:
        total = one.wasted_gb_h + price * one.failures
        held = best.get(one.task)
        if not one.policy.startswith("oracle") and (held is None or total < held.total_gb_h):
            best[one.task] = TaskChoice(one.task, one.policy, total, one.too_few)
    return tuple(best.values())
