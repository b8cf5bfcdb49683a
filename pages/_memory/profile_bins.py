"""Bins of one profile: what its runs waste, the same figures as for a task, and what such a plan needs."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._frame.cross_link import Link, follow
from pages._memory import bin_views
from pages._memory.asking import Asked
from pages._memory.profile_scope import ProfileScope
from pages._parts import figures
from workprof.charts.memory.bins import (
    BEFOREHAND,
    profile_bins_scenario,
    profile_headlines,
    profile_notes,
    profile_sentence,
)
from workprof.charts.text import markdown_text
from workprof.core.question import parameters_of
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.questions import EVALUATE_CLASSIFIER
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import ProfileBinSettings


def profile_bins(asked: Asked, scope: ProfileScope, settings: BinSettings) -> None:
    """Show the bins of a profile; edges of one's own take the place of the search."""
    wanted = ProfileBinSettings(scope.profile, replace(settings, task=""))
    with st.spinner("Looking for the best bins…", show_time=True):
        found = asked.workbench.profile_bins(asked.dataset.hash, wanted, fit=scope.clustering)
    st.markdown(f"**{markdown_text(profile_sentence(found, scope.name), 500)}**")
    figures.headline_row(profile_headlines(found))
    for note in profile_notes(found):
        st.caption(f":material/info: {markdown_text(note, 300)}")
    _beforehand(asked, scope)
    whose = f"{scope.name} ({scope.clustering_name})"
    bin_views.edges(
        asked, found.bins, scope.name, lambda name: profile_bins_scenario(found, asked.dataset, name, whose)
    )
    curve = asked.workbench.profile_improvement(asked.dataset.hash, wanted, fit=scope.clustering)
    bin_views.improvement(curve, found.bins)


def _beforehand(asked: Asked, scope: ProfileScope) -> None:
    """Show what a plan by profile needs, and the way to it."""
    learned = ClassifierSettings(scope.clustering, mode=scope.clustering.mode)
    parameters = parameters_of(EVALUATE_CLASSIFIER, learned)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/online_prediction: {markdown_text(BEFOREHAND, 400)}")
        meaning = "Tells the profile of a job before it runs, and how far to believe it."
        link = Link("Predict the profile", "classify", asked.dataset.hash, parameters, "schedule", meaning)
        follow(link, "memory_to_classify")
