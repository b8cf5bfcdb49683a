"""Which clustering a page takes its profiles from: the default one, or any other that is stored here."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from pages._frame import link
from pages._frame.errors import guard, lacking
from pages._frame.visit import Visit
from pages._parts import forms, long_question
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from workprof.core.errors import SettingsError
from workprof.core.fields import read
from workprof.core.question import Question
from workprof.core.records import Packed, canonical_json, digest, unpack
from workprof.forecasts.questions import DURATIONS, EVALUATE_ESTIMATES
from workprof.memory.ledger_settings import GROUPINGS, PROFILE, TASK
from workprof.profiles.fit import ProfileFit
from workprof.profiles.questions import FIT
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset

DEFAULT, EVERYWHERE = "default", "profiles_used"
CLUSTERING = EVALUATE_ESTIMATES.leaf("profiles")
KEY = CLUSTERING.key(DURATIONS)
CHOICE = "_clustering"
"""How the keys of the pages' own choices end."""
PROFILES_PAGE = "pages/profiles.py"


def use_everywhere(dataset: Dataset, settings: ProfileSettings) -> None:
    """Have the other pages use a clustering (a callback)."""
    st.session_state[EVERYWHERE] = (dataset.hash, settings)
    for key in [one for one in st.session_state if str(one).endswith(CHOICE)]:
        del st.session_state[key]


def everywhere(dataset: Dataset) -> ProfileSettings:
    """Return the clustering that pages use where nothing else is chosen."""
    of_dataset, settings = st.session_state.get(EVERYWHERE, ("", None))
    return settings if of_dataset == dataset.hash and settings is not None else ProfileSettings()


def clustering(visit: Visit, dataset: Dataset, key: str = KEY) -> ProfileSettings:
    """Show the stored clusterings of a dataset and return the chosen one's settings; the key names the control."""
    _arrive(visit, dataset, key)
    stored = {DEFAULT: ProfileSettings()} | _stored(visit, dataset)
    used = _key(visit, dataset, everywhere(dataset))
    same = [place for place, settings in enumerate(stored.values()) if _key(visit, dataset, settings) == used]
    chosen = choice(
        "Clustering",
        key,
        tuple(stored),
        "default: the default settings of the Profiles page. The others were computed here.",
        index=same[0] if same else 0,
    )
    return stored[chosen]


def _arrive(visit: Visit, dataset: Dataset, key: str) -> None:
    """Take a clustering that a link describes over as one of the list."""
    if st.query_params.get(key, "").startswith("{"):
        name = link.read(key, partial(_name_of_text, visit, dataset), "")
        if name:
            st.query_params[key] = name
            link.start_from_address()


def _name_of_text(visit: Visit, dataset: Dataset, text: str) -> str:
    key = _key(visit, dataset, read(CLUSTERING, text))
    if key == _key(visit, dataset, ProfileSettings()):
        return DEFAULT
    name = name_of_key(visit, dataset, key)
    if name == DEFAULT:
        raise link.Unreadable("its profiles are not saved here; the Profiles page computes them")
    return name


def name_of(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> str:
    """Return how the list calls a clustering, given as it was computed; one that is not stored is none of the list."""
    return DEFAULT if visit.workbench.profiles.cached(dataset.hash, settings).result is None else _called(settings)


def name_of_key(visit: Visit, dataset: Dataset, key: str) -> str:
    """Return how the list calls a clustering that is stored, given the key of its result."""
    names = (name for name, one in _stored(visit, dataset).items() if _key(visit, dataset, one) == key)
    return next(names, DEFAULT)


def missing(visit: Visit, dataset: Dataset, settings: ProfileSettings, what: str) -> None:
    """Show that a clustering has no result yet, and the button that finds it."""
    with guard():
        result = visit.workbench.profiles.cached(dataset.hash, settings)
        if result.refusal:
            lacking(f"{what} need profiles, which this dataset cannot have: {result.refusal}")
            return
        words = f"{what} need profiles; these are not computed yet."
        question = found_by("durations_find", visit, dataset, settings, "Find profiles", words)
        if not long_question.work(visit, dataset, question, result):
            st.page_link(PROFILES_PAGE, label="Open Profiles", icon=":material/bubble_chart:")


def found_by(
    name: str, visit: Visit, dataset: Dataset, settings: ProfileSettings, button: str, words: str
) -> LongQuestion[ProfileSettings, ProfileFit]:
    """Return the question for a clustering, with what is said before there is one."""
    return LongQuestion(
        name,
        settings,
        visit.workbench.profiles,
        button,
        lambda: words,
        "Finding profiles",
    )


def _key(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> str:
    return visit.workbench.profiles.cached(dataset.hash, settings).key


def _stored(visit: Visit, dataset: Dataset) -> dict[str, ProfileSettings]:
    """Return 'hdbscan, power, euclidean, 45 rows, 3f2a91c0' -> settings of every stored clustering, newest first."""
    result = {}
    for about in visit.workbench.runs():
        if about.step != FIT.name or about.key.partition(":")[0] != dataset.hash:
            continue
        try:
            settings = unpack(ProfileSettings, Packed(about.settings, {}))
        except (KeyError, TypeError, ValueError, SettingsError):
            continue  # of another version
        result[_called(settings)] = settings
    return result


def _called(settings: ProfileSettings) -> str:
    words = f"{settings.algorithm}, {settings.scaler}, {settings.metric}, {settings.min_cluster_size} rows"
    return f"{words}, {digest(canonical_json(settings), size=4)}"


def rows_by(visit: Visit, dataset: Dataset, question: Question[Any, Any], usual: str) -> Callable[[], Any]:
    """Return the control of what a row is, with what the dataset has; `usual` is what an empty choice means."""
    held = {one.column.name for one in visit.workbench.column_profiles(dataset.hash) if one.missing_share < 1}
    clustered = visit.workbench.profiles.cached(dataset.hash, everywhere(dataset)).result is not None
    by = question.leaf("by")
    present = [
        one for one in by.about.choices if one == TASK or (clustered if one == PROFILE else held & {*GROUPINGS[one]})
    ]
    return partial(forms.control, by, question.page, tuple(sorted(present, key=lambda one: one != usual)))
