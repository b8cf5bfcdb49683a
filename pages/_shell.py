"""What every page shares: sidebar, header, empty state, and the panel that errors end in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from pages import _datasets, _figures, _header, _login, _menu, _progress, _tour
from pages._errors import guard
from pages._house import SAMPLES, House, open_house
from workprof.charts.text import markdown_text
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, WORDS, Workbench

DATA_PAGE = "pages/data.py"
READONLY = "This server is read-only."


@dataclass(frozen=True)
class Visit:
    """One run of a page: the open home, and the dataset that the page is about (None where none is needed or there)."""

    house: House
    dataset: Dataset | None

    @property
    def workbench(self) -> Workbench:
        """The open workbench."""
        return self.house.workbench

    @property
    def readonly(self) -> bool:
        """Whether changes are refused."""
        return self.house.settings.readonly

    @property
    def refusal(self) -> str | None:
        """Why changes are refused, for the help of a disabled control; None where they are not."""
        return READONLY if self.readonly else None


@dataclass(frozen=True)
class Page:
    """A page's words and the kind of dataset that it is about.

    Attributes:
        title: of the page.
        question: that it answers.
        needs: what it needs; shown where there is no data.
        kind: 'jobs', 'benchmarks' or 'telemetry'; '' = any.
    """

    title: str
    question: str
    needs: str
    kind: str = JOBS


def run(page: Page, body: Callable[[Visit, Dataset], None], empty: Callable[[Visit], None] | None = None) -> None:
    """Show a page: sidebar, header, then its body for the chosen dataset, or what to do without one.

    On the tour it is the page's stop instead.
    """
    _hand_over()
    _login.gate()  # once more: app.py has asked already, unless this file was reached without it
    if _menu.touring():
        _tour.show(page.title.lower())
        return
    with guard():
        house = open_house()
        choice = _datasets.choose(house.workbench.datasets(), page.kind)
        _progress.badge(house)
        _figures.image_format_choice()
        visit = Visit(house, choice.dataset)
        if visit.readonly:
            st.sidebar.caption(":material/lock: Read-only: everything can be looked at, nothing changed.")
        _header.header(page.title, page.question, choice.dataset)
        if choice.unknown:
            _unknown(choice.unknown)
        if choice.dataset is not None:
            body(visit, choice.dataset)
        elif empty is not None:
            empty(visit)
        else:
            empty_state(visit, page.needs, page.kind or JOBS)


def _hand_over() -> None:
    """Restart through app.py where Streamlit ran the page by itself.

    It does so for a deep link that is the first request of a cold server: it takes `pages/` for an app of the old kind
    until `st.navigation` has been called once. Calling it here would lose the page that was asked for.
    """
    if not st.session_state.get("app"):
        PagesManager.uses_pages_directory = False
        st.session_state["app"] = True
        st.rerun()


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
        _datasets.select(report.hash, kind)
        st.rerun()


def _unknown(asked: str) -> None:
    st.warning(
        f"This link is about dataset **{markdown_text(asked, 40)}**, which this home folder does not have. "
        "Load that file, or choose another dataset in the sidebar.",
        icon=":material/link_off:",
    )
