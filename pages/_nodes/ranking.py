"""The ranking: places with intervals and ties, aspects, pairs, what the order hangs on, what is not in the score."""

from __future__ import annotations

import streamlit as st

from pages._frame import header
from pages._nodes import asking, details, price_form, scenarios
from pages._nodes.asking import Asked
from pages._parts import figures, tables, terms
from pages._parts.downloads import csv
from workprof.charts.downloads import parquet_bytes
from workprof.charts.nodes.ranking import (
    aspect_lines,
    aspect_table,
    degraded_sentences,
    leave_out_table,
    node_table,
    ranked_bars,
    ranking_headlines,
    robustness_sentence,
)
from workprof.charts.text import counted, markdown_text
from workprof.inputs import safe_name
from workprof.nodes.ranking import Ranking

LONGEST_NOTE = 400


def ranking(asked: Asked) -> None:
    """Show the ranking."""
    found = asking.ranking(asked)
    if found.published:
        header.published_flag()
    notes(found.notes)
    _degraded(found)
    figures.headline_row(ranking_headlines(found))
    figures.show(ranked_bars(found), key="nodes_bars")
    _table(asked, found)
    st.header("By aspect")
    figures.show(aspect_lines(found), key="nodes_aspects")
    details.pairs(found)
    st.header("What the order hangs on")
    st.markdown(f"**{markdown_text(robustness_sentence(found), LONGEST_NOTE)}**")
    if found.leave_outs:
        lines = leave_out_table(found)
        tables.show(
            lines,
            hide_index=True,
            key="nodes_without",
            alt=f"The order without each of {len(lines)} benchmarks",
            column_config=terms.columns(lines.columns),
        )
    st.header("Prices")
    st.caption("Give a node a price to see what it gives for it.")
    price_form.table(found)
    scenarios.keep(asked)
    details.dropped(found)


def _degraded(found: Ranking) -> None:
    """Show each degraded node with the way to its runs."""
    nodes = [one.node for one in found.nodes if one.degraded]
    for position, (node, sentence) in enumerate(zip(nodes, degraded_sentences(found), strict=True)):
        st.warning(markdown_text(sentence, LONGEST_NOTE), icon=":material/heart_broken:")
        st.button(
            f"Runs of {markdown_text(node, 40)}",
            key=f"nodes_runs_of_{position}",
            type="tertiary",
            icon=":material/timeline:",
            on_click=asking.open_runs,
            args=(node,),
        )


def notes(told: tuple[str, ...]) -> None:
    """Show what a reader must know."""
    for note in told:
        sentence = markdown_text(f"{note[:1].upper()}{note[1:]}", LONGEST_NOTE)
        st.info(f"{sentence}.", icon=":material/info:")


def _table(asked: Asked, found: Ranking) -> None:
    table, number = node_table(found), st.column_config.NumberColumn
    tables.show(
        table,
        hide_index=True,
        key="nodes_table",
        alt=f"{counted(len(table), 'node')} with score, change, degradation and price",
        height="content",
        column_config=terms.columns(
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
        | {aspect: number(aspect, format="%.2f") for aspect in found.metrics},
    )
    name = f"{safe_name(asked.dataset.name)}-nodes"
    with st.container(horizontal=True):
        csv(table, f"{name}-ranking", "nodes_ranking_csv", f"CSV, all {counted(len(table), 'node')}")
        st.download_button(
            "Scores as Parquet",
            data=lambda: parquet_bytes(aspect_table(found)),
            file_name=f"{name}-scores.parquet",
            mime="application/vnd.apache.parquet",
            on_click="ignore",
            key="nodes_scores_parquet",
            icon=":material/download:",
        )
