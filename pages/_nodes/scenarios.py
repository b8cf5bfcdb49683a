"""Saved rankings side by side."""

from functools import partial

import streamlit as st

from pages._nodes.context import PageContext
from pages._parts import figures, saved_scenarios, tables
from workprof.answers.nodes import comparison_table, leaders_sentence, scenario_table
from workprof.core.words import markdown_text
from workprof.inputs import safe_name
from workprof.nodes.ranking import MOST_COMPARED, NodeScenario
from workprof.nodes.selection import RankSettings

COMPARED = "nodes_compared_scenarios"


def scenarios(context: PageContext) -> None:
    """Show the saved scenarios, and those chosen side by side."""
    saved = context.workbench.node_scenarios(context.dataset.hash)
    if not saved:
        st.info(
            "No scenario is saved yet. Set weights or prices and press **Save scenario** under Ranking.",
            icon=":material/info:",
        )
        _compared(context, [NodeScenario("the default, not saved", context.dataset.hash, RankSettings())])
        return
    tables.answer(scenario_table(saved), key="nodes_scenarios", alt=f"{len(saved)} saved scenarios")
    names = [one.name for one in saved]
    chosen = saved_scenarios.compared(names, COMPARED, MOST_COMPARED)
    _compared(context, [one for one in saved if one.name in chosen])
    remove = partial(context.workbench.remove_node_scenario, context.dataset.hash)
    saved_scenarios.removal(context.visit, names, ("nodes", COMPARED), remove)


def _compared(context: PageContext, chosen: list[NodeScenario]) -> None:
    dataset, workbench = context.dataset.hash, context.workbench
    ready = [one for one in chosen if not workbench.detections_needed(dataset, one.settings)]
    for one in chosen:
        if one not in ready:
            st.info(
                f"{markdown_text(one.name)} needs the detection of degraded runs: start it under Degradation.",
                icon=":material/info:",
            )
    if not ready:
        return
    with st.spinner("Comparing the nodes…", show_time=True):
        result = {one.name: workbench.node_ranking(dataset, one.settings) for one in ready}
    figures.headline(markdown_text(leaders_sentence(result), 400))
    table = comparison_table(result)
    name = f"{safe_name(context.dataset.name)}-node-scenarios"
    tables.saved(table, name, key="nodes_comparison", alt=f"{len(table.rows)} nodes in {len(result)} scenarios")
