"""What all views of the Nodes page share: which runs of which nodes count, and how much each aspect weighs."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages._frame.errors import refused
from pages._frame.visit import Visit
from pages._nodes import price_form, weight_form
from pages._parts import forms
from pages._parts.controls import choice
from workprof.charts.text import visible
from workprof.nodes.questions import RANK
from workprof.nodes.ranking import Ranking
from workprof.nodes.selection import FLAGGED, KEEP_ALL, PERONA, RATIO, STRESSED, RankSettings
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

TAB, ONLY = "nodes_tab", "nodes_only"
NODE, JUDGED, OF_NODE = "nodes_node", "nodes_judged", "nodes_judged_of"
WINDOW = "From (UTC)", "To (UTC)"


@dataclass(frozen=True)
class Asked:
    """What the page is about.

    Attributes:
        visit: this run of the page.
        dataset: of benchmark runs.
        settings: of the ranking.
    """

    visit: Visit
    dataset: Dataset
    settings: RankSettings

    @property
    def workbench(self) -> Workbench:
        """The open workbench."""
        return self.visit.workbench


def asked(visit: Visit, dataset: Dataset) -> Asked:
    """Show the shared controls and return what was chosen."""
    weights = weight_form.weights()
    with st.expander(
        "Runs, nodes and prices", icon=":material/tune:", key="nodes_more", on_change="rerun", bind="query-params"
    ):
        with st.grid(min_column_width=220, gap="small"):
            score = choice(
                "Score",
                "nodes_score",
                (RATIO, PERONA),
                "ratio: ours, twice as fast is twice the score. perona: 10-norm of the code, as published; it ranks "
                "and does not measure.",
            )
            exclude = choice(
                "Runs left out",
                "nodes_exclude",
                (KEEP_ALL, STRESSED, FLAGGED),
                "none: all count, medians resist outliers. stressed: those labelled so. flagged: those that the "
                "detection of degradation flags.",
            )
            since, until = (forms.control(leaf, "nodes") for leaf in RANK.leaves if leaf.path in ("since_s", "until_s"))
        only = _only(visit, dataset)
        prices = price_form.typed()
    if since is not None and until is not None and since >= until:
        refused(f"{WINDOW[0]} is not before {WINDOW[1]}; the window's end is passed over")
        until = None
    settings = RankSettings(weights, score, exclude, since, until, only, prices)
    weight_form.told(settings)
    return Asked(visit, dataset, settings)


def ranking(asked: Asked) -> Ranking:
    """Return the ranking; the first time it is computed, which is said."""
    with st.spinner("Comparing the nodes…", show_time=True):
        return asked.workbench.node_ranking(asked.dataset.hash, asked.settings)


def open_runs(node: str) -> None:
    """Turn to the runs of one node (a callback)."""
    st.session_state.update({NODE: node, JUDGED: True, OF_NODE: True})
    st.query_params[TAB] = "Degradation"


def _only(visit: Visit, dataset: Dataset) -> tuple[str, ...]:
    return tuple(
        st.multiselect(
            "Nodes",
            visit.workbench.node_names(dataset.hash),
            format_func=visible,
            key=ONLY,
            bind="query-params",
            placeholder="all nodes",
            help="Ratios of two nodes do not depend on which others are chosen.",
        )
    )
