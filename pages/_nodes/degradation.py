"""Which runs are degraded: the detection, the time line of a node, the map of codes, and how far to trust it."""

from __future__ import annotations

import streamlit as st

from pages._frame import header
from pages._nodes.context import PageContext, notes, other_dataset
from pages._parts import figures, forms, long_question, running_work
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from workprof.charts.nodes.degradation import (
    code_map,
    detection_headlines,
    detection_reliability,
    detectors_table,
    orientation_table,
    reconstruction_errors,
    runs_table,
    timeline,
    trust_sentence,
    unscored_table,
    unseen_metrics_table,
)
from workprof.charts.text import counted, markdown_text
from workprof.core.units import format_duration
from workprof.formats.measured import BENCHMARKS
from workprof.nodes.detection import DegradationSettings, Detection
from workprof.nodes.questions import DETECT

NODE, JUDGED, OF_NODE = "nodes_node", "nodes_judged", "nodes_judged_of"
MAIN = ("detect.mode", "detect.detector", "detect.false_alarm_share", "train")


def degradation(context: PageContext) -> None:
    """Show the settings, then the detection, or the previous one while a new one runs."""
    others = [
        one for one in context.workbench.datasets() if one.kind == BENCHMARKS and one.hash != context.dataset.hash
    ]
    settings = forms.settings(
        context.visit,
        context.dataset,
        DETECT,
        MAIN,
        own={"train": lambda: other_dataset(DETECT, "train", others, "earlier runs of this dataset")},
    )
    result = _detection(context, settings, "nodes_detect")
    if result is not None:
        _show(context, result)


def missing(context: PageContext) -> bool:
    """Return whether the ranking's settings need a detection that is not cached; then show how to start it."""
    needed = context.workbench.detections_needed(context.dataset.hash, context.settings)
    if needed:
        st.info(
            f"Score {context.settings.score} and runs left out {context.settings.exclude} need the network of the "
            "detection of degraded runs.",
            icon=":material/info:",
        )
        _detection(context, needed[0], f"nodes_detect_{needed[0].detect.mode}")
    return bool(needed)


def _detection(context: PageContext, settings: DegradationSettings, name: str) -> Detection | None:
    def before() -> str:
        earlier = running_work.earlier(context.visit, DETECT.name)
        took = "About a minute for a few hundred runs."
        if earlier:
            took = f"The last one here took {format_duration(earlier[0].seconds)} for {earlier[0].n_rows:,} runs."
        return (
            f"Not run with these settings yet ({settings.detect.mode}, detector {settings.detect.detector}): "
            f"{counted(context.dataset.rows, 'run')}. {took}"
        )

    question = LongQuestion(
        name,
        settings,
        context.workbench.degradation,
        "Look for degraded runs",
        before,
        "Looking for degraded runs",
        lambda result: f"{result.settings.mode}, detector {result.settings.detector}",
    )
    return long_question.result(context.visit, context.dataset, question)


def _show(context: PageContext, result: Detection) -> None:
    if result.published:
        header.published_flag()
    if not result.supervised:
        st.info(
            "No run is labelled: p-values stand in for probabilities, and history is taken to be mostly normal.",
            icon=":material/info:",
        )
    notes(result.messages)
    figures.headline_row(detection_headlines(result))
    st.markdown(markdown_text(trust_sentence(result), 400))
    _timeline(result)
    st.header("Embedding of the runs")
    figures.show(code_map(result), key="nodes_code_map")
    st.header("How far to trust it")
    _trust(result)
    st.header("Reconstruction error")
    figures.show(reconstruction_errors(result), key="nodes_errors")
    _metrics(result)
    st.caption(f"Computed in {format_duration(result.seconds)}; dataset {context.dataset.hash[:8]}.")


def _timeline(result: Detection) -> None:
    st.header("History of a node")
    names = tuple(sorted({str(name) for name in result.runs.node}))
    if not names:
        st.info("No run has a verdict: each needs three earlier normal ones.", icon=":material/info:")
        return
    node = choice("Node", NODE, names, "Whose runs are shown.")
    figures.show(timeline(result, node), key="nodes_timeline")
    every = st.expander("All judged runs", icon=":material/table:", key=JUDGED, on_change="rerun", bind="query-params")
    if every.open:
        with every:
            alone = st.toggle("Of the chosen node only", key=OF_NODE, bind="query-params")
            lines = runs_table(result, node if alone else "")
            figures.table(lines, "node-runs-judged", key="nodes_judged_table", alt=counted(len(lines), "judged run"))


def _trust(result: Detection) -> None:
    lines = detectors_table(result)
    if lines.empty:
        st.info("Without labelled runs no detector can be scored.", icon=":material/info:")
        return
    figures.table(lines, "node-detectors", key="nodes_detectors", alt=counted(len(lines), "detector"))
    chart = detection_reliability(result)
    if chart is not None:
        figures.show(chart, key="nodes_reliability")


def _metrics(result: Detection) -> None:
    kinds = (
        ("Excluded metrics", "unseen", unseen_metrics_table(result)),
        ("Metric directions", "orientations", orientation_table(result)),
        ("Unjudged runs", "unscored", unscored_table(result)),
    )
    for title, name, lines in kinds:
        shown = st.expander(
            f"{title} ({len(lines)})",
            icon=":material/table:",
            key=f"nodes_{name}",
            on_change="rerun",
            bind="query-params",
        )
        if shown.open:
            with shown:
                figures.table(lines, f"node-{name}", key=f"nodes_{name}_table", alt=f"{title}: {len(lines)} rows")
