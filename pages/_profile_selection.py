"""The map of the rows: a lasso or a list of profiles chooses rows, and a table shows the jobs behind them."""

from __future__ import annotations

import math

import streamlit as st

from pages import _figures
from pages._errors import guard
from pages._profile_charts import View
from workprof.charts.downloads import csv_bytes
from workprof.charts.profiles import profile_map
from workprof.charts.profiles.points import rows_of
from workprof.charts.theme import OUTLIERS

PLOT = "profiles_map_plot"
SELECTED = "profiles_selected_rows"
ROWS_A_PAGE = 50


@st.fragment
def selection(view: View) -> None:
    """Show the map and, below it, the jobs of the selection. The map itself never changes by selecting."""
    with guard():
        st.caption("Draw a lasso or a box around points, or choose profiles below: the jobs behind them are listed.")
        _figures.show(profile_map(view.fit, view.names), key=PLOT, on_select=_keep_selection)
        labels = [card.profile for card in view.fit.cards]
        picked = st.multiselect(
            "Profiles (instead of a lasso, also by keyboard)",
            sorted(labels, key=lambda profile: (profile == OUTLIERS, profile)),
            format_func=lambda profile: view.names[profile],
            key="profiles_picked",
            persist_state="session",
        )
        known = set(view.fit.row_ids.tolist())
        drawn = tuple(row for row in st.session_state.get(SELECTED, ()) if row in known)
        _jobs(view, rows_of(view.fit, picked) if picked else drawn)


def _keep_selection() -> None:
    """Copy the row ids of the selection to a key of ours: the chart's own state is lost when its figure changes."""
    points = st.session_state[PLOT]["selection"]["points"]
    found = (point.get("customdata") for point in points)
    ids = (value[0] if isinstance(value, (list, tuple)) else value for value in found if value is not None)
    st.session_state[SELECTED] = tuple(dict.fromkeys(int(value) for value in ids))


def _jobs(view: View, row_ids: tuple[int, ...]) -> None:
    st.markdown(f"**{len(row_ids):,} rows selected**")
    if not row_ids:
        st.caption("Nothing is selected.")
        return
    pages = math.ceil(len(row_ids) / ROWS_A_PAGE)
    page = st.pagination(pages, key="profiles_jobs_page") if pages > 1 else 1
    shown = row_ids[(page - 1) * ROWS_A_PAGE : page * ROWS_A_PAGE]
    workbench, dataset = view.visit.workbench, view.dataset.hash
    st.dataframe(
        workbench.rows(dataset, shown),
        hide_index=True,
        key="profiles_jobs",
        alt=f"{len(shown)} of {len(row_ids)} selected jobs, page {page}",
    )
    st.download_button(
        f"CSV, all {len(row_ids):,} selected rows",
        data=lambda: csv_bytes(workbench.rows(dataset, row_ids)),
        file_name="selected-jobs.csv",
        mime="text/csv",
        on_click="ignore",
        key="profiles_jobs_csv",
        icon=":material/download:",
    )
