"""Re-cut, don't refit: a slider over the kept tree changes the profiles in about a second."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import terms
from pages._profiles import form, presets
from workprof.profiles.settings import METHODS, ProfileSettings
from workprof.store.reports import Dataset

SIZE, METHOD, EPSILON, COUPLED = "recut_size", "recut_method", "recut_epsilon", "recut_coupled"
SHOWN, NEEDS_FIT, CHANGED = "recut_of", "recut_needs_fit", "recut_changed"
METHOD_WORDS = {"eom": "excess of mass", "leaf": "leaves"}


@st.fragment
def recut_controls(visit: Visit, dataset: Dataset, settings: ProfileSettings, n_rows: int) -> None:
    """Show controls that cut the kept tree again.

    Args:
        visit: of this run.
        dataset: of the clustering.
        settings: of the clustering that is shown, resolved.
        n_rows: that it clustered.
    """
    if st.session_state.pop(CHANGED, False):
        st.rerun()
    if settings.algorithm != "hdbscan":
        st.caption("OPTICS keeps no tree: other sizes need a new run.")
        return
    _follow(dataset, settings)
    told: dict[str, Any] = {"on_change": _cut, "args": (visit, dataset, settings)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.select_slider(
            "Re-cut: smallest profile, rows (logarithmic)",
            presets.sizes_below(n_rows, settings.min_cluster_size),
            key=SIZE,
            width=380,
            help="Groups of fewer rows are outliers or a part of a larger profile. Cuts the kept tree again, at once.",
            **told,
        )
        st.segmented_control(
            "Selection",
            METHODS,
            required=True,
            format_func=lambda name: METHOD_WORDS[name],
            key=METHOD,
            help="Excess of mass: the branches that persist longest. Leaves: the ends of the tree, more and smaller.",
            **told,
        )
        st.number_input("Epsilon", min_value=0.0, step=0.05, key=EPSILON, width=140, help=terms.term("epsilon"), **told)
        st.toggle(
            "Couple min_samples",
            key=COUPLED,
            help=f"Off: min_samples stays {settings.min_samples}, and the kept tree is only cut again. On: min_samples "
            "follows the size, as in the paper; that needs another tree.",
            **told,
        )
    _offer_fit(visit, dataset)


def _follow(dataset: Dataset, settings: ProfileSettings) -> None:
    """Put the controls on the clustering that is shown, when it is another than before."""
    shown = (dataset.hash, settings)
    if st.session_state.get(SHOWN) != shown or SIZE not in st.session_state:
        st.session_state[SHOWN] = shown
        st.session_state[SIZE] = settings.min_cluster_size
        st.session_state[METHOD], st.session_state[EPSILON] = settings.method, settings.epsilon
        st.session_state.setdefault(COUPLED, False)
        st.session_state.pop(NEEDS_FIT, None)


def _cut(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> None:
    """Cut the tree at what the controls say; where there is no such tree, remember that a fit is needed."""
    size = st.session_state[SIZE]
    asked = replace(
        settings,
        min_cluster_size=size,
        min_samples=size if st.session_state[COUPLED] else settings.min_samples,
        method=st.session_state[METHOD],
        epsilon=st.session_state[EPSILON],
    )
    with guard():
        if visit.workbench.profiles.quick(dataset.hash, asked) is None:
            st.session_state[NEEDS_FIT] = asked
        else:
            _show(asked)


def _show(asked: ProfileSettings) -> None:
    """Make the form, and with it the address and the page, say these settings."""
    for name in ("min_cluster_size", "min_samples", "method", "epsilon"):
        st.session_state[f"profiles_{name}"] = getattr(asked, name)
    st.session_state.pop(NEEDS_FIT, None)
    st.session_state[CHANGED] = True


def _offer_fit(visit: Visit, dataset: Dataset) -> None:
    asked = st.session_state.get(NEEDS_FIT)
    if asked is None:
        return
    st.info(
        f"No tree with min_samples {asked.min_samples} is kept, so these settings need a fit. "
        f"{form.estimate(visit, dataset, asked)}",
        icon=":material/info:",
    )
    st.button("Fit with these settings", key="recut_fit", on_click=_fit, args=(visit, dataset, asked))


def _fit(visit: Visit, dataset: Dataset, asked: ProfileSettings) -> None:
    with guard():
        visit.workbench.profiles.start(dataset.hash, asked)
        _show(asked)
