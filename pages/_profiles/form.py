"""The settings of a clustering: the form with its presets, how long it will take, and cuts of the cached tree."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import controls, forms, long_question
from pages._profiles.one_profile import CHOSEN
from workprof.answers.help.terms import meaning_of
from workprof.answers.how_long import fit_words
from workprof.answers.profiles import pairs_read_words, recut_sentence
from workprof.core.errors import SettingsError
from workprof.core.question import form_text
from workprof.profiles.fit import ProfileFit
from workprof.profiles.names import Labelled, successors
from workprof.profiles.pairs import Named, named_pairs
from workprof.profiles.questions import FIT
from workprof.profiles.settings import (
    GOOGLE9,
    METHOD_WORDS,
    METHODS,
    MOST_FITTED_ROWS,
    ProfileSettings,
    default_min_cluster_size,
    preset,
)
from workprof.store.reports import Dataset

PRESETS = {"default": "Default (0.3 %)", "paper": "Paper (300 runs)", "fine": "Fine (0.1 %)", "coarse": "Coarse (1 %)"}
GOOGLE = "google-2011"
GOOGLE_WORDS = "Google 2011 (DBSCAN)"
PAIRS = "profiles_pairs_upload"
SIZES = (0, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200, 250, 300, 400, 500, 650, 800, 1000, 1300, 1600, 2000)
STEP, MOST_STEPS, LEAST_SIZE = 1.25, 24, 10
"""Of the slider: how much larger each size is, how many there are on each side of the usual one, and the smallest."""
SLIDER, SETTINGS = "profiles_slider", "profiles_settings"


def form(visit: Visit, dataset: Dataset) -> tuple[ProfileSettings, bool]:
    """Return the settings as last submitted, and whether they were submitted now."""
    with controls.fold("Settings", SETTINGS):
        presets(visit, dataset)
        pairs()
        with st.form("profiles_form", border=False):
            settings = forms.settings(visit, dataset, FIT, main=[leaf.path for leaf in FIT.leaves])
            run_now = st.form_submit_button(
                "Find profiles with these settings", type="primary", icon=":material/play_arrow:"
            )
        if st.session_state[SETTINGS]:  # it reads what earlier runs took: nothing to do for a closed form
            st.caption(estimate(visit, dataset, settings))
    return settings, run_now


def estimate(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> str:
    """Return how much there is to do and about how long it takes."""
    takes = long_question.takes(visit.workbench, visit.workbench.profiles, dataset, settings)
    return f"{fit_words(settings, dataset.finished_rows)}: {takes.words()}."


def presets(visit: Visit, dataset: Dataset) -> None:
    """Show the presets' buttons and the slider; that of Google's trace where its columns are there."""
    auto = default_min_cluster_size(dataset.finished_rows)
    google = {*GOOGLE9} <= {column.name for column in visit.workbench.columns(dataset.hash)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, words in (PRESETS | ({GOOGLE: GOOGLE_WORDS} if google else {})).items():
            st.button(words, key=f"preset_{name}", on_click=_apply, args=(name, dataset.finished_rows))
        st.select_slider(
            "Minimum profile size (runs)",
            SIZES,
            format_func=lambda size: f"{size:,}" if size else f"auto ({auto:,})",
            key=SLIDER,
            on_change=_slid,
            width=360,
            help="Writes the number below: groups of fewer runs are outliers or part of a larger profile.",
        )


def sizes_below(n_rows: int, shown: int, usual: int) -> list[int]:
    """Return sizes that could part so many rows, each a quarter larger than the one before, and the one that is shown.

    The usual size of the dataset is one of them.
    """
    steps = (round(usual * STEP**power) for power in range(-MOST_STEPS, MOST_STEPS + 1))
    return sorted({size for size in steps if size >= LEAST_SIZE and 2 * size < n_rows} | {shown})


def _apply(name: str, rows: int) -> None:
    """Write a preset into the form (a callback); one after Google's takes back what that alone sets."""
    usual = ProfileSettings()
    changes: dict[str, Any] = {"scaler": "power", "metric": "euclidean", "min_cluster_size": 0, "min_samples": 0}
    changes = changes if name == "default" else preset(name, rows)
    if "features" in changes:
        changes |= {"set": "own", "features": list(changes["features"])}
    elif st.session_state.get("profiles_algorithm") == preset(GOOGLE, rows)["algorithm"]:
        changes |= {one: getattr(usual, one) for one in ("embedding", "algorithm", "epsilon")} | {"set": "auto"}
    for field, value in changes.items():
        st.session_state[f"profiles_{field}"] = value


def pairs() -> None:
    """Show the upload of runs that are alike or unlike, which fills the form's fields."""
    given = st.file_uploader(
        "Runs alike and unlike (CSV)",
        type=["csv"],
        key=PAIRS,
        on_change=_take_pairs,
        help="A line for each pair or group: must,A,B for runs that are alike, must-not,A,B for others.",
    )
    if given is not None:
        with guard():
            must, must_not = _read_pairs(given)
            st.caption(pairs_read_words(len(must), len(must_not)))


def _read_pairs(given: Any) -> tuple[Named, Named]:
    return named_pairs(given.getvalue().decode("utf-8", errors="replace"))


def _take_pairs() -> None:
    """Write the pairs of the file into the form (a callback); what is wrong with it is told below the upload."""
    with suppress(SettingsError):
        if (given := st.session_state[PAIRS]) is not None:
            for name, value in zip(("must", "must_not"), _read_pairs(given), strict=True):
                leaf = next(leaf for leaf in FIT.leaves if leaf.path == name)
                st.session_state[leaf.key(FIT.page)] = form_text(leaf, value)


