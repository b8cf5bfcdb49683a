"""The views of a sweep: its settings, their scores from all sides, two of them side by side."""

import math
from dataclasses import dataclass

import streamlit as st

from pages._frame import cross_link
from pages._frame.cross_link import Link
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import figures, tables
from workprof.answers.sweep import (
    PUBLISHED_MEANS,
    REFERENCE,
    SCORES,
    comparison_answer,
    left_out_table,
    ranked,
    run_name,
    runner_up,
    runs_table,
    summary_sentence,
    summary_table,
)
from workprof.charts.sweep import (
    Names,
    moved_jobs,
    overlap_heatmap,
    parallel_coordinates,
    score_heatmap,
    target_bars,
)
from workprof.core.question import parameters_of
from workprof.inputs import safe_name
from workprof.profiles.questions import FIT
from workprof.profiles.sweep import RunComparison, SweepRun
from workprof.store.reports import Dataset
from workprof.workbench.sweeps import SweepState


@dataclass(frozen=True)
class View:
    """A sweep on the page: where it comes from and how it stands."""

    visit: Visit
    dataset: Dataset
    state: SweepState


TABLE = "sweep_runs"


def runs(view: View) -> None:
    """Show the runs as a table that sorts by a click on a column; rows can be selected."""
    state, order = view.state, ranked(view.state.runs)
    table = runs_table(state.runs, state.best, state.chosen)
    st.caption(
        "Highest overall score first. A click on a column sorts; select one setting to open it, or two to compare."
    )
    picked = tables.answer(
        table,
        key=TABLE,
        alt=f"{len(order)} settings of the sweep with their scores",
        on_select="rerun",
        selection_mode="multi-row",
    )
    _selected(view, [order[row] for row in picked["selection"]["rows"] if row < len(order)])
    tables.csv(table.frame, f"{safe_name(view.dataset.name)}-sweep", "sweep_runs_csv", "Download CSV")
    left_out = left_out_table(state.results)
    if left_out.rows:
        st.markdown(f"**{left_out.title}**")
        tables.answer(left_out, key="sweep_left_out", alt="Sizes that were excluded and why")
    st.caption(REFERENCE)


def _selected(view: View, rows: list[int]) -> None:
    """Show what can be done with the selected settings."""
    if len(rows) == 2:
        first, second = (run_name(view.state.runs[row]) for row in rows)
        st.button(
            f"Compare {first} with {second}",
            key="sweep_compare",
            icon=":material/compare_arrows:",
            on_click=choose,
            args=(first, second),
        )
    elif len(rows) == 1:
        _open_in_profiles(view.dataset, view.state.runs[rows[0]], "the selected setting", "sweep_open_selected")


def open_best(dataset: Dataset, state: SweepState) -> None:
    """Show the way to the profiles of the chosen setting, where there is one."""
    if state.chosen >= 0:
        _open_in_profiles(dataset, state.runs[state.chosen], "the chosen setting", "sweep_open")


def score_map(view: View) -> None:
    """Show one score over the grid."""
    algorithms = list(dict.fromkeys(run.settings.algorithm for run in view.state.runs))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        score = st.selectbox(
            "Score",
            list(SCORES),
            format_func=lambda name: SCORES[name].label,
            help="  \n".join(f"{score.label}: {score.column.help}" for score in SCORES.values()),
            key="sweep_score",
            bind="query-params",
            width=300,
        )
        algorithm = algorithms[0]
        if len(algorithms) > 1:
            algorithm = st.segmented_control(
                "Algorithm",
                algorithms,
                default=algorithms[0],
                required=True,
                key="sweep_map_algorithm",
                bind="query-params",
            )
    chart = score_heatmap(view.state.runs, score, algorithm, view.state.chosen)
    figures.show(chart, key=f"sweep_map_{score}_{algorithm}")


def coordinates(view: View) -> None:
    """Show settings and scores of all runs at once."""
    figures.show(parallel_coordinates(view.state.runs, view.state.best), key="sweep_coordinates")


