"""The head of every page, the menu, and the way back to the defaults."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._frame import copy_link, datasets, link, look, scope_bar
from pages._frame.cross_link import prefixes_of
from pages._frame.visit import Visit
from workprof.core.words import markdown_text

WORK = "work_"
"""How parameters begin that hold running work of this visitor: they outlive a reload, and are nobody else's."""


def header(title: str, question: str, visit: Visit, *, resets: str = "") -> None:
    """Show one row: the title, whose help is the page's question, dataset, scope, link, and Reset of a page's name."""
    dataset = visit.dataset
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=look.HEADER):
        st.title(title, help=question, width="stretch")
        if dataset is not None:
            st.badge(markdown_text(datasets.title(dataset), 80), icon=":material/database:", color="gray")
            if dataset.mode == "faithful":
                published_flag()
            scope_bar.button(visit, dataset)
            copy_link.button(dataset.hash, but=WORK)
            if resets:
                _reset(resets)


def published_flag() -> None:
    """Show the flag of everything that follows the published definitions."""
    st.badge(
        "published definitions", icon=":material/history_edu:", color="orange", help="Faithful mode: as published."
    )


@dataclass(frozen=True)
class Entry:
    """A page of the menu; its file in `pages/` and its address have the same name."""

    name: str
    icon: str
    words: str


NAME = "workprof"
DEMO = "demo"
TOUR = {DEMO: "1"}
"""What makes the address of a page that of its stop of the tour."""

HOME = Entry("home", "home", "The cluster at a glance: what runs, what it wastes, what to change.")
MENU = {
    "Profile": (
        Entry("data", "database", "Import a trace and check it."),
        Entry("profiles", "bubble_chart", "Groups of runs that behave alike."),
        Entry("sweep", "tune", "Compare settings of the clustering."),
        Entry("classify", "label", "Predict a job's profile, duration and memory before it runs."),
    ),
    "Plan": (
        Entry("memory", "memory", "Requested and used memory, and better requests."),
        Entry("durations", "timer", "How long runs take, and how well that is predicted."),
    ),
    "Machines": (
        Entry("nodes", "dns", "Which node is fastest for which work, and which has degraded."),
        Entry("phases", "timeline", "The phases of a run, and which workload it is."),
    ),
    "Share": (
        Entry("report", "description", "The results as one offline file."),
        Entry("runs", "history", "Computed results: reopen, compare, reproduce."),
    ),
    "Help": (Entry("help", "help", "Glossary, methods and formats."),),
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
    with st.sidebar.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{NAME}**", width="content")
        if st.button("Start the tour", key="menu_tour", type="tertiary", icon=":material/slideshow:"):
            st.switch_page("pages/home.py", query_params=TOUR)
    for section, members in sections.items():
        if section and section.lower() != members[0].url_path:
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


def _reset(page: str) -> None:
    """Show the button that sets every control of a page back."""
    st.button(
        "Reset",
        key=f"{page}_reset",
        icon=":material/restart_alt:",
        type="tertiary",
        help="Sets all settings of this page back to their defaults; dataset and tab stay.",
        on_click=_back,
        args=(page,),
    )


def _back(page: str) -> None:
    """Set the controls back and drop what the page wrote into the address by hand (a callback)."""
    tab = f"{page}_tab"
    bound = defaults()
    for name, value in bound.items():
        if name.startswith(prefixes_of(page)) and name != tab and st.session_state.get(name) != value:
            st.session_state[name] = value
    for name in [name for name in st.query_params if name.startswith(prefixes_of(page))]:
        if name not in bound and name != tab:
            del st.query_params[name]
    context = get_script_run_ctx()
    if context is not None:  # else a control that is not on the page now would start from the link's value later
        context.session_state._state.query_params.set_initial_query_params_from_current()


def defaults() -> dict[str, Any]:
    """Return name -> default of every control of this session that stands in the address.

    Streamlit keeps them and has no public way to ask: a page would have to repeat the default of every control here.
    """
    context = get_script_run_ctx()
    if context is None:
        return {}
    state = context.session_state._state
    names = state._key_id_mapper.id_key_mapping
    return {
        names[widget]: about.deserializer(None)
        for widget, about in state._new_widget_state.widget_metadata.items()
        if about.bind == "query-params" and widget in names
    }
