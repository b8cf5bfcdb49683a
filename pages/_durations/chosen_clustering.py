"""Which clustering the Durations page takes its profiles from: the default one, or any other that is kept here."""

from __future__ import annotations

import streamlit as st

from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import running_work
from pages._parts.controls import choice
from workprof.errors import SettingsError
from workprof.profiles.questions import FIT
from workprof.profiles.settings import ProfileSettings
from workprof.records import Packed, canonical_json, digest, unpack
from workprof.store.reports import Dataset

DEFAULT = "default"
KEY = "durations_clustering"
PROFILES_PAGE = "pages/profiles.py"


def clustering(visit: Visit, dataset: Dataset, key: str = KEY) -> ProfileSettings:
    """Show the kept clusterings of a dataset and return the chosen one's settings; the key names the control."""
    kept = {DEFAULT: ProfileSettings()} | _kept(visit, dataset)
    chosen = choice(
        "Profiles of", key, tuple(kept), "default: the Profiles page's first settings. The others were computed here."
    )
    return kept[chosen]


def name_of(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> str:
    """Return how the list calls a clustering that is kept, given as it was computed."""
    kept = (name for name, found in _kept(visit, dataset).items() if found == settings)
    return next(kept, DEFAULT)


def name_of_key(visit: Visit, dataset: Dataset, key: str) -> str:
    """Return how the list calls a clustering that is kept, given the key of its result."""
    kept = (name for name, found in _kept(visit, dataset).items() if _key(visit, dataset, found) == key)
    return next(kept, DEFAULT)


def missing(visit: Visit, dataset: Dataset, settings: ProfileSettings, what: str) -> None:
    """Show that a clustering has no result yet, and the button that finds it."""
    with guard():
        answer = visit.workbench.profiles.cached(dataset.hash, settings)
        st.info(f"{what} need profiles, and these are not found yet.", icon=":material/info:")
        running_work.job_panel(visit.house, answer.job, "Finding profiles")
        if answer.job is not None and answer.job.active:
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Find profiles", type="primary", icon=":material/play_arrow:", key="durations_find"):
                visit.workbench.profiles.start(dataset.hash, settings)
                st.rerun()
            st.page_link(PROFILES_PAGE, label="Open Profiles", icon=":material/bubble_chart:")


def _key(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> str:
    return visit.workbench.profiles.cached(dataset.hash, settings).key


def _kept(visit: Visit, dataset: Dataset) -> dict[str, ProfileSettings]:
    """Return 'hdbscan, power, euclidean, 45 rows, 3f2a91c0' -> settings of every kept clustering, newest first."""
    found = {}
    for about in visit.workbench.runs():
        if about.step != FIT.name or about.key.partition(":")[0] != dataset.hash:
            continue
        try:
            settings = unpack(ProfileSettings, Packed(about.settings, {}))
        except (KeyError, TypeError, ValueError, SettingsError):
            continue  # of another version
        words = f"{settings.algorithm}, {settings.scaler}, {settings.metric}, {settings.min_cluster_size} rows"
        found[f"{words}, {digest(canonical_json(settings), size=4)}"] = settings
    return found
