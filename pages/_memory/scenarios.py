"""Scenarios of the Memory page: decisions that were kept, side by side."""

from functools import partial
from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from pages._frame import cross_link
from pages._frame.cross_link import Link
from pages._memory.scope import PageContext
from pages._parts import saved_scenarios, tables
from workprof.answers.scenarios import comparison_table, scenarios_answer, verdict_scenario
from workprof.core.text import visible
from workprof.core.words import markdown_text
from workprof.inputs import safe_name
from workprof.memory.scenarios import MOST_COMPARED, Scenario
from workprof.memory.verdict import VerdictSettings

CHOSEN = "memory_compared"


def scenarios(context: PageContext) -> None:
    """Show the saved scenarios, and those chosen side by side."""
    saved = context.workbench.scenarios(context.dataset.hash)
    if not saved:
        st.info(
            "No scenario of this dataset is saved yet. Choose something under Plan, Bins, Policies or Models and press "
            "**Save scenario**.",
            icon=":material/info:",
        )
        _unsaved(context)
        return
    tables.answer(scenarios_answer(saved).table(), key="memory_scenarios", alt=f"{len(saved)} saved scenarios")
    names = [one.name for one in saved]
    chosen = saved_scenarios.compared(names, CHOSEN, MOST_COMPARED)
    if chosen:
        _compared(context, chosen)
        _links(context, [one for one in saved if one.name in chosen])
    remove = partial(context.workbench.remove_scenario, context.dataset.hash)
    saved_scenarios.removal(context.visit, names, ("memory", CHOSEN), remove)


def _unsaved(context: PageContext) -> None:
    """Show the plan as the scenario that it would be."""
    plan = context.workbench.verdict.cached(context.dataset.hash, VerdictSettings()).result
    if plan is not None:
        table = scenarios_answer([verdict_scenario(plan, context.dataset, "the plan, not saved")]).table()
        tables.answer(table, key="memory_scenarios_unsaved", alt="The plan as a scenario")


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
