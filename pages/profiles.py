"""Profiles: which job profiles exist, and how distinct are they?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._frame import header
from pages._frame.errors import guard, lacking
from pages._frame.visit import Visit
from pages._parts import figures, forms, running_work, tabs
from pages._profiles import clusterability, form, membership, one_profile, overview, selection, views
from workprof.answers.profiles import PUBLISHED
from workprof.charts.profiles.overview import profile_names
from workprof.charts.text import markdown_text
from workprof.profiles.fit import ProfileFit
from workprof.profiles.questions import BASELINE, CLUSTERABILITY, FIT, HOPKINS, MEMBERSHIP, STABILITY, UNUSUAL
from workprof.profiles.settings import ProfileSettings
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
VIEWS = {
    "Profile": one_profile.card,
    "Map": selection.selection,
    "Box plots": views.boxes,
    "Metadata": views.metadata,
    "Tree": views.tree,
    "Silhouettes": views.silhouettes,
    "Sizes": views.sizes,
    UNUSUAL: membership.unusual_runs,
    CLUSTERABILITY: clusterability.clusterability,
    "Export": views.export,
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
        _previous(visit, dataset, running=False)
        return
    running = outcome.job is not None and outcome.job.active
    if outcome.result is None and not running and (_offer_fit(visit, dataset, settings, outcome) or run_now):
        with guard():
            visit.workbench.profiles.start(dataset.hash, settings)
            st.rerun()
    if outcome.result is None:
        running_work.job_panel(visit.app_state, outcome.job, "Finding profiles")
        _previous(visit, dataset, running=running)
        return
    st.session_state[SHOWN] = (dataset.hash, settings)
    result(visit, dataset, settings, outcome.result)


def _cached_fit(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> CachedResult[ProfileFit] | None:
    """Return the stored result and its job, or None (and a message) where this dataset cannot meet the settings."""
    outcome: CachedResult[ProfileFit] | None = None
    with guard():
        outcome = visit.workbench.profiles.cached(dataset.hash, settings)
    return outcome


def _offer_fit(visit: Visit, dataset: Dataset, settings: ProfileSettings, outcome: CachedResult[ProfileFit]) -> bool:
    """Show that these settings have no result yet, and the button that changes it; or why there can be none."""
    if outcome.refusal:
        lacking(outcome.refusal)
        return False
    with st.container(border=True):
        st.markdown(f"No profiles for these settings yet. {form.estimate(visit, dataset, settings)}")
        return st.button("Find profiles", type="primary", icon=":material/play_arrow:")


def result(visit: Visit, dataset: Dataset, settings: ProfileSettings, fit: ProfileFit) -> None:
    """Show one clustering: the answer, its fingerprints, the controls, then the selected profile and further views."""
    names = profile_names(fit, visit.workbench.profile_notes(dataset.hash, settings))
    view = views.View(visit, dataset, settings, fit, names, *overview.memory_used(visit, dataset, settings))
    figures.headline(markdown_text(overview.headline(view), 400))
    if settings.mode == "faithful":
        header.published_flag()
        st.caption(PUBLISHED)
    which, cut = st.columns([0.34, 0.66], vertical_alignment="bottom")
    with which:
        one_profile.choice(view)
    with cut:
        form.recut_controls(visit, dataset, fit.settings, fit.scores.n_rows)
    if fit.scores.n_clusters:
        overview.fingerprints(view)
    selection.forget_other_map(view)
    tabs.show_open("profiles_tab", VIEWS, view)
    figures.fold("Quality", "profiles_quality", overview.quality, view, icon=":material/verified:")
    figures.fold("Method", "profiles_about", overview.method, view, icon=":material/science:")


def _previous(visit: Visit, dataset: Dataset, *, running: bool) -> None:
    """Show the result of the previous settings under a banner, where this session has one."""
    of_dataset, settings = st.session_state.get(SHOWN, ("", None))
    cached = (
        visit.workbench.profiles.cached(dataset.hash, settings) if of_dataset == dataset.hash and settings else None
    )
    if cached is None or cached.result is None or settings is None:
        return
    todo = "the new ones are being computed" if running else "press **Find profiles** to recompute"
    st.warning(f"These results are for the previous settings; {todo}.", icon=":material/history:")
    result(visit, dataset, settings, cached.result)


_shell.run(PAGE, body)
