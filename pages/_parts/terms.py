"""Help in the words of the glossary: of whatever shows a term, and of the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from workprof.charts.help.terms import explained, meaning_of
from workprof.charts.text import column_words


def term(name: str) -> str:
    """Return what a term means, as the help of whatever shows it."""
    return meaning_of(name)


def columns(names: Iterable[object], given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings of a table's columns: those given, each name in words, the glossary's meaning of every term.

    Args:
        names: of the columns, as the CSV has them; one in plain words that is no term is left to Streamlit.
        given: column -> `st.column_config` of it.
    """
    found: dict[str, Any] = dict(given or {})
    for name in map(str, names):
        own = found.get(name)
        if isinstance(own, str):
            own = st.column_config.Column(own)
        words = explained(name, (own or {}).get("help") or "")
        label = (own or {}).get("label") or column_words(name)
        if words or label != ((own or {}).get("label") or name):
            found[name] = {**(own or st.column_config.Column()), "label": label, "help": words or None}
    return found
