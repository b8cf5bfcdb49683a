"""Scenarios: what was decided, kept under a name, and up to four side by side."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import pandas as pd

from workprof.answers.models import every_model
from workprof.answers.policies import picked
from workprof.answers.tasks import shown
from workprof.answers.verdict import what_if_words
from workprof.core.answer import Answer, Table
from workprof.core.question import Question, address_of
from workprof.core.table import Column
from workprof.core.units import GB, format_share, gb, gb_h, number
from workprof.core.words import counted
from workprof.memory.bins import Bins
from workprof.memory.models import PredictorResult
from workprof.memory.policy_figures import REQUESTS
from workprof.memory.questions import BINS, REPLAY, TRAIN, VERDICT
from workprof.memory.replay import ReplayResult
from workprof.memory.scenarios import Comparison, Scenario, Value
from workprof.memory.verdict import Verdict

NOT_KNOWN = float("nan")
NO_COUNT = -1
NOT_REPLAYED = "not replayed"
VERDICT_WORDS = "verdict"


class Dataset(Protocol):
    """What a scenario is of (`workprof.store.reports.Dataset`)."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def hash(self) -> str:
        """Of its content."""


Computed = tuple[Question[Any, Any], Any]
"""A question and the settings that were computed."""


def _scenario(dataset: Dataset, name: str, policy: str, settings: dict[str, Value], origin: Computed) -> Scenario:
    """Return a scenario of all tasks of which no figure is known yet."""
    question, computed = origin
    return Scenario(
        name=name,
        dataset=dataset.name,
        dataset_hash=dataset.hash,
        task="",
        policy=policy,
        settings=settings,
        saved_share=NOT_KNOWN,
        optimal_share=NOT_KNOWN,
        estimated_share=NOT_KNOWN,
        charged_gb_h=NOT_KNOWN,
        wasted_gb_h=NOT_KNOWN,
        n_runs=0,
        n_failures=NO_COUNT,
        money_saved=NOT_KNOWN,
        currency="",
        address=address_of(question, dataset.hash, computed),
    )


def bins_scenario(result: Bins, dataset: Dataset, name: str, profile: str = "") -> Scenario:
    """Return bins of a task, or of a profile (called so), as a scenario: an optimum, nothing is replayed yet."""
    settings: dict[str, Value] = {
        "edges_gb": ", ".join(f"{edge / GB:.4g}" for edge in result.edges_bytes),
        "search": result.search,
        "weight": result.settings.weight,
        "top": result.settings.top,
        "headroom": result.settings.headroom,
        "step_gb": result.settings.step_bytes / GB,
        "target": result.settings.target,
        **({"profile": profile} if profile else {}),
    }
    return replace(
        _scenario(dataset, name, "bins, upper bound", settings, (BINS, result.settings)),
        task=result.settings.task,
        optimal_share=result.effect.time_based_saved_share,
        n_runs=result.effect.n_runs,
    )


def models_scenario(result: PredictorResult, dataset: Dataset, name: str) -> Scenario:
    """Return the best model by the replay as a scenario."""
    best = every_model(result)[0]
    settings: dict[str, Value] = {
        "edges_gb": ", ".join(f"{edge / GB:.4g}" for edge in result.edges_bytes),
        "model": best.name,
        "penalty": result.settings.penalty,
        "mode": result.settings.mode,
        "headroom": result.settings.bins.headroom,
        "target": result.settings.bins.target,
        "seed": result.settings.seed,
        "after_the_run": ", ".join(result.settings.after_the_run),
    }
    return replace(
        _scenario(dataset, name, f"bins by {best.name}", settings, (TRAIN, result.settings)),
        task=result.task,
        saved_share=best.saved_share,
        optimal_share=result.optimal_improvement,
        estimated_share=best.estimated_improvement,
        charged_gb_h=best.charged_gb_h,
        n_runs=best.n_test,
        n_failures=best.failures,
    )


def verdict_scenario(result: Verdict, dataset: Dataset, name: str) -> Scenario:
    """Return the verdict as a scenario, or the requests that it was asked about, in hindsight."""
    asked, memory = result.settings.what_if, result.memory
    judged, found = memory.judged, memory.what_if
    settings: dict[str, Value] = {
        "applied": result.settings.applied,
        "acceptable_kills": result.settings.acceptable_kills,
        "cost_per_kill_gb_h": result.settings.cost_per_kill_gb_h,
        "target": result.settings.target,
        "times": asked.times,
        "cap_gb": None if asked.cap_bytes is None else asked.cap_bytes / GB,
        "node_gb": None if asked.node_bytes is None else asked.node_bytes / GB,
        "nodes_at_the_peak": None if found is None or found.nodes is None else found.nodes.peak,
        "price_per_gb_h": asked.price_gb_h,
    }
    own = _scenario(dataset, name, VERDICT_WORDS, settings, (VERDICT, result.settings))
    currency = "" if asked.price_gb_h is None else "USD"
    if found is not None and (asked.times != 1 or asked.cap_bytes is not None):
        return replace(
            own,
            policy=f"{what_if_words(asked)}, in hindsight",
            saved_share=found.saved_share,
            n_runs=found.n_runs,
            n_failures=found.kills,
            money_saved=found.money_saved,
            currency=currency,
            n_never=found.never_run,
        )
    return replace(
        own,
        saved_share=judged.saved_share,
        charged_gb_h=judged.charged,
        wasted_gb_h=judged.wasted,
        n_runs=judged.n_runs,
        n_failures=judged.kills,
        money_saved=NOT_KNOWN if found is None else found.verdict_money_saved,
        currency=currency,
    )


