"""The jobs behind a selection of rows: a table a page at a time, and all of them as CSV."""

from __future__ import annotations

import math

import streamlit as st

from pages._parts import tables
from pages._profiles.charts import View
from workprof.charts.downloads import csv_bytes

ROWS_A_PAGE = 50


def jobs(view: View, row_ids: tuple[int, ...]) -> None:
    """Show how many rows are selected, and the jobs behind them."""
    st.markdown(f"**{len(row_ids):,} rows selected**")
    if not row_ids:
        st.caption("Nothing is selected.")
        return
    pages = math.ceil(len(row_ids) / ROWS_A_PAGE)
    page = st.pagination(pages, key="profiles_jobs_page", bind="query-params") if pages > 1 else 1
    shown = row_ids[(page - 1) * ROWS_A_PAGE : page * ROWS_A_PAGE]
    workbench, dataset = view.visit.workbench, view.dataset.hash
    tables.show(
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
