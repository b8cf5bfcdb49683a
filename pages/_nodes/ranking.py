"""The ranking and what rests on it: groups of nodes, nodes for a profile of jobs, kept rankings side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from pages._frame import datasets, header
from pages._nodes.context import (
    LONGEST_NOTE,
    OF_JOBS,
    OWN,
    PRICES,
    TAB,
    WEIGHTS,
    PageContext,
    notes,
    other_dataset,
)
from pages._nodes.degradation import JUDGED, NODE, OF_NODE
from pages._parts import figures, forms, kept_scenarios, tables
from pages._parts.controls import choice
from workprof.charts.downloads import parquet_bytes
from workprof.charts.nodes.groups import (
    advice_sentence,
    best_price_sentence,
    groups_headlines,
    groups_sentence,
    groups_table,
    silhouette_bars,
    weight_bars,
)
from workprof.charts.nodes.ranking import (
    OVERALL,
    aspect_lines,
    aspect_table,
    degraded_sentences,
    dropped_sentence,
    dropped_table,
    leaders_sentence,
    leave_out_table,
    node_comparison_table,
    node_scenario_table,
    node_table,
    pair_table,
    ranked_bars,
    ranking_headlines,
    robustness_sentence,
)
from workprof.charts.text import counted, markdown_text
from workprof.core.fields import write
from workprof.inputs import safe_name
from workprof.nodes.groups import Groups
from workprof.nodes.questions import ADVICE, DETECT, GROUPS, RANK
from workprof.nodes.ranking import MOST_COMPARED, NodeScenario, Ranking
from workprof.workbench import JOBS

COMPARED = "nodes_compared_scenarios"


def ranking(context: PageContext) -> None:
    """Show the places with intervals and ties, aspects, pairs, what the order hangs on, what is not in the score."""
    with st.spinner("Comparing the nodes…", show_time=True):
        result = context.workbench.node_ranking(context.dataset.hash, context.settings)
    if result.published:
        header.published_flag()
    notes(result.notes)
    _degraded(result)
    figures.headline_row(ranking_headlines(result))
    figures.show(ranked_bars(result), key="nodes_bars")
    _table(context, result)
    st.header("By aspect")
    figures.show(aspect_lines(result), key="nodes_aspects")
    if result.pairs:
        _pairs(result)
    st.header("Sensitivity of the ranking")
    st.markdown(f"**{markdown_text(robustness_sentence(result), LONGEST_NOTE)}**")
    if result.leave_outs:
        lines = leave_out_table(result)
        tables.show(
            lines,
            key="nodes_without",
            alt=f"The order without each of {len(lines)} benchmarks",
            column_config=tables.headings(lines.columns),
        )
    st.header("Prices")
    st.caption("Enter prices to rank nodes by score per price.")
    _prices(result)
    _keep(context)
    _dropped(result)


def _degraded(result: Ranking) -> None:
    """Show each degraded node with the way to its runs."""
    nodes = [one.node for one in result.nodes if one.degraded]
    for position, (node, sentence) in enumerate(zip(nodes, degraded_sentences(result), strict=True)):
        st.warning(markdown_text(sentence, LONGEST_NOTE), icon=":material/heart_broken:")
        st.button(
            f"Runs of {markdown_text(node, 40)}",
            key=f"nodes_runs_of_{position}",
            type="tertiary",
            icon=":material/timeline:",
            on_click=_open_runs,
            args=(node,),
        )


def _open_runs(node: str) -> None:
    """Turn to the runs of one node (a callback)."""
    st.session_state.update({NODE: node, JUDGED: True, OF_NODE: True})
    st.query_params[TAB] = DETECT.tab


def _table(context: PageContext, result: Ranking) -> None:
    table, number = node_table(result), st.column_config.NumberColumn
    tables.show(
        table,
        key="nodes_table",
        alt=f"{counted(len(table), 'node')} with score, change, degradation and price",
        height="content",
        column_config=tables.headings(
            table.columns,
            {
                "node": st.column_config.TextColumn("node", pinned=True),
                "score": number("score", format="%.3f", help="1 = geometric mean of the nodes."),
                "low": number("from", format="%.3f"),
                "high": number("to", format="%.3f"),
                "tied_with": st.column_config.TextColumn("tied with"),
                "change": st.column_config.TextColumn("since the last window", help="Of the node against itself."),
                "price_per_h": number("price per hour", format="%.4g"),
                "price_performance": number("score / price", format="%.3g"),
                "no_rank_because": st.column_config.TextColumn("no rank because"),
            },
        )
        | {aspect: number(aspect, format="%.2f") for aspect in result.metrics},
    )
    name = f"{safe_name(context.dataset.name)}-nodes"
    with st.container(horizontal=True):
        tables.csv(table, f"{name}-ranking", "nodes_ranking_csv", f"CSV, all {counted(len(table), 'node')}")
        st.download_button(
            "Scores as Parquet",
            data=lambda: parquet_bytes(aspect_table(result)),
            file_name=f"{name}-scores.parquet",
            mime="application/vnd.apache.parquet",
            on_click="ignore",
            key="nodes_scores_parquet",
            icon=":material/download:",
        )


def _pairs(result: Ranking) -> None:
    """Show every pair in one aspect, or in all."""
    aspect = choice(
        "Compare pairs in",
        "nodes_pairs",
        (OVERALL, *result.metrics),
        "Pairs are compared on the metrics that both have; faster is said only where the interval excludes 1.",
    )
    lines = pair_table(result, aspect)
    if lines.empty:
        st.caption("No pair has a metric of this aspect in common.")
        return
    figures.table(lines, f"node-pairs-{aspect}", key=f"nodes_pairs_{aspect}", alt=f"{len(lines)} pairs of nodes")


def _dropped(result: Ranking) -> None:
    """Show the metrics that the score leaves out, with the reasons."""
    shown = st.expander(
        "Metrics that are not in the score",
        icon=":material/filter_alt_off:",
        key="nodes_dropped",
        on_change="rerun",
        bind="query-params",
    )
    if shown.open:
        with shown:
            st.markdown(dropped_sentence(result))
            lines = dropped_table(result)
            figures.table(lines, "node-dropped-metrics", key="nodes_dropped_table", alt=f"{len(lines)} metrics")


def _prices(result: Ranking) -> None:
    """Show the nodes with an editable price; it takes effect at once."""
    lines = pd.DataFrame(
        {
            "node": [one.node for one in result.nodes],
            "price": [one.price_per_h for one in result.nodes],
            "score_per_price": [one.price_performance for one in result.nodes],
        }
    )
    key = f"nodes_price_table_{'_'.join(f'{price:g}' for price in lines['price'])}"
    number = st.column_config.NumberColumn
    tables.edit(
        lines,
        key=key,
        disabled=["node", "score_per_price"],
        on_change=_edited,
        args=(key, tuple(lines["node"]), dict(result.settings.prices_per_h)),
        column_config={
            "price": number("price per hour, editable", min_value=0.0, format="%.4g"),
            "score_per_price": number("score / price", format="%.3g"),
        },
    )


def _edited(key: str, nodes: tuple[str, ...], prices: dict[str, float]) -> None:
    """Take the edited prices over into the field above (a callback)."""
    st.session_state[PRICES] = after_edits(nodes, prices, st.session_state[key])


def after_edits(nodes: tuple[str, ...], prices: Mapping[str, float], changes: dict[str, Any]) -> str:
    """Return the field's text once the changes of the table's editor are made; an emptied or zero price is none."""
    edited: dict[str, float | None] = dict(prices)
    for row, cells in changes["edited_rows"].items():
        edited[nodes[int(row)]] = cells.get("price")
    priced = {node: float(price) for node, price in edited.items() if price and math.isfinite(price)}
    return write(RANK.leaf("prices_per_h"), priced)


def groups(context: PageContext) -> None:
    """Show the groups of nodes that are alike, with how sure they are; weights and prices do not matter to them."""
    shared = forms.within("ranking", context.settings)
    settings = forms.settings(context.visit, context.dataset, GROUPS, ("mode",), shared)
    with st.spinner("Grouping the nodes…", show_time=True):
        result = context.workbench.node_groups(context.dataset.hash, settings)
    if result.published:
        header.published_flag()
    notes(result.notes)
    figures.headline_row(groups_headlines(result))
    st.markdown(f"**{markdown_text(groups_sentence(result), 600)}**")
    _group_table(context, result)
    if len(result.silhouettes) > 1:  # one bar compares nothing
        figures.show(silhouette_bars(result), key="nodes_silhouettes")
    for node, reason in result.not_grouped.items():
        st.warning(markdown_text(f"{node} is in no group: {reason}.", 300), icon=":material/block:")


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
    tables.csv(
        table, f"{safe_name(context.dataset.name)}-node-groups", "nodes_groups_csv", f"CSV, all {len(table)} nodes"
    )


def advice(context: PageContext) -> None:
    """Show the choice of jobs and profile, then the nodes for it by what those jobs use."""
    traces = [one for one in context.workbench.datasets() if one.kind == JOBS]
    if not traces:
        datasets.empty_state(context.visit, "Advice needs a job trace beside the benchmark runs.", JOBS)
        return
    meaning = "of the jobs: proposed from what they use. own: those at the top."
    own = choice("Weights", WEIGHTS, (OF_JOBS, OWN), meaning) == OWN
    shared = forms.within("ranking", context.settings)
    settings = forms.settings(
        context.visit,
        context.dataset,
        ADVICE,
        ("jobs", "profile"),
        shared | {"ranking.weights": context.settings.shares if own else {}},
        own={"jobs": lambda: other_dataset(ADVICE, "jobs", traces)},
    )
    if context.workbench.profiles.cached(settings.jobs).result is None:
        st.info("This trace has no default profiles yet: compute them on the Profiles page.", icon=":material/info:")
        return
    with st.spinner("Weighing what the jobs use…", show_time=True):
        result = context.workbench.node_advice(context.dataset.hash, settings)
    st.markdown(f"**{markdown_text(advice_sentence(result), 600)}**")
    if priced := best_price_sentence(result):
        st.markdown(markdown_text(priced, 300))
    figures.show(weight_bars(result), key="nodes_weights_chart")
    figures.show(ranked_bars(result.ranking), key="nodes_advice_bars")
    table = node_table(result.ranking)
    figures.table(table, f"nodes-for-profile-{settings.profile}", key="nodes_advice_table", alt=f"{len(table)} nodes")
    notes(result.notes)


def _keep(context: PageContext) -> None:
    """Show the field for a name and the button that keeps the settings of the ranking."""

    def save(name: str) -> str:
        draft = NodeScenario(name, context.dataset.hash, context.settings)
        return context.workbench.save_node_scenario(context.dataset.hash, draft).name

    kept_scenarios.keep(context.visit, "nodes_keep", save, "Weights, prices, window: to compare them under Scenarios.")


def scenarios(context: PageContext) -> None:
    """Show the kept scenarios, and those chosen side by side."""
    kept = context.workbench.node_scenarios(context.dataset.hash)
    if not kept:
        st.info(
            "No scenario of this dataset is kept yet. Set weights or prices and press **Save scenario** under Ranking.",
            icon=":material/info:",
        )
        return
    tables.show(node_scenario_table(kept), key="nodes_scenarios", alt=f"{len(kept)} kept scenarios")
    names = [one.name for one in kept]
    chosen = kept_scenarios.compared(names, COMPARED, MOST_COMPARED)
    _compared(context, [one for one in kept if one.name in chosen])
    remove = partial(context.workbench.remove_node_scenario, context.dataset.hash)
    kept_scenarios.removal(context.visit, names, ("nodes", COMPARED), remove)


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
    st.markdown(f"**{markdown_text(leaders_sentence(result), 400)}**")
    table = node_comparison_table(result)
    name = f"{safe_name(context.dataset.name)}-node-scenarios"
    figures.table(table, name, key="nodes_comparison", alt=f"{len(table)} nodes in {len(result)} scenarios")
