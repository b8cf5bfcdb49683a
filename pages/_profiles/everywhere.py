"""One clustering for every page: the button that says what it changes, and what the other pages ask for."""

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import clusterings, long_question
from pages._profiles.views import View
from workprof.answers.profiles import everywhere_words
from workprof.core.words import markdown_text
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.profiles.settings import ProfileSettings


def offer(view: View) -> None:
    """Show whether these profiles are those of every page, or the button that makes them so."""
    visit, used = view.visit, clusterings.everywhere(view.dataset)
    if _same(visit, view, used):
        st.caption(":material/check: Home, Classify, Memory, Durations, Nodes and Report use these profiles.")
        return
    st.button(
        "Use these profiles everywhere",
        key="profiles_everywhere",
        icon=":material/done_all:",
        on_click=clusterings.use_everywhere,
        args=(view.dataset, view.settings),
        help="Until you leave; a link of those pages names the clustering.",
    )
    settings = ForecasterSettings(ClassifierSettings(profiles=view.settings, mode=view.settings.mode))
    training = ""
    if visit.workbench.forecaster.cached(view.dataset.hash, settings).result is None:
        takes = long_question.takes(visit.workbench, visit.workbench.forecaster, view.dataset, settings)
        training = takes.words()
    st.caption(markdown_text(everywhere_words(view.fit.scores.n_clusters, training), 300))


def _same(visit: Visit, view: View, used: ProfileSettings) -> bool:
    profiles = visit.workbench.profiles
    return profiles.key(view.dataset.hash, used) == profiles.key(view.dataset.hash, view.settings)
