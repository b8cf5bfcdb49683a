"""The menu: every page with its section, icon and a word on it. A page stands here once it works."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages._frame import link


@dataclass(frozen=True)
class Entry:
    """A page of the menu; its file in `pages/` and its address have the same name."""

    name: str
    icon: str
    words: str


DEMO = "demo"
TOUR = {DEMO: "1"}
"""What makes the address of a page that of its stop of the tour."""

HOME = Entry("home", "home", "Where you are.")
MENU = {
    "Profile": (
        Entry("data", "database", "Load and inspect."),
        Entry("profiles", "bubble_chart", "Kinds of jobs."),
        Entry("classify", "label", "A job before it runs."),
        Entry("sweep", "tune", "Which settings suit."),
        Entry("durations", "timer", "How long, and how sure."),
        Entry("memory", "memory", "What sizes save and break."),
    ),
    "Detect": (
        Entry("nodes", "dns", "Which machine, and which has gone bad."),
        Entry("phases", "timeline", "What runs on a box."),
    ),
    "Help": (
        Entry("runs", "history", "What was computed."),
        Entry("report", "description", "One file to hand on."),
        Entry("help", "help", "Words, methods, limits."),
    ),
}


def pages() -> dict[str, list[StreamlitPage]]:
    """Return the pages by section, as `st.navigation` takes them."""
    return {"": [_page(HOME, first=True)]} | {
        section: [_page(entry) for entry in entries] for section, entries in MENU.items()
    }


def touring() -> bool:
    """Return whether this address is one of the tour, which has its own way from page to page."""
    return link.read(DEMO, link.one_of(TOUR[DEMO]), "") == TOUR[DEMO]


def show(sections: dict[str, list[StreamlitPage]]) -> None:
    """Show the menu in the sidebar; on the tour there is none."""
    if touring():
        return
    for section, members in sections.items():
        if section:
            st.sidebar.caption(section)
        for member in members:
            st.sidebar.page_link(member, width="stretch")


def _page(entry: Entry, *, first: bool = False) -> StreamlitPage:
    return st.Page(
        f"pages/{entry.name}.py",
        title=entry.name.capitalize(),
        icon=f":material/{entry.icon}:",
        url_path=None if first else entry.name,
        default=first,
        help=entry.words,
    )
