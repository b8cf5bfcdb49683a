"""Decisions of the page as scenarios, and kept scenarios side by side."""

from __future__ import annotations

import math

import pandas as pd

from workprof.charts.memory.models import every_model
from workprof.charts.memory.policies import picked
from workprof.charts.memory.tasks import gb_h, number, shown
from workprof.memory.bins import Bins
from workprof.memory.models import PredictorResult
from workprof.memory.replay import ReplayResult
from workprof.memory.rollup import Rollup
from workprof.memory.scenarios import Comparison, Scenario, Value
from workprof.store.reports import Dataset
from workprof.units import GB, format_share

NOT_KNOWN = float("nan")
NO_COUNT = -1


def bins_scenario(found: Bins, dataset: Dataset, name: str) -> Scenario:
    """Return bins as a scenario: an optimum, nothing is replayed yet."""
    settings: dict[str, Value] = {
        "edges_gb": ", ".join(f"{edge / GB:.4g}" for edge in found.edges_bytes),
        "search": found.search,
        "weight": found.settings.weight,
        "top": found.settings.top,
        "headroom": found.settings.headroom,
        "step_gb": found.settings.step_bytes / GB,
        "target": found.settings.target,
    }
    return Scenario(
        name=name,
        dataset=dataset.name,
        dataset_hash=dataset.hash,
        task=found.settings.task,
        policy="bins at best",
        settings=settings,
        saved_share=NOT_KNOWN,
        optimal_share=found.effect.time_based_saved_share,
        estimated_share=NOT_KNOWN,
        charged_gb_h=NOT_KNOWN,
        wasted_gb_h=NOT_KNOWN,
        n_runs=found.effect.n_runs,
        n_failures=NO_COUNT,
        money_saved=NOT_KNOWN,
        currency="",
    )


def models_scenario(found: PredictorResult, dataset: Dataset, name: str) -> Scenario:
    """Return the best model by the replay as a scenario."""
    best = every_model(found)[0]
    settings: dict[str, Value] = {
        "edges_gb": ", ".join(f"{edge / GB:.4g}" for edge in found.edges_bytes),
        "model": best.name,
        "penalty": found.settings.penalty,
        "mode": found.settings.mode,
        "headroom": found.settings.bins.headroom,
        "target": found.settings.bins.target,
        "seed": found.settings.seed,
        "after_the_run": ", ".join(found.settings.after_the_run),
    }
    return Scenario(
        name=name,
        dataset=dataset.name,
        dataset_hash=dataset.hash,
        task=found.task,
        policy=f"bins by {best.name}",
        settings=settings,
        saved_share=best.saved_share,
        optimal_share=found.optimal_improvement,
        estimated_share=best.estimated_improvement,
        charged_gb_h=best.charged_gb_h,
        wasted_gb_h=NOT_KNOWN,
        n_runs=best.n_test,
        n_failures=best.failures,
        money_saved=NOT_KNOWN,
        currency="",
    )


def rollup_scenario(found: Rollup, dataset: Dataset, name: str) -> Scenario:
    """Return a plan with its roll-up as a scenario."""
    plan, total = found.settings.plan, found.total
    before, after = total.memory_gb_h.before, total.memory_gb_h.after
    settings: dict[str, Value] = {
        "headroom": plan.headroom,
        "percentile": plan.percentile if plan.rule == "percentile" else None,
        "step_gb": plan.step_bytes / GB,
        "floor_gb": plan.floor_bytes / GB,
        "least_runs": plan.least_runs,
        "cores": found.settings.cores,
        "target": plan.target,
        "price_per_gb_h": found.settings.price.per_gb_h,
    }
    return Scenario(
        name=name,
        dataset=dataset.name,
        dataset_hash=dataset.hash,
        task="",
        policy=f"one size per task: {plan.rule}",
        settings=settings,
        saved_share=1 - after / before if before > 0 else NOT_KNOWN,
        optimal_share=NOT_KNOWN,
        estimated_share=NOT_KNOWN,
        charged_gb_h=after,
        wasted_gb_h=NOT_KNOWN,
        n_runs=total.n_runs,
        n_failures=total.n_failures,
        money_saved=total.money.saved,
        currency=total.money.price.currency,
    )


