"""Other classifiers beside the one in use, and what they say as rules."""

from typing import Any

import streamlit as st

from pages._classify.training import View
from pages._frame.errors import guard
from pages._parts import figures, forms, long_question, tables
from pages._parts.long_question import LongQuestion
from workprof.answers.alternatives import alternatives_answer
from workprof.charts.classify.model import alternative_dots
from workprof.core.words import markdown_text
from workprof.forecasts import questions
from workprof.forecasts.alternatives import Alternatives, AlternativeSettings


def alternatives(view: View) -> None:
    """Show how they compare, or what makes it known."""
    given = forms.within("classifier", view.settings.classifier)
    settings = forms.settings(view.visit, view.dataset, questions.ALTERNATIVES, ("split", "leaves"), given)
    wanted: LongQuestion[AlternativeSettings, Alternatives] = LongQuestion(
        "classify_compare",
        settings,
        view.visit.workbench.classifier_alternatives,
        "Compare classifiers",
        lambda: "Nearest runs, rules, a tree and a network are tested on the same folds.",
        "Comparing classifiers",
    )
    found: Any = None
    with guard():
        found = long_question.result(view.visit, view.dataset, wanted)
    if found is None:
        return
    answer = alternatives_answer(found, view.naming)
    figures.show(alternative_dots(found), key="classify_alternatives")
    for table in answer.tables:
        tables.saved(table, table.name, key=f"classify_alternatives_{table.name}", alt=table.title)
    for words in answer.notes:
        st.caption(markdown_text(words, 300))
