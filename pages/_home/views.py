"""Views of Home: what to request, what to do next, and what stands behind them, folded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from pages._frame import cross_link, datasets
from pages._frame.cross_link import Link, Parameters
from pages._frame.errors import lacking
from pages._frame.visit import Visit
from pages._home import compare, over_time, since
from pages._memory.plan import MOST_WORDS, verdict_of
from pages._memory.scope import none_ended
from pages._parts import clusterings, figures
from pages._runs import links
from workprof.answers.home import PRICE, deeds
from workprof.answers.ledger import changing_findings, first_findings, judged_resources, ledger_sentence
from workprof.answers.nodes import decision_sentence
from workprof.answers.over_time import largest_named
from workprof.answers.saved_runs import recent_line
from workprof.answers.verdict import key_words, sentence
from workprof.charts.data import coverage_chart
from workprof.charts.home import (
    CUT,
    NODE_GB,
    Columns,
    benchmark_headlines,
    configuration_headlines,
    measured_sentence,
    missing_for_sizes,
    next_steps as steps_of_memory,
    telemetry_headlines,
    trace_headlines,
)
from workprof.charts.profiles.overview import profile_names, size_bars
from workprof.charts.shapes import Headline
from workprof.core.errors import NotEnoughData
from workprof.core.question import parameters_of
from workprof.core.runs import StoredRun
from workprof.core.units import GB
from workprof.core.words import counted, label, label_text, listed, markdown_text
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.formats.measured import BENCHMARKS, CONFIGURATIONS
from workprof.memory.changes import Changes
from workprof.memory.findings import Finding
from workprof.memory.ledger import Ledger
from workprof.memory.ledger_settings import PROFILE, RESOURCES, TASK, LedgerPrices, judged_besides_memory
from workprof.memory.over_time import OverTime
from workprof.memory.questions import ASSESS, LEDGER, VERDICT
from workprof.memory.verdict import Verdict, VerdictSettings
from workprof.memory.what_if import WhatIfSettings
from workprof.nodes.questions import SEARCH
from workprof.profiles.fit import ProfileFit
from workprof.profiles.questions import FIT
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import CachedResult

SHOWN_FINDINGS = 5
SHOWN_ACTIONS = 4
CURRENCY = LedgerPrices().currency
ASKED = {
    "cut": ("content_cut", WhatIfSettings(times=CUT)),
    "nodes": ("dns", WhatIfSettings(node_bytes=NODE_GB * GB)),
}
"""A question of what if -> its icon and its settings."""
REQUESTED = {one.request for one in RESOURCES}
"""Without any of these nothing can be called wasted."""


def of_other_resources(visit: Visit, dataset: Dataset, columns: Columns) -> Ledger | None:
    """Return the ledger where memory cannot be judged and cores or GPUs can: made where that is quick, else as kept."""
    held = {one.column.name for one in columns if one.missing_share < 1}
    if not judged_besides_memory(held) or not missing_for_sizes(columns) or not dataset.finished_rows:
        return None
    compute = visit.workbench.ledger
    large = dataset.rows > over_time.MOST_RUNS_AT_ONCE
    result = compute.cached(dataset.hash).result if large else compute(dataset.hash)
    return result if result is not None and judged_resources(result) else None


def verdict(visit: Visit, dataset: Dataset) -> Verdict | None:
    """Return the verdict with its defaults, or show the way to it; None also where the trace cannot tell."""
    try:
        return None if _unfit(visit, dataset) else verdict_of(visit, dataset, VerdictSettings(), "home_verdict")
    except NotEnoughData as error:
        lacking(str(error))
        return None


def actions(result: Verdict, dataset: Dataset) -> None:
    """Show what to request from now on: the sentence, the first rows, and the way to all of them."""
    st.header("Do these things")
    st.markdown(f"**{markdown_text(sentence(result), 600)}**")
    plan: Parameters = {"memory_tab": VERDICT.tab}
    place = st.container(gap="small")
    price = _price() if any(row.saved > 0 for row in result.memory.rows) else 0.0
    with place:
        for at, deed in enumerate(deeds(result, SHOWN_ACTIONS, price, CURRENCY)):
            words = label_text(deed.what, 120)
            if deed.saves:
                words += f" **{label_text(deed.saves, 60)}**" if deed.row.saved > 0 else f" ({deed.saves})"
            found = {**plan, "memory_verdict_find": key_words(deed.row)[:MOST_WORDS]}
            cross_link.follow(Link(words, "memory", dataset.hash, found, f"counter_{at + 1}"), f"home_do_{at}")
    if st.button("Open the memory plan", type="primary", icon=":material/checklist:", key="home_verdict_link"):
        cross_link.go("memory", {datasets.PARAMETER: dataset.hash, **plan})


def _price() -> float:
    """Show the price of a GB·h, 0 = none, and return it."""
    return st.number_input(
        PRICE.format(CURRENCY),
        min_value=0.0,
        value=0.0,
        format="%g",
        key="home_price",
        bind="query-params",
        width=200,
        help="Shows what each row saves in money.",
    )


def next_steps(
    visit: Visit,
    dataset: Dataset,
    result: OverTime | None,
    names: Mapping[str, str],
    recommended: Verdict | None,
) -> None:
    """Show what to look at next: the biggest waste, and what breaks."""
    with st.container(horizontal=True):
        for words, what in steps_of_memory(result, names, recommended):
            page, icon = "memory", "warning"
            parameters: Parameters = {"memory_tab": VERDICT.tab}
            if what in ASKED:
                icon, asked = ASKED[what]
                parameters = links.parameters_of(VERDICT.name, dataset.hash, VerdictSettings(what_if=asked))
            if what == "waste" and result is not None:
                page, parameters = _of_waste(result, dataset)
                icon = "delete_sweep"
            cross_link.follow(Link(label_text(words, 200), page, dataset.hash, parameters, icon), f"home_next_{what}")


def _of_waste(result: OverTime, dataset: Dataset) -> tuple[str, Parameters]:
    """Return the page, and its parameters, that shows the row which leaves most unused with the same figure."""
    by, row = result.settings.by, result.rows[largest_named(result)]
    if by == PROFILE and row.startswith("profile "):
        used = parameters_of(FIT, clusterings.everywhere(dataset))
        return "profiles", {**used, "profiles_profile": row.removeprefix("profile ")}
    if by in (PROFILE, TASK):
        return "memory", {"memory_tab": ASSESS.tab}
    return "memory", {"memory_tab": LEDGER.tab, "memory_ledger_by": by}


def more(visit: Visit, dataset: Dataset, fit: ProfileFit | None, changed: Changes | None, *, found: bool) -> None:
    """Show what stands behind the answer, folded; `found` = the findings are shown already."""
    figures.fold("Compare", "home_compare", _compare, visit, dataset, changed)
    figures.fold("Steps", "home_steps", checklist, visit, dataset)
    if not found:
        figures.fold("Findings of every resource", "home_findings", findings, visit, dataset)
    if fit is not None:
        figures.fold("Profiles by size", "home_profiles", _sizes, visit, dataset, fit)
    figures.fold("Data", "home_data", _data, visit, dataset)


def _compare(visit: Visit, dataset: Dataset, changed: Changes | None) -> None:
    if changed is not None:
        since.periods(changed, dataset)
    compare.show(visit, dataset)


def _sizes(visit: Visit, dataset: Dataset, fit: ProfileFit) -> None:
    names = dict(enumerate(visit.workbench.profile_names(dataset.hash, fit.settings)[:-1]))
    figures.show(size_bars(fit, profile_names(fit) | names), key="home_sizes")


def _data(visit: Visit, dataset: Dataset) -> None:
    columns = visit.workbench.column_profiles(dataset.hash)
    figures.headline_row(trace_headlines(dataset, columns))
    chart = coverage_chart(visit.workbench.time_coverage(dataset.hash))
    if chart is not None:
        figures.show(chart, key="home_coverage")


def findings(visit: Visit, dataset: Dataset) -> None:
    """Show the costliest findings of the ledger and the way to it, or why there are none."""
    if not REQUESTED & {column.name for column in visit.workbench.columns(dataset.hash)}:
        st.markdown("The trace has no requests, so nothing can be called wasted.")
        return
    with st.spinner("Adding up what runs request and use…", show_time=True):
        result = visit.workbench.ledger(dataset.hash)
    st.markdown(f"**{markdown_text(ledger_sentence(result), 500)}**")
    list_findings(result, dataset)


def requests_to_change(result: Ledger, dataset: Dataset) -> None:
    """Show the costliest findings that change a request; where none does, the costliest of all."""
    found = changing_findings(result)
    st.header("Do these things" if found else "No request to change")
    list_findings(result, dataset, found)


def list_findings(result: Ledger, dataset: Dataset, found: Sequence[Finding] = ()) -> None:
    """Show the costliest findings, of all or of some, and the way to the ledger."""
    shown = first_findings(result, SHOWN_FINDINGS, found)
    st.markdown("\n".join(f"1. {markdown_text(words, 400)}" for words in shown))
    more = len(result.findings) - len(shown)
    ledger = {"memory_tab": LEDGER.tab}
    words = f"The ledger, with {counted(more, 'more finding')}" if more > 0 else "The ledger"
    cross_link.follow(Link(words, "memory", dataset.hash, ledger, "receipt_long"), "home_ledger")


def _unfit(visit: Visit, dataset: Dataset) -> str:
    """Return why the trace cannot have a verdict; '' = it can."""
    if none_ended(visit, dataset):
        return "no run has finished"
    missing = missing_for_sizes(visit.workbench.column_profiles(dataset.hash))
    return f"the trace has no {listed([label(name) for name in missing])}" if missing else ""


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
    """Show the steps, the requests among them."""
    used = clusterings.everywhere(dataset)
    profiles = visit.workbench.profiles.cached(dataset.hash, used)
    _show(Step(DONE, f"Data: {counted(dataset.finished_rows, 'finished run')} ready", "data", "Inspect the data"))
    if profiles.result is None and profiles.refusal:
        _show(Step(UNFIT, f"Profiles: {markdown_text(profiles.refusal, 300)}", "profiles", "What is missing"))
    elif profiles.result is None:
        running = profiles.job is not None and profiles.job.active
        words = "Profiles: being computed now" if running else "Profiles: not computed yet"
        _show(Step(RUNNING if running else NEXT, words, "profiles", "Find profiles"))
    else:
        whose = "with the default settings" if used == ProfileSettings() else "with the settings of your choice"
        result = f"Profiles: {counted(profiles.result.scores.n_clusters, 'profile')} found {whose}"
        _show(Step(DONE, result, "profiles", "Open the profiles"))
    _show(_classifier(visit, dataset, profiles))
    _sizes_step(visit, dataset)


def _classifier(visit: Visit, dataset: Dataset, profiles: CachedResult[ProfileFit]) -> Step:
    result = visit.workbench.forecaster.cached(dataset.hash, ForecasterSettings())
    if result.result is not None:
        model = result.result.classifier
        words = f"Classifier: trained on {counted(model.n_rows, 'run')} with the default settings"
        return Step(DONE, words, "classify", "Classify a job")
    if result.job is not None and result.job.active:
        return Step(RUNNING, "Classifier: being trained now", "classify", "Show progress")
    if profiles.result is None and profiles.refusal:
        return Step(UNFIT, "Classifier: it learns profiles, and there can be none", "classify", "What is missing")
    words = "Classifier: not trained yet; it predicts what a job will need before it runs"
    return Step(NEXT, words, "classify", "Train classifier")


def _sizes_step(visit: Visit, dataset: Dataset) -> None:
    """Show how far the verdict is; what the trace lacks for it is named."""
    unfit = _unfit(visit, dataset)
    if unfit:
        _show(Step(UNFIT, markdown_text(f"Requests: {unfit}", 200), "memory", "What is missing"))
        return
    result = visit.workbench.verdict.cached(dataset.hash, VerdictSettings())
    if result.result is None:
        running = result.job is not None and result.job.active
        words = f"Requests: {'being computed now' if running else 'not computed yet'}"
        _show(Step(RUNNING if running else NEXT, words, "memory", "Memory"))
        return
    _show(Step(DONE, markdown_text(f"Requests: {sentence(result.result)}", 200), "memory", "Open the plan"))


def _show(step: Step) -> None:
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"{step.state} · {step.words}", width="stretch")
        st.page_link(f"pages/{step.page}.py", label=step.link, icon=":material/arrow_forward:")


NODES = "Which node is fastest for which work, and which has degraded."
PHASES = "What phases a run has, and which workload it is."


def measured(visit: Visit, dataset: Dataset) -> None:
    """Show what the dataset holds, and the next step."""
    shown = _figures_of(visit, dataset)
    ranked = visit.workbench.node_ranking.cached(dataset.hash).result if dataset.kind == BENCHMARKS else None
    held = measured_sentence(dataset, shown)
    figures.headline(markdown_text(decision_sentence(ranked) if ranked is not None else held, 600))
    if ranked is not None:
        st.caption(markdown_text(held, 400))
    figures.headline_row(shown)
    with st.container(horizontal=True):
        if dataset.kind == CONFIGURATIONS:
            link = Link("Search for the cheapest", "nodes", dataset.hash, {"nodes_tab": SEARCH.tab}, "travel_explore")
            cross_link.follow(link, "home_search")
        elif dataset.kind == BENCHMARKS:
            st.page_link("pages/nodes.py", label="Rank the nodes", icon=":material/dns:", help=NODES)
        else:
            st.page_link("pages/phases.py", label="Show the phases", icon=":material/timeline:", help=PHASES)
        st.page_link("pages/data.py", label="Inspect the data", icon=":material/database:")


def _figures_of(visit: Visit, dataset: Dataset) -> tuple[Headline, ...]:
    columns = visit.workbench.column_profiles(dataset.hash)
    if dataset.kind == BENCHMARKS:
        return benchmark_headlines(dataset, columns)
    if dataset.kind == CONFIGURATIONS:
        return configuration_headlines(dataset, columns)
    runs = visit.workbench.phase_runs(dataset.hash)
    return telemetry_headlines(dataset, columns, len(runs.runs), len(runs.workloads))


SHOWN = 5


def recent(visit: Visit) -> None:
    """Show the newest saved results with the page that opens each, and the way to all of them, folded."""
    if visit.workbench.has_runs:
        figures.fold("Recent results", "home_recent", _recent, visit)


def _recent(visit: Visit) -> None:
    runs = visit.workbench.stored_runs()
    for position, run in enumerate(runs[:SHOWN]):
        _line(visit, run, position)
    st.page_link("pages/runs.py", label=f"All {counted(len(runs), 'result')}", icon=":material/history:")


def _line(visit: Visit, run: StoredRun, position: int) -> None:
    page = links.page_of(run.step)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(markdown_text(recent_line(run), 160), width="stretch")
        if st.button(f"Open on {page.capitalize()}", key=f"home_run_{position}", icon=":material/open_in_new:"):
            settings = visit.workbench.run_again(run.run).settings
            cross_link.go(page, links.parameters_of(run.step, run.dataset_hash, settings))
