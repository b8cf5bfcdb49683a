"""A cut of a kept tree is shown before it is scored: its scores are computed meanwhile, those of the last cut only."""

from functools import partial

import streamlit as st

from pages._frame.visit import Visit
from pages._profiles import overview
from workprof.background import Tasks
from workprof.core.progress import Progress
from workprof.profiles.fit import warm_recuts
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

LOOK_EVERY_S = 0.5
WARM = "cuts of kept trees"
SCORING = "profiles_scoring"


def warm(visit: Visit, settings: ProfileSettings) -> None:
    """Load what a cut of a kept tree needs, once since the start of the server: some seconds of the first one."""
    preparing = visit.app_state.preparing
    if visit.app_state.settings.ahead_s and not any(view.label == WARM for view in preparing.views()):
        preparing.begin(WARM, lambda _: warm_recuts(settings))


def work(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> None:
    """Score the cut that is shown, and show the page anew once that is done."""
    tasks, key = visit.app_state.preparing, visit.workbench.profiles.key(dataset.hash, settings)
    view = tasks.view(st.session_state.get(SCORING, ""))
    if view is None or view.label != key:
        if view is not None:
            tasks.cancel(view.key, 0)
        view = tasks.begin(key, partial(_score, visit.workbench, dataset, settings))
        st.session_state[SCORING] = view.key
    if view.active:
        st.fragment(_look, run_every=LOOK_EVERY_S)(tasks, view.key)
    else:
        st.caption(f"No scores: {view.message}")


def _score(workbench: Workbench, dataset: Dataset, settings: ProfileSettings, progress: Progress) -> None:
    workbench.profiles(dataset.hash, settings, progress)
    overview.memory_ledger(workbench, dataset, settings, compute=True)


def _look(tasks: Tasks[None], key: str) -> None:
    view = tasks.view(key)
    if view is None or not view.active:
        st.rerun()
    st.caption("The scores of this cut are being computed.")
