"""Groups of nodes that are alike, with how sure they are."""

from __future__ import annotations

import streamlit as st

from pages._frame import header
from pages._nodes import degradation
from pages._nodes.context import ALLOCATION, PageContext, job_traces, notes, other_dataset
from pages._parts import figures, forms, tables
from workprof.answers.nodes import allocation_sentence, groups_sentence
from workprof.charts.nodes.groups import allocation_columns, groups_headlines, groups_table, silhouette_bars
from workprof.charts.text import counted, markdown_text
from workprof.core.fields import get
from workprof.core.table import frame
from workprof.inputs import safe_name
from workprof.nodes.allocation import PROFILE
from workprof.nodes.groups import Groups
from workprof.nodes.questions import ALLOCATE, GROUPS, PAGE
from workprof.nodes.selection import RankSettings

WITHIN = "ranking."


def groups(context: PageContext) -> None:
    """Show the groups of nodes that are alike, with how sure they are; weights and prices do not matter to them."""
    first = st.container()
    names = context.workbench.node_names(context.dataset.hash)
    usual = RankSettings()
    settings = forms.settings(
        context.visit,
        context.dataset,
        GROUPS,
        ("mode",),
        {path: get(usual, path.removeprefix(WITHIN)) for path in GROUPS.ignores},
        {f"{WITHIN}nodes": lambda: forms.control(GROUPS.leaf(f"{WITHIN}nodes"), PAGE, names)},
    )
    if degradation.missing(context, settings.ranking):
        return
    with st.spinner("Grouping the nodes…", show_time=True):
        result = context.workbench.node_groups(context.dataset.hash, settings)
    if result.published:
        header.published_flag()
    with first:
        figures.headline(markdown_text(groups_sentence(result), 600))
        _group_table(context, result)
    figures.headline_row(groups_headlines(result))
    if len(result.silhouettes) > 1:  # one bar compares nothing
        figures.show(silhouette_bars(result), key="nodes_silhouettes")
    for node, reason in result.not_grouped.items():
        st.warning(markdown_text(f"{node} is in no group: {reason}.", 300), icon=":material/block:")
    notes(result.notes)
    figures.fold("Kinds of jobs on these groups", ALLOCATION, _allocation, context, result)


def _group_table(context: PageContext, result: Groups) -> None:
    table = groups_table(result)
    if table.empty:
        return
    columns = {
        name: st.column_config.NumberColumn(format="%.3g") for name in map(str, table) if name.endswith("_score")
    }
    tables.show(
        table,
        key="nodes_groups",
        alt=f"{counted(len(table), 'node')} in {counted(result.k, 'group')}",
        height="content",
        column_config=tables.headings(table.columns, columns),
    )
    tables.csv(table, f"{safe_name(context.dataset.name)}-node-groups", "nodes_groups_csv", "Download CSV")


def _allocation(context: PageContext, grouped: Groups) -> None:
    """Show for each kind of jobs of a trace the groups that suit it, the best first."""
    traces = job_traces(context.workbench)
    if not traces:
        st.caption("Load a job trace to place its kinds of jobs on the groups.")
        return
    first = st.container()
    given = {"jobs": other_dataset(ALLOCATE, "jobs", traces), **forms.within("grouping", grouped.settings)}
    settings = forms.settings(context.visit, context.dataset, ALLOCATE, ("by", "places"), given)
    names = context.workbench.profile_names(settings.jobs) if settings.by == PROFILE else ()
    if settings.by == PROFILE and not names[:-1]:
        st.caption("Find the profiles of this trace on the Profiles page, or choose task names as kinds of jobs.")
        return
    with st.spinner("Placing the kinds of jobs…", show_time=True):
        result = context.workbench.node_allocation(context.dataset.hash, settings)
    columns = allocation_columns(result, names)
    table = frame(columns, result.kinds)
    with first:
        st.markdown(f"**{markdown_text(allocation_sentence(result), 600)}**")
        tables.show(table, columns, key="nodes_allocation_table", alt=counted(len(table), "kind") + " of jobs")
        name = f"{safe_name(context.dataset.name)}-node-allocation"
        tables.csv(table, name, "nodes_allocation_csv", "Download CSV")
    above = {*grouped.notes, *(f"{node} is in no group: {reason}" for node, reason in grouped.not_grouped.items())}
    notes(one for one in result.notes if one not in above)
