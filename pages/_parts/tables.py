"""Tables of a page: every cell and every header is shown as it is written."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from workprof.charts.text import visible_table


def show(frame: pd.DataFrame | list[dict[str, Any]], **further: Any) -> Any:
    """Show a table as `st.dataframe` does and return what it returns."""
    return st.dataframe(visible_table(pd.DataFrame(frame)), **further)


def edit(frame: pd.DataFrame, **further: Any) -> None:
    """Show a table with an editable column as `st.data_editor` does."""
    st.data_editor(visible_table(frame), **further)
