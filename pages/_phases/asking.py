"""What the Phases page is about: the run, the counters, and the settings that all its views share."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages._frame.visit import Visit
from pages._parts.controls import choice
from pages._phases import settings
from workprof.charts.text import counted, visible
from workprof.phases.library import LibrarySettings
from workprof.phases.runs import RunLine, RunList
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

TAB, RUN, COUNTERS = "phases_tab", "phases_run", "phases_counters"
FROM, TO, OWN, OWN_OF = "phases_from", "phases_to", "phases_own", "phases_own_of"
NOT_COUNTERS = ("workload", "run", "t", "status")
SHOWN = 6
MOST_SHOWN = 24


@dataclass(frozen=True)
class Asked:
    """What the page is about.

    Attributes:
        visit: this run of the page.
        dataset: looked at.
        runs: that it holds.
        line: the chosen run.
        counters: chosen to be shown; () = those that move most.
        library: settings of phases, fingerprints and matches.
    """

    visit: Visit
    dataset: Dataset
    runs: RunList
    line: RunLine
    counters: tuple[str, ...]
    library: LibrarySettings

    @property
    def workbench(self) -> Workbench:
        """The open workbench."""
        return self.visit.workbench


def asked(visit: Visit, dataset: Dataset) -> Asked | None:
    """Show the shared controls and return what was chosen; None (and why) where there is no run."""
    with st.spinner("Reading the runs…"):
        runs = visit.workbench.phase_runs(dataset.hash)
    if not runs.runs:
        st.info("This dataset holds no run.", icon=":material/info:")
        return None
    with st.grid(min_column_width=260, gap="small"):
        line = _run(runs)
        counters = _counters(visit, dataset)
    library = settings.library(visit, dataset)
    return Asked(visit, dataset, runs, line, counters, library)


def counter_columns(visit: Visit, dataset: Dataset) -> tuple[str, ...]:
    """Return the counters that a dataset has."""
    columns = visit.workbench.columns(dataset.hash)
    return tuple(one.name for one in columns if one.numeric and not one.truth and one.name not in NOT_COUNTERS)


def _run(runs: RunList) -> RunLine:
    lines = {line.name: line for line in runs.runs}
    chosen: str = st.selectbox(
        "Run",
        list(lines),
        format_func=visible,
        key=RUN,
        bind="query-params",
        on_change=fresh,
        help=f"{counted(len(lines), 'run')} of {counted(len(runs.workloads), 'workload')}, as workload/run.",
    )
    line = lines[chosen]
    if line.status in ("short", "failed"):
        st.caption(f":material/warning: This recording is marked {line.status}.")
    return line


def fresh() -> None:
    """Forget window and boundaries of the run before (a callback)."""
    st.session_state.update({FROM: None, TO: None, OWN: ""})


def _counters(visit: Visit, dataset: Dataset) -> tuple[str, ...]:
    picked = st.multiselect(
        "Counters shown",
        counter_columns(visit, dataset),
        format_func=visible,
        key=COUNTERS,
        bind="query-params",
        max_selections=MOST_SHOWN,
        placeholder=f"The {SHOWN} that vary most; type to search",
        help="All counters of the set are searched for phases; these are drawn.",
    )
    return tuple(picked)


def measure(words: str, key: str) -> str:
    """Show the two distances and return the chosen one."""
    return choice(
        words,
        key,
        ("euclidean", "dtw"),
        "euclidean: mean distance of paired phases at the best offset. dtw: cheapest warping path, Manhattan between "
        "phases.",
    )
