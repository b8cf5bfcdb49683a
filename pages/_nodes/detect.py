"""How degraded runs are looked for, and the job that does it, shared by the views that need a detection."""

from __future__ import annotations

import streamlit as st

from pages._nodes.asking import Asked
from pages._parts import earlier_result, running_work
from pages._parts.controls import MODES_MEANING, choice
from workprof.charts.text import counted
from workprof.formats.measured import BENCHMARKS
from workprof.nodes.detection import DegradationSettings, Detection
from workprof.nodes.detection_data import CHOSEN, CORRECTED, DETECTORS, FAITHFUL, DetectSettings
from workprof.nodes.questions import DETECT
from workprof.units import format_duration

WHAT = "Looking for degraded runs"
SAME = "earlier runs of this dataset"
PERCENT = 100.0


def settings() -> DetectSettings:
    """Show the controls and return the settings."""
    with st.grid(min_column_width=200, gap="small"):
        mode = choice("Definitions", "nodes_detect_mode", (CORRECTED, FAITHFUL), MODES_MEANING)
        detector = choice(
            "Detector",
            "nodes_detector",
            (CHOSEN, *DETECTORS),
            "chosen: the best on validation inside the training part. perona: the network. The others are baselines; "
            "robust-z, ewma, mahalanobis and isolation-forest need no labels.",
        )
        alarms = st.number_input(
            "False alarms at most (%)",
            min_value=0.1,
            max_value=50.0,
            value=5.0,
            format="%g",
            key="nodes_alarms",
            bind="query-params",
            help="Of the normal runs; by validation, not by promise. The faithful threshold is a probability of 0.5.",
        )
    return DetectSettings(mode=mode, detector=detector, false_alarm_share=float(alarms) / PERCENT)


def trained_on(asked: Asked) -> str:
    """Show the datasets that can be trained on and return the hash of the chosen one; '' = this one."""
    others = {
        f"{one.name} ({one.hash[:8]})": one.hash
        for one in asked.workbench.datasets()
        if one.kind == BENCHMARKS and one.hash != asked.dataset.hash
    }
    chosen = choice(
        "Trained on",
        "nodes_train",
        (SAME, *others),
        "The first 60 % of the runs of each node and benchmark, or all runs of another dataset.",
    )
    return others.get(chosen, "")


def detection(asked: Asked, wanted: DetectSettings, train: str = "") -> Detection | None:
    """Return the kept detection; where there is none, show how to start it, or how far it is."""
    answer = asked.workbench.degradation.cached(asked.dataset.hash, DegradationSettings(wanted, train))
    if answer.result is not None:
        return answer.result
    if answer.job is None or not answer.job.active:
        _ask(asked, wanted, train)
    running_work.job_panel(asked.visit.house, answer.job, WHAT)
    return None


def missing(asked: Asked) -> bool:
    """Return whether the ranking's settings need a detection that is not kept; then show how to start it."""
    needed = asked.workbench.detections_needed(asked.dataset.hash, asked.settings)
    if needed:
        st.info(
            f"Score {asked.settings.score} and runs left out {asked.settings.exclude} need the network of the "
            "detection of degraded runs.",
            icon=":material/info:",
        )
        detection(asked, needed[0].detect)
    return bool(needed)


def _ask(asked: Asked, wanted: DetectSettings, train: str) -> None:
    with st.container(border=True):
        earlier = earlier_result.runs(asked.visit, DETECT.name)
        took = "About a minute for a few hundred runs."
        if earlier:
            took = f"The last one here took {format_duration(earlier[0].seconds)} for {earlier[0].n_rows:,} runs."
        st.markdown(
            f"Not looked for with these settings yet ({wanted.mode}, detector {wanted.detector}): "
            f"{counted(asked.dataset.rows, 'run')}. {took}"
        )
        key = f"nodes_detect_{wanted.mode}"
        if st.button("Look for degraded runs", type="primary", icon=":material/play_arrow:", key=key):
            asked.workbench.degradation.start(asked.dataset.hash, DegradationSettings(wanted, train))
            st.rerun()
