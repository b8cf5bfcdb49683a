"""From a classified job to the profile that it is likely to have: its jobs, and how long they take."""

from __future__ import annotations

import streamlit as st

from pages._classify.view import View
from pages._durations import chosen_clustering
from pages._frame import cross_link
from pages._frame.cross_link import Link, Parameters
from pages._runs import parameters
from workprof.charts.profiles.jobs import Selection
from workprof.charts.text import markdown_text


def links(view: View, profile: int) -> None:
    """Show the links of a profile."""
    name, dataset = markdown_text(view.naming.name(profile), 40), view.dataset.hash
    with st.container(horizontal=True, gap="small"):
        cross_link.follow(
            Link(f"Jobs of {name}", "profiles", dataset, _jobs(view, profile), "list", "On the map of the profiles."),
            "classify_to_profile",
        )
        cross_link.follow(
            Link("Durations of the profiles", "durations", dataset, _durations(view), "timer", "How long each takes."),
            "classify_to_durations",
        )


def _jobs(view: View, profile: int) -> Parameters:
    """Return the clustering that was learned, its map, and the profile's rows on it."""
    selected = Selection(profiles=(profile,)).text()
    settings = parameters.profiles(view.settings.classifier.profiles)
    return {**settings, "profiles_tab": "Map", "profiles_selected": selected}


def _durations(view: View) -> Parameters:
    fit = view.visit.workbench.profiles.cached(view.dataset.hash, view.settings.classifier.profiles).result
    if fit is None:
        return {"durations_by": "profile"}
    name = chosen_clustering.name_of(view.visit, view.dataset, fit.settings)
    return {"durations_by": "profile", "durations_clustering": name}