def summary(view: View) -> None:
    """Show Table IV."""
    table = summary_table(view.state.summary)
    st.markdown(f"**{summary_sentence(view.state.summary)}**")
    tables.answer(table, key="sweep_summary", alt="Each score over all settings")
    tables.csv(table.frame, f"{safe_name(view.dataset.name)}-sweep-summary", "sweep_summary_csv", "Download CSV")
    st.caption(PUBLISHED_MEANS)


def targets(view: View) -> None:
    """Show how the winner changes with the target."""
    figures.show(target_bars(view.state.winners, view.state.runs), key="sweep_targets")


TAB, TABS = "Compare two", "sweep_tab"
FIRST, SECOND = "sweep_before", "sweep_after"
ROWS_A_PAGE = 50


def choose(first: str, second: str) -> None:
    """Make two runs the ones that are compared and turn to them (for a button's `on_click`)."""
    st.session_state[FIRST], st.session_state[SECOND], st.query_params[TABS] = first, second, TAB


@st.fragment
def compare(view: View) -> None:
    """Show two selectors, and how the runs that they name differ."""
    names = tuple(map(run_name, view.state.runs))
    if len(names) < 2:
        st.info("Two finished settings are needed for a comparison.", icon=":material/info:")
        return
    with guard():
        best = max(view.state.best, 0)
        second_best = runner_up(view.state.runs, best)
        with st.container(horizontal=True):
            first = _pick("First setting", names, best, FIRST)
            second = _pick("Second setting", names, second_best, SECOND)
        comparison = view.visit.workbench.compare_sweep_runs(
            view.dataset.hash, view.state.settings, names.index(first), names.index(second)
        )
        figures.headline_row(comparison_answer(comparison, first, second).figures)
        called = _profiles_of(view, names.index(first)), _profiles_of(view, names.index(second))
        figures.show(overlap_heatmap(comparison, first, second, called), key=f"sweep_overlap_{first}_{second}")
        _moved(view, comparison, called)


def _profiles_of(view: View, run: int) -> tuple[str, ...]:
    """Return the names of the profiles of a setting, where the Profiles page has computed them."""
    return view.visit.workbench.profile_names(view.dataset.hash, view.state.runs[run].settings)


def _pick(words: str, names: tuple[str, ...], default: int, key: str) -> str:
    chosen: str = st.selectbox(words, names, index=default, key=key, bind="query-params")
    return chosen


def _moved(view: View, comparison: RunComparison, names: Names) -> None:
    ids = comparison.row_ids
    st.markdown(f"**Runs that changed group: {len(ids):,}**")
    if not len(ids):
        st.caption("Every run stayed with most of its group.")
        return
    pages = math.ceil(len(ids) / ROWS_A_PAGE)
    page = st.pagination(pages, key="sweep_moved_page", bind="query-params") if pages > 1 else 1
    shown = ids[(page - 1) * ROWS_A_PAGE : page * ROWS_A_PAGE].tolist()
    workbench, dataset = view.visit.workbench, view.dataset.hash
    tables.show(
        moved_jobs(workbench.rows(dataset, shown), comparison, names),
        key="sweep_moved",
        alt=f"{len(shown)} of {len(ids)} runs that changed group, page {page}",
    )
    every = lambda: moved_jobs(workbench.rows(dataset, ids.tolist()), comparison, names)  # noqa: E731
    tables.csv(every, "moved-jobs", "sweep_moved_csv", "Download CSV")


def _open_in_profiles(dataset: Dataset, run: SweepRun, name: str, key: str) -> None:
    """Show a link that opens the Profiles page with the settings of a run of the sweep."""
    meaning = "The Profiles page opens with these settings; the profiles are computed there."
    words = f"Open {name} in Profiles"
    link = Link(words, "profiles", dataset.hash, parameters_of(FIT, run.settings), "bubble_chart", meaning)
    cross_link.follow(link, key)
