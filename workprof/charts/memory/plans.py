"""Plans: the roll-up over tasks, where the memory goes, and scenarios side by side."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd

from workprof.answers.tasks import shown, task_labels
from workprof.charts import shapes
from workprof.charts.memory.models import every_model
from workprof.charts.memory.policies import picked
from workprof.charts.memory.tasks import row_labels
from workprof.charts.shapes import LEGEND_ABOVE, NEUTRAL, Chart, Headline, figure_of, rows_axis
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.question import Question, address_of
from workprof.core.table import Column, frame
from workprof.core.units import GB, format_share, gb, gb_h, number, saved
from workprof.memory.bins import Bins
from workprof.memory.load import PLANNED as PLANNED_COURSE
from workprof.memory.models import ModelResult, PredictorResult, Waterfall
from workprof.memory.plan import RECOMMENDED, Plan
from workprof.memory.questions import BINS, REPLAY, ROLLUP, TRAIN
from workprof.memory.replay import ReplayResult
from workprof.memory.rollup import MEAN, ONE_EACH, PEAK, BeforeAfter, Rollup
from workprof.memory.scenarios import Comparison, Scenario, Value
from workprof.store.reports import Dataset

MOST_BARS = 15
MEASURE_WORDS = {
    MEAN: "held on average over the trace",
    PEAK: "held at the worst moment",
    ONE_EACH: "with one run of every task",
}
AXIS_WORDS = {MEAN: "GB on average", PEAK: "GB at the worst moment", ONE_EACH: "GB, one run of every task"}


def rollup_headlines(result: Rollup) -> tuple[Headline, ...]:
    """Return saving and failures side by side, and the money under its assumption."""
    total, measure = result.total, MEASURE_WORDS[result.settings.measure]
    money = total.money
    price = f"{money.price.per_gb_h:g} {money.price.currency} per GB·h is an assumption of yours."
    monthly = "assumed price"
    if money.span_hours > 0:
        monthly = f"{number(abs(money.monthly_saved))} a month"
    return (
        Headline(
            "Memory", _less(total.memory_gb), f"GB {measure}, today and under the plan.", _arrow(total.memory_gb, "GB")
        ),
        Headline(
            "Failed attempts",
            f"{total.n_failures:,}",
            f"Under the plan, on the {total.n_runs:,} runs that it was made from, which understates them. Tested: each "
            "part of the history tried with a size chosen from the parts before it: "
            f"{retry_words(result.plan)}.",
            f"tested: {format_share(retry_odds(result.plan))}",
        ),
        Headline(
            "Cores",
            _less(total.cores),
            f"Cores {measure}; tasks that go to one core: {len(result.one_core_tasks)}.",
            _arrow(total.cores, ""),
        ),
        Headline(
            "Saved money" if money.saved >= 0 else "Extra cost",
            f"{number(abs(money.saved))} {money.price.currency}",
            f"Of {number(money.before)} {money.price.currency}; never more than is spent. {price} {money.note}.",
            monthly,
        ),
    )


def rollup_sentence(result: Rollup) -> str:
    """Return in one sentence what the plan saves and breaks."""
    hours = result.total.memory_gb_h
    share = 1 - hours.after / hours.before if hours.before > 0 else float("nan")
    return (
        f"The plan needs {_times(share)} ({gb_h(hours.before)} to {gb_h(hours.after)}); "
        f"{counted(result.total.n_failures, 'failed attempt')} in this history, {retry_words(result.plan)}."
    )


def _times(share: float) -> str:
    if math.isfinite(share) and share <= -1:
        return f"{1 - share:.1f} × the memory requested today"
    return f"{saved(share)} memory than requested today"


def retry_words(result: Plan) -> str:
    """Return how many runs fail that their size was not made from."""
    failed, tested = _tested(result)
    return f"{failed:,} of {tested:,} tested runs fail ({format_share(retry_odds(result))})"


def retry_odds(result: Plan) -> float:
    """Return that share, 0-1; NaN where no run could be tested."""
    failed, tested = _tested(result)
    return failed / tested if tested else float("nan")


def _tested(result: Plan) -> tuple[int, int]:
    return sum(task.risk.n_failed for task in result.tasks), sum(task.risk.n_tested for task in result.tasks)


def rollup_bars(result: Rollup) -> Chart:
    """Return memory before and after, of the rows that change most."""
    rows = sorted(result.rows, key=lambda row: -abs(row.memory_gb.before - row.memory_gb.after))[:MOST_BARS]
    names = row_labels([row.name for row in rows])
    figure = figure_of(
        [
            _rollup_bars("today", [row.memory_gb.before for row in rows], names, ("#7b828c", "/")),
            _rollup_bars("under the plan", [row.memory_gb.after for row in rows], names, (COLOURS[0], "")),
        ],
        x={"title": AXIS_WORDS[result.settings.measure]},
        y=rows_axis(names),
        height=rows_height(2 * len(rows)),
        **LEGEND_ABOVE,
        barmode="group",
    )
    note = (
        f"The {len(rows)} of {counted(len(result.rows), 'row')} that change most."
        if len(rows) < len(result.rows)
        else ""
    )
    return Chart(
        name=f"memory-rollup-{result.settings.by}",
        figure=figure,
        takeaway=_most_changed(result),
        shows=f"Bars of memory before and after the plan by {result.settings.by}.",
        data=rollup_table(result),
        note=" ".join([note, *(f"{words[:1].upper()}{words[1:]}." for words in result.notes)]).strip(),
    )


ROLLUP_COLUMNS = (
    Column("name", pinned=True, width="medium"),
    Column("runs", "n_runs"),
    Column("memory_before_gb", "memory_gb.before", heading="memory now", form="%.4g GB"),
    Column("memory_after_gb", "memory_gb.after", heading="memory after", form="%.4g GB"),
    Column("before_gb_h", "memory_gb_h.before", heading="now (GB·h)", form="%,.2f"),
    Column("after_gb_h", "memory_gb_h.after", heading="after (GB·h)", form="%,.2f"),
    Column(
        "saved_gb_h",
        lambda row: row.memory_gb_h.before - row.memory_gb_h.after,
        heading="saved (GB·h)",
        form="%,.2f",
    ),
    Column("failures", "n_failures", heading="failed attempts", help="Under the plan, in this history."),
    Column("cores_before", "cores.before", heading="cores now", form="%.4g"),
    Column("cores_after", "cores.after", heading="cores after", form="%.4g"),
    Column("money_before", "money.before", heading="spend now", form="%.4g"),
    Column("money_saved", "money.saved", heading="saved money", form="%.4g"),
    Column("currency", "money.price.currency"),
    Column("full_name", "name", heading="full name", width="large"),
)
"""A line per task, user or what else the roll-up is by."""

PLAN_COLUMNS = (
    Column("task", pinned=True, width="medium"),
    Column("size_gb", lambda task: task.size_bytes / GB, heading="size", form="%.4g GB"),
    Column("requested_gb", lambda task: task.requested_bytes / GB, heading="request now", form="%.4g GB"),
    Column("largest_gb", lambda task: task.largest_bytes / GB, heading="largest use", form="%.4g GB"),
    Column("retry_percent", lambda task: 100 * task.risk.odds, heading="retry probability", form="%.1f %%"),
    Column("retry_low", lambda task: 100 * task.risk.low, heading="from", form="%.1f %%"),
    Column("retry_high", lambda task: 100 * task.risk.high, heading="to", form="%.1f %%"),
    Column("tested_runs", "risk.n_tested", heading="tested runs"),
    Column("runs", "n"),
    Column("evidence", lambda task: "too few runs" if task.too_few else "enough runs"),
    Column("rule"),
    Column("class", "size_class"),
    Column("full_name", "task", heading="full name", width="large"),
)
"""A line per task: its advised size with the retry probability."""


def rollup_table(result: Rollup) -> pd.DataFrame:
    """Return one line per row and the total."""
    labels = task_labels([row.name for row in result.rows])
    return frame(ROLLUP_COLUMNS, (*result.rows, result.total)).assign(name=[*labels, result.total.name])


def plan_table(result: Plan) -> pd.DataFrame:
    """Return the advised size of every task with the retry probability, in per cent."""
    return frame(PLAN_COLUMNS, result.tasks).assign(task=list(task_labels([task.task for task in result.tasks])))


def _arrow(amount: BeforeAfter, unit: str) -> str:
    return f"{number(amount.before)} → {number(amount.after)}{f' {unit}' if unit else ''}"


def _less(amount: BeforeAfter) -> str:
    if not amount.before > 0:
        return "no request"
    change = 1 - amount.after / amount.before
    if abs(change) < 0.0005:
        return "unchanged"
    if change <= -1:
        return f"×{1 - change:,.1f}"
    return f"{format_share(change)} less" if change > 0 else f"{format_share(-change)} more"


def _most_changed(result: Rollup) -> str:
    row = max(result.rows, key=lambda row: abs(row.memory_gb.before - row.memory_gb.after))
    if row.memory_gb.before == row.memory_gb.after:
        return "No row changes."
    return f"{shown(row.name)} changes most: {_arrow(row.memory_gb, 'GB')} {MEASURE_WORDS[result.settings.measure]}."


def _rollup_bars(name: str, x: list[float], rows: list[str], look: tuple[str, str]) -> dict[str, Any]:
    colour, pattern = look
    return shapes.bars(x, rows, name=name, colour=colour, pattern=pattern, hover=f"%{{y}} {name}: %{{x:.4g}} GB")


NOT_KNOWN = float("nan")
NO_COUNT = -1


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


def rollup_scenario(result: Rollup, dataset: Dataset, name: str) -> Scenario:
    """Return a plan with its roll-up as a scenario."""
    plan, total = result.settings.plan, result.total
    before, after = total.memory_gb_h.before, total.memory_gb_h.after
    own = {} if plan.rule == RECOMMENDED else plan.sizes_bytes
    settings: dict[str, Value] = {
        "headroom": plan.headroom,
        "percentile": plan.percentile if plan.rule == "percentile" else None,
        "step_gb": plan.step_bytes / GB,
        "floor_gb": plan.floor_bytes / GB,
        "least_runs": plan.least_runs,
        "cap_gb": None if plan.cap_bytes is None else plan.cap_bytes / GB,
        "own_sizes_gb": ", ".join(f"{task} {size / GB:.4g}" for task, size in own.items()),
        "cores": result.settings.cores,
        "target": plan.target,
        "price_per_gb_h": result.settings.price.per_gb_h,
        "capacity_gb": None if result.settings.capacity_bytes is None else result.settings.capacity_bytes / GB,
        "growth": result.settings.growth,
        "leave_out_bursts": result.settings.leave_out_bursts,
    }
    return replace(
        _scenario(dataset, name, f"one size per task: {plan.rule}", settings, (ROLLUP, result.settings)),
        saved_share=1 - after / before if before > 0 else NOT_KNOWN,
        charged_gb_h=after,
        n_runs=total.n_runs,
        n_failures=total.n_failures,
        money_saved=total.money.saved,
        currency=total.money.price.currency,
        peak_gb=NOT_KNOWN if result.load is None else result.load.course(PLANNED_COURSE).peak_gb,
        n_never=result.plan.never.n_runs,
    )


def policy_scenario(
    result: ReplayResult, price_gb_h: float, dataset: Dataset, name: str, *, kills: float | None = None
) -> Scenario:
    """Return what is chosen at a cost per failure and acceptable kills as a scenario."""
    best, now = picked(result, price_gb_h, kills), result.policies.get("preset")
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


def scenario_table(scenarios: tuple[Scenario, ...]) -> pd.DataFrame:
    """Return one line per saved scenario."""
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


def comparison_table(result: Comparison) -> pd.DataFrame:
    """Return figures and differing settings, a line each, a column per scenario; the best are named in words."""
    lines = {
        "policy": [one.policy for one in result.scenarios],
        "task": [shown(one.task) or "all tasks" for one in result.scenarios],
        "saved, failures charged": [_saved(result, place) for place in range(len(result.scenarios))],
        "failed attempts": [_failed(result, place) for place in range(len(result.scenarios))],
        "upper bound": [format_share(one.optimal_share) for one in result.scenarios],
        "estimated (thesis)": [format_share(one.estimated_share) for one in result.scenarios],
        "charged": [gb_h(one.charged_gb_h) for one in result.scenarios],
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
    table.columns = pd.Index([one.name for one in result.scenarios])
    return table.rename_axis("").reset_index()


def _saved(result: Comparison, place: int) -> str:
    one = result.scenarios[place]
    words = format_share(one.saved_share) if math.isfinite(one.saved_share) else "not replayed"
    return f"{words} ★ most" if place == result.best_saving and len(result.scenarios) > 1 else words


def _failed(result: Comparison, place: int) -> str:
    words = _failures(result.scenarios[place])
    return f"{words} ★ fewest" if place == result.fewest_failures and len(result.scenarios) > 1 else words


def _failures(one: Scenario) -> str:
    return f"{one.n_failures:,} of {one.n_runs:,} runs" if one.n_failures >= 0 else "not replayed"


def _money(one: Scenario) -> str:
    return f"{number(one.money_saved)} {one.currency}" if math.isfinite(one.money_saved) else "no price"


def _value(value: Value) -> str:
    if value is None or value == "":
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


HEIGHT_PX = 340
LESS, MORE = COLOURS[2], COLOURS[1]
NOW, PLANNED = "now", "planned"
MEANINGS = {
    NOW: "what the test runs request",
    "bins": "every run in its own bin, without headroom",
    "margin": "the headroom in the bins",
    "model errors": "runs that hold too large a bin",
    "retries": "runs that fail at first: failed attempts, and what they are lifted to",
    PLANNED: "charged in the replay",
}


def waterfall(result: PredictorResult) -> Chart:
    """Return the steps from now to planned of the best model by the replay."""
    best = every_model(result)[0]
    steps = best.waterfall
    rows = list(MEANINGS)
    figure = figure_of(
        [_waterfall_bars(steps, rows)],
        x={"title": f"GB·h of {counted(best.n_test, 'test run')}", "range": _range(steps), "zeroline": True},
        y=rows_axis(rows),
        height=HEIGHT_PX,
    )
    return Chart(
        name="memory-waterfall",
        figure=figure,
        takeaway=waterfall_sentence(result),
        shows=f"Waterfall of GB·h from requests to the replayed plan in {len(rows)} bars.",
        data=waterfall_table(steps),
        note=_note(best),
    )


def waterfall_sentence(result: PredictorResult) -> str:
    """Return from where to where the steps lead, and what stands between the upper bound of the bins and the plan."""
    best = every_model(result)[0]
    steps = best.waterfall
    share = 1 - steps.planned_gb_h / steps.now_gb_h if steps.now_gb_h > 0 else float("nan")
    return (
        f"{shown(result.task)}, {best.name}: {gb_h(steps.now_gb_h)} requested, {gb_h(steps.planned_gb_h)} planned "
        f"({saved(share)}); bins alone {_signed(steps.bins_gb_h)}, margin {_signed(steps.margin_gb_h)}, model errors "
        f"{_signed(steps.model_gb_h)}, retries {_signed(steps.retries_gb_h)} GB·h."
    )


def waterfall_table(steps: Waterfall) -> pd.DataFrame:
    """Return one line per step: its own GB·h, and where the bar ends."""
    changes = _changes(steps)
    ends = pd.Series(changes).cumsum().tolist()
    return pd.DataFrame(
        {
            "step": list(MEANINGS),
            "gb_h": [*changes, steps.planned_gb_h],
            "reached_gb_h": [*ends, steps.planned_gb_h],
            "meaning": list(MEANINGS.values()),
        }
    )


def _changes(steps: Waterfall) -> list[float]:
    return [steps.now_gb_h, steps.bins_gb_h, steps.margin_gb_h, steps.model_gb_h, steps.retries_gb_h]


def _waterfall_bars(steps: Waterfall, rows: list[str]) -> dict[str, Any]:
    changes = _changes(steps)
    texts = [number(steps.now_gb_h), *(_signed(value) for value in changes[1:]), number(steps.planned_gb_h)]
    return {
        "type": "waterfall",
        "orientation": "h",
        "measure": ["absolute", *["relative"] * (len(changes) - 1), "total"],
        "x": [*changes, steps.planned_gb_h],
        "y": rows,
        "text": texts,
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": [MEANINGS[row] for row in rows],
        "hovertemplate": "%{y}: %{text} GB·h<br>%{customdata}<extra></extra>",
        "increasing": {"marker": {"color": MORE}},
        "decreasing": {"marker": {"color": LESS}},
        "totals": {"marker": {"color": COLOURS[0]}},
        "connector": {"line": {"color": NEUTRAL, "width": 1, "dash": "dot"}},
    }


def _range(steps: Waterfall) -> list[float]:
    """Return an axis with room for the numbers beside the bars."""
    ends = [0.0, steps.planned_gb_h, *pd.Series(_changes(steps)).cumsum().tolist()]
    low, high = min(ends), max(ends)
    room = 0.22 * (high - low or 1.0)
    return [low - (room if low < 0 else 0.0), high + room]


def _signed(value: float) -> str:
    """Return '+1.2', '−34' or '0'."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{number(abs(value))}"


def _note(best: ModelResult) -> str:
    steps = best.waterfall
    words = (
        f"{counted(steps.n_too_large, 'run')} held too large a bin, {counted(steps.n_failed, 'run')} failed at first; "
        f"{gb_h(steps.used_gb_h)} were used, and no plan can be charged less. + costs, − saves."
    )
    if steps.n_unfinished:
        words += f" {counted(steps.n_unfinished, 'run')} never finished and are charged for their attempts only."
    return words