def policy_scenario(found: ReplayResult, price_gb_h: float, dataset: Dataset, name: str) -> Scenario:
    """Return what a price per failure picks as a scenario."""
    best, now = picked(found, price_gb_h), found.policies.get("preset")
    charged = found.used_gb_h + best.wasted_gb_h
    settings: dict[str, Value] = {
        "price_per_failure_gb_h": price_gb_h,
        "protocol": found.protocol,
        "input": found.input_column,
        "target": found.target,
        "retry": found.settings.retry.rule,
        "time_to_failure": found.settings.retry.time_to_failure,
        "cold_runs": found.settings.cold_runs,
    }
    return Scenario(
        name=name,
        dataset=dataset.name,
        dataset_hash=dataset.hash,
        task="",
        policy=best.name,
        settings=settings,
        saved_share=1 - charged / now.charged_gb_h if now is not None and now.charged_gb_h > 0 else NOT_KNOWN,
        optimal_share=NOT_KNOWN,
        estimated_share=NOT_KNOWN,
        charged_gb_h=charged,
        wasted_gb_h=best.wasted_gb_h,
        n_runs=found.n_test,
        n_failures=round(best.failures),
        money_saved=NOT_KNOWN,
        currency="",
    )


def scenario_table(scenarios: tuple[Scenario, ...]) -> pd.DataFrame:
    """Return one line per kept scenario."""
    return pd.DataFrame(
        [
            {
                "scenario": one.name,
                "policy": one.policy,
                "task": shown(one.task) or "all tasks",
                "saved": format_share(one.saved_share) if math.isfinite(one.saved_share) else "not replayed",
                "failed attempts": _failures(one),
                "kept": one.created.replace("T", " ")[:16],
            }
            for one in scenarios
        ]
    )


def comparison_table(found: Comparison) -> pd.DataFrame:
    """Return figures and differing settings, a line each, a column per scenario; the best are named in words."""
    lines = {
        "policy": [one.policy for one in found.scenarios],
        "task": [shown(one.task) or "all tasks" for one in found.scenarios],
        "saved, failures charged": [_saved(found, place) for place in range(len(found.scenarios))],
        "failed attempts": [_failed(found, place) for place in range(len(found.scenarios))],
        "at best": [format_share(one.optimal_share) for one in found.scenarios],
        "estimated (thesis)": [format_share(one.estimated_share) for one in found.scenarios],
        "charged": [gb_h(one.charged_gb_h) for one in found.scenarios],
        "wasted": [gb_h(one.wasted_gb_h) for one in found.scenarios],
        "runs": [f"{one.n_runs:,}" for one in found.scenarios],
        "money saved (assumed price)": [_money(one) for one in found.scenarios],
    }
    for difference in found.differences:
        if difference.setting not in lines:
            told = difference.values  # noqa: PD011  a field of the record
            lines[f"differs: {difference.setting}"] = [_value(value) for value in told]
    table = pd.DataFrame(lines).T
    table.columns = pd.Index([one.name for one in found.scenarios])
    return table.rename_axis("").reset_index()


def _saved(found: Comparison, place: int) -> str:
    one = found.scenarios[place]
    words = format_share(one.saved_share) if math.isfinite(one.saved_share) else "not replayed"
    return f"{words} ★ most" if place == found.best_saving and len(found.scenarios) > 1 else words


def _failed(found: Comparison, place: int) -> str:
    words = _failures(found.scenarios[place])
    return f"{words} ★ fewest" if place == found.fewest_failures and len(found.scenarios) > 1 else words


def _failures(one: Scenario) -> str:
    return f"{one.n_failures:,} of {one.n_runs:,} runs" if one.n_failures >= 0 else "not replayed"


def _money(one: Scenario) -> str:
    return f"{number(one.money_saved)} {one.currency}" if math.isfinite(one.money_saved) else "no price"


def _value(value: Value) -> str:
    if value is None or value == "":
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)
