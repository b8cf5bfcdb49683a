"""Views of Home: the steps there are, measured data, and what was computed last."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages._frame import cross_link
from pages._frame.cross_link import Link
from pages._frame.visit import Visit
from pages._memory.recommendation import long_recommendation
from pages._parts import figures, long_question
from pages._runs import links
from workprof.charts.home import benchmark_headlines, measured_sentence, telemetry_headlines
from workprof.charts.memory.ledger import first_findings, ledger_sentence
from workprof.charts.memory.recommendation import recommendation_sentence
from workprof.charts.runs import recent_line
from workprof.charts.shapes import Headline
from workprof.charts.text import counted, listed, markdown_text
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.runs import StoredRun
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.formats.measured import BENCHMARKS
from workprof.memory.ledger_settings import RESOURCES
from workprof.memory.questions import LEDGER
from workprof.memory.recommend import RecommendationSettings
from workprof.memory.usage import USAGE_COLUMNS
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import Answer

MOST_RUNS_AT_ONCE = 150_000
"""Up to so many runs the ledger is added up while Home is drawn: it takes about a second, and is cached."""
SHOWN_FINDINGS = 5
REQUESTED = {one.request for one in RESOURCES}
"""Without any of these nothing can be called wasted."""


def findings(visit: Visit, dataset: Dataset) -> None:
    """Show the costliest findings of the ledger and the way to it; nothing without requests, times or findings."""
    ask = visit.workbench.ledger
    if not REQUESTED & {column.name for column in visit.workbench.columns(dataset.hash)}:
        return
    try:
        found = ask(dataset.hash) if dataset.rows <= MOST_RUNS_AT_ONCE else ask.cached(dataset.hash).result
    except (ColumnMissing, NotEnoughData):
        return
    if found is None or not found.findings:
        return
    st.header("What is requested and not used")
    st.markdown(f"**{markdown_text(ledger_sentence(found), 500)}**")
    st.markdown("\n".join(f"1. {markdown_text(words, 400)}" for words in first_findings(found, SHOWN_FINDINGS)))
    more = len(found.findings) - SHOWN_FINDINGS
    ledger = {"memory_tab": LEDGER.tab}
    words = f"The ledger, with {counted(more, 'more finding')}" if more > 0 else "The ledger"
    cross_link.follow(Link(words, "memory", dataset.hash, ledger, "receipt_long"), "home_ledger")


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
    """Show the steps, the recommendation among them."""
    profiles = visit.workbench.profiles.cached(dataset.hash, ProfileSettings())
    _show(Step(DONE, f"Data: {counted(dataset.finished_rows, 'finished row')} ready", "data", "Inspect the data"))
    if profiles.result is None and profiles.refusal:
        _show(Step(UNFIT, f"Profiles: {markdown_text(profiles.refusal, 300)}", "profiles", "What is missing"))
    elif profiles.result is None:
        running = profiles.job is not None and profiles.job.active
        words = "Profiles: being computed now" if running else "Profiles: not computed yet"
        _show(Step(RUNNING if running else NEXT, words, "profiles", "Find profiles"))
    else:
        found = f"Profiles: {counted(profiles.result.scores.n_clusters, 'profile')} found with the default settings"
        _show(Step(DONE, found, "profiles", "Open the profiles"))
    _show(_classifier(visit, dataset, profiles))
    _recommendation(visit, dataset)


def _classifier(visit: Visit, dataset: Dataset, profiles: Answer[ProfileFit]) -> Step:
    answer = visit.workbench.forecaster.cached(dataset.hash, ForecasterSettings())
    if answer.result is not None:
        model = answer.result.classifier
        words = f"Classifier: trained on {counted(model.n_rows, 'row')} with the default settings"
        return Step(DONE, words, "classify", "Ask for a job")
    if answer.job is not None and answer.job.active:
        return Step(RUNNING, "Classifier: being trained now", "classify", "Look on")
    if profiles.result is None and profiles.refusal:
        return Step(UNFIT, "Classifier: it learns profiles, and there can be none", "classify", "What is missing")
    words = "Classifier: not trained yet; it tells what a job will need before it runs"
    return Step(NEXT, words, "classify", "Train it")


def _recommendation(visit: Visit, dataset: Dataset) -> None:
    """Show what to request from now on, or the button that computes it; what the trace lacks for it is named."""
    columns = {column.name for column in visit.workbench.columns(dataset.hash)}
    lacking = [name for name in ("requested_memory_bytes", "duration_s") if name not in columns]
    if not columns & set(USAGE_COLUMNS.values()):
        lacking.append("peak_memory_bytes")
    if lacking:
        words = f"Recommendation: the trace has no {listed(lacking)}"
        _show(Step(UNFIT, markdown_text(words, 200), "memory", "What is missing"))
        return
    settings = RecommendationSettings()
    answer = visit.workbench.recommendation.cached(dataset.hash, settings)
    if answer.result is None:
        running = answer.job is not None and answer.job.active
        words = f"Recommendation: {'being computed now' if running else 'not computed yet'}"
        _show(Step(RUNNING if running else NEXT, words, "memory", "Memory"))
        long_question.result(visit, dataset, long_recommendation(visit, dataset, settings, "home_recommend"))
        return
    _show(Step(DONE, markdown_text(recommendation_sentence(answer.result), 600), "memory", "Open the recommendation"))


def _show(step: Step) -> None:
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"{step.state} · {step.words}", width="stretch")
        st.page_link(f"pages/{step.page}.py", label=step.link, icon=":material/arrow_forward:")


NODES = "Which node is how much better, and which has gone bad."
PHASES = "Which phases each run goes through, and which known workload it is like."


def measured(visit: Visit, dataset: Dataset) -> None:
    """Show what the dataset holds, and the next step."""
    shown = _figures_of(visit, dataset)
    st.markdown(f"**{markdown_text(measured_sentence(dataset, shown), 400)}**")
    figures.headline_row(shown)
    st.header("Steps")
    with st.container(horizontal=True):
        if dataset.kind == BENCHMARKS:
            st.page_link("pages/nodes.py", label="Rank the nodes", icon=":material/dns:", help=NODES)
        else:
            st.page_link("pages/phases.py", label="Look at the phases", icon=":material/timeline:", help=PHASES)
        st.page_link("pages/data.py", label="Inspect the data", icon=":material/database:")


def _figures_of(visit: Visit, dataset: Dataset) -> tuple[Headline, ...]:
    columns = visit.workbench.column_profiles(dataset.hash)
    if dataset.kind == BENCHMARKS:
        return benchmark_headlines(dataset, columns)
    runs = visit.workbench.phase_runs(dataset.hash)
    return telemetry_headlines(dataset, columns, len(runs.runs), len(runs.workloads))


SHOWN = 5


def recent(visit: Visit) -> None:
    """Show the newest kept runs with the page that opens each, and the way to all of them."""
    runs = visit.workbench.kept_runs()
    if not runs:
        return
    st.header("Recent runs")
    for position, run in enumerate(runs[:SHOWN]):
        _line(visit, run, position)
    st.page_link("pages/runs.py", label=f"All {len(runs):,} runs", icon=":material/history:")


def _line(visit: Visit, run: StoredRun, position: int) -> None:
    page = links.page_of(run.step)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(markdown_text(recent_line(run), 160), width="stretch")
        if st.button(f"Open on {page.capitalize()}", key=f"home_run_{position}", icon=":material/open_in_new:"):
            settings = visit.workbench.run_again(run.run).settings
            cross_link.go(page, links.parameters_of(run.step, run.dataset_hash, settings))
