"""Memory, cores and money before and after a plan, as figures, bars and tables."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workprof.charts.memory.tasks import gb_h, number, row_labels, saved, task_labels
from workprof.charts.shapes import Chart, Headline, figure_of, rows_axis
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS, rows_height
from workprof.memory.plan import Plan
from workprof.memory.rollup import MEAN, ONE_EACH, PEAK, BeforeAfter, Rollup, RollupRow
from workprof.units import GB, format_share

MOST_BARS = 15
MEASURE_WORDS = {
    MEAN: "held on average over the trace",
    PEAK: "held at the worst moment",
    ONE_EACH: "with one run of every task",
}
AXIS_WORDS = {MEAN: "GB on average", PEAK: "GB at the worst moment", ONE_EACH: "GB, one run of every task"}


def rollup_headlines(found: Rollup) -> tuple[Headline, ...]:
    """Return saving and failures side by side, and the money under its assumption."""
    total, measure = found.total, MEASURE_WORDS[found.settings.measure]
    money = total.money
    price = f"{money.price.per_gb_h:g} {money.price.currency} per GB·h is an assumption of yours."
    monthly = "assumed price"
    if money.span_hours > 0:
        monthly = f"{number(money.monthly_saved)} a month"
    return (
        Headline(
            "Memory", _less(total.memory_gb), f"GB {measure}, now and under the plan.", _arrow(total.memory_gb, "GB")
        ),
        Headline(
            "GB·h", _less(total.memory_gb_h), "Over the trace, failed attempts charged.", _arrow(total.memory_gb_h, "")
        ),
        Headline(
            "Failed attempts",
            f"{total.n_failures:,}",
            f"Under the plan, on the {total.n_runs:,} runs that it was made from, which flatters. Tested: each part of "
            "the history tried with a size chosen from the parts before it: "
            f"{retry_words(found.plan)}.",
            f"tested: {format_share(retry_odds(found.plan))}",
        ),
        Headline(
            "Cores",
            _less(total.cores),
            f"Cores {measure}; tasks that go to one core: {len(found.one_core_tasks)}.",
            _arrow(total.cores, ""),
        ),
        Headline(
            "Saved money",
            f"{number(money.saved)} {money.price.currency}",
            f"Of {number(money.before)} {money.price.currency}; never more than is spent. {price} {money.note}.",
            monthly,
        ),
    )


def rollup_sentence(found: Rollup) -> str:
    """Return in one sentence what the plan saves and breaks."""
    hours = found.total.memory_gb_h
    share = 1 - hours.after / hours.before if hours.before > 0 else float("nan")
    return (
        f"The plan holds {saved(share)} than requested ({gb_h(hours.before)} to {gb_h(hours.after)}); "
        f"{counted(found.total.n_failures, 'failed attempt')} in this history, {retry_words(found.plan)}."
    )


def retry_words(found: Plan) -> str:
    """Return how many runs fail that their size was not made from."""
    failed, tested = _tested(found)
    return f"{failed:,} of {tested:,} tested runs fail ({format_share(retry_odds(found))})"


def retry_odds(found: Plan) -> float:
    """Return that share, 0-1; NaN where no run could be tested."""
    failed, tested = _tested(found)
    return failed / tested if tested else float("nan")


def _tested(found: Plan) -> tuple[int, int]:
    return sum(task.risk.n_failed for task in found.tasks), sum(task.risk.n_tested for task in found.tasks)


def rollup_bars(found: Rollup) -> Chart:
    """Return memory before and after, of the rows that change most."""
    rows = sorted(found.rows, key=lambda row: -abs(row.memory_gb.before - row.memory_gb.after))[:MOST_BARS]
    names = row_labels([row.name for row in rows])
    figure = figure_of(
        [
            _bars("now", [row.memory_gb.before for row in rows], names, ("#7b828c", "/")),
            _bars("under the plan", [row.memory_gb.after for row in rows], names, (COLOURS[0], "")),
        ],
        x={"title": AXIS_WORDS[found.settings.measure]},
        y=rows_axis(names),
        height=rows_height(2 * len(rows)),
        margin={"l": 8, "r": 8, "t": 56, "b": 8},
        barmode="group",
        showlegend=True,
    )
    takeaway = rollup_sentence(found)
    note = (
        f"The {len(rows)} of {counted(len(found.rows), 'row')} that change most." if len(rows) < len(found.rows) else ""
    )
    return Chart(
        name=f"memory-rollup-{found.settings.by}",
        figure=figure,
        takeaway=takeaway,
        alt=f"Bars of memory before and after the plan by {found.settings.by}. {takeaway}",
        data=rollup_table(found),
        note=" ".join([note, *(f"{words[:1].upper()}{words[1:]}." for words in found.notes)]).strip(),
    )


def rollup_table(found: Rollup) -> pd.DataFrame:
    """Return one line per row and the total."""
    table = pd.DataFrame([_line(row) for row in (*found.rows, found.total)])
    names = [row.name for row in found.rows]
    return table.assign(name=[*task_labels(names), found.total.name], full_name=[*names, found.total.name])


def plan_table(found: Plan) -> pd.DataFrame:
    """Return the advised size of every task with the odds of a retry, in per cent."""
    labels = task_labels([task.task for task in found.tasks])
    return pd.DataFrame(
        [
            {
                "task": label,
                "size_gb": task.size_bytes / GB,
                "requested_gb": task.requested_bytes / GB,
                "largest_gb": task.largest_bytes / GB,
                "retry_percent": 100 * task.risk.odds,
                "retry_low": 100 * task.risk.low,
                "retry_high": 100 * task.risk.high,
                "tested_runs": task.risk.n_tested,
                "runs": task.n,
                "evidence": "too few runs" if task.too_few else "enough runs",
                "rule": task.rule,
                "class": task.size_class,
                "full_name": task.task,
            }
            for label, task in zip(labels, found.tasks, strict=True)
        ]
    )


def _line(row: RollupRow) -> dict[str, object]:
    return {
        "name": row.name,
        "runs": row.n_runs,
        "memory_before_gb": row.memory_gb.before,
        "memory_after_gb": row.memory_gb.after,
        "before_gb_h": row.memory_gb_h.before,
        "after_gb_h": row.memory_gb_h.after,
        "saved_gb_h": row.memory_gb_h.before - row.memory_gb_h.after,
        "failures": row.n_failures,
        "cores_before": row.cores.before,
        "cores_after": row.cores.after,
        "money_before": row.money.before,
        "money_saved": row.money.saved,
        "currency": row.money.price.currency,
    }


def _arrow(amount: BeforeAfter, unit: str) -> str:
    return f"{number(amount.before)} → {number(amount.after)}{f' {unit}' if unit else ''}"


def _less(amount: BeforeAfter) -> str:
    if not amount.before > 0:
        return "nothing asked for"
    change = 1 - amount.after / amount.before
    if abs(change) < 0.0005:
        return "unchanged"
    if change <= -1:  # '238.6 % more' does not fit its box, and loses just the word that matters
        return f"{1 - change:,.1f} times"
    return f"{format_share(change)} less" if change > 0 else f"{format_share(-change)} more"


def _bars(name: str, x: list[float], rows: list[str], look: tuple[str, str]) -> dict[str, Any]:
    colour, pattern = look
    return {
        "type": "bar",
        "orientation": "h",
        "x": x,
        "y": rows,
        "name": name,
        "marker": {"color": colour, "pattern": {"shape": pattern}},
        "hovertemplate": f"%{{y}} {name}: %{{x:.4g}} GB<extra></extra>",
    }
