"""The head of every page: its title, its question, the dataset with its flag, and the link that opens it again."""

from __future__ import annotations

import urllib.parse

import streamlit as st

from pages._frame import datasets
from workprof.charts.text import markdown_text
from workprof.store.reports import Dataset

WORK = "work_"
"""How parameters begin that hold running work of this visitor: they outlive a reload, and are nobody else's."""


def header(title: str, question: str, dataset: Dataset | None) -> None:
    """Show the title, the question that the page answers, and the dataset that it is about."""
    st.title(title)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(question, width="stretch")
        if dataset is not None:
            st.badge(markdown_text(datasets.title(dataset), 80), icon=":material/database:", color="gray")
            if dataset.mode == "faithful":
                published_flag()
            with st.container(width="content"):
                _copy_link(dataset)


def published_flag() -> None:
    """Show the flag of everything that follows the published definitions."""
    st.badge(
        "published definitions", icon=":material/history_edu:", color="orange", help="Faithful mode: as published."
    )


@st.fragment
def _copy_link(dataset: Dataset) -> None:
    """Show the address as it is when this is opened: every part of the page may have changed it by then."""
    with st.popover("Copy link", icon=":material/link:", key="shell_link", on_change="rerun") as popover:
        if popover.open:
            st.caption("Opens this dataset with these settings. The button at the right end of the line copies it.")
            named = (name for name in st.query_params if not name.startswith(WORK))
            parameters = dict.fromkeys((datasets.PARAMETER, *named))
            parameters = {name: st.query_params.get_all(name) for name in parameters}
            parameters[datasets.PARAMETER] = [dataset.hash]
            address = urllib.parse.urlencode(parameters, doseq=True)
            st.code(f"{st.context.url}?{address}", language=None, wrap_lines=True)
