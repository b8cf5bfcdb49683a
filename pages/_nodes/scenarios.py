"""Scenarios of the ranking: kept under a name, up to four side by side."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._frame.errors import refused
from pages._nodes.asking import Asked
from pages._parts import figures, kept_scenarios, tables
from workprof.charts.nodes.ranking import leaders_sentence, node_comparison_table, node_scenario_table
from workprof.charts.text import markdown_text
from workprof.errors import WorkprofError
from workprof.inputs import safe_name
from workprof.nodes.ranking import MOST_COMPARED, MOST_NAME, NodeScenario

CHOSEN = "nodes_compared_scenarios"


def keep(asked: Asked) -> None:
    """Show the field for a name and the button that keeps the settings of the ranking."""
    readonly = asked.visit.readonly
    with st.form("nodes_keep", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Keep as scenario",
            key="nodes_keep_name",
            max_chars=MOST_NAME,
            placeholder="a name; one that exists is replaced",
            width=320,
        )
        pressed = st.form_submit_button(
            "Save scenario",
            icon=":material/bookmark_add:",
            disabled=readonly,
            help=asked.visit.refusal if readonly else "Weights, prices, window: to compare them under Scenarios.",
        )
    if pressed and not readonly:
        try:
            draft = NodeScenario(name.strip(), asked.dataset.hash, asked.settings)
            kept = asked.workbench.save_node_scenario(asked.dataset.hash, draft)
        except WorkprofError as error:
            refused(str(error))
        else:
            st.success(f"Kept as {markdown_text(kept.name)}; compare it under Scenarios.", icon=":material/check:")


def scenarios(asked: Asked) -> None:
    """Show the kept scenarios, and those chosen side by side."""
    kept = asked.workbench.node_scenarios(asked.dataset.hash)
    if not kept:
        st.info(
            "No scenario of this dataset is kept yet. Set weights or prices and press **Save scenario** under Ranking.",
            icon=":material/info:",
        )
        return
    tables.show(node_scenario_table(kept), hide_index=True, key="nodes_scenarios", alt=f"{len(kept)} kept scenarios")
    names = [one.name for one in kept]
    chosen = kept_scenarios.compared(names, CHOSEN, MOST_COMPARED)
    _compared(asked, [one for one in kept if one.name in chosen])
    remove = partial(asked.workbench.remove_node_scenario, asked.dataset.hash)
    kept_scenarios.removal(asked.visit, names, ("nodes", CHOSEN), remove)


def _compared(asked: Asked, chosen: list[NodeScenario]) -> None:
    dataset, workbench = asked.dataset.hash, asked.workbench
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
        found = {one.name: workbench.node_ranking(dataset, one.settings) for one in ready}
    st.markdown(f"**{markdown_text(leaders_sentence(found), 400)}**")
    table = node_comparison_table(found)
    name = f"{safe_name(asked.dataset.name)}-node-scenarios"
    figures.table(table, name, key="nodes_comparison", alt=f"{len(table)} nodes in {len(found)} scenarios")
