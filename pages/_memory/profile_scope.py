"""Whose bins: those of the task that the page is about, or those of a profile, found by its name."""

from __future__ import annotations

import re
from dataclasses import dataclass

import streamlit as st

from pages._frame import link
from pages._frame.cross_link import Link, follow
from pages._memory import other_names
from pages._memory.asking import Asked
from pages._parts import clusterings
from pages._parts.controls import choice
from workprof.charts.profiles.overview import profile_names
from workprof.charts.text import markdown_text
from workprof.charts.theme import OUTLIERS
from workprof.errors import ColumnMissing, NotEnoughData
from workprof.profiles.settings import ProfileSettings

PROFILE, CLUSTERING = "memory_profile", "memory_clustering"
A_TASK = "the task above"
MEANING = (
    "The runs that the bins are for: those of the task above, or those of a profile, whatever their tasks are. "
    "Profiles are listed once they are found."
)
NUMBER = re.compile(r"P?(\d{1,6})(\s|$)", re.ASCII)


@dataclass(frozen=True)
class ProfileScope:
    """A chosen profile: its number, its name, the clustering that it is of and what the list calls that one."""

    profile: int
    name: str
    clustering: ProfileSettings
    clustering_name: str


def chosen(asked: Asked) -> ProfileScope | None:
    """Show the choice and return the profile; None = the page's task."""
    with st.grid(min_column_width=220, gap="small") as grid:
        whose, of = grid.cell(), grid.cell()
        with of:
            clustering = clusterings.clustering(asked.visit, asked.dataset, CLUSTERING)
        labels = _labels(asked, clustering)
        other = _follow_name(labels)
        with whose:
            name = choice("Bins of", PROFILE, (A_TASK, *labels), MEANING)
    if other:
        st.info(
            f"{markdown_text(other, 80)} is a profile of another clustering; what follows is about the task above.",
            icon=":material/info:",
        )
    if not labels:
        way = Link("Find profiles", "profiles", asked.dataset.hash, {}, "bubble_chart", "Bins of profiles need them.")
        follow(way, "memory_find_profiles")
    if name not in labels:
        return None
    return ProfileScope(labels[name], name, clustering, st.session_state.get(CLUSTERING, clusterings.DEFAULT))


def _labels(asked: Asked, clustering: ProfileSettings) -> dict[str, int]:
    """Return 'P3 name' -> 3 of every profile, in order of their numbers; nothing where none are found."""
    try:
        fit = asked.workbench.profiles.cached(asked.dataset.hash, clustering).result
    except (ColumnMissing, NotEnoughData):
        return {}  # such a table has no profiles; bins of its tasks need none
    if fit is None:
        return {}
    names = profile_names(fit, asked.workbench.profile_notes(asked.dataset.hash, clustering))
    return {names[profile]: profile for profile in sorted(names) if profile != OUTLIERS}


def _follow_name(labels: dict[str, int]) -> str:
    """Call a profile as the list calls it: a link may give a number, or a name that has changed since.

    Returns:
        The name of a profile that was chosen on this page in another clustering, and is not of this one; '' else.
    """
    wanted = str(st.session_state.get(PROFILE) or link.read(PROFILE, str, A_TASK))
    if wanted in (A_TASK, *labels):
        return ""
    told = NUMBER.match(wanted)
    found = next((label for label, number in labels.items() if told and number == int(told[1])), "")
    if found:
        other_names.take(PROFILE, found)
    elif PROFILE in st.session_state:
        st.session_state[PROFILE] = A_TASK
        return wanted
    return ""
