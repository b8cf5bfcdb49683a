"""What every page shares: the gate, sidebar, header, and the panel that errors end in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from pages._frame import datasets, header, link, scope_bar
from pages._frame.errors import guard
from pages._frame.visit import Visit, open_home
from pages._login import login
from pages._parts import figures, prepared, running_work
from pages._tour import stops
from workprof.store.reports import Dataset
from workprof.workbench import JOBS

__all__ = ["Page", "run"]


@dataclass(frozen=True)
class Page:
    """A page's words and the kind of dataset that it is about."""

    title: str  # of the page
    question: str  # that it answers
    needs: str  # what it needs; shown where there is no data
    kind: str = JOBS  # 'jobs', 'benchmarks' or 'telemetry'; '' = any
    resets: bool = False  # whether it has settings that Reset sets back
    name: str = ""  # of its file and of what begins the names of its settings; '' = the title in small letters


def run(page: Page, body: Callable[[Visit, Dataset], None], empty: Callable[[Visit], None] | None = None) -> None:
    """Show a page: sidebar, header, then its body for the chosen dataset, or what to do without one.

    On the tour it is the page's stop instead.
    """
    _hand_over()
    login.require_login()  # once more: app.py has asked already, unless this file was reached without it
    if header.touring():
        stops.show(page.name or page.title.lower())
        return
    with guard():
        app_state = open_home()
        choice = datasets.choose(app_state.workbench, page.kind)
        work = st.sidebar.empty()
        renews = running_work.badge(app_state, work)
        figures.file_choices()
        visit = Visit(app_state, choice.dataset)
        if visit.readonly:
            st.sidebar.caption(":material/lock: Read-only: everything can be viewed, nothing changed.")
        name = page.name or page.title.lower()
        header.header(page.title, page.question, visit, resets=name if page.resets else "")
        if choice.dataset is not None:
            scope_bar.show(visit, choice.dataset)
        notices = st.container()
        try:
            _content(page, visit, choice, body, empty)
            link.complete()
            running_work.badge(app_state, work, renews)
        finally:  # the link is read while the page is drawn, and what it says stands above
            with notices:
                link.notice()


def _content(
    page: Page,
    visit: Visit,
    choice: datasets.Choice,
    body: Callable[[Visit, Dataset], None],
    empty: Callable[[Visit], None] | None,
) -> None:
    if choice.unknown:
        datasets.unknown(visit, choice.unknown)
    if choice.dataset is not None:
        datasets.notice(visit, choice.dataset)
        body(visit, choice.dataset)
        prepared.begin(visit, choice.dataset)
    elif empty is not None:
        empty(visit)
    else:
        datasets.empty_state(visit, page.needs, page.kind or JOBS)


def _hand_over() -> None:
    """Restart through app.py where Streamlit ran the page by itself.

    It does so for a deep link that is the first request of a cold server: it takes `pages/` for an app of the old kind
    until `st.navigation` has been called once. Calling it here would lose the page that was requested.
    """
    if not st.session_state.get("app"):
        PagesManager.uses_pages_directory = False
        st.session_state["app"] = True
        st.rerun()
