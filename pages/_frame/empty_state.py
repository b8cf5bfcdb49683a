"""What a page shows where its data are missing: what it needs, the sample, the way to an own file."""

from __future__ import annotations

import streamlit as st

from pages._frame import datasets
from pages._frame.open_home import SAMPLES
from pages._frame.visit import Visit
from workprof.charts.text import markdown_text
from workprof.workbench import JOBS, WORDS

DATA_PAGE = "pages/data.py"
NOTHING = "Nothing is loaded yet."


def empty_state(visit: Visit, needs: str, kind: str = JOBS) -> None:
    """Show what a page needs, with one button that loads the sample and one link to the Data page."""
    loaded = bool(visit.workbench.datasets())
    if visit.dataset is not None:
        then = "Choose another dataset in the sidebar."
    else:
        then = f"No dataset of {WORDS[kind]} is loaded yet." if loaded else NOTHING
    st.info(f"{needs} {then}", icon=":material/info:")
    with st.container(horizontal=True):
        sample_button(visit, kind)
        upload_button()


def upload_button() -> None:
    """Show the button that leads to the Data page."""
    if st.button(
        "Upload", icon=":material/upload:", help="Your own CSV, Parquet or JSON lines file, on the Data page."
    ):
        st.switch_page(DATA_PAGE)


def sample_button(visit: Visit, kind: str = JOBS) -> None:
    """Show the button that loads the bundled sample and makes it the session's dataset."""
    sample = SAMPLES[kind]
    missing = not sample.path.is_file()
    reason = "The bundled sample is not installed." if missing else sample.words
    clicked = st.button(
        "Load sample",
        type="primary",
        icon=":material/science:",
        disabled=missing or visit.readonly,
        help=visit.refusal or reason,
    )
    if clicked:
        with st.spinner("Loading the sample…"):
            report = visit.workbench.ingest([sample.path])
        datasets.select(report.hash, kind)
        st.rerun()


def unknown(asked: str) -> None:
    """Show that a link is about data that this home does not have."""
    st.warning(
        f"This link is about dataset **{markdown_text(asked, 40)}**, which this home folder does not have. "
        "Load that file, or choose another dataset in the sidebar.",
        icon=":material/link_off:",
    )
