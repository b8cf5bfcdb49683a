"""Waste against failures: the settings of ours, the policies beside them, and what a price per failure chooses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from workprof.memory.policies.sizing import Workprof
from workprof.memory.policies.sizing_settings import CAUTIOUS, DEFAULT, SizingSettings
from workprof.memory.replay.charges import Charges, charge
from workprof.memory.replay.protocols import Ordered
from workprof.memory.replay.records import FrontierPoint, PolicyFigures, PriceChoice, TaskChoice, TaskFigures
from workprof.memory.retry import RetrySettings
from workprof.units import GB

MANY_RUNS = 20_000
"""Above so many runs, settings that look at inputs are tried at our default price and one more only."""


def settings_of_ours(prices_runs: tuple[float, ...], n_runs: int, *, with_input: bool) -> tuple[SizingSettings, ...]:
    """Return the settings that make the frontier: every price, with inputs where there are any, and by task alone."""
    prices = tuple(sorted(set(prices_runs)))
    some = prices
    if n_runs > MANY_RUNS and with_input and prices:
        some = tuple(sorted({DEFAULT.price_runs, prices[2 * len(prices) // 3]}))
    by_input = tuple(replace(DEFAULT, price_runs=price) for price in some)
    return by_input + tuple(replace(CAUTIOUS, price_runs=price) for price in prices)


def charge_setting(setting: SizingSettings, orders: Iterable[Ordered], retry: RetrySettings) -> list[Charges]:
    """Return the charges of one setting on each order (one per seed)."""
    return [charge(Workprof(setting), ordered, retry) for ordered in orders]


def frontier_point(setting: SizingSettings, charges: Iterable[Charges]) -> FrontierPoint:
    """Return the mean waste and failures of one setting over its charges (one per seed)."""
    charges = list(charges)
    price = f"a failure costs {setting.price_runs:g} mean runs"
    return FrontierPoint(
        setting=f"{price}, {'by input and task' if setting.by_input else 'by task alone'}",
        price_runs=setting.price_runs,
        by_input=setting.by_input,
        wasted_gb_h=float(np.mean([one.wasted_gb_h.sum() for one in charges])),
        failures=float(np.mean([one.failures.sum() for one in charges])),
        efficient=True,
    )


def marked(points: Iterable[FrontierPoint]) -> tuple[FrontierPoint, ...]:
    """Return the points, least waste first, those marked that no other beats in both."""
    ordered = sorted(points, key=lambda point: (point.wasted_gb_h, point.failures))
    fewest, found = np.inf, []
    for point in ordered:
        found.append(replace(point, efficient=point.failures < fewest))
        fewest = min(fewest, point.failures)
    return tuple(found)


def dominated_by_ours(wasted_gb_h: float, failures: float, frontier: Iterable[FrontierPoint]) -> bool:
    """Return whether some setting of ours wastes less at no more failures."""
    return any(point.wasted_gb_h < wasted_gb_h and point.failures <= failures for point in frontier)


def choices_by_price(
    policies: Iterable[PolicyFigures], frontier: Iterable[FrontierPoint], prices_gb_h: Iterable[float]
) -> tuple[PriceChoice, ...]:
    """Return the policy or setting of least waste + price x failures for each price of a failure."""
    known = [(p.policy, p.wasted_gb_h, p.failures) for p in policies if not p.policy.startswith("oracle")]
    known += [(point.setting, point.wasted_gb_h, point.failures) for point in frontier]
    found = []
    for price in prices_gb_h:
        name, wasted, failures = min(known, key=lambda one: one[1] + price * one[2])
        found.append(PriceChoice(price, name, wasted, failures, wasted + price * failures))
    return tuple(found)


def best_by_task(tasks: Iterable[TaskFigures], mean_run_byte_h: float) -> tuple[TaskChoice, ...]:
    """Return the policy of least waste + price x failures for each task, at our default price."""
    price = DEFAULT.price_runs * mean_run_byte_h / GB
    best: dict[str, TaskChoice] = {}
    for one in tasks:
        total = one.wasted_gb_h + price * one.failures
        held = best.get(one.task)
        if not one.policy.startswith("oracle") and (held is None or total < held.total_gb_h):
            best[one.task] = TaskChoice(one.task, one.policy, total, one.too_few)
    return tuple(best.values())
