"""Groups of nodes that are alike, with how sure they are."""

from dataclasses import replace

import streamlit as st

from pages._frame import header
from pages._nodes import degradation
from pages._nodes.context import ALLOCATION, PageContext, clustering, job_traces, notes, other_dataset
from pages._parts import figures, forms, tables
from workprof.answers.node_groups import allocation_sentence, groups_figures, groups_sentence, groups_table, kinds_table
from workprof.charts.nodes.groups import silhouette_bars
from workprof.core.fields import get
from workprof.core.words import counted, markdown_text
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
        if result.groups:
            alt = f"{counted(len(names), 'node')} in {counted(result.k, 'group')}"
            name = f"{safe_name(context.dataset.name)}-node-groups"
            tables.saved(groups_table(result), name, key="nodes_groups", alt=alt, height="content")
    figures.headline_row(groups_figures(result))
    if len(result.silhouettes) > 1:  # one bar compares nothing
        figures.show(silhouette_bars(result), key="nodes_silhouettes")
    for node, reason in result.not_grouped.items():
        st.warning(markdown_text(f"{node} is in no group: {reason}.", 300), icon=":material/block:")
    notes(result.notes)
    figures.fold("Kinds of jobs on these groups", ALLOCATION, _allocation, context, result)


def _allocation(context: PageContext, grouped: Groups) -> None:
    """Show for each kind of jobs of a trace the groups that suit it, the best first."""
    traces = job_traces(context.workbench)
    if not traces:
        st.caption("Load a job trace to place its kinds of jobs on the groups.")
        return
    first = st.container()
    given = {"jobs": other_dataset(ALLOCATE, "jobs", traces), **forms.within("grouping", grouped.settings)}
    settings = forms.settings(context.visit, context.dataset, ALLOCATE, ("by", "places"), given)
    key, names = clustering(context, settings.jobs) if settings.by == PROFILE else ("", ())
    if settings.by == PROFILE and not names[:-1]:
        st.caption("Find the profiles of this trace on the Profiles page, or choose task names as kinds of jobs.")
        return
    with st.spinner("Placing the kinds of jobs…", show_time=True):
        result = context.workbench.node_allocation(context.dataset.hash, replace(settings, clustering=key))
    table = kinds_table(result, names)
    with first:
        st.markdown(f"**{markdown_text(allocation_sentence(result), 600)}**")
        name, alt = f"{safe_name(context.dataset.name)}-node-allocation", f"{counted(len(table.rows), 'kind')} of jobs"
        tables.saved(table, name, key="nodes_allocation", alt=alt)
    above = {*grouped.notes, *(f"{node} is in no group: {reason}" for node, reason in grouped.not_grouped.items())}
    notes(one for one in result.notes if one not in above)
