"""The glossary: every term once, for the Help page and for the help of controls."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from workprof.charts.help.term import Term
from workprof.charts.help.terms_of_jobs import FORECAST_TERMS, JOB_TERMS, PROFILE_TERMS
from workprof.charts.help.terms_of_machines import HOUSE_TERMS, MEMORY_TERMS, NODE_TERMS, PHASE_TERMS
from workprof.errors import SettingsError

__all__ = ["TERMS", "Term", "found_terms", "meaning_of", "term_table"]

TERMS = (*JOB_TERMS, *PROFILE_TERMS, *FORECAST_TERMS, *MEMORY_TERMS, *NODE_TERMS, *PHASE_TERMS, *HOUSE_TERMS)
_BY_NAME = {term.name.lower(): term for term in TERMS}


def meaning_of(name: str) -> str:
    """Return what a term means, whatever its case.

    Raises:
        SettingsError: for a term that the glossary lacks: a page must not promise help that is not there.
    """
    term = _BY_NAME.get(name.lower())
    if term is None:
        raise SettingsError(f"the glossary has no term {name!r}; add it to workprof.charts.help")
    return term.meaning


def found_terms(text: str) -> tuple[Term, ...]:
    """Return the terms that hold every word of a text, those with it in the name first; all of them for no word."""
    words = text.lower().split()
    found = [term for term in TERMS if all(word in f"{term.name} {term.meaning} {term.room}".lower() for word in words)]
    return tuple(sorted(found, key=lambda term: not all(word in term.name.lower() for word in words)))


def term_table(terms: Sequence[Term]) -> pd.DataFrame:
    """Return one line per term."""
    lines = [(term.name, term.meaning, term.room) for term in terms]
    return pd.DataFrame(lines, columns=["term", "meaning", "of"])
