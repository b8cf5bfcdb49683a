"""Cluster tendency: Hopkins, metadata labels against the profiles, and whether the profiles come back."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages._frame import link
from pages._frame.errors import guard
from pages._parts import figures, forms, long_question, tables
from pages._parts.long_question import LongQuestion
from pages._profiles.views import View
from workprof.answers.embeddings import embeddings_answer
from workprof.answers.profiles import stability_answer
from workprof.charts.clusterability import CONVENTION, baseline_dots, hopkins_line, stability_bars
from workprof.core.fields import get
from workprof.core.question import Question
from workprof.forecasts.questions import EMBEDDINGS
from workprof.profiles.questions import BASELINE, HOPKINS, STABILITY
from workprof.workbench.question_methods import Bound


def clusterability(view: View) -> None:
    """Show the three results one below the other; each is computed on request, in the background."""
    st.header("Cluster tendency")
    st.caption(CONVENTION)
    given = _of_fit(view, "features", "scaler", "metric", "mode", "seed")
    hopkins = computed(view, HOPKINS, "Hopkins statistic", "distinct", given)
    if hopkins is not None:
        figures.show(hopkins_line(hopkins), key=f"profiles_hopkins_{hopkins.settings.distinct}")

    st.header("Profiles v. metadata baseline")
    given = _of_fit(view, "features", "scaler", "mode", "silhouette", "sample_rows", "seed")
    link.respell("profiles_baseline_rows", {"true": "clustered", "false": "all"}.get)  # former links
    baseline = computed(view, BASELINE, "Label baseline (Table II)", "rows", given, {"fit": view.settings})
    if baseline is not None:
        figures.show(baseline_dots(baseline), key=f"profiles_baseline_{baseline.settings.rows}")

    st.header("Stability under resampling")
    given = {"fit": view.settings} | _of_fit(view, "seed")
    stability = computed(view, STABILITY, "Stability of the profiles", "resamples", given)
    if stability is not None:
        figures.headline_row(stability_answer(stability).figures)
        figures.show(stability_bars(stability, view.names), key="profiles_stability")

    st.header("Profiles of an autoencoder")
    embedded = computed(view, EMBEDDINGS, "Profiles without and with an autoencoder", "folds", {"fit": view.settings})
    if embedded is not None:
        answer = embeddings_answer(embedded)
        figures.headline(answer.sentence)
        for table in answer.tables:
            tables.saved(table, table.name, key="profiles_embeddings", alt=table.title)


def _of_fit(view: View, *paths: str) -> dict[str, Any]:
    """Return settings that a question shares with the clustering: the form above shows them."""
    return {path: get(view.settings, path) for path in paths}


def computed(
    view: View,
    question: Question[Any, Any],
    title: str,
    main: str,
    given: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
) -> Any:
    """Return a result, or show its running job, or the button that starts it."""
    settings = forms.settings(view.visit, view.dataset, question, (main,), given)
    compute: Bound[Any, Any] = getattr(view.visit.workbench, question.call)
    words = "Not computed with these settings yet."
    wanted = LongQuestion(
        f"start_{title}", settings, compute, f"Compute: {title}", lambda: words, title, more=more or {}, outlives=True
    )
    found = None
    with guard():
        found = long_question.result(view.visit, view.dataset, wanted)
    return found
