"""Buttons that save what a page shows."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from workprof.charts.downloads import csv_bytes


def csv(table: pd.DataFrame, name: str, key: str, words: str) -> None:
    """Show a button that saves a table."""
    st.download_button(
        words,
        data=lambda: csv_bytes(table),
        file_name=f"{name}.csv",
        mime="text/csv",
        on_click="ignore",
        key=key,
        icon=":material/download:",
    )
