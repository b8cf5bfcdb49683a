"""Tables of a page: every cell and every header is shown as it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages._parts import terms
from workprof.charts.text import visible_table
from workprof.core.table import Column


def show(frame: pd.DataFrame | list[dict[str, Any]], **further: Any) -> Any:
    """Show a table as `st.dataframe` does and return what it returns."""
    return st.dataframe(visible_table(pd.DataFrame(frame)), **further)


def columns(declared: Sequence[Column]) -> dict[str, Any]:
    """Return the `column_config` of a declared table: headings, formats, help and the glossary's meaning of terms."""
    given = {}
    for one in declared:
        look = {"help": one.help, "width": one.width, "pinned": one.pinned, "format": one.form}
        known: dict[str, Any] = {name: value for name, value in look.items() if value}
        kind: Any = st.column_config.NumberColumn if one.form else st.column_config.Column
        if known or one.heading:
            given[one.name] = kind(one.heading or None, **known)
    return terms.columns([one.name for one in declared], given)


def edit(frame: pd.DataFrame, **further: Any) -> None:
    """Show a table with an editable column as `st.data_editor` does."""
    st.data_editor(visible_table(frame), **further)
