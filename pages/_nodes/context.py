"""What all views of the Nodes page share: the dataset, the settings of a ranking, other datasets."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from pages._frame import datasets, link
from pages._frame.errors import refused
from pages._frame.visit import Visit
from pages._memory import scope
from pages._parts import clusterings, forms, tabs
from pages._parts.controls import choice
from workprof.core.question import QUESTION_KEY, Question
from workprof.core.words import markdown_text
from workprof.nodes.questions import ADVICE, ALLOCATE, PAGE, QUESTIONS, RANK
from workprof.nodes.selection import RankSettings
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench

ALLOCATION = "nodes_allocation"
"""Fold of the view of groups, open where a link is about it."""
TAB, PRICES, PROFILE, CLUSTERING = "nodes_tab", "nodes_prices", "nodes_profile", "nodes_clustering"
WEIGHTS, OF_JOBS, OWN = "nodes_weights", "of the jobs", "own"
FORMER_ADVICE = "For a profile"
LONGEST_NOTE = 400


@dataclass(frozen=True)
class PageContext:
    """What the page is about."""

    visit: Visit  # this run of the page
    dataset: Dataset  # of benchmark runs

    @property
    def workbench(self) -> Workbench:
        """The open workbench."""
        return self.visit.workbench

    def ranking_settings(self) -> RankSettings:
        """Show the settings of a ranking and return them."""
        names = self.workbench.node_names(self.dataset.hash)
        own = {"nodes": lambda: forms.control(RANK.leaf("nodes"), PAGE, names), "weights": _weights}
        return forms.settings(self.visit, self.dataset, RANK, (), own=own)


def _weights() -> dict[str, float]:
    """Show a number for each aspect and return them; {} where all weigh alike."""
    leaf, weights = RANK.leaf("weights"), {}
    meaning = f"{leaf.about.help} Empty: {leaf.about.empty}."
    plain = replace(leaf.about, help=meaning, choices=(), empty="")
    for name in leaf.about.choices:
        about = replace(plain, label=f"Weight of {name}", key=f"{leaf.key(PAGE)}_{name}")
        weights[name] = float(forms.control(replace(leaf, kind=float, default=1.0, about=about), PAGE))
    if not any(weights.values()):
        refused("all weights are 0, so all weigh alike; give at least one a weight above 0")
    return {} if len(set(weights.values())) == 1 else weights


def arrive() -> None:
    """Take over what a link from a shell, or one of the former view for a profile, says."""
    for_profile = FORMER_ADVICE in st.query_params.get(TAB, "") or st.query_params.get(QUESTION_KEY) == ADVICE.call
    if for_profile:
        if not {"profile", PROFILE} & set(st.query_params):
            st.query_params[PROFILE] = "0"
        if "weights" in st.query_params:
            st.query_params[WEIGHTS] = OWN
    if st.query_params.get(QUESTION_KEY) == ALLOCATE.call:
        st.query_params[ALLOCATION] = "true"
    tabs.respell(TAB)
    forms.arrive(PAGE, QUESTIONS)


def job_traces(workbench: Workbench) -> list[Dataset]:
    """Return the job traces: those with profiles first, and of them the one that other pages are about."""
    profiles, looked_at = workbench.profiles, datasets.newest(workbench.datasets(), JOBS)
    return sorted(
        (one for one in workbench.datasets() if one.kind == JOBS),
        key=lambda one: (profiles.cached(one.hash, ProfileSettings()).result is None, one.hash != looked_at),
    )


def clustering(context: PageContext, trace: str) -> tuple[str, tuple[str, ...]]:
    """Show the clusterings of a trace; return the chosen one's key and the names of its profiles, () = none."""
    chosen = clusterings.clustering(context.visit, context.workbench.dataset(trace), CLUSTERING)
    return context.workbench.profiles.key(trace, chosen), context.workbench.profile_names(trace, chosen)


def other_dataset(question: Question[Any, Any], path: str, known: Iterable[Dataset], first: str = "") -> str:
    """Show a choice among datasets and return the hash of the chosen one; '' = the first choice, if that is a word.

    `path` is of the setting that names the other one; a link may give its hash. `first` is what stands for none of
    them; '' = one is always chosen.
    """
    leaf = question.leaf(path)
    key, hashes = leaf.key(PAGE), {f"{one.name} ({one.hash[:8]})": one.hash for one in known}
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
        st.caption(f":material/info: {sentence}.")
