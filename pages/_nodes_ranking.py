"""The ranking: places with intervals and ties, aspects, pairs, what the order hangs on, what is not in the score."""

from __future__ import annotations

import streamlit as st

from pages import _figures, _header, _nodes_asked, _nodes_prices
from pages._controls import choice
from pages._nodes_asked import Asked
from pages._sweep_runs import csv
from workprof.charts.downloads import parquet_bytes
from workprof.charts.nodes import (
    OVERALL,
    aspect_lines,
    aspect_table,
    degraded_sentences,
    dropped_sentence,
    dropped_table,
    leave_out_table,
    node_table,
    pair_table,
    ranked_bars,
    ranking_headlines,
    robustness_sentence,
)
from workprof.charts.text import counted, markdown_text
from workprof.inputs import safe_name
from workprof.nodes.ranking_records import Ranking

LONGEST_NOTE = 400


def ranking(asked: Asked) -> None:
    """Show the ranking."""
    found = _nodes_asked.ranking(asked)
    if found.published:
        _header.published_flag()
    notes(found.notes)
    for sentence in degraded_sentences(found):
        st.warning(markdown_text(sentence, LONGEST_NOTE), icon=":material/heart_broken:")
    _figures.headline_row(ranking_headlines(found))
    _figures.show(ranked_bars(found), key="nodes_bars")
    _table(asked, found)
    st.subheader("By aspect")
    _figures.show(aspect_lines(found), key="nodes_aspects")
    _pairs(found)
    st.subheader("What the order hangs on")
    st.markdown(f"**{markdown_text(robustness_sentence(found), LONGEST_NOTE)}**")
    if found.leave_outs:
        lines = leave_out_table(found)
        st.dataframe(
            lines, hide_index=True, key="nodes_without", alt=f"The order without each of {len(lines)} benchmarks"
        )
    st.subheader("Prices")
    st.caption("Give a node a price to see what it gives for it.")
    _nodes_prices.table(found)
    _dropped(found)


def notes(told: tuple[str, ...]) -> None:
    """Show what a reader must know."""
    for note in told:
        sentence = markdown_text(f"{note[:1].upper()}{note[1:]}", LONGEST_NOTE)
        st.info(f"{sentence}.", icon=":material/info:")


def _table(asked: Asked, found: Ranking) -> None:
    table, number = node_table(found), st.column_config.NumberColumn
    st.dataframe(
        table,
        hide_index=True,
        key="nodes_table",
        alt=f"{counted(len(table), 'node')} with score, change, degradation and price",
        height="content",
        column_config={
            "node": st.column_config.TextColumn("node", pinned=True),
            "score": number("score", format="%.3f", help="1 = geometric mean of the nodes."),
            "low": number("from", format="%.3f"),
            "high": number("to", format="%.3f"),
            "tied_with": st.column_config.TextColumn("tied with"),
            "change": st.column_config.TextColumn("since the last window", help="Of the node against itself."),
            "price_per_h": number("price per hour", format="%.4g"),
            "price_performance": number("score / price", format="%.3g"),
            "no_rank_because": st.column_config.TextColumn("no rank because"),
        }
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


def _pairs(found: Ranking) -> None:
    if not found.pairs:
        return
    aspect = choice(
        "Compare pairs in",
        "nodes_pairs",
        (OVERALL, *found.metrics),
        "Pairs are compared on the metrics that both have; faster is said only where the interval excludes 1.",
    )
    lines = pair_table(found, aspect)
    if lines.empty:
        st.caption("No pair has a metric of this aspect in common.")
        return
    _figures.table(lines, f"node-pairs-{aspect}", key=f"nodes_pairs_{aspect}", alt=f"{len(lines)} pairs of nodes")


def _dropped(found: Ranking) -> None:
    shown = st.expander(
        "Metrics that are not in the score", icon=":material/filter_alt_off:", key="nodes_dropped", on_change="rerun"
    )
    if shown.open:
        with shown:
            st.markdown(dropped_sentence(found))
            lines = dropped_table(found)
            _figures.table(lines, "node-dropped-metrics", key="nodes_dropped_table", alt=f"{len(lines)} metrics")
