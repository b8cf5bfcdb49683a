"""Groups of nodes that are alike, with how sure they are."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._frame import header
from pages._nodes.asking import Asked
from pages._nodes.ranking import notes
from pages._parts import figures, tables, terms
from pages._parts.controls import MODES_MEANING, choice
from pages._parts.downloads import csv
from workprof.charts.nodes.groups import groups_headlines, groups_sentence, groups_table, silhouette_bars
from workprof.charts.text import counted, markdown_text
from workprof.inputs import safe_name
from workprof.nodes.detection_data import CORRECTED, FAITHFUL
from workprof.nodes.groups import Groups, GroupSettings
from workprof.nodes.selection import RATIO


def groups(asked: Asked) -> None:
    """Show the groups; weights and prices do not matter to them."""
    mode = choice("Definitions", "nodes_mode", (CORRECTED, FAITHFUL), MODES_MEANING)
    plain = replace(asked.settings, weights={}, prices_per_h={}, score=RATIO)
    with st.spinner("Grouping the nodes…", show_time=True):
        found = asked.workbench.node_groups(asked.dataset.hash, GroupSettings(plain, mode))
    if found.published:
        header.published_flag()
    notes(found.notes)
    figures.headline_row(groups_headlines(found))
    st.markdown(f"**{markdown_text(groups_sentence(found), 600)}**")
    _table(asked, found)
    if len(found.silhouettes) > 1:  # one bar compares nothing
        figures.show(silhouette_bars(found), key="nodes_silhouettes")
    for node, reason in found.not_grouped.items():
        st.warning(markdown_text(f"{node} is in no group: {reason}.", 300), icon=":material/block:")


def _table(asked: Asked, found: Groups) -> None:
    table = groups_table(found)
    if table.empty:
        return
    columns = {
        name: st.column_config.NumberColumn(format="%.3g") for name in map(str, table) if name.endswith("_score")
    }
    tables.show(
        table,
        hide_index=True,
        key="nodes_groups",
        alt=f"{counted(len(table), 'node')} in {counted(found.k, 'group')}",
        height="content",
        column_config=terms.columns(table.columns, columns),
    )
    csv(table, f"{safe_name(asked.dataset.name)}-node-groups", "nodes_groups_csv", f"CSV, all {len(table)} nodes")
