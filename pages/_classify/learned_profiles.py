"""Which profiles the classifier learns: the link's, else those last shown on the Profiles page, else the default."""

from __future__ import annotations

import json

import streamlit as st

from pages._frame import link
from pages._frame.visit import Visit
from workprof.profiles.settings import ProfileSettings
from workprof.records import Packed, to_json, unpack
from workprof.store.reports import Dataset

PARAMETER = "classify_profiles"
SHOWN = "profiles_shown"
LONGEST = 2_000


def chosen(dataset: Dataset, mode: str) -> ProfileSettings:
    """Return the settings of the profiles to learn and write them into the address, where they are not the default."""
    asked = link.read(PARAMETER, _settings, None) or _of_session(dataset)
    if asked is None or asked.mode != mode:
        asked = ProfileSettings(mode=mode)
    _keep(as_text(asked))
    return asked


def words(settings: ProfileSettings, visit: Visit, dataset: Dataset) -> str:
    """Return which profiles these are, for people."""
    found = visit.workbench.profiles.cached(dataset.hash, settings).result
    size = f"min_cluster_size {settings.min_cluster_size:,}" if settings.min_cluster_size else "the default size"
    what = f"{settings.algorithm.upper()}, {settings.scaler}, {settings.metric}, {size}, {settings.mode}"
    return f"{found.scores.n_clusters} profiles ({what})" if found else f"profiles with {what}"


def _of_session(dataset: Dataset) -> ProfileSettings | None:
    of_dataset, settings = st.session_state.get(SHOWN, ("", None))
    return settings if of_dataset == dataset.hash else None


def _settings(text: str) -> ProfileSettings:
    if len(text) > LONGEST:
        raise link.Unreadable(f"it has {len(text):,} characters, at most {LONGEST:,} are read")
    try:
        return unpack(ProfileSettings, Packed({**_defaults(), **json.loads(text)}, {}))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise link.Unreadable(f"{link.quoted(text)} is not the settings of a clustering") from error


def _keep(text: str) -> None:
    if not text:
        st.query_params.pop(PARAMETER, None)
    elif st.query_params.get(PARAMETER) != text:
        st.query_params[PARAMETER] = text


def as_text(settings: ProfileSettings) -> str:
    """Return what differs from the default of the mode as JSON; '' for the default."""
    if settings == ProfileSettings(mode=settings.mode):
        return ""
    defaults = _defaults()
    changed = {name: value for name, value in to_json(settings).items() if value != defaults[name]}
    return json.dumps(changed, separators=(",", ":"))


def _defaults() -> dict[str, object]:
    found: dict[str, object] = to_json(ProfileSettings())
    return found
