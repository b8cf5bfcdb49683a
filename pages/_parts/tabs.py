"""The views of a page, as tabs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVarTuple

import streamlit as st

from pages._frame.errors import guard

Asked = TypeVarTuple("Asked")


def show_open(key: str, views: Mapping[str, Callable[[*Asked], None]], *asked: *Asked) -> None:
    """Show the views with the open one computed; an error in it leaves the others, and what follows, as they are."""
    tabs = st.tabs(list(views), key=key, on_change="rerun", bind="query-params")
    for tab, show in zip(tabs, views.values(), strict=True):
        if tab.open:
            with tab, guard():
                show(*asked)
