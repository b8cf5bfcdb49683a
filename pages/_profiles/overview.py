"""The first screen of the Profiles page, and what stands behind it: the scores and how the profiles were found."""

from functools import partial

import streamlit as st

from pages._frame import look
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import figures
from pages._profiles import one_profile
from pages._profiles.views import View
from workprof.answers.how_long import computed_words
from workprof.answers.profiles import (
    fit_notes,
    paper_figures,
    profiles_sentence,
    quality_figures,
    size_figures,
)
from workprof.charts.profiles import fingerprints as drawn
from workprof.charts.profiles.overview import silhouette_boxes
from workprof.core.words import counted, label, markdown_text
from workprof.memory.ledger import Ledger
from workprof.memory.ledger_settings import MEMORY, PROFILE, LedgerSettings
from workprof.profiles.fit import ProfileFit
from workprof.profiles.names import number_of
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

MOST_ROWS = 100_000
"""Runs of which the ledger and its verdict are made while the page waits; of more, once Memory has done so."""
PLOT = "profiles_fingerprints_plot"


def memory_ledger(workbench: Workbench, dataset: Dataset, settings: ProfileSettings, *, compute: bool) -> Ledger | None:
    """Return Memory's ledger by profile where it is kept; `compute`: also where it is made in a moment."""
    ledger = LedgerSettings(by=PROFILE)
    if "requested_memory_bytes" not in {column.name for column in workbench.columns(dataset.hash)}:
        return None
    result = workbench.ledger.cached(dataset.hash, ledger, fit=settings).result
    if result is None and compute and dataset.rows <= MOST_ROWS:
        result = workbench.ledger(dataset.hash, ledger, fit=settings)
    return result


def memory_used(
    visit: Visit, dataset: Dataset, settings: ProfileSettings, fit: ProfileFit
) -> tuple[dict[int, float], dict[int, float]]:
    """Return label -> memory used over requested, by time, and label -> GB·h requested and not used.

    Empty where it is unknown, as of a cut that is not scored yet.
    """
    result = None
    with guard():
        result = memory_ledger(visit.workbench, dataset, settings, compute=bool(fit.scores.silhouette_method))
    if result is None:
        return {}, {}
    numbered = [(number_of(row.name.removeprefix("profile ")), row.of(MEMORY)) for row in result.rows]
    known = {number: amount for number, amount in numbered if number is not None}
    return (
        {number: amount.utilisation for number, amount in known.items()},
        {number: amount.wasted for number, amount in known.items()},
    )


def headline(view: View) -> str:
    """Return the sentence that answers the page's question."""
    return profiles_sentence(view.fit, view.names, view.used)


def fingerprints(view: View) -> None:
    """Show the fingerprints; a phone has room for the cells alone."""
    chart = drawn.fingerprints(view.fit, view.names, view.used, one_profile.chosen(view), narrow=look.narrow())
    clicked = partial(one_profile.take_click, PLOT)
    figures.show(chart, key=PLOT, on_select=clicked, modes=("points",), sentence=False)


def silhouettes(view: View) -> None:
    """Show how well the runs sit in their profiles, how distinct these are, and the scores of the paper."""
    figures.headline_row(quality_figures(view.fit))
    figures.show(silhouette_boxes(view.fit, view.names), key="profiles_silhouettes")
    with st.expander("Sizes and paper scores", icon=":material/scoreboard:"):
        figures.headline_row((*size_figures(view.fit), *paper_figures(view.fit)))


def method(view: View) -> None:
    """Show how the profiles were found, and what their reader must know."""
    fit = view.fit
    if notes := fit_notes(fit):
        st.markdown("\n".join(f"- {markdown_text(note, 400)}" for note in notes))
    features = ", ".join(label(name) for name in fit.features)
    size = f"{counted(fit.scores.n_rows, 'run')} × {counted(len(fit.features), 'feature')}"
    made = computed_words(fit.seconds, view.dataset.hash)
    st.caption(f"{size}, seed {fit.settings.seed}, {made}.")
    st.caption(f"Features: {markdown_text(features, 400)}.")
