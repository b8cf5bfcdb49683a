"""Profiles: which job profiles exist, and how distinct are they?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from pages import _shell
from pages._frame import header, look
from pages._frame.errors import guard, lacking
from pages._frame.visit import Visit
from pages._parts import clusterings, figures, forms, long_question, tabs
from pages._parts.long_question import LongQuestion
from pages._profiles import (
    clusterability,
    everywhere,
    form,
    membership,
    one_profile,
    overview,
    scoring,
    selection,
    views,
)
from workprof.answers.how_long import fit_words
from workprof.answers.profiles import PUBLISHED
from workprof.charts.profiles.overview import profile_names
from workprof.core.fields import earlier_words
from workprof.core.words import counted, markdown_text
from workprof.profiles.fit import ProfileFit
from workprof.profiles.questions import BASELINE, CLUSTERABILITY, FIT, HOPKINS, MEMBERSHIP, STABILITY, UNUSUAL
from workprof.profiles.settings import ProfileSettings, clustered_rows
from workprof.store.reports import Dataset
from workprof.workbench import CachedResult

PAGE = _shell.Page(
    "Profiles",
    "Which job profiles exist, and how distinct are they?",
    "Profiles need a dataset with at least two numeric columns and more than twice as many finished runs as the "
    "smallest profile.",
    resets=True,
)
SHOWN = "profiles_shown"
SAMPLE_ROWS = 10_000
"""Runs of the sample that is clustered at once where the whole takes long."""


def _scored(show: Callable[[views.View], None]) -> Callable[[views.View], None]:
    """Return what shows a view once its scores are there."""

    def shown(view: views.View) -> None:
        if view.scored:
            show(view)
        else:
            st.caption("The scores of this cut are being computed.")

    return shown


VIEWS = {
    "Profile": one_profile.card,
    "Map": selection.selection,
    "Box plots": views.boxes,
    "Silhouettes": _scored(overview.silhouettes),
    "Metadata": views.metadata,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the newest result there is, the running job, and the settings below."""
    forms.arrive("profiles", (FIT, HOPKINS, BASELINE, STABILITY, MEMBERSHIP))
    above = st.container()
    settings, run_now = form.form(visit, dataset)
    with above:
        _result_or_work(visit, dataset, settings, run_now=run_now)


def _result_or_work(visit: Visit, dataset: Dataset, settings: ProfileSettings, *, run_now: bool) -> None:
    outcome = _cached_fit(visit, dataset, settings)
    if outcome is None:
        _previous(visit, dataset, settings, running=False)
        return
    fit = outcome.result
    if fit is None and not outcome.refusal:
        with guard():
            fit = visit.workbench.first_cut(dataset.hash, settings)
    if fit is None:
        running = outcome.job is not None and outcome.job.active
        if run_now and not running and not outcome.refusal:
            with guard():
                visit.workbench.profiles.start(dataset.hash, settings)
                st.rerun()
        words = f"No profiles for these settings yet: {fit_words(settings, dataset.finished_rows)}."
        question = clusterings.found_by("profiles_find", visit, dataset, settings, "Find profiles", words)
        if outcome.refusal:
            lacking(outcome.refusal)
        else:
            running = long_question.work(visit, dataset, question, outcome)
        if not _previous(visit, dataset, settings, running=running) and not running and not outcome.refusal:
            _sample(visit, dataset, question)
        return
    st.session_state[SHOWN] = (dataset.hash, settings)
    result(visit, dataset, settings, fit)
    if outcome.result is None:
        scoring.work(visit, dataset, settings)


def _cached_fit(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> CachedResult[ProfileFit] | None:
    """Return the stored result and its job, or None (and a message) where this dataset cannot meet the settings."""
    outcome: CachedResult[ProfileFit] | None = None
    with guard():
        outcome = visit.workbench.profiles.cached(dataset.hash, settings)
    return outcome


def result(visit: Visit, dataset: Dataset, settings: ProfileSettings, fit: ProfileFit) -> None:
    """Show one clustering: the answer, its fingerprints, the controls, then the selected profile and further views."""
    names = profile_names(fit, visit.workbench.profile_notes(dataset.hash, settings))
    view = views.View(visit, dataset, settings, fit, names, *overview.memory_used(visit, dataset, settings, fit))
    figures.headline(markdown_text(overview.headline(view), 400))
    if settings.mode == "faithful":
        header.published_flag()
        st.caption(PUBLISHED)
    which, cut = st.columns([0.34, 0.66], vertical_alignment="bottom")
    with which:
        one_profile.choice(view)
    with cut:
        form.recut_controls(visit, dataset, fit.settings, fit.scores.n_rows)
    tabs.respell("profiles_tab")
    if st.query_params.pop("profiles_quality", "") == "true":  # links of when it was a fold
        st.query_params["profiles_tab"] = "Silhouettes"
    if fit.scores.n_clusters:
        _fingerprints(view)
        scoring.warm(visit, fit.settings)
    selection.forget_other_map(view)
    tabs.show_open("profiles_tab", VIEWS, view)
    everywhere.offer(view)
    figures.fold("Sizes", "profiles_sizes_fold", views.sizes, view, icon=":material/bar_chart:")
    figures.fold("Tree", "profiles_tree_fold", views.tree, view, icon=":material/account_tree:")
    figures.fold(UNUSUAL, "profiles_unusual_fold", membership.unusual_runs, view, icon=":material/scatter_plot:")
    tendency = clusterability.clusterability
    figures.fold(CLUSTERABILITY, "profiles_tendency_fold", tendency, view, icon=":material/query_stats:")
    figures.fold("Export", "profiles_export_fold", _scored(views.export), view, icon=":material/download:")
    figures.fold("Method", "profiles_about", overview.method, view, icon=":material/science:")


def _fingerprints(view: views.View) -> None:
    """Show the fingerprints; on a phone they are folded above every view but the first."""
    if not look.narrow() or "profiles_tab" not in st.query_params:
        overview.fingerprints(view)
        return
    section = st.expander(
        "Fingerprints", icon=":material/grid_on:", key="profiles_fingerprints_open", on_change="rerun"
    )
    if section.open:
        with section:
            overview.fingerprints(view)


def _sample(visit: Visit, dataset: Dataset, question: LongQuestion[ProfileSettings, ProfileFit]) -> None:
    """Show the profiles of a sample, where the whole takes long and nothing else is there."""
    share = SAMPLE_ROWS / clustered_rows(question.settings, dataset.finished_rows)
    if share < 1:
        few = replace(question.settings, sample_rows=SAMPLE_ROWS)
        fit = long_question.part(visit, dataset, replace(question, part=(few, share, counted(SAMPLE_ROWS, "run"))))
        if fit is not None:
            result(visit, dataset, few, fit)


def _previous(visit: Visit, dataset: Dataset, asked: ProfileSettings, *, running: bool) -> bool:
    """Show the result of the previous settings under a banner, where this session has one; return whether it has."""
    of_dataset, settings = st.session_state.get(SHOWN, ("", None))
    cached = (
        visit.workbench.profiles.cached(dataset.hash, settings) if of_dataset == dataset.hash and settings else None
    )
    if cached is None or cached.result is None or settings is None:
        return False
    todo = "the new ones are being computed" if running else "press **Find profiles** to recompute"
    others = markdown_text(earlier_words(settings, asked), 200)
    st.warning(f"These results are for the previous settings ({others}); {todo}.", icon=":material/history:")
    result(visit, dataset, settings, cached.result)
    return True


_shell.run(PAGE, body)
