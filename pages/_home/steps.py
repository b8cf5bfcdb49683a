"""The way from a trace to a plan: which steps are done, what each found, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import figures
from workprof.charts.memory.plans import rollup_headlines, rollup_sentence
from workprof.charts.text import counted, markdown_text
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.memory.rollup import RollupSettings
from workprof.memory.usage import USAGE_COLUMNS
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset

DONE = ":material/check_circle: done"
RUNNING = ":material/hourglass_top: running"
NEXT = ":material/radio_button_unchecked: next"
UNFIT = ":material/block: not with this dataset"


@dataclass(frozen=True)
class Step:
    """A step of the checklist: its state, what it found, and the page that it is done on."""

    state: str
    words: str
    page: str
    link: str


def checklist(visit: Visit, dataset: Dataset) -> None:
    """Show the steps, and the plan's figures where there is one."""
    profiles = visit.workbench.profiles.cached(dataset.hash, ProfileSettings())
    _show(Step(DONE, f"Data: {counted(dataset.finished_rows, 'finished row')} ready", "data", "Inspect the data"))
    if profiles.result is None:
        running = profiles.job is not None and profiles.job.active
        words = "Profiles: being computed now" if running else "Profiles: not computed yet"
        _show(Step(RUNNING if running else NEXT, words, "profiles", "Find profiles"))
    else:
        found = f"Profiles: {counted(profiles.result.scores.n_clusters, 'profile')} found with the default settings"
        _show(Step(DONE, found, "profiles", "Open the profiles"))
    _show(_classifier(visit, dataset))
    _plan(visit, dataset)


def _classifier(visit: Visit, dataset: Dataset) -> Step:
    answer = visit.workbench.forecaster.cached(dataset.hash, ForecasterSettings())
    if answer.result is not None:
        model = answer.result.classifier
        words = f"Classifier: trained on {counted(model.n_rows, 'row')} with the default settings"
        return Step(DONE, words, "classify", "Ask for a job")
    if answer.job is not None and answer.job.active:
        return Step(RUNNING, "Classifier: being trained now", "classify", "Look on")
    words = "Classifier: not trained yet; it tells what a job will need before it runs"
    return Step(NEXT, words, "classify", "Train it")


def _plan(visit: Visit, dataset: Dataset) -> None:
    columns = {column.name for column in visit.workbench.columns(dataset.hash)}
    needed = {"requested_memory_bytes", "duration_s"}
    if not needed <= columns or not columns & set(USAGE_COLUMNS.values()):
        _show(Step(UNFIT, "Plan: needs requests, peak memory and durations", "memory", "What is missing"))
        return
    answer = visit.workbench.rollup.cached(dataset.hash, RollupSettings())
    if answer.result is None:
        _show(Step(NEXT, "Plan: not made yet; it tells what other sizes save and break", "memory", "Make a plan"))
        return
    words = f"Plan, one size for each task: {markdown_text(rollup_sentence(answer.result), 300)}"
    _show(Step(DONE, words, "memory", "Open the plan"))
    figures.headline_row(rollup_headlines(answer.result)[:3])


def _show(step: Step) -> None:
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"{step.state} · {step.words}", width="stretch")
        st.page_link(f"pages/{step.page}.py", label=step.link, icon=":material/arrow_forward:")
