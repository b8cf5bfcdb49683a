"""Which runs are degraded: the time line of a node, the map of codes, and how far the detection can be trusted."""

from __future__ import annotations

import streamlit as st

from pages._frame import header
from pages._nodes import detect
from pages._nodes.asking import JUDGED, NODE, OF_NODE, Asked
from pages._nodes.ranking import notes
from pages._parts import figures
from pages._parts.controls import choice
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
from workprof.nodes.detection import DegradationSettings, Detection
from workprof.units import format_duration

SHOWN = "nodes_detect_last"


def degradation(asked: Asked) -> None:
    """Show the settings, then the detection, or the previous one while a new one runs."""
    with st.expander(
        "Detection", icon=":material/tune:", key="nodes_detect_settings", on_change="rerun", bind="query-params"
    ):
        wanted, train = detect.settings(), detect.trained_on(asked)
    found = detect.detection(asked, wanted, train)
    if found is not None:
        st.session_state[SHOWN] = (asked.dataset.hash, wanted, train)
        _show(asked, found)
        return
    of_dataset, settings, other = st.session_state.get(SHOWN, ("", None, ""))
    if of_dataset == asked.dataset.hash and settings is not None:
        kept = asked.workbench.degradation.cached(of_dataset, DegradationSettings(settings, other)).result
        if kept is not None:
            st.warning(
                f"What follows is based on previous settings ({settings.mode}, detector {settings.detector}).",
                icon=":material/history:",
            )
            _show(asked, kept)


def _show(asked: Asked, found: Detection) -> None:
    if found.published:
        header.published_flag()
    if not found.supervised:
        st.info(
            "No run is labelled: p-values stand in for probabilities, and history is taken to be mostly normal.",
            icon=":material/info:",
        )
    notes(found.messages)
    figures.headline_row(detection_headlines(found))
    st.markdown(markdown_text(trust_sentence(found), 400))
    _timeline(found)
    st.header("Codes of the runs")
    figures.show(code_map(found), key="nodes_code_map")
    st.header("How far to trust it")
    _trust(found)
    st.header("Restoring error")
    figures.show(reconstruction_errors(found), key="nodes_errors")
    _metrics(found)
    st.caption(f"Computed in {format_duration(found.seconds)}; dataset {asked.dataset.hash[:8]}.")


def _timeline(found: Detection) -> None:
    st.header("A node along time")
    names = tuple(sorted({str(name) for name in found.runs.node}))
    if not names:
        st.info("No run has a verdict: each needs three earlier normal ones.", icon=":material/info:")
        return
    node = choice("Node", NODE, names, "Whose runs are shown.")
    figures.show(timeline(found, node), key="nodes_timeline")
    every = st.expander("All judged runs", icon=":material/table:", key=JUDGED, on_change="rerun", bind="query-params")
    if every.open:
        with every:
            alone = st.toggle("Of the chosen node only", key=OF_NODE, bind="query-params")
            lines = runs_table(found, node if alone else "")
            figures.table(lines, "node-runs-judged", key="nodes_judged_table", alt=counted(len(lines), "judged run"))


def _trust(found: Detection) -> None:
    lines = detectors_table(found)
    if lines.empty:
        st.info("Without labelled runs no detector can be scored.", icon=":material/info:")
        return
    figures.table(lines, "node-detectors", key="nodes_detectors", alt=counted(len(lines), "detector"))
    chart = detection_reliability(found)
    if chart is not None:
        figures.show(chart, key="nodes_reliability")


def _metrics(found: Detection) -> None:
    kinds = (
        ("Metrics that the network does not see", "unseen", unseen_metrics_table(found)),
        ("Which way metrics point", "orientations", orientation_table(found)),
        ("Runs without a verdict", "unscored", unscored_table(found)),
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
