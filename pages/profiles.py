"""Profiles: which kinds of jobs are there, and how sure is that?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._frame import header
from pages._frame.errors import guard, lacking
from pages._frame.visit import Visit
from pages._parts import figures, forms, running_work, tabs
from pages._profiles import cards, clusterability, form, selection, views
from workprof.charts.profiles.overview import PUBLISHED, headlines, profile_names, together
from workprof.charts.text import markdown_text
from workprof.core.units import format_duration
from workprof.profiles.fit import ProfileFit
from workprof.profiles.questions import BASELINE, FIT, HOPKINS, STABILITY
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import Answer

PAGE = _shell.Page(
    "Profiles",
    "Which kinds of jobs are there, and how sure is that?",
    "Profiles need a dataset with at least two numeric columns and more than twice as many finished rows as the "
    "smallest profile.",
    resets=True,
)
SHOWN = "profiles_shown"
VIEWS = {
    "Cards": cards.cards,
    "Box plots": views.boxes,
    "Silhouettes": views.silhouettes,
    "Map": selection.selection,
    "Sizes": views.sizes,
    "Tree": views.tree,
    "Metadata": views.metadata,
    "Is there anything to cluster?": clusterability.clusterability,
    "Take away": views.take_away,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the settings, the running job, and the newest result there is."""
    forms.arrive("profiles", (FIT, HOPKINS, BASELINE, STABILITY))
    asked, run_now = form.form(visit, dataset)
    answer = _answer(visit, dataset, asked)
    if answer is None:
        _previous(visit, dataset, running=False)
        return
    running = answer.job is not None and answer.job.active
    if answer.result is None and not running and (_ask(visit, dataset, asked, answer) or run_now):
        with guard():
            visit.workbench.profiles.start(dataset.hash, asked)
            st.rerun()
    if answer.result is None:
        running_work.job_panel(visit.app_state, answer.job, "Finding profiles")
        _previous(visit, dataset, running=running)
        return
    st.session_state[SHOWN] = (dataset.hash, asked)
    result(visit, dataset, asked, answer.result)


def _answer(visit: Visit, dataset: Dataset, asked: ProfileSettings) -> Answer[ProfileFit] | None:
    """Return the kept result and its job, or None (and a clear message) for settings that this dataset cannot meet."""
    answer: Answer[ProfileFit] | None = None
    with guard():
        answer = visit.workbench.profiles.cached(dataset.hash, asked)
    return answer


def _ask(visit: Visit, dataset: Dataset, asked: ProfileSettings, answer: Answer[ProfileFit]) -> bool:
    """Show that these settings have no result yet, and the button that changes it; or why there can be none."""
    if answer.refusal:
        lacking(answer.refusal)
        return False
    with st.container(border=True):
        st.markdown(f"No profiles for these settings yet. {form.estimate(visit, dataset, asked)}")
        return st.button("Find profiles", type="primary", icon=":material/play_arrow:")


def result(visit: Visit, dataset: Dataset, settings: ProfileSettings, fit: ProfileFit) -> None:
    """Show one clustering from all sides."""
    if settings.mode == "faithful":
        header.published_flag()
        st.caption(PUBLISHED)
    form.recut_controls(visit, dataset, fit.settings, fit.scores.n_rows)
    figures.headline_row(headlines(fit))
    if fit.notes:
        st.warning("\n".join(f"- {markdown_text(note, 400)}" for note in together(fit.notes)), icon=":material/info:")
    names = profile_names(fit, visit.workbench.profile_notes(dataset.hash, settings))
    view = views.View(visit, dataset, settings, fit, names)
    selection.forget_other_map(view)
    tabs.show_open("profiles_tab", VIEWS, view)
    st.caption(
        f"{fit.scores.n_rows:,} rows × {len(fit.features)} features, seed {fit.settings.seed}, "
        f"computed in {format_duration(fit.seconds)}; dataset {dataset.hash[:8]}."
    )


def _previous(visit: Visit, dataset: Dataset, *, running: bool) -> None:
    """Show the result of the previous settings under a banner, where this session has one."""
    of_dataset, settings = st.session_state.get(SHOWN, ("", None))
    kept = visit.workbench.profiles.cached(dataset.hash, settings) if of_dataset == dataset.hash and settings else None
    if kept is None or kept.result is None or settings is None:
        return
    todo = "the new ones are being computed" if running else "press **Find profiles** to recompute"
    st.warning(f"What follows is based on previous settings; {todo}.", icon=":material/history:")
    result(visit, dataset, settings, kept.result)


_shell.run(PAGE, body)
