"""What if: a plan's sum of memory, cores and money, what must exist at once, exports, and scenarios side by side."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from pages._frame import cross_link
from pages._frame.cross_link import Link
from pages._memory import exports, scope
from pages._memory.scope import PageContext
from pages._parts import figures, forms, saved_scenarios, tables
from pages._parts.controls import choice
from workprof.charts.memory.load import (
    LOAD_COLUMNS,
    NEVER_COLUMNS,
    bursts_sentence,
    load_chart,
    load_table,
    never_sentence,
    never_table,
)
from workprof.charts.memory.plans import (
    PLAN_COLUMNS,
    ROLLUP_COLUMNS,
    comparison_table,
    plan_table,
    rollup_bars,
    rollup_headlines,
    rollup_scenario,
    rollup_sentence,
    rollup_table,
    scenario_table,
)
from workprof.charts.memory.policies import violations_sentence, violations_table
from workprof.charts.profiles.jobs import Selection
from workprof.charts.text import markdown_text, visible
from workprof.inputs import safe_name
from workprof.memory.plan import PlanSettings, Violations, ViolationSettings
from workprof.memory.questions import ROLLUP
from workprof.memory.rollup import GROUPINGS, Rollup
from workprof.memory.scenarios import MOST_COMPARED, Scenario
from workprof.memory.size_lists import sizes_of_plan

JOB = "memory_violation"


def violations(context: PageContext, plan: PlanSettings) -> None:
    """Show the worst violations of a plan, and links to their jobs."""
    result = context.workbench.violations(context.dataset.hash, ViolationSettings(plan))
    st.markdown(markdown_text(violations_sentence(result), 300))
    if not result.n_above:
        return
    table, number = violations_table(result), st.column_config.NumberColumn
    tables.show(
        table,
        key="memory_violations",
        alt=f"{len(table)} runs that used more than the plan gives",
        column_config=tables.headings(
            table.columns,
            {
                "row_id": number("row", format="%d"),
                "used_gb": number("used", format="%.4g GB"),
                "size_gb": number("size", format="%.4g GB"),
                "short_gb": number("short by", format="%.4g GB"),
                "hours": number("hours", format="%,.2f"),
                "full_name": st.column_config.TextColumn("full name", width="large"),
            },
        ),
    )
    name = f"{safe_name(context.dataset.name)}-above-their-size"
    tables.csv(table, name, "memory_violations_csv", f"Download CSV (the worst {len(table)} of {result.n_above:,})")
    _jobs(context, result)


def _jobs(context: PageContext, result: Violations) -> None:
    rows = result.row_ids.tolist()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = choice("Run", JOB, tuple(str(row) for row in rows), "Row number of a run above.")
        dataset = context.dataset.hash
        one = {"classify_tab": "One job", "classify_job": row}
        cross_link.follow(
            Link("Its profile and forecast", "classify", dataset, one, "label", "The run on the Classify page."),
            "memory_violation_classify",
        )
        these = {"profiles_tab": "Map", "profiles_selected": Selection(rows=tuple(rows)).text()}
        words = f"All {len(rows)} on the map" if len(rows) > 1 else "On the map"
        cross_link.follow(
            Link(words, "profiles", dataset, these, "bubble_chart", "With all their columns, on the Profiles page."),
            "memory_violations_map",
        )


CHOSEN = "memory_compared"


def scenarios(context: PageContext) -> None:
    """Show the saved scenarios, and those chosen side by side."""
    saved = context.workbench.scenarios(context.dataset.hash)
    if not saved:
        st.info(
            "No scenario of this dataset is saved yet. Choose something under Bins, Models or What if and press "
            "**Save scenario**.",
            icon=":material/info:",
        )
        return
    table = scenario_table(saved)
    tables.show(
        table,
        key="memory_scenarios",
        alt=f"{len(saved)} saved scenarios",
        column_config=tables.headings(table.columns, {"kept": st.column_config.Column("saved on")}),
    )
    names = [one.name for one in saved]
    chosen = saved_scenarios.compared(names, CHOSEN, MOST_COMPARED)
    if chosen:
        _compared(context, chosen)
        _links(context, [one for one in saved if one.name in chosen])
    remove = partial(context.workbench.remove_scenario, context.dataset.hash)
    saved_scenarios.removal(context.visit, names, ("memory", CHOSEN), remove)


def _compared(context: PageContext, chosen: list[str]) -> None:
    result = context.workbench.compare_scenarios(context.dataset.hash, chosen)
    for warning in result.warnings:
        st.warning(f"{markdown_text(warning[:1].upper() + warning[1:], 300)}.", icon=":material/warning:")
    table = comparison_table(result)
    tables.show(table, key="memory_comparison", alt=f"{len(chosen)} scenarios side by side", height="content")
    tables.csv(table, f"{safe_name(context.dataset.name)}-scenarios", "memory_comparison_csv", "Download CSV")


def _links(context: PageContext, chosen: list[Scenario]) -> None:
    """Show a link to each scenario that opens what was computed."""
    with st.container(horizontal=True):
        for place, one in enumerate(chosen):
            link = Link(
                f"Open {visible(one.name)}",
                "memory",
                context.dataset.hash,
                dict(parse_qsl(urlsplit(one.address).query, keep_blank_values=True)),
                meaning="With the settings that were computed." if one.address else "Saved before links were.",
                disabled=not one.address,
            )
            cross_link.follow(link, f"memory_scenario_{place}")


MAIN = ("plan.rule", "plan.headroom", "plan.cap_bytes", "by")


def rollup(context: PageContext) -> None:
    """Show the plan's settings, then what it changes."""
    if scope.needs_requests(context):
        return
    present = tuple(by for by, names in GROUPINGS.items() if by == "task" or context.columns & set(names))
    by = next(leaf for leaf in ROLLUP.leaves if leaf.path == "by")
    shared = {"plan.target": context.target, "request_bytes": context.request_bytes}
    own = {"by": partial(forms.control, by, ROLLUP.page, present)}
    top = st.container()
    settings = forms.settings(context.visit, context.dataset, ROLLUP, MAIN, shared, own)
    with st.spinner("Adding up what runs hold…", show_time=True):
        result = context.workbench.rollup(context.dataset.hash, settings)
    with top:
        _never(context, result)
        figures.headline(markdown_text(rollup_sentence(result), 400))
        figures.show(rollup_bars(result), key="memory_rollup")
    figures.headline_row(rollup_headlines(result))
    scope.save_scenario(context, "memory_keep_rollup", lambda name: rollup_scenario(result, context.dataset, name))
    figures.fold("If there were less memory", "memory_load_open", _load, context, result)
    figures.fold("Sizes of the plan", "memory_plan_open", _plan, context, result)
    figures.fold("Runs above their size", "memory_violations_open", violations, context, settings.plan)
    figures.fold("Before and after", "memory_rollup_open", _rows, context, result)


