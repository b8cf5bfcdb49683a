"""Bins of one task or one profile: searched or set by hand, with saving and risk at once."""

from __future__ import annotations

import streamlit as st

from pages._frame import header
from pages._memory import asking, bin_views, edge_form, profile_bins, profile_scope
from pages._memory.asking import Asked
from pages._parts import figures, forms
from workprof.charts.memory.bins import bin_headlines
from workprof.charts.memory.plans import bins_scenario
from workprof.memory.bin_search import COUNT, PINNED, STRIDE, BinSettings, faithful_bins
from workprof.memory.questions import BINS

PUBLISHED = ("weight", "top", "search", "headroom", "step_bytes")
MAIN = ("k", "weight", "top", "search", "headroom", "step_bytes", "edges_bytes")


def bins(asked: Asked) -> None:
    """Show the controls, the effect of the edges, and what more bins would bring."""
    if asking.needs_requests(asked):
        return
    scope = profile_scope.chosen(asked)
    settings = forms.settings(
        asked.visit, asked.dataset, BINS, MAIN, given=asked.shared, own={"edges_bytes": edge_form.typed}
    )
    if settings.search == STRIDE:
        _published(settings)
    if scope is None:
        _of_task(asked, settings)
    else:
        profile_bins.profile_bins(asked, scope, settings)


def _published(settings: BinSettings) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        header.published_flag()
        st.caption("Stride search, as published; it counts runs, pins the top edge and has no headroom.")
        if (settings.weight, settings.top) != (COUNT, PINNED):
            st.button("All as published", key="memory_published", on_click=_as_published)


def _as_published() -> None:
    """Set the controls to the thesis' settings (a callback)."""
    published = faithful_bins()
    for leaf in BINS.leaves:
        if leaf.path in PUBLISHED:
            st.session_state[leaf.key(BINS.page)] = getattr(published, leaf.path)


def _of_task(asked: Asked, settings: BinSettings) -> None:
    result = asked.workbench.bins(asked.dataset.hash, settings)
    figures.headline_row(bin_headlines(result))
    bin_views.edges(asked, result, "", lambda name: bins_scenario(result, asked.dataset, name))
    bin_views.improvement(asked.workbench.improvement(asked.dataset.hash, settings), result)