def _slid() -> None:
    st.session_state["profiles_min_cluster_size"] = st.session_state[SLIDER]


SIZE, METHOD, EPSILON, COUPLED = "recut_size", "recut_method", "recut_epsilon", "recut_coupled"
SHOWN, NEEDS_FIT, CHANGED, BECAME = "recut_of", "recut_needs_fit", "recut_changed", "recut_became"


@st.fragment
def recut_controls(visit: Visit, dataset: Dataset, settings: ProfileSettings, n_rows: int) -> None:
    """Show controls that cut the kept tree again; the settings are resolved, of the clustering that is shown."""
    if st.session_state.pop(CHANGED, False):
        st.rerun()
    if settings.algorithm != "hdbscan":
        why = "The tree of the package is not saved" if settings.by_density else "OPTICS and DBSCAN keep no tree"
        st.caption(f"{why}: another size needs a new fit (Settings).")
        return
    _follow(dataset, settings)
    options: dict[str, Any] = {"on_change": _cut, "args": (visit, dataset, settings)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.select_slider(
            "Minimum profile size (runs)",
            sizes_below(n_rows, settings.min_cluster_size, default_min_cluster_size(n_rows)),
            key=SIZE,
            width=260,
            help="Groups of fewer runs are unclustered or part of a larger profile. Applies at once.",
            **options,
        )
        st.segmented_control(
            "Selection",
            METHODS,
            required=True,
            format_func=lambda name: METHOD_WORDS[name],
            key=METHOD,
            help="Excess of mass (eom): the branches that persist longest. Leaves (leaf): more and smaller profiles.",
            **options,
        )
        with st.popover("More", icon=":material/tune:"):
            st.number_input("Epsilon", min_value=0.0, step=0.05, key=EPSILON, help=meaning_of("epsilon"), **options)
            st.toggle(
                "Link minimum samples to this size",
                key=COUPLED,
                help=f"Off: they stay {settings.min_samples}, and the saved tree is only cut again. On: they follow "
                "the size, as in the paper; that needs another tree.",
                **options,
            )
    _offer_fit(visit, dataset)
    of_cut, words = st.session_state.get(BECAME, (None, ""))
    if of_cut == settings:
        st.caption(words)


def _follow(dataset: Dataset, settings: ProfileSettings) -> None:
    """Put the controls on the clustering that is shown, when it is another than before.

    A run of the page that another one interrupts may leave some of the controls without a value.
    """
    shown = (dataset.hash, settings)
    missing = any(st.session_state.get(key) is None for key in (SIZE, METHOD, EPSILON))
    if st.session_state.get(SHOWN) != shown or missing:
        st.session_state[SHOWN] = shown
        st.session_state[SIZE] = settings.min_cluster_size
        st.session_state[METHOD], st.session_state[EPSILON] = settings.method, settings.epsilon
        st.session_state.setdefault(COUPLED, False)
        st.session_state.pop(NEEDS_FIT, None)


def _cut(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> None:
    """Cut the tree at what the controls say; where there is no such tree, remember that a fit is needed."""
    size = st.session_state[SIZE]
    if size is None or st.session_state[METHOD] is None:  # of a page that was interrupted: nobody chose this
        return
    request = replace(
        settings,
        min_cluster_size=size,
        min_samples=size if st.session_state[COUPLED] else settings.min_samples,
        method=st.session_state[METHOD],
        epsilon=st.session_state[EPSILON],
    )
    with guard():
        fit = visit.workbench.first_cut(dataset.hash, request)
        if fit is None:
            st.session_state[NEEDS_FIT] = request
        else:
            _follow_runs(visit.workbench.first_cut(dataset.hash, settings), fit)
            _show(request)


def _follow_runs(before: ProfileFit | None, now: ProfileFit) -> None:
    """Keep the selected profile on its runs, and remember what became of the profiles."""
    if before is None:
        return
    became = successors(Labelled(before.row_ids, before.labels), Labelled(now.row_ids, now.labels))
    selected = str(st.session_state.get(CHOSEN) or "")
    if selected.isdecimal() and int(selected) in became:
        st.session_state[CHOSEN] = str(became[int(selected)])
    words = recut_sentence(became, before.scores.n_clusters, now.scores.n_clusters)
    st.session_state[BECAME] = (now.settings, words)


def _show(settings: ProfileSettings) -> None:
    """Make the form, and with it the address and the page, say these settings."""
    for name in ("min_cluster_size", "min_samples", "method", "epsilon"):
        st.session_state[f"profiles_{name}"] = getattr(settings, name)
    st.session_state.pop(NEEDS_FIT, None)
    st.session_state[CHANGED] = True


def _offer_fit(visit: Visit, dataset: Dataset) -> None:
    settings = st.session_state.get(NEEDS_FIT)
    if settings is None:
        return
    reason = f"No tree with {settings.min_samples} minimum samples is saved"
    if settings.sample_rows and dataset.finished_rows > MOST_FITTED_ROWS:
        reason = "Every run outside the sample is assigned again"
    st.info(
        f"{reason}, so these settings need a fit. {estimate(visit, dataset, settings)}",
        icon=":material/info:",
    )
    st.button("Fit with these settings", key="recut_fit", on_click=_fit, args=(visit, dataset, settings))


def _fit(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> None:
    with guard():
        visit.workbench.profiles.start(dataset.hash, settings)
        _show(settings)
