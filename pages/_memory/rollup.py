"""Memory, cores and money before and after one size per task, and the plan to take away."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from pages._memory import asking, exports, keep, violations
from pages._memory.asking import Asked
from pages._parts import figures, forms, tables
from pages._parts.downloads import csv
from workprof.charts.memory.plans import (
    PLAN_COLUMNS,
    ROLLUP_COLUMNS,
    plan_table,
    rollup_bars,
    rollup_headlines,
    rollup_scenario,
    rollup_table,
)
from workprof.charts.text import markdown_text
from workprof.inputs import safe_name
from workprof.memory.questions import ROLLUP
from workprof.memory.rollup import GROUPINGS, Rollup

MAIN = ("by", "measure", "plan.rule", "plan.headroom", "cores", "price.per_gb_h", "price.currency")


def rollup(asked: Asked) -> None:
    """Show the plan's settings, then what it changes."""
    if asking.needs_requests(asked):
        return
    present = tuple(by for by, names in GROUPINGS.items() if by == "task" or asked.columns & set(names))
    by = next(leaf for leaf in ROLLUP.leaves if leaf.path == "by")
    shared = {"plan.target": asked.target, "request_bytes": asked.request_bytes}
    own = {"by": partial(forms.control, by, ROLLUP.page, present)}
    settings = forms.settings(asked.visit, asked.dataset, ROLLUP, MAIN, shared, own)
    found = asked.workbench.rollup(asked.dataset.hash, settings)
    figures.headline_row(rollup_headlines(found))
    money = found.total.money
    st.caption(
        f"The price of {money.price.per_gb_h:g} {markdown_text(money.price.currency)} per GB·h is an assumption, set "
        f"above. {markdown_text(money.note[:1].upper() + money.note[1:], 200)}."
    )
    figures.show(rollup_bars(found), key="memory_rollup")
    _rows(asked, found)
    st.header("The plan")
    _plan(found)
    exports.buttons(asked, found.plan)
    keep.keep(asked, "memory_keep_rollup", lambda name: rollup_scenario(found, asked.dataset, name))
    violations.violations(asked, settings.plan)


def _rows(asked: Asked, found: Rollup) -> None:
    table = rollup_table(found)
    tables.show(
        table,
        hide_index=True,
        key="memory_rollup_rows",
        alt=f"{len(table) - 1} rows before and after the plan, and the total",
        column_config=tables.columns((replace(ROLLUP_COLUMNS[0], heading=found.settings.by), *ROLLUP_COLUMNS[1:])),
    )
    csv(
        table,
        f"{safe_name(asked.dataset.name)}-rollup-{found.settings.by}",
        "memory_rollup_csv",
        f"CSV, all {len(table):,} lines",
    )


def _plan(found: Rollup) -> None:
    table = plan_table(found.plan)
    st.caption(
        "Odds of a retry: each part of the history was tried with a size chosen from the parts before it; 95 % "
        "intervals. A task with too few runs is a guess."
    )
    tables.show(
        table,
        hide_index=True,
        key="memory_plan",
        alt=f"Advised sizes of {len(table)} tasks with the odds of a retry",
        column_config=tables.columns(PLAN_COLUMNS),
    )
    for note in found.plan.notes:
        st.caption(markdown_text(note, 300))
