"""Which nodes are degraded: all of them over time, the history of one, and the validation of the detection."""

import streamlit as st

from pages._frame import header
from pages._nodes.context import PageContext, notes, other_dataset
from pages._parts import figures, forms, long_question, tables
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from workprof.answers.degradation import (
    degradation_sentence,
    detection_figures,
    detectors_table,
    doubts,
    runs_table,
    trust_sentence,
)
from workprof.answers.how_long import computed_words
from workprof.answers.nodes import degraded_sentence, none_degraded_sentence
from workprof.charts.nodes.degradation import (
    code_map,
    degradation_over_time,
    detection_reliability,
    reconstruction_errors,
    timeline,
)
from workprof.core.words import counted, markdown_text
from workprof.formats.measured import BENCHMARKS
from workprof.nodes.detection import DegradationSettings, Detection, flagged_now
from workprof.nodes.detection_data import DetectSettings
from workprof.nodes.questions import DETECT
from workprof.nodes.selection import RankSettings

NODE, JUDGED, OF_NODE = "nodes_node", "nodes_judged", "nodes_judged_of"
MAIN = ("detect.mode", "detect.detector", "detect.false_alarm_share", "train")


def degradation(context: PageContext) -> None:
    """Show the detection, or the previous one while a new one runs, then the settings, then what it rests on."""
    first = st.container()
    others = [
        one for one in context.workbench.datasets() if one.kind == BENCHMARKS and one.hash != context.dataset.hash
    ]
    settings = forms.settings(
        context.visit,
        context.dataset,
        DETECT,
        MAIN,
        own={"train": lambda: other_dataset(DETECT, "train", others, "its earlier runs")},
    )
    with first:
        result = _detection(context, settings, "nodes_detect")
        if result is None:
            return
        if result.published:
            header.published_flag()
        ranked = context.workbench.node_ranking(context.dataset.hash, RankSettings())
        verdict = degraded_sentence(ranked) or none_degraded_sentence(ranked)
        figures.headline(markdown_text(f"{verdict} {degradation_sentence(result)}", 600))
        figures.show(degradation_over_time(result), key="nodes_over_time", sentence=False)
    _show(context, result)


def missing(context: PageContext, settings: RankSettings) -> bool:
    """Return whether the ranking's settings need a detection that is not cached; then show how to start it."""
    needed = context.workbench.detections_needed(context.dataset.hash, settings)
    if needed:
        st.info(
            "These settings need the network of the detection of degraded runs: start it first.",
            icon=":material/info:",
        )
        _detection(context, needed[0], f"nodes_detect_{needed[0].detect.mode}")
    return bool(needed)


def _detection(context: PageContext, settings: DegradationSettings, name: str) -> Detection | None:
    def before() -> str:
        return (
            f"{counted(context.dataset.rows, 'run')} are not judged with these settings yet "
            f"({_words(settings.detect)})."
        )

    question = LongQuestion(
        name,
        settings,
        context.workbench.degradation,
        "Detect degraded runs",
        before,
        "Detecting degraded runs",
        lambda result: _words(result.settings),
    )
    return long_question.result(context.visit, context.dataset, question)


def _words(settings: DetectSettings) -> str:
    """Return the settings of a detection in words."""
    mode, detector = (DETECT.leaf(f"detect.{name}").about.shown for name in ("mode", "detector"))
    return f"definitions: {mode[settings.mode]}, detector: {detector[settings.detector]}"


def _show(context: PageContext, result: Detection) -> None:
    figures.headline_row(detection_figures(result))
    _timeline(result)
    figures.fold("Quality: validation of the detectors", "nodes_quality", _trust, result)
    figures.fold("Method: embedding and reconstruction", "nodes_method", _network, result)
    _metrics(result)
    if not result.supervised:
        notes(("no run is labelled: p-values stand in for probabilities, and history is taken to be mostly normal",))
    notes(result.messages)
    words = _words(result.settings)
    st.caption(f"{words[:1].upper()}{words[1:]}; {computed_words(result.seconds, context.dataset.hash)}.")


def _network(result: Detection) -> None:
    figures.show(code_map(result), key="nodes_code_map")
    figures.show(reconstruction_errors(result), key="nodes_errors")


def _timeline(result: Detection) -> None:
    st.header("History of a node")
    names = tuple(sorted({str(name) for name in result.runs.node}))
    if not names:
        st.info("No run has a verdict: each needs three earlier normal ones.", icon=":material/info:")
        return
    worst = next(iter(flagged_now(result)), names[0])
    first = names.index(worst)
    node = choice("Node", NODE, names, "The node whose runs are shown.", index=first)
    figures.show(timeline(result, node), key="nodes_timeline")
    every = st.expander(
        "Data: all judged runs", icon=":material/table:", key=JUDGED, on_change="rerun", bind="query-params"
    )
    if every.open:
        with every:
            alone = st.toggle("Of the chosen node only", key=OF_NODE, bind="query-params")
            lines = runs_table(result, node if alone else "")
            alt = counted(len(lines.rows), "judged run")
            tables.saved(lines, "node-runs-judged", key="nodes_judged_table", alt=alt)


def _trust(result: Detection) -> None:
    st.markdown(markdown_text(trust_sentence(result), 400))
    lines = detectors_table(result)
    if not lines.rows:
        st.info("Without labelled runs no detector can be scored.", icon=":material/info:")
        return
    tables.saved(lines, "node-detectors", key="nodes_detectors", alt=counted(len(lines.rows), "detector"))
    chart = detection_reliability(result)
    if chart is not None:
        figures.show(chart, key="nodes_reliability")


def _metrics(result: Detection) -> None:
    for table in doubts(result):
        key, title = table.name.replace("node-", "nodes_"), f"{table.title} ({len(table.rows)})"
        shown = st.expander(title, icon=":material/table:", key=key, on_change="rerun", bind="query-params")
        if shown.open:
            with shown:
                tables.saved(table, table.name, key=f"{key}_table", alt=title)
