"""Home: what runs here, what does it waste, and what can be changed?"""

from __future__ import annotations

import time

import streamlit as st

from pages import _shell
from pages._frame import datasets
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._home import over_time, since, views
from pages._parts import clusterings, figures
from pages._tour import stops
from workprof.answers.home import as_of_words
from workprof.answers.ledger import ledger_answer, ledger_sentence
from workprof.answers.over_time import judged_sentence, memory_sentence, row_names
from workprof.charts.home import home_headlines, overview_sentence, unended_words
from workprof.charts.shapes import headlines
from workprof.core.words import markdown_text
from workprof.memory.realised import CLOCK
from workprof.store.reports import Dataset
from workprof.workbench import JOBS

PAGE = _shell.Page(
    "Cluster overview",
    "What runs here, what does it waste, and what can we change?",
    "",
    kind="",
    resets=True,
    name="home",
)

FIRST_STEPS = """
1. **Load a trace.** The sample comes with workprof; drop your own CSV, Parquet or JSON lines file on the Data page.
2. **Read the answer.** This page shows how much memory is requested, used and unused, by day and profile.
3. **Find profiles.** The Profiles page groups runs that behave alike and reports how distinct the groups are.
4. **Choose requests.** The Memory page recommends requests, with what they save and the kills to expect.
5. **Share it.** Every chart has its data, every table a CSV, every page a link that opens it as you left it.
"""


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the answer for the dataset, then what stands behind it, folded."""
    with guard():
        if dataset.kind == JOBS:
            _jobs(visit, dataset)
        else:
            views.measured(visit, dataset)
    with guard():
        views.recent(visit)


def _jobs(visit: Visit, dataset: Dataset) -> None:
    columns = visit.workbench.column_profiles(dataset.hash)
    used = clusterings.everywhere(dataset)
    fit = visit.workbench.profiles.cached(dataset.hash, used).result
    counts = visit.workbench.counts(dataset.hash)
    place = st.container()
    outcome, row = st.container(), st.container()
    controls, chart = st.empty(), st.container()
    with controls.container():
        settings = over_time.settings(visit, dataset)
    with place:
        result = None if settings is None else over_time.result(visit, dataset, settings, controls)
    names = {} if result is None else row_names(result, visit.workbench.profile_names(dataset.hash, used))
    other = views.of_other_resources(visit, dataset, columns)
    with outcome:
        held = overview_sentence(dataset, columns, counts)
        sentence = held if result is None else memory_sentence(result)
        figures.headline(markdown_text(sentence if other is None else ledger_sentence(other), 400))
        newest = max((one.maximum for one in columns if one.column.name in CLOCK and one.maximum > 0), default=0.0)
        scale = [] if other is None else [held]
        scale = scale if result is None else [judged_sentence(result, counts.runs, counts.users)]
        scale += [as_of_words(newest, time.time())] if newest else []
        st.caption(markdown_text(" ".join((*scale, *unended_words(counts, columns))), 600))
    with row:
        verdict = views.verdict(visit, dataset)
        shown = home_headlines(columns, result, verdict, counts) if other is None else headlines(ledger_answer(other))
        figures.headline_row(shown)
    left, right = chart.columns((3, 2), gap="medium") if result is not None and verdict is not None else (chart, chart)
    if verdict is not None:
        with right:
            views.actions(verdict, dataset)
    if other is not None:
        with chart:
            views.requests_to_change(other, dataset)
    if result is not None:
        with left:
            over_time.chart(result, names)
        over_time.cell(visit, dataset, result, names)
    changed = None if settings is None else since.show(visit, dataset, settings.by)
    views.next_steps(visit, dataset, result, names, verdict)
    views.more(visit, dataset, fit, changed, found=other is not None)


def empty(visit: Visit) -> None:
    """Show two buttons, the tour's, and a few words on the way."""
    st.markdown("Load a trace and see what runs on the cluster and what it wastes. Nothing leaves this machine.")
    with st.container(horizontal=True):
        datasets.sample_button(visit)
        datasets.upload_button(visit)
        stops.start_button()
    st.header("In 60 seconds")
    st.markdown(FIRST_STEPS)


_shell.run(PAGE, body, empty)
