"""The tour of `?demo=1`: the address of every page then shows that page's stop, without any form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages._frame import cross_link, datasets
from pages._frame.errors import guard, refused
from pages._frame.header import TOUR
from pages._frame.visit import open_home
from workprof.core.words import markdown_text

if TYPE_CHECKING:
    from workprof.report.tour import Stop


def show(page: str) -> None:
    """Show the stop of a page (its name in the menu); of a page without one, the first stop."""
    from pages._tour import prediction, preparation, slide  # noqa: PLC0415  heavy: every chart there is
    from workprof.report.tour import place_of, stops_of  # noqa: PLC0415  heavy

    with guard():
        app_state = open_home()
        ready = preparation.ready(app_state)
        if ready is None:
            return
        stops, dataset = stops_of(app_state.workbench, ready.hash), ready.hash
        if not stops:
            refused(f"{markdown_text(ready.name)} has no requests, no use of memory and no profiles to tour.")
            return
        place = place_of(page, stops)
        stop = stops[place]
        if place >= len(stops) // 2:
            preparation.ahead(app_state, ready)
        _steps(stops, place, dataset)
        with guard():
            if stop.page == "memory":
                slide.traded(app_state, dataset)
                return
            with st.spinner("Computing…", show_time=True):
                content = stop.make(app_state.workbench, dataset)
            slide.show(stop.page, content)
            if stop.page == "classify":
                prediction.live(app_state, dataset)
            if stop.page == "report":
                slide.files(app_state, ready)


def start_button() -> None:
    """Show the button that begins the tour."""
    if st.button(
        "Start the tour", icon=":material/slideshow:", help="Findings on this trace, stop by stop; nothing to type."
    ):
        st.switch_page("pages/home.py", query_params=TOUR)


def _steps(stops: tuple[Stop, ...], place: int, dataset: str) -> None:
    """Show where the tour is, the ways back and on, and the way out."""
    with st.container(horizontal=True, vertical_alignment="center"):
        back, on = (stops[at] if 0 <= at < len(stops) else None for at in (place - 1, place + 1))
        _step("Previous", back, ":material/arrow_back:", "Left", dataset)
        _step("Next", on, ":material/arrow_forward:", "Right", dataset)
        st.markdown(f"**{place + 1} of {len(stops)} · {stops[place].title}**", width="stretch")
        leave = not st.context.is_embedded and st.button(
            "Leave the tour", icon=":material/close:", key="tour_leave", help="To this page with all its controls."
        )
    if leave:
        cross_link.go(stops[place].page, {datasets.PARAMETER: dataset})


def _step(words: str, stop: Stop | None, icon: str, key: str, dataset: str) -> None:
    """Show the button to a neighbour. It has no help: with one it is drawn twice, and a key would press both."""
    clicked = st.button(
        f"{words}: {stop.title}" if stop else words,
        icon=icon,
        key=f"tour_{words.lower()}",
        type="primary" if words == "Next" else "secondary",
        disabled=stop is None,
        shortcut=key,
    )
    if clicked and stop is not None:
        st.switch_page(f"pages/{stop.page}.py", query_params={**TOUR, datasets.PARAMETER: dataset})
