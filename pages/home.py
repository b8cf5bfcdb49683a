"""Home: where am I, and what is the next step?"""

from __future__ import annotations

import streamlit as st

from pages import _figures, _home_recent, _home_steps, _shell
from pages._errors import guard
from workprof.charts.overview import dataset_headlines, overview_sentence
from workprof.charts.profiles import headlines, profile_names, size_bars
from workprof.charts.text import markdown_text
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset

PAGE = _shell.Page("Workload profiles", "What runs on the cluster, and which kinds of jobs are there?", "")

TOUR = """
1. **Load a trace.** The sample comes with workprof; your own CSV, Parquet or JSON lines file goes in on the Data page.
2. **Check it.** The Data page says how many rows were read, which were rejected and why, and what looks odd.
3. **Find profiles.** The Profiles page groups jobs that behave alike and tells how sure it is.
4. **Look closer.** Draw a lasso around points of the map to see the jobs behind them; give profiles names.
5. **Take it along.** Every chart has its numbers, every table a CSV, every page a link that opens it as you left it.
"""


def body(visit: _shell.Visit, dataset: Dataset) -> None:
    """Show the dataset in figures, then the checklist."""
    columns = visit.workbench.column_profiles(dataset.hash)
    st.markdown(f"**{markdown_text(overview_sentence(dataset, columns), 400)}**")
    _figures.headline_row(dataset_headlines(dataset, columns))
    st.subheader("Steps")
    with guard():
        fit = _home_steps.checklist(visit, dataset)
        if fit is not None:
            _profiles(visit, dataset, fit)
    with guard():
        _home_recent.recent(visit)


def _profiles(visit: _shell.Visit, dataset: Dataset, fit: ProfileFit) -> None:
    st.subheader("Profiles at a glance")
    _figures.headline_row(headlines(fit)[:5])
    notes = visit.workbench.profile_notes(dataset.hash, ProfileSettings())
    _figures.show(size_bars(fit, profile_names(fit, notes)), key="home_sizes")


def empty(visit: _shell.Visit) -> None:
    """Show two buttons and a short tour."""
    st.markdown("Load a trace and see in two clicks which kinds of jobs it holds. Nothing leaves this machine.")
    with st.container(horizontal=True):
        _shell.sample_button(visit)
        _shell.upload_button()
    st.subheader("In 60 seconds")
    st.markdown(TOUR)


_shell.run(PAGE, body, empty)
