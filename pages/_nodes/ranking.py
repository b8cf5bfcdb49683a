"""The decision: which node for which work at which price; then what it rests on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from pages._frame import header, look
from pages._nodes import degradation
from pages._nodes.context import (
    LONGEST_NOTE,
    OF_JOBS,
    OWN,
    PRICES,
    PROFILE,
    TAB,
    WEIGHTS,
    PageContext,
    clustering,
    job_traces,
    notes,
    other_dataset,
)
from pages._nodes.degradation import JUDGED, NODE, OF_NODE
from pages._parts import figures, saved_scenarios, tables, tabs
from pages._parts.controls import choice
from workprof.answers.node_groups import advice_sentence
from workprof.answers.nodes import (
    decision_sentence,
    degraded_sentences,
    dropped_sentence,
    dropped_table,
    leave_out_table,
    node_table,
    pair_table,
    ranking_figures,
    resource,
    robustness_sentence,
    weights_sentence,
)
from workprof.charts.downloads import parquet_bytes
from workprof.charts.nodes.groups import weight_bars
from workprof.charts.nodes.ranking import aspect_lines, aspect_table, ranked_bars
from workprof.core.fields import write
from workprof.core.words import counted, markdown_text
from workprof.inputs import safe_name
from workprof.nodes.advice import Advice, AdviceSettings
from workprof.nodes.questions import ADVICE, DETECT, RANK
from workprof.nodes.ranking import NodeScenario, Ranking, per_price
from workprof.nodes.scores import OVERALL
from workprof.nodes.selection import RankSettings

ALL = "all"
BY, SPEED, PRICE = "nodes_by", "speed", "price"
MOST_DEGRADED = 4
MOST_ROWS = 12


@dataclass(frozen=True)
class Work:
    """What the nodes are for."""

    trace: str = ""  # hash of the dataset of its runs; '' = work of any kind
    profile: int = -1  # of that dataset
    name: str = ""  # of the profile
    clustering: str = ""  # key of the clustering that the profile is of
    own_weights: bool = False  # whether the weights of the settings count, not those that the runs propose


def ranking(context: PageContext) -> None:
    """Show the answer with its chart and the prices, the controls, then the evidence."""
    first, row = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        work = _work(context)
    settings = context.ranking_settings()
    if degradation.missing(context, settings):
        return
    with row:
        by_price = bool(settings.prices_per_h) and _compared_by() == PRICE
    with st.spinner("Comparing the nodes…", show_time=True):
        advice = _advice(context, work, settings) if work.trace else None
        result = advice.ranking if advice else context.workbench.node_ranking(context.dataset.hash, settings)
    drawn = per_price(result) if by_price else result
    with first:
        _decision(result, drawn, advice, work)
    _degraded(result)
    _evidence(context, result, drawn, advice)


def _work(context: PageContext) -> Work:
    """Show the choice of profile, of a trace whose profiles are there, and return what the nodes are for."""
    traces = job_traces(context.workbench)
    if not traces:
        st.caption("Load a job trace to rank nodes for each of its profiles.")
        return Work()
    chosen = st.container()
    trace = other_dataset(ADVICE, "jobs", traces)
    key, named = clustering(context, trace)
    names = named[:-1]
    if not names:
        st.caption("Find the profiles of this trace on the Profiles page to rank nodes for each of them.")
        return Work()
    numbers = tuple(str(number) for number in range(len(names)))
    shown = {ALL: "All work", **dict(zip(numbers, names, strict=True))}
    with chosen:
        profile = choice("Nodes for", PROFILE, (ALL, *numbers), "A profile weighs what its runs use.", shown=shown)
    if profile == ALL:
        return Work()
    meaning = "By what the runs of the profile use, or those under More settings."
    words = {OF_JOBS: "By use", OWN: "My own"}
    own = choice("Weights", WEIGHTS, (OF_JOBS, OWN), meaning, shown=words) == OWN
    return Work(trace, int(profile), shown[profile], key, own)


def _compared_by() -> str:
    words = {PRICE: "Score per price", SPEED: "Score"}
    return choice("Compare by", BY, (PRICE, SPEED), "What the chart ranks the nodes by.", shown=words)


def _advice(context: PageContext, work: Work, settings: RankSettings) -> Advice:
    weighted = replace(settings, weights=settings.shares if work.own_weights else {})
    return context.workbench.node_advice(
        context.dataset.hash, AdviceSettings(work.trace, work.profile, work.clustering, weighted)
    )


def _decision(result: Ranking, drawn: Ranking, advice: Advice | None, work: Work) -> None:
    """Show the answer, the chart of what is compared, and the prices."""
    if result.published:
        header.published_flag()
    sentence = advice_sentence(advice, work.name) if advice else decision_sentence(result)
    figures.headline(markdown_text(sentence, 600))
    chart, prices = st.columns([2, 1], gap="medium")
    with chart:
        figures.show(ranked_bars(drawn, priced=drawn is not result), key="nodes_bars", sentence=False)
    with prices, st.expander("Prices") if look.narrow() else st.container():
        st.caption("Enter prices, or the cores of each node, to compare like with like.")
        _prices(result)


def _degraded(result: Ranking) -> None:
    """Show each degraded node with the way to its runs."""
    nodes = [one.node for one in result.nodes if one.degraded]
    sentences = degraded_sentences(result)
    for position, (node, sentence) in enumerate(list(zip(nodes, sentences, strict=True))[:MOST_DEGRADED]):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                f":material/heart_broken: **{markdown_text(node, 40)} is degraded**",
                help=markdown_text(sentence, LONGEST_NOTE),
                width="content",
            )
            st.button(
                f"Runs of {markdown_text(node, 40)}",
                key=f"nodes_runs_of_{position}",
                type="tertiary",
                icon=":material/timeline:",
                on_click=_open_runs,
                args=(node,),
            )
    if len(nodes) > MOST_DEGRADED:
        st.caption(
            f"Degraded, too: {counted(len(nodes) - MOST_DEGRADED, 'more node')}. See the table, and Degradation."
        )


def _open_runs(node: str) -> None:
    """Turn to the runs of one node (a callback)."""
    st.session_state.update({NODE: node, JUDGED: True, OF_NODE: True})
    tabs.select(TAB, DETECT.tab)


def _evidence(context: PageContext, result: Ranking, drawn: Ranking, advice: Advice | None) -> None:
    st.caption(markdown_text(weights_sentence(result.shares), 200))
    figures.headline_row(ranking_figures(drawn))
    _table(context, result, advice)
    with st.expander("By resource") if look.narrow() else st.container():
        figures.show(aspect_lines(result), key="nodes_aspects")
    if advice:
        figures.fold("Weights by what the runs use", "nodes_use", _weights, advice)
    if result.pairs:
        figures.fold("Pairs of nodes", "nodes_every_pair", _pairs, result)
    figures.fold("Sensitivity of the ranking", "nodes_sensitivity", _sensitivity, result)
    figures.fold("Metrics that are not in the score", "nodes_dropped", _dropped, result)
    notes(advice.notes if advice else result.notes)
    _save_scenario(context, replace(result.settings, weights=result.shares if advice else result.settings.weights))


def _weights(advice: Advice) -> None:
    figures.show(weight_bars(advice), key="nodes_weights_chart")


def _table(context: PageContext, result: Ranking, advice: Advice | None) -> None:
    table = node_table(result)
    name = f"{safe_name(context.dataset.name)}-nodes"
    tables.answer(
        table,
        key="nodes_advice_table" if advice else "nodes_table",
        alt=f"{counted(len(table.rows), 'node')} with score, change, degradation and price",
        height="content" if len(table.rows) <= MOST_ROWS else "auto",
    )
    ranked = f"nodes-for-profile-{advice.settings.profile}" if advice else f"{name}-ranking"
    with st.container(horizontal=True):
        tables.csv(table.frame, ranked, "nodes_ranking_csv", "Download CSV")
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
    """Show every pair in one resource, or in all."""
    aspect = choice(
        "Compare pairs in",
        "nodes_pairs",
        (OVERALL, *result.metrics),
        "Pairs are compared on common metrics; clear: the interval excludes 1, and the nodes differ by more "
        "than noise in this resource.",
        shown={OVERALL: "All resources", **{name: resource(name) for name in result.metrics}},
    )
    lines = pair_table(result, aspect)
    if not lines.rows:
        st.caption("No pair has a metric of this resource in common.")
        return
    alt = f"{len(lines.rows)} pairs of nodes"
    tables.saved(lines, f"node-pairs-{aspect}", key=f"nodes_pairs_{aspect}", alt=alt)


def _sensitivity(result: Ranking) -> None:
    """Show the order without each benchmark."""
    st.markdown(f"**{markdown_text(robustness_sentence(result), LONGEST_NOTE)}**")
    if result.leave_outs:
        alt = f"The order without each of {len(result.leave_outs)} benchmarks"
        tables.answer(leave_out_table(result), key="nodes_without", alt=alt)


def _dropped(result: Ranking) -> None:
    """Show the metrics that the score excludes, with the reasons."""
    st.markdown(dropped_sentence(result))
    lines = dropped_table(result)
    tables.saved(lines, lines.name, key="nodes_dropped_table", alt=f"{len(lines.rows)} metrics")


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
        height="content" if len(lines) <= MOST_ROWS else "auto",
        column_config={
            "node": st.column_config.TextColumn("Node", width="small"),
            "price": number("Price", help="Per hour; editable.", min_value=0.0, format="%.4g", width="small"),
            "score_per_price": number("Score / price", format="%.3g", width="small"),
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


def _save_scenario(context: PageContext, settings: RankSettings) -> None:
    """Show the field for a name and the button that keeps the settings of the ranking."""

    def save(name: str) -> str:
        draft = NodeScenario(name, context.dataset.hash, settings)
        return context.workbench.save_node_scenario(context.dataset.hash, draft).name

    saved_scenarios.save_form(
        context.visit, "nodes_keep", save, "Weights, prices, window: to compare them under Scenarios."
    )
