"""What all views of the Nodes page share: which runs of which nodes count, the aspects' weights, other datasets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages._frame import link
from pages._frame.visit import Visit
from pages._memory import scope
from pages._parts import forms
from pages._parts.controls import choice
from workprof.charts.text import markdown_text
from workprof.core.question import Question
from workprof.core.units import format_share
from workprof.nodes.questions import ADVICE, PAGE, QUESTIONS, RANK
from workprof.nodes.selection import RankSettings
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

TAB, PRICES = "nodes_tab", "nodes_prices"
WEIGHTS, OF_JOBS, OWN = "nodes_weights", "of the jobs", "own"
LONGEST_NOTE = 400


@dataclass(frozen=True)
class PageContext:
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


def context(visit: Visit, dataset: Dataset) -> PageContext:
    """Show the shared controls and return what was chosen."""
    if st.query_params.get(TAB) == ADVICE.tab and "weights" in st.query_params:  # a link from a shell
        st.query_params[WEIGHTS] = OWN
    forms.arrive(PAGE, QUESTIONS)
    names = visit.workbench.node_names(dataset.hash)
    own = {"nodes": lambda: forms.control(RANK.leaf("nodes"), PAGE, names)}
    settings = forms.settings(visit, dataset, RANK, ("weights",), own=own)
    shares = ", ".join(f"{name} {format_share(share)}" for name, share in settings.shares.items() if share > 0)
    st.caption(f"Weights: {markdown_text(shares, 200)}.")
    return PageContext(visit, dataset, settings)


def other_dataset(question: Question[Any, Any], path: str, datasets: Iterable[Dataset], first: str = "") -> str:
    """Show a choice among datasets and return the hash of the chosen one; '' = the first choice, if that is a word.

    Args:
        question: asked of both datasets.
        path: of the setting that names the other one; a link may give its hash.
        datasets: to choose from.
        first: what stands for none of them; '' = one is always chosen.
    """
    leaf = question.leaf(path)
    key, hashes = leaf.key(PAGE), {f"{one.name} ({one.hash[:8]})": one.hash for one in datasets}
    wanted = str(st.session_state.get(key) or link.read(key, str, ""))
    named = next((label for label, own in hashes.items() if own == wanted), "")
    if named:
        scope.take(key, named)
    chosen = choice(
        leaf.about.label or leaf.name.capitalize(), key, (*([first] if first else []), *hashes), leaf.about.help
    )
    return hashes.get(chosen, "")


def notes(messages: Iterable[str]) -> None:
    """Show what a reader must know."""
    for message in messages:
        sentence = markdown_text(f"{message[:1].upper()}{message[1:]}", LONGEST_NOTE)
        st.info(f"{sentence}.", icon=":material/info:")
