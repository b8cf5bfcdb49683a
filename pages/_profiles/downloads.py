"""What can be taken away of a clustering: labels, summary, model card."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._parts import figures
from pages._profiles.charts import View
from workprof.charts.downloads import csv_bytes, labels_table, model_card, parquet_bytes, summary_table
from workprof.inputs import safe_name


def take_away(view: View) -> None:
    """Show the downloads, and the summary that one of them holds."""
    fit, names, stem = view.fit, view.names, f"{safe_name(view.dataset.name)}-profiles"
    summary = summary_table(fit, names)
    with st.container(horizontal=True):
        st.download_button(
            f"Labels of all {fit.scores.n_rows:,} rows (Parquet)",
            data=lambda: parquet_bytes(labels_table(fit, names)),
            file_name=f"{stem}-labels.parquet",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            f"Summary of {len(summary)} groups (CSV)",
            data=partial(csv_bytes, summary),
            file_name=f"{stem}-summary.csv",
            mime="text/csv",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            "Model card (JSON)",
            data=partial(model_card, fit, view.dataset, names),
            file_name=f"{stem}-card.json",
            mime="application/json",
            on_click="ignore",
            icon=":material/download:",
        )
    figures.table(summary, f"{stem}-table", key="profiles_summary", alt="One line per profile")