def _never(context: PageContext, result: Rollup) -> None:
    """Show what the cap rules out, before anything else is said of the plan."""
    never = result.plan.never
    words = markdown_text(never_sentence(never), 500)
    if not never.n_runs:
        if words:
            st.caption(words)
        return
    st.warning(f"**{words}**", icon=":material/block:")
    table = never_table(never)
    tables.show(table, NEVER_COLUMNS, key="memory_never", alt=f"{len(table)} tasks with runs that can never run")
    tables.csv(table, f"{safe_name(context.dataset.name)}-never-run", "memory_never_csv", "Download CSV")


def _load(context: PageContext, result: Rollup) -> None:
    """Show how much memory must exist from moment to moment, and the bursts in it."""
    if bursts := bursts_sentence(result):
        st.caption(markdown_text(bursts, 500))
    if result.load is None:
        st.info("No run has a start time, so nothing is known of one moment.", icon=":material/info:")
        return
    figures.show(load_chart(result.load), key="memory_load")
    table = load_table(result.load)
    tables.show(
        table,
        LOAD_COLUMNS,
        key="memory_load_rows",
        alt=f"{len(table)} lines: what must exist, and how often there would be too little",
    )
    tables.csv(table, f"{safe_name(context.dataset.name)}-load", "memory_load_csv", "Download CSV")


def _rows(context: PageContext, result: Rollup) -> None:
    table = rollup_table(result)
    tables.show(
        table,
        (replace(ROLLUP_COLUMNS[0], heading=result.settings.by), *ROLLUP_COLUMNS[1:]),
        key="memory_rollup_rows",
        alt=f"{len(table) - 1} rows before and after the plan, and the total",
    )
    tables.csv(
        table,
        f"{safe_name(context.dataset.name)}-rollup-{result.settings.by}",
        "memory_rollup_csv",
        "Download CSV",
    )


def _plan(context: PageContext, result: Rollup) -> None:
    table = plan_table(result.plan)
    st.caption(
        "Retry probability: each part of the history was tried with a size chosen from the parts before it; 95 % "
        "intervals. A task with too few runs is a guess."
    )
    tables.show(
        table, PLAN_COLUMNS, key="memory_plan", alt=f"Planned sizes of {len(table)} tasks with the retry probability"
    )
    exports.buttons(context, "memory_export", "Plan", "memory-plan", partial(sizes_of_plan, result.plan))
    money = result.total.money
    st.caption(
        f"The price of {money.price.per_gb_h:g} {markdown_text(money.price.currency)} per GB·h is an assumption. "
        f"{markdown_text(money.note[:1].upper() + money.note[1:], 200)}."
    )
    for note in result.plan.notes:
        st.caption(markdown_text(note, 300))
