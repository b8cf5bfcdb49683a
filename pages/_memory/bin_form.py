"""How bins are looked for: the same controls under Bins and under Models."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages._frame import header
from pages._memory.asking import Asked
from pages._parts.controls import LARGEST_GB, choice, number
from workprof.memory.bin_search import COST, COUNT, FREE, MOST_BINS, PINNED, SEARCHES, STRIDE, TOPS, WEIGHTS
from workprof.memory.bin_search import BinSettings as Settings
from workprof.units import GB

EDGES = "memory_edges"
PERCENT = 100.0
MOST_HEADROOM = 300.0
NO_PRICE = "one price"
PUBLISHED = {
    "memory_weight": COUNT,
    "memory_top": PINNED,
    "memory_headroom": 0.0,
    "memory_step": 0.0,
    "memory_search": STRIDE,
}


@dataclass(frozen=True)
class _Words:
    """What is chosen from lists."""

    weight: str
    top: str
    search: str
    price: str


def settings(asked: Asked) -> Settings:
    """Show the controls and return the settings, the edges of one's own not among them."""
    k = st.slider("Bins", 1, MOST_BINS, 3, key="memory_k", bind="query-params", help="Number of sizes for this task.")
    with st.grid(min_column_width=160, gap="small"):
        words = _words(asked)
        meaning = "Free above its use for every run, in every bin."
        headroom = number("Headroom (%)", "memory_headroom", 5.0, (0.0, MOST_HEADROOM), meaning)
        meaning = "0 = any size. Edges are rounded up."
        step = number("Sizes in steps of (GB)", "memory_step", 0.0, (0.0, LARGEST_GB), meaning)
    if words.search == STRIDE:
        _published(words)
    return Settings(
        task=asked.task,
        k=int(k),
        weight=words.weight,
        top=words.top,
        step_bytes=step * GB,
        headroom=headroom / PERCENT,
        search=words.search,
        request_bytes=asked.request_bytes,
        price_column="" if words.price == NO_PRICE else words.price,
        target=asked.target,
    )


def _words(asked: Asked) -> _Words:
    weight = choice(
        "A run counts",
        "memory_weight",
        WEIGHTS,
        "count: as one. time: by its hours, which is what is paid for. cost: by hours times a price per run.",
        index=WEIGHTS.index(Settings.weight),
    )
    price = NO_PRICE
    if weight == COST:
        price = choice("Price column", "memory_price_column", (NO_PRICE, *_numeric(asked)), "Price per GB·h of a run.")
    top = choice(
        "Top edge",
        "memory_top",
        TOPS,
        "free: what the largest run needs. pinned: the largest request, as published.",
        index=TOPS.index(FREE),
    )
    search = choice(
        "Search",
        "memory_search",
        SEARCHES,
        "exact: the best edges there are. stride: the thesis' search over multiples of a stride.",
    )
    return _Words(weight, top, search, price)


def _published(words: _Words) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        header.published_flag()
        st.caption("Stride search, as published; it counts runs, pins the top edge and has no headroom.")
        if (words.weight, words.top) != (COUNT, PINNED):
            st.button("All as published", key="memory_published", on_click=_as_published)


def _as_published() -> None:
    st.session_state.update(PUBLISHED)


def _numeric(asked: Asked) -> tuple[str, ...]:
    columns = asked.workbench.columns(asked.dataset.hash)
    return tuple(column.name for column in columns if column.numeric and not column.truth)
