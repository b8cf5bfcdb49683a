"""Home: where am I, and what is the next step?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._frame import datasets
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._home import views
from pages._parts import figures
from pages._tour import stops
from workprof.charts.data import coverage_chart
from workprof.charts.home import home_headlines, overview_sentence, unended_words
from workprof.charts.profiles.overview import headlines, profile_names, size_bars
from workprof.charts.text import markdown_text
from workprof.memory.recommend import RecommendationSettings
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import JOBS

PAGE = _shell.Page("Workload profiles", "What runs on the cluster, and which kinds of jobs are there?", "", kind="")

FIRST_STEPS = """
1. **Load a trace.** The sample comes with workprof; your own CSV, Parquet or JSON lines file goes in on the Data page.
2. **Check it.** The Data page says how many rows were read, which were rejected and why, and what looks odd.
3. **Find profiles.** The Profiles page groups jobs that behave alike and tells how sure it is.
4. **Look closer.** Draw a lasso around points of the map to see the jobs behind them; give profiles names.
5. **Take it along.** Every chart has its numbers, every table a CSV, every page a link that opens it as you left it.
"""


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the dataset in figures, then the way through the pages, then what was computed last."""
    with guard():
        if dataset.kind == JOBS:
            _jobs(visit, dataset)
        else:
            views.measured(visit, dataset)
    with guard():
        views.recent(visit)
    stops.start_button()


def _jobs(visit: Visit, dataset: Dataset) -> None:
    columns = visit.workbench.column_profiles(dataset.hash)
    fit = visit.workbench.profiles.cached(dataset.hash, ProfileSettings()).result
    recommendation = visit.workbench.recommendation.cached(dataset.hash, RecommendationSettings()).result
    counts = visit.workbench.counts(dataset.hash)
    st.markdown(f"**{markdown_text(overview_sentence(dataset, columns, counts), 400)}**")
    for words in unended_words(counts):
        st.caption(markdown_text(words, 300))
    figures.headline_row(home_headlines(dataset, columns, fit, recommendation))
    views.findings(visit, dataset)
    st.header("Steps")
    views.checklist(visit, dataset)
    if fit is not None:
        _profiles(visit, dataset, fit)
        return
    chart = coverage_chart(visit.workbench.time_coverage(dataset.hash))
    if chart is not None:
        st.header("When they ran")
        figures.show(chart, key="home_coverage")


def _profiles(visit: Visit, dataset: Dataset, fit: ProfileFit) -> None:
    st.header("Profiles at a glance")
    figures.headline_row(headlines(fit)[:5])
    notes = visit.workbench.profile_notes(dataset.hash, ProfileSettings())
    figures.show(size_bars(fit, profile_names(fit, notes)), key="home_sizes")


def empty(visit: Visit) -> None:
    """Show two buttons, the tour's, and a few words on the way."""
    st.markdown("Load a trace and see in two clicks which kinds of jobs it holds. Nothing leaves this machine.")
    with st.container(horizontal=True):
        datasets.sample_button(visit)
        datasets.upload_button()
        stops.start_button()
    st.header("In 60 seconds")
    st.markdown(FIRST_STEPS)


_shell.run(PAGE, body, empty)
