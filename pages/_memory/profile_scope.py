"""Whose bins: those of the task that the page is about, or those of a profile, found by its name."""

from __future__ import annotations

import re
from dataclasses import dataclass

import streamlit as st

from pages._durations import chosen_clustering
from pages._frame.cross_link import Link, follow
from pages._memory import other_names
from pages._memory.asking import Asked
from pages._parts.controls import choice
from workprof.charts.profiles import profile_names
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
NUMBER = re.compile(r"P?(\d{1,6})(\s|$)")


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
            clustering = chosen_clustering.clustering(asked.visit, asked.dataset, CLUSTERING)
        labels = _labels(asked, clustering)
        wanted = _wanted(labels)
        with whose:
            name = choice("Bins of", PROFILE, (A_TASK, *labels), MEANING)
    if wanted not in (A_TASK, *labels):
        _unknown(wanted, any_profile=bool(labels))
    if not labels:
        link = Link("Find profiles", "profiles", asked.dataset.hash, {}, "bubble_chart", "Bins of profiles need them.")
        follow(link, "memory_find_profiles")
    if name not in labels:
        return None
    return ProfileScope(labels[name], name, clustering, st.session_state.get(CLUSTERING, chosen_clustering.DEFAULT))


def _labels(asked: Asked, clustering: ProfileSettings) -> dict[str, int]:
    """Return 'P3 name' -> 3 of every profile, in order of their numbers; nothing where none are found."""
    try:
        fit = asked.workbench.profiles_answer(asked.dataset.hash, clustering).result
    except (ColumnMissing, NotEnoughData):
        return {}  # such a table has no profiles; bins of its tasks need none
    if fit is None:
        return {}
    names = profile_names(fit, asked.workbench.profile_notes(asked.dataset.hash, clustering))
    return {names[profile]: profile for profile in sorted(names) if profile != OUTLIERS}


def _wanted(labels: dict[str, int]) -> str:
    """Return what is asked for as the list calls it: a link may give a number, or a name that has changed since."""
    wanted = str(st.session_state.get(PROFILE) or st.query_params.get(PROFILE) or A_TASK)
    if wanted in (A_TASK, *labels):
        return wanted
    told = NUMBER.match(wanted)
    found = next((label for label, number in labels.items() if told and number == int(told[1])), "")
    if found:
        other_names.take(PROFILE, found)
    elif PROFILE in st.session_state:
        st.session_state[PROFILE] = A_TASK  # of another clustering
    return found or wanted


def _unknown(wanted: str, *, any_profile: bool) -> None:
    """Show that a link is about a profile that is not there."""
    why = "which this clustering does not have" if any_profile else "but no profiles are found here yet"
    st.warning(
        f"This link is about the profile {markdown_text(wanted, 80)}, {why}; what follows is about the task above.",
        icon=":material/link_off:",
    )