def policy_scenario(
    result: ReplayResult, price_gb_h: float, dataset: Dataset, name: str, *, kills: float | None = None
) -> Scenario:
    """Return what is chosen at a cost per failure and acceptable kills as a scenario."""
    best, now = picked(result, price_gb_h, kills), result.policies.get(REQUESTS)
    charged = result.used_gb_h + best.wasted_gb_h
    settings: dict[str, Value] = {
        "price_per_failure_gb_h": price_gb_h,
        "protocol": result.protocol,
        "input": result.input_column,
        "target": result.target,
        "retry": result.settings.retry.rule,
        "time_to_failure": result.settings.retry.time_to_failure,
        "cold_runs": result.settings.cold_runs,
    }
    return replace(
        _scenario(dataset, name, best.name, settings, (REPLAY, result.settings)),
        saved_share=1 - charged / now.charged_gb_h if now is not None and now.charged_gb_h > 0 else NOT_KNOWN,
        charged_gb_h=charged,
        wasted_gb_h=best.wasted_gb_h,
        n_runs=result.n_test,
        n_failures=round(best.failures),
    )


def _failures(one: Scenario) -> str:
    """Kills among the runs; of a replay every attempt counts, and a run may have several."""
    return f"{one.n_failures:,} in {one.n_runs:,} runs" if one.n_failures >= 0 else NOT_REPLAYED


SCENARIOS = (
    Column("scenario", "name", "Scenario", pinned=True),
    Column("policy", heading="Policy"),
    Column("task", lambda one: shown(one.task) or "all tasks", "Task"),
    Column(
        "saved", lambda one: format_share(one.saved_share) if math.isfinite(one.saved_share) else NOT_REPLAYED, "Saved"
    ),
    Column("kills", _failures, "Kills"),
    Column("kept", lambda one: one.created.replace("T", " ")[:16], "Kept"),
)


def scenarios_answer(scenarios: Sequence[Scenario]) -> Answer:
    """The saved scenarios, a line each."""
    return Answer(
        f"{counted(len(scenarios), 'scenario')} {'is' if len(scenarios) == 1 else 'are'} saved.",
        tables=(Table("scenarios", "Saved scenarios", SCENARIOS, scenarios),),
    )


def comparison_table(result: Comparison) -> pd.DataFrame:
    """Return figures and differing settings, a line each, a column per scenario; the best are named in words."""
    lines = {
        "policy": [one.policy for one in result.scenarios],
        "task": [shown(one.task) or "all tasks" for one in result.scenarios],
        "saved, killed attempts included": [_saved(result, place) for place in range(len(result.scenarios))],
        "kills": [_failed(result, place) for place in range(len(result.scenarios))],
        "upper bound": [format_share(one.optimal_share) for one in result.scenarios],
        "estimated (thesis)": [format_share(one.estimated_share) for one in result.scenarios],
        "held": [gb_h(one.charged_gb_h) for one in result.scenarios],
        "wasted": [gb_h(one.wasted_gb_h) for one in result.scenarios],
        "runs": [f"{one.n_runs:,}" for one in result.scenarios],
        "money saved (assumed price)": [_money(one) for one in result.scenarios],
        "must exist at once": [gb(one.peak_gb) if one.peak_gb >= 0 else "not computed" for one in result.scenarios],
        "can never run": [f"{one.n_never:,} runs" if one.n_never >= 0 else "not computed" for one in result.scenarios],
    }
    for difference in result.differences:
        if difference.setting not in lines:
            values = difference.values  # noqa: PD011  a field of the record
            lines[f"differs: {difference.setting}"] = [_value(value) for value in values]
    table = pd.DataFrame(lines).T
    table.columns = pd.Index([one.name for one in result.scenarios], name="scenario")
    return table.rename_axis("").reset_index()


def _saved(result: Comparison, place: int) -> str:
    one = result.scenarios[place]
    words = format_share(one.saved_share) if math.isfinite(one.saved_share) else NOT_REPLAYED
    return f"{words} ★ most" if place == result.best_saving and len(result.scenarios) > 1 else words


def _failed(result: Comparison, place: int) -> str:
    words = _failures(result.scenarios[place])
    return f"{words} ★ fewest" if place == result.fewest_failures and len(result.scenarios) > 1 else words


def _money(one: Scenario) -> str:
    return f"{number(one.money_saved)} {one.currency}" if math.isfinite(one.money_saved) else "no price"


def _value(value: Value) -> str:
    if value is None or value == "":
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)
